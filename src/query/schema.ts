/**
 * The names that a query may use: the dictionary as one key sees it. A hidden name is distinguished from one that does not exist.
 */
import {
  CUSTOM_FIELDS,
  customFieldsNavigation,
  type Dictionary,
  FIRST_LINE,
  type Field,
  findNavigation,
  type Lookup,
  NATIVE_ALIASES,
  NATIVE_COLLECTIONS,
  type Navigation,
  type Resource,
} from '../dictionary/index.ts';

export type FieldLookup =
  | { readonly kind: 'visible'; readonly field: Field }
  /** The field exists, but the role may not see it: a selection omits it, and anywhere else it is unknown. */
  | { readonly kind: 'hidden'; readonly field: Field }
  | { readonly kind: 'unknown' };

/** One resource as a key sees it. */
export interface ResourceSchema {
  readonly resource: Resource;
  /** Finds a field by its RESO name or an alias. */
  findField(name: string): FieldLookup;
  /** Finds a field by its native name; custom fields are found by group and label instead. */
  findNativeField(name: string): FieldLookup;
  findCustomField(group: string, label: string): FieldLookup;
  /** Finds a navigation whose target the key may read, by any of its names. */
  findNavigation(name: string): Navigation | undefined;
  /** Like `findNavigation`, but also if the target has no records yet; the expansion is then empty. */
  findExpansion(name: string): Navigation | undefined;
  /** Names of fields and navigations that may be suggested. */
  names(): Iterable<string>;
  nativeNames(): Iterable<string>;
  /** Names that only the native interface has, each with its RESO name. */
  nativeCounterparts(): Iterable<readonly [native: string, name: string]>;
}

export interface Schema {
  /** Finds a resource by the name of its entity set or one of its other names; undefined if the key may not know it. */
  find(entitySet: string): ResourceSchema | undefined;
  /** Finds a resource by its name, for the targets of navigations. */
  of(resource: Resource | string): ResourceSchema;
  lookup(name: string): Lookup | undefined;
  /** Whether lookups are enumerations for clients, which then use the names of members for values. */
  readonly enumerations: boolean;
  entitySets(): Iterable<string>;
  /** The names that paths may begin with: entity sets and their other names. */
  pathNames(): Iterable<string>;
}

const UNKNOWN: FieldLookup = { kind: 'unknown' };

/** The parts of a dictionary that a restricted schema contains. */
interface Restriction {
  /** Whether a resource may be named. */
  readonly resource: (resource: Resource) => boolean;
  readonly field: (field: Field) => boolean;
  /** Whether lookups are enumerations; absent: strings. */
  readonly enumerations?: boolean;
  /** Whether a resource could be read if it had records; absent: as for `resource`. */
  readonly readable?: (resource: Resource) => boolean;
}

const NOTHING_HIDDEN: Restriction = { resource: () => true, field: () => true };

/** The key of a custom field in the native interface: group and label. */
const customKey = (group: string, label: string): string => `${group}\u0000${label}`;

/** Makes the schema that contains the parts of a dictionary which a restriction allows. */
export function makeSchema(dictionary: Dictionary, restriction: Restriction = NOTHING_HIDDEN): Schema {
  const cache = new Map<string, ResourceSchema>();
  const byName = new Map<string, Resource>();
  for (const resource of dictionary.resources.values()) {
    if (!restriction.resource(resource)) continue;
    byName.set(resource.name, resource);
    for (const name of resource.otherNames) byName.set(name, resource);
  }
  const couldRead = (target: string): boolean => {
    const found = dictionary.resources.get(target);
    return found !== undefined && (restriction.readable?.(found) ?? false);
  };
  const of = (named: Resource | string): ResourceSchema => {
    const resource = typeof named === 'string' ? dictionary.resources.get(named) : named;
    if (resource === undefined) throw new Error(`The dictionary has no resource ${String(named)}`);
    return cache.getOrInsertComputed(resource.name, () =>
      makeResourceSchema(resource, restriction, (target) => byName.has(target), couldRead),
    );
  };
  return {
    find: (entitySet) => {
      const resource = byName.get(entitySet);
      return resource === undefined ? undefined : of(resource);
    },
    of,
    lookup: (name) => dictionary.lookups.get(name),
    enumerations: restriction.enumerations ?? false,
    entitySets: () => new Set([...byName.values()].map(({ name }) => name)),
    pathNames: () => byName.keys(),
  };
}

function makeResourceSchema(
  resource: Resource,
  restriction: Restriction,
  mayRead: (target: string) => boolean,
  couldRead: (target: string) => boolean,
): ResourceSchema {
  const classify = (field: Field | undefined): FieldLookup => {
    if (field === undefined) return UNKNOWN;
    return { kind: restriction.field(field) ? 'visible' : 'hidden', field };
  };
  const fields = [...resource.fields.values()];
  const standard = fields.filter((field) => field.custom === undefined);
  const native = new Map(standard.map((field) => [field.nativeName, field]));
  const custom = new Map(
    fields.flatMap((field) =>
      field.custom ? [[customKey(field.custom.group, field.custom.label), field] as const] : [],
    ),
  );
  return {
    resource,
    findField: (name) => classify(resource.fields.get(resource.fieldAliases.get(name) ?? name)),
    findNativeField: (name) => classify(native.get(name)),
    findCustomField: (group, label) => classify(custom.get(customKey(group, label))),
    findNavigation: (name) => {
      const navigation = findNavigation(resource, name);
      return navigation !== undefined && mayRead(navigation.target) ? navigation : undefined;
    },
    findExpansion: (name) => {
      const navigation = findNavigation(resource, name);
      if (navigation === undefined && name === CUSTOM_FIELDS) return customFieldsNavigation(resource);
      const isThere =
        navigation !== undefined && (mayRead(navigation.target) || couldRead(navigation.target));
      return isThere ? navigation : undefined;
    },
    *names() {
      for (const field of fields) if (restriction.field(field)) yield field.name;
      for (const navigation of resource.navigations.values()) {
        if (mayRead(navigation.target)) yield navigation.name;
      }
    },
    *nativeNames() {
      for (const field of standard) if (restriction.field(field)) yield field.nativeName;
    },
    *nativeCounterparts() {
      yield ['Id', resource.key];
      for (const field of standard) {
        if (field.nativeName !== field.name && restriction.field(field)) yield [field.nativeName, field.name];
      }
      if (resource.name !== 'Property') return;
      for (const [native, name] of [...NATIVE_ALIASES, [FIRST_LINE.name, FIRST_LINE.of] as const]) {
        if (classify(resource.fields.get(name)).kind === 'visible') yield [native, name];
      }
      for (const [native, name] of NATIVE_COLLECTIONS) {
        if (mayRead(resource.navigations.get(name)?.target ?? '')) yield [native, name];
      }
    },
  };
}
