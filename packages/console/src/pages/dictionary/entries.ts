/**
 * The dictionary as a role sees it: the resources and fields of its `$metadata`, with the class of each field and the date since
 * which the store has it. This module must not know how they are displayed.
 */
import { get, pathSeenBy } from '../../app/api.ts';
import { everyPage } from '../../parts/every-page.ts';
import type { RolesInForce } from '../../parts/roles-in-force.ts';
import { searchWords, wordsOf } from '../../parts/words.ts';

export interface FieldEntry {
  readonly resource: string;
  readonly name: string;
  /** The name in words: `List price`. */
  readonly words: string;
  /** The local name of a custom field: `GROUP: FIELD`. */
  readonly localName?: string;
  readonly type: string;
  readonly isList: boolean;
  /** Whether it is compared with texts in filters. */
  readonly isText: boolean;
  readonly lookup?: string;
  /** Whether its value comes from another record, such as that of the agent. */
  readonly isJoined: boolean;
  readonly class?: string;
  /** The date since which the store has it. */
  readonly since?: string;
}

export interface ResourceEntry {
  readonly name: string;
  readonly key: string;
  readonly fields: readonly FieldEntry[];
  readonly leadsTo: readonly { readonly name: string; readonly to: string; readonly isMany: boolean }[];
}

/** @param viewer the role or key @throws Refused */
export async function dictionaryOf(viewer: string): Promise<readonly ResourceEntry[]> {
  const [csdl, roles] = await Promise.all([
    get<unknown>(pathSeenBy(viewer, 'api', '/Reso/OData/$metadata?$format=json')),
    get<RolesInForce>('/roles'),
  ]);
  const resources = resourcesIn(csdl, classesOf(roles));
  if (!resources.some(({ name }) => name === 'Field')) return resources;
  const since = await sinceWhen(viewer);
  return resources.map((resource) => ({
    ...resource,
    fields: resource.fields.map((field) => {
      const moment = since.get(`${field.resource}.${field.name}`);
      return moment === undefined ? field : { ...field, since: moment };
    }),
  }));
}

function classesOf({ resources }: RolesInForce): ReadonlyMap<string, string> {
  return new Map(
    resources.flatMap((resource) =>
      Object.entries(resource.fields).flatMap(([kind, names]) =>
        names.map((name) => [`${resource.name}.${name}`, kind] as const),
      ),
    ),
  );
}

async function sinceWhen(viewer: string): Promise<ReadonlyMap<string, string>> {
  const fields = await everyPage<{
    readonly ResourceName?: string;
    readonly FieldName?: string;
    readonly ModificationTimestamp: string;
  }>(pathSeenBy(viewer, 'api', '/Reso/OData/Field'));
  return new Map(
    fields.map((field) => [`${field.ResourceName}.${field.FieldName}`, field.ModificationTimestamp]),
  );
}

// $metadata in JSON

type Members = Readonly<Record<string, unknown>>;

const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null ? { ...value } : {};
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const lastPart = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

/** The resources of the entity sets, each once. */
function resourcesIn(csdl: unknown, classes: ReadonlyMap<string, string>): readonly ResourceEntry[] {
  const document = membersOf(csdl);
  const container = textOf(document.$EntityContainer) ?? '';
  const types = membersOf(document[container.slice(0, container.lastIndexOf('.'))]);
  return Object.entries(membersOf(types[lastPart(container)])).flatMap(([name, set]) => {
    const type = textOf(membersOf(set).$Type);
    if (type === undefined || lastPart(type) !== name) return [];
    return [resourceOf(name, membersOf(types[name]), classes)];
  });
}

function resourceOf(name: string, type: Members, classes: ReadonlyMap<string, string>): ResourceEntry {
  const members = Object.entries(type)
    .filter(([member]) => !member.startsWith('$') && !member.includes('@'))
    .map(([member, given]) => ({ member, given: membersOf(given) }));
  const isNavigation = (given: Members): boolean => given.$Kind === 'NavigationProperty';
  const [key] = Array.isArray(type.$Key) ? type.$Key : [];
  return {
    name,
    key: String(key ?? ''),
    fields: members
      .filter(({ given }) => !isNavigation(given))
      .map(({ member, given }) => fieldOf(name, member, given, classes.get(`${name}.${member}`))),
    leadsTo: members
      .filter(({ given }) => isNavigation(given))
      .map(({ member, given }) => ({
        name: member,
        to: lastPart(textOf(given.$Type) ?? ''),
        isMany: given.$Collection === true,
      })),
  };
}

function fieldOf(resource: string, name: string, given: Members, kind: string | undefined): FieldEntry {
  const type = textOf(given.$Type) ?? 'Edm.String';
  const isPrimitive = type.startsWith('Edm.');
  const lookup =
    textOf(given['@RESO.OData.Metadata.LookupName']) ?? (isPrimitive ? undefined : lastPart(type));
  const localName = textOf(given['@MLS.OData.Metadata.LocalName']);
  return {
    resource,
    name,
    words: wordsOf(name),
    type: typeInWords(isPrimitive ? type : 'Edm.String', given),
    isList: given.$Collection === true,
    isText: type === 'Edm.String',
    isJoined: given['@Core.Computed'] === true,
    ...(localName === undefined ? {} : { localName }),
    ...(lookup === undefined ? {} : { lookup }),
    ...(kind === undefined ? {} : { class: kind }),
  };
}

function typeInWords(type: string, given: Members): string {
  const { $MaxLength: longest, $Precision: precision, $Scale: scale, $Collection: isList } = given;
  switch (type) {
    case 'Edm.String':
      if (isList === true && typeof longest === 'number')
        return `List of texts, up to ${longest.toLocaleString('en-US')} characters each`;
      if (isList === true) return 'List of texts';
      return typeof longest === 'number'
        ? `Text, up to ${longest.toLocaleString('en-US')} characters`
        : 'Text';
    case 'Edm.Decimal':
      return typeof precision === 'number' && typeof scale === 'number'
        ? `Number, ${precision} digits, ${scale} of them decimals`
        : 'Number';
    case 'Edm.Int16':
    case 'Edm.Int32':
    case 'Edm.Int64':
      return 'Whole number';
    case 'Edm.Boolean':
      return 'Yes or no';
    case 'Edm.Date':
      return 'Date';
    case 'Edm.DateTimeOffset':
      return 'Date and time';
    default:
      return type.replace('Edm.', '');
  }
}

// Search

/** Whether every word of a search occurs in the description of a field. */
export function matches(field: FieldEntry, search: string): boolean {
  const { name, words, localName = '', lookup = '', type, resource } = field;
  const text = `${name} ${words} ${localName} ${lookup} ${type} ${resource}`.toLowerCase();
  return searchWords(search).every((word) => text.includes(word));
}

/** A filter for the records in which the field has a value. */
export const hasValue = ({ name, isList }: FieldEntry): string =>
  isList ? `${name}/any()` : `${name} ne null`;

/** A filter for the records with a certain value; undefined if values are members of an enumeration. */
export function isValue({ name, isList, isText }: FieldEntry, value: string): string | undefined {
  if (!isText) return undefined;
  const text = `'${value.replaceAll("'", "''")}'`;
  return isList ? `${name}/any(v: v eq ${text})` : `${name} eq ${text}`;
}
