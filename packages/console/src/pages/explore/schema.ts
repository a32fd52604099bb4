/**
 * The fields that a role or key sees, with their types, according to the descriptions of the interfaces: `$metadata` in JSON, and
 * the standard and custom fields of the native interface. For resources that neither describes, they are derived from the first
 * records.
 */
import { titleOf } from '../../parts/words.ts';

export type Kind = 'text' | 'integer' | 'decimal' | 'boolean' | 'date' | 'timestamp' | 'other';

export interface FieldInfo {
  readonly name: string;
  /** For people. */
  readonly label: string;
  readonly kind: Kind;
  /** Whether it has several values. */
  readonly isList: boolean;
  readonly lookup?: string;
  /** Its values, if the interface lists them with the field. */
  readonly values?: readonly string[];
}

/** A field as a choice. */
export const titled = ({ name, label }: FieldInfo): readonly [string, string] => [name, label];

export interface NavigationInfo {
  readonly name: string;
  readonly isList: boolean;
  /** The resource to which it leads. */
  readonly to: string;
}

export interface ResourceInfo {
  readonly name: string;
  readonly key: readonly string[];
  readonly fields: readonly FieldInfo[];
  readonly navigations: readonly NavigationInfo[];
  /** Whether the fields were derived from the first records, so that further records may have more. */
  readonly isSample: boolean;
}

export type Schema = ReadonlyMap<string, ResourceInfo>;

// $metadata

interface CsdlProperty {
  readonly $Kind?: string;
  readonly $Type?: string;
  readonly $Collection?: boolean;
  readonly '@RESO.OData.Metadata.LookupName'?: string;
  readonly '@MLS.OData.Metadata.LocalName'?: string;
}

type CsdlEntity = { readonly $Kind: string; readonly $Key?: readonly string[] } & Readonly<
  Record<string, unknown>
>;

export interface Csdl {
  readonly $EntityContainer: string;
  readonly [namespace: string]: unknown;
}

const KINDS: Readonly<Record<string, Kind>> = {
  'Edm.String': 'text',
  'Edm.Boolean': 'boolean',
  'Edm.Date': 'date',
  'Edm.DateTimeOffset': 'timestamp',
  'Edm.Decimal': 'decimal',
  'Edm.Double': 'decimal',
  'Edm.Int16': 'integer',
  'Edm.Int32': 'integer',
  'Edm.Int64': 'integer',
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const lastPart = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

/** The resources of `$metadata?$format=json`. */
export function schemaOfCsdl(csdl: Csdl): Schema {
  const namespace = csdl[csdl.$EntityContainer.slice(0, csdl.$EntityContainer.lastIndexOf('.'))];
  const types = isObject(namespace) ? namespace : {};
  const container = types[lastPart(csdl.$EntityContainer)];
  const sets = isObject(container) ? container : {};
  const resources = Object.entries(sets).flatMap(([name, set]): [string, ResourceInfo][] => {
    const type = isObject(set) && typeof set.$Type === 'string' ? types[lastPart(set.$Type)] : undefined;
    return isEntity(type) ? [[name, resourceOf(name, type)]] : [];
  });
  return new Map(resources);
}

const isEntity = (value: unknown): value is CsdlEntity => isObject(value) && value.$Kind === 'EntityType';

function resourceOf(name: string, type: CsdlEntity): ResourceInfo {
  const fields: FieldInfo[] = [];
  const navigations: NavigationInfo[] = [];
  for (const [member, value] of Object.entries(type)) {
    if (member.startsWith('$') || member.includes('@') || !isObject(value)) continue;
    const property: CsdlProperty = value;
    const { $Type = 'Edm.String', $Collection: isList = false } = property;
    if (property.$Kind === 'NavigationProperty')
      navigations.push({ name: member, isList, to: lastPart($Type) });
    else
      fields.push({
        name: member,
        label: property['@MLS.OData.Metadata.LocalName'] ?? titleOf(member),
        kind: KINDS[$Type] ?? ($Type.startsWith('Edm.') ? 'other' : 'text'),
        isList,
        ...(property['@RESO.OData.Metadata.LookupName'] === undefined
          ? {}
          : { lookup: property['@RESO.OData.Metadata.LookupName'] }),
      });
  }
  return { name, key: type.$Key ?? [], fields, navigations, isSample: false };
}

// The native interface

export interface NativeField {
  readonly Label: string;
  readonly Type: string;
  readonly Searchable: boolean;
  readonly MultiSelect: boolean;
  readonly FieldList?: readonly { readonly Name: string; readonly Value: string }[];
}

export interface NativeAnswer<T> {
  readonly D: { readonly Results: readonly T[] };
}

const NATIVE_KINDS: Readonly<Record<string, Kind>> = {
  Character: 'text',
  Boolean: 'boolean',
  Date: 'date',
  Datetime: 'timestamp',
  Decimal: 'decimal',
  Integer: 'integer',
};

/** Expansions of native listings. */
const NATIVE_PARTS = [
  'Photos',
  'Videos',
  'VirtualTours',
  'Rooms',
  'Units',
  'OpenHouses',
  'Documents',
  'FloorPlans',
  'CustomFields',
];

const nativeField = (name: string, { Label, Type, MultiSelect, FieldList }: NativeField): FieldInfo => ({
  name,
  label: Label,
  kind: NATIVE_KINDS[Type] ?? 'other',
  isList: MultiSelect,
  ...(FieldList === undefined ? {} : { values: FieldList.map(({ Value }) => Value) }),
});

/** @param custom the custom fields by group and name */
export function nativeListings(
  standard: Readonly<Record<string, NativeField>>,
  custom: readonly Readonly<Record<string, Readonly<Record<string, NativeField>>>>[],
): ResourceInfo {
  const own = Object.entries(standard).map(([name, field]) => nativeField(name, field));
  const added = custom.flatMap((groups) =>
    Object.entries(groups).flatMap(([group, fields]) =>
      Object.entries(fields).map(([name, field]) => ({
        ...nativeField(`"${group}"."${name}"`, field),
        label: `${group}: ${name}`,
      })),
    ),
  );
  return {
    name: 'listings',
    key: ['ListingKey'],
    fields: [...own, ...added],
    navigations: NATIVE_PARTS.map((name) => ({ name, isList: true, to: name })),
    isSample: false,
  };
}

// Resources without a description

/** Dates as the interfaces write them; open houses in the native interface have `12/31/2026` and `05:00 PM`. */
const DATE = /^(?:\d{4}-\d\d-\d\d|\d\d\/\d\d\/\d{4})$/;
const TIMESTAMP = /^(?:\d{4}-\d\d-\d\dT\d\d:\d\d|\d\d:\d\d [AP]M$)/;

function kindOf(value: unknown): Kind {
  switch (typeof value) {
    case 'number':
      return 'decimal';
    case 'boolean':
      return 'boolean';
    case 'string':
      return DATE.test(value) ? 'date' : TIMESTAMP.test(value) ? 'timestamp' : 'text';
    default:
      return 'other';
  }
}

/** The fields of records, each with the type of its first value. */
export function schemaOfRecords(
  name: string,
  key: readonly string[],
  records: readonly Readonly<Record<string, unknown>>[],
): ResourceInfo {
  const values = new Map<string, unknown>();
  for (const record of records)
    for (const [field, value] of Object.entries(record))
      if (!field.includes('@') && (values.get(field) ?? null) === null) values.set(field, value);
  const fields = [...values].map(([field, value]): FieldInfo => {
    const one: unknown = Array.isArray(value) ? value[0] : value;
    return {
      name: field,
      label: titleOf(field),
      kind: value === null || one === undefined ? 'text' : kindOf(one),
      isList: Array.isArray(value),
    };
  });
  return { name, key, fields, navigations: [], isSample: true };
}
