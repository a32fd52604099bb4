/** The content of a source's `$metadata`, independent of the format in which it is written (json.ts, xml.ts). */
import { identifierOf } from '../lookups.ts';
import { CUSTOM_FIELDS } from '../names.ts';
import type { Field, Navigation, Resource, ScalarType } from '../types.ts';
import type {
  Annotation,
  CsdlDocument,
  CsdlVersion,
  EntitySet,
  EntityType,
  EnumType,
  NavigationProperty,
  Property,
} from './model.ts';
import {
  COMPUTED,
  CONTAINER_CAPABILITIES,
  changeTracking,
  ENTITY_SET_CAPABILITIES,
  localName,
  lookupName,
  ownVocabularies,
  REFERENCES,
  standardName,
} from './vocabularies.ts';

/** The namespace of the entity types. */
export const EDM_NAMESPACE = 'org.reso.metadata';
const CONTAINER = 'RESO';
/** The namespace in which RESO defines the types of lookups. */
const ENUM_NAMESPACE = `${EDM_NAMESPACE}.enums`;

export interface CsdlResource {
  readonly resource: Resource;
  /** Includes the key. */
  readonly fields: readonly Field[];
  /** Navigations to resources that are not in the source are omitted from the document. */
  readonly navigations: readonly Navigation[];
}

/** The input for a document. It contains no names that the key may not know. */
export interface CsdlSource {
  readonly version: CsdlVersion;
  /** At least one, because a container must not be empty (CSDL 13). */
  readonly resources: readonly CsdlResource[];
  /**
   * The values of lookups that are enumeration types. A field whose lookup is not listed is a string. Absent: all lookups are
   * strings.
   */
  readonly enumerations?: ReadonlyMap<string, readonly LookupMember[]>;
  /** Whether an entity set supports change tracking; absent: not declared. */
  readonly tracks?: (resource: Resource) => boolean;
}

/** A value of a lookup, and its name as a member of the enumeration. */
export interface LookupMember {
  readonly name: string;
  readonly value: string;
}

/** The content of a source's `$metadata` (OData CSDL 4.01; RESO Web API Core 2.0, 2.5.1). */
export function csdlDocument({ version, resources, enumerations, tracks }: CsdlSource): CsdlDocument {
  const types = enumTypes(resources, enumerations);

  const keys = new Map(resources.map(({ resource }) => [resource.name, resource.key]));
  const entityTypes = resources.map((entry) => entityType(entry, keys, enumerations));
  const tracked = new Map(resources.map(({ resource }) => [resource.name, tracks?.(resource)]));
  return {
    version,
    references: REFERENCES,
    namespace: EDM_NAMESPACE,
    entityTypes,
    enumerations: { namespace: ENUM_NAMESPACE, types },
    container: {
      name: CONTAINER,
      entitySets: entityTypes.map((type) => entitySet(type, tracked.get(type.name))),
      annotations: CONTAINER_CAPABILITIES,
    },
    vocabularies: ownVocabularies(types.length > 0),
  };
}

/** @param keys the key of each resource in the document */
function entityType(
  { resource, fields, navigations }: CsdlResource,
  keys: ReadonlyMap<string, string>,
  enumerations: CsdlSource['enumerations'],
): EntityType {
  const shown = new Set(fields.map((field) => field.name));
  return {
    name: resource.name,
    key: resource.key,
    properties: fields.map((field) => property(field, field.name === resource.key, enumerations)),
    navigationProperties: [
      ...navigations
        .filter(({ target }) => keys.has(target))
        .map((navigation) => navigationProperty(navigation, keys.get(navigation.target), shown)),
      ...(fields.some(({ custom }) => custom !== undefined) ? [customFields(resource)] : []),
    ],
  };
}

/**
 * The navigation to the custom fields of a record. Its type is that of the record, which contains all of them, because RESO's
 * certification accepts only the types of entity sets in `$metadata`.
 */
const customFields = ({ name }: Resource): NavigationProperty => ({
  name: CUSTOM_FIELDS,
  target: name,
  collection: true,
  contained: true,
});

function property(field: Field, isKey: boolean, enumerations: CsdlSource['enumerations']): Property {
  const { name, type, collection } = field;
  const enumeration = enumerationOf(field, enumerations);
  return {
    name,
    collection,
    nullable: !isKey && !collection,
    ...(enumeration === undefined ? edmType(type) : { type: { enumeration } }),
    annotations: [...annotations(field, enumeration !== undefined)],
  };
}

/** The type of a field's values in payloads (OData JSON format 4.01, 4.6.3). */
function edmName({ type, collection }: Pick<Field, 'type' | 'collection'>): string {
  const edm = edmType(type).type;
  const name = typeof edm === 'string' ? edm.replace('Edm.', '') : edm.enumeration;
  return collection ? `Collection(${name})` : name;
}

/**
 * The type annotation of a field's values, for clients that request it; undefined if the JSON value itself shows the type.
 *
 * @param before the prefix of built-in type names: nothing, or `#` for clients of 4.0
 * @param enumerations the lookups for which the document declares enumeration types
 */
export function statedType(
  { lookup, collection, type }: Pick<Field, 'type' | 'collection' | 'lookup'>,
  before: '#' | '',
  enumerations: ReadonlySet<string>,
): string | undefined {
  if (lookup !== undefined && enumerations.has(lookup)) return `#${enumName(lookup, collection)}`;
  const name = edmName({ type, collection });
  return isEvidentFromJson(name) ? undefined : `${before}${name}`;
}

/** Types that a client recognizes from the JSON value. */
const isEvidentFromJson = (type: string): boolean => type === 'String' || type === 'Boolean';

/** The enumeration type of a field's lookup, if it has one. */
function enumerationOf({ lookup }: Field, enumerations: CsdlSource['enumerations']): string | undefined {
  if (lookup === undefined || (enumerations?.get(lookup)?.length ?? 0) === 0) return undefined;
  return enumName(lookup, false);
}

/** The enumeration types of the lookups that fields of the document refer to, in order of name. */
function enumTypes(resources: readonly CsdlResource[], enumerations: CsdlSource['enumerations']): EnumType[] {
  const used = new Set(resources.flatMap(({ fields }) => fields.flatMap(({ lookup }) => lookup ?? [])));
  return [...used].toSorted().flatMap((lookup) => {
    const members = new Map(enumerations?.get(lookup)?.map(({ name, value }) => [name, value]));
    if (members.size === 0) return [];
    const named = [...members].map(([name, value]) => ({ name, annotations: [standardName(value)] }));
    return [{ name: identifierOf(lookup), members: named }];
  });
}

/** The qualified name of a lookup's enumeration type. */
function enumName(lookup: string, collection: boolean): string {
  const name = `${ENUM_NAMESPACE}.${identifierOf(lookup)}`;
  return collection ? `Collection(${name})` : name;
}

function edmType(type: ScalarType): Pick<Property, 'type' | 'maxLength' | 'precision' | 'scale'> {
  switch (type.kind) {
    case 'string':
      return {
        type: 'Edm.String',
        ...(type.maxLength === undefined ? {} : { maxLength: type.maxLength }),
      };
    case 'integer':
      return { type: 'Edm.Int64' };
    case 'decimal':
      return { type: 'Edm.Decimal', precision: type.precision, scale: type.scale };
    case 'boolean':
      return { type: 'Edm.Boolean' };
    case 'date':
      return { type: 'Edm.Date' };
    case 'timestamp':
      return { type: 'Edm.DateTimeOffset', precision: 6 };
  }
}

function* annotations({ lookup, custom, joined }: Field, isEnumeration: boolean): Generator<Annotation> {
  if (lookup !== undefined && !isEnumeration) yield lookupName(lookup);
  if (custom !== undefined) yield localName(custom.group, custom.label);
  if (joined !== undefined) yield COMPUTED;
}

/** A constraint is included only if the client can use it: if it leads from a visible field to the key of the other record. */
function navigationProperty(
  { name, target, collection, local, remote }: Navigation,
  targetKey: string | undefined,
  shown: ReadonlySet<string>,
): NavigationProperty {
  const byKey = !collection && remote === targetKey && shown.has(local);
  return {
    name,
    target,
    collection,
    ...(byKey ? { constraint: { property: local, referencedProperty: remote } } : {}),
  };
}

/** Each entity type has one entity set, since clients derive the set of a navigation's target from its type. */
function entitySet({ name, navigationProperties }: EntityType, isTracked: boolean | undefined): EntitySet {
  const bindings = navigationProperties
    .filter(({ contained }) => contained === undefined)
    .map((each) => ({ path: each.name, target: each.target }));
  const tracking = isTracked === undefined ? [] : [changeTracking(isTracked)];
  return { name, type: name, bindings, annotations: [...ENTITY_SET_CAPABILITIES, ...tracking] };
}
