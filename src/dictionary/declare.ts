/**
 * Additions to the standard dictionary: an operator's resources, custom fields and lookup values, and the timestamps of a replica.
 * This module reads declarations, not the configuration file that contains them.
 */
import { usageError } from '../errors/index.ts';
import { parseType } from './field-line.ts';
import { BY_TIMESTAMP, makeLookup } from './load.ts';
import type { Dictionary, Field, Lookup, Resource } from './types.ts';

/** A resource of an operator's own, with all of its fields. */
export interface ResourceDeclaration {
  readonly name: string;
  /** The field whose value names a record; it becomes a string of 255 characters. */
  readonly key: string;
  readonly fields: readonly {
    readonly name: string;
    /** As in the field tables: `string(50)`, `decimal(14,2)`, `boolean`, `string(50)[]`, … */
    readonly type: string;
    readonly lookup?: string;
    /** The visibility class of the field; `open` by default. */
    readonly class?: string;
  }[];
}

/** A custom field as an operator writes it (specification 2.4, rule 2). */
export interface CustomFieldDeclaration {
  readonly resource: string;
  /** The API name, used by the RESO interface. It does not change when the field is renamed. */
  readonly name: string;
  readonly section?: 'Main' | 'Details';
  readonly group: string;
  /** The current name; group and label together are the LocalName `GROUP: FIELD`. */
  readonly label: string;
  /** As in a declared resource. */
  readonly type: string;
  readonly lookup?: string;
  /** The visibility class of the field; docs/roles.md lists the standard classes. */
  readonly class?: string;
}

/** An operator's own values, which extend a lookup of the dictionary or define a new one. */
export interface LookupDeclaration {
  readonly lookup: string;
  readonly values: readonly string[];
}

/** An operator's additions to the standard dictionary. */
export interface Declarations {
  readonly resources?: readonly ResourceDeclaration[];
  readonly customFields?: readonly CustomFieldDeclaration[];
  readonly lookups?: readonly LookupDeclaration[];
  /** Dictionary fields that records and metadata include before any record has a value: `Resource.Field`. */
  readonly fieldsInUse?: readonly string[];
  /** Short fields that filters name often, in addition to those of the dictionary: `Resource.Field`. */
  readonly searchFields?: readonly string[];
}

/** The syntax of field names. */
export const API_NAME = /^[A-Za-z][A-Za-z0-9_]{0,127}$/;
/** Local names and lookups must be valid in XML, which excludes these characters, and must not be blank. */
const PLAIN_TEXT = /^(?=.*\S)[^\p{Cc}\p{Cs}\uFFFE\uFFFF]+$/u;
const DEFAULT_CLASS = 'private';

/**
 * Extends the dictionary with an operator's declarations.
 * @throws PlatError `usage` that names the invalid declaration
 */
export function declare(standard: Dictionary, declarations: Declarations): Dictionary {
  const lookups = new Map(standard.lookups);
  for (const declaration of declarations.lookups ?? []) {
    lookups.set(declaration.lookup, extendLookup(lookups.get(declaration.lookup), declaration));
  }
  const resources = declareResources(standard, declarations.resources ?? [], lookups);
  const additions = new Map<string, Additions>();
  for (const declaration of declarations.customFields ?? []) {
    const resource = resources.get(declaration.resource);
    if (resource === undefined) {
      throw usageError(
        `The custom field ${declaration.name} is of resource ${declaration.resource}, which does not exist.`,
      );
    }
    const added = additions.getOrInsertComputed(resource.name, () => new Additions(resource));
    added.add(makeCustomField(declaration, added, lookups));
  }
  for (const { resource, fields } of additions.values())
    resources.set(resource.name, { ...resource, fields });
  for (const path of declarations.searchFields ?? []) {
    const resource = withSearchField(resources, path);
    resources.set(resource.name, resource);
  }
  return { resources, lookups };
}

/** The length of the longest text in a search table: longer texts would make its rows as wide as those of the records. */
const LONGEST_SEARCHED = 255;

function withSearchField(resources: ReadonlyMap<string, Resource>, path: string): Resource {
  const fail = (reason: string): never => {
    throw usageError(`searchFields: ${reason}.`);
  };
  const [name = '', fieldName = ''] = path.split('.');
  const resource = resources.get(name);
  const field = resource?.fields.get(fieldName);
  if (resource === undefined || field === undefined) return fail(`there is no field ${path}`);
  const { filteredBy } = resource;
  if (filteredBy === undefined) {
    const large = [...resources.values()].filter((each) => each.filteredBy !== undefined);
    const names = large.map((each) => each.name).join(', ');
    return fail(`${path} is of a resource without a search table, which only ${names} has`);
  }
  const { type, collection, joined } = field;
  if (joined !== undefined) return fail(`${path} is stored with ${joined.resource}`);
  if (collection) return fail(`${path} contains lists`);
  if (type.kind === 'string' && (type.maxLength ?? Number.POSITIVE_INFINITY) > LONGEST_SEARCHED) {
    return fail(`${path} may hold more than ${LONGEST_SEARCHED} characters`);
  }
  return filteredBy.includes(fieldName) ? resource : { ...resource, filteredBy: [...filteredBy, fieldName] };
}

/**
 * The fields of a resource while fields are added. They are indexed, since there may be thousands, and each new one is compared
 * with all others.
 */
class Additions {
  readonly resource: Resource;
  readonly fields: Map<string, Field>;
  /** Engines ignore the case of column names. */
  readonly #names: Set<string>;
  /** Names of the fields, by group and label. */
  readonly #localNames = new Map<string, string>();

  constructor(resource: Resource) {
    this.resource = resource;
    this.fields = new Map(resource.fields);
    const names = [...resource.fields.keys(), ...resource.navigations.keys()];
    this.#names = new Set(names.map((name) => name.toLowerCase()));
    for (const field of resource.fields.values()) this.#noteLocalName(field);
  }

  add(field: Field): void {
    this.fields.set(field.name, field);
    this.#names.add(field.name.toLowerCase());
    this.#noteLocalName(field);
  }

  has(name: string): boolean {
    return this.#names.has(name.toLowerCase());
  }

  /** The API name of the field with this LocalName. */
  fieldWithLocalName(group: string, label: string): string | undefined {
    return this.#localNames.get(localName(group, label));
  }

  #noteLocalName({ name, custom }: Field): void {
    if (custom !== undefined) this.#localNames.set(localName(custom.group, custom.label), name);
  }
}

/** No group contains a colon, so the text identifies the pair. */
const localName = (group: string, label: string): string => `${group}:${label}`;

function extendLookup(known: Lookup | undefined, { lookup, values }: LookupDeclaration): Lookup {
  if (known?.closed) {
    throw usageError(`The lookup ${lookup} is closed and accepts no further values.`);
  }
  for (const text of [lookup, ...values]) {
    if (!PLAIN_TEXT.test(text)) {
      throw usageError(
        `The lookup ${lookup}: ${JSON.stringify(text)} is blank or contains control characters.`,
      );
    }
  }
  const added = values.filter((value) => !known?.values.has(value)).map((value) => ({ value }));
  return makeLookup(lookup, false, [...(known?.values.values() ?? []), ...added]);
}

function makeCustomField(
  declaration: CustomFieldDeclaration,
  additions: Additions,
  lookups: ReadonlyMap<string, Lookup>,
): Field {
  const { name, group, label, lookup } = declaration;
  const { resource } = additions;
  const fail = (reason: string): never => {
    throw usageError(`The custom field ${resource.name}.${name}: ${reason}.`);
  };
  if (!API_NAME.test(name)) {
    fail('its name must begin with a letter and hold letters, digits and underscores, at most 128');
  }
  if (name in Object.prototype) fail('its name is one that every object in JavaScript has');
  if (additions.has(name)) fail('the name is taken');
  if (group.includes(':') || !PLAIN_TEXT.test(group) || !PLAIN_TEXT.test(label)) {
    fail('it needs a group (without a colon) and a label, neither blank nor with control characters');
  }
  const other = additions.fieldWithLocalName(group, label);
  if (other !== undefined) fail(`${other} has its LocalName`);
  const parsed = parseType(declaration.type) ?? fail(`its type ${declaration.type} is not known`);
  if (lookup !== undefined && !lookups.has(lookup)) fail(`there is no lookup ${lookup}`);
  if (lookup !== undefined && parsed.type.kind !== 'string') fail('only a string has a lookup');
  return {
    resource: resource.name,
    name,
    nativeName: name,
    ...parsed,
    ...(lookup === undefined ? {} : { lookup }),
    class: declaration.class ?? DEFAULT_CLASS,
    custom: { section: declaration.section ?? 'Main', group, label },
  };
}

// Resources

const NAME = /^[A-Z][A-Za-z0-9]{0,63}$/;
const TIMESTAMP = 'ModificationTimestamp';
const OPEN = 'open';

/**
 * Extends the dictionary with an operator's own resources. They are stored, timestamped, queried and published like any other. A
 * role may read such a resource if it may read all resources or lists it.
 * @throws PlatError `usage` that names the invalid declaration
 */
function declareResources(
  dictionary: Dictionary,
  declarations: readonly ResourceDeclaration[],
  lookups: ReadonlyMap<string, Lookup>,
): Map<string, Resource> {
  const resources = new Map(dictionary.resources);
  for (const declaration of declarations) {
    const resource = makeResource(declaration, resources, lookups);
    resources.set(resource.name, resource);
  }
  return resources;
}

function makeResource(
  { name, key, fields }: ResourceDeclaration,
  known: ReadonlyMap<string, Resource>,
  lookups: ReadonlyMap<string, Lookup>,
): Resource {
  const fail = (reason: string): never => {
    throw usageError(`The resource ${name}: ${reason}.`);
  };
  if (!NAME.test(name))
    fail('its name must begin with a capital and consist of at most 64 letters and digits');
  // Engines ignore the case of table names.
  const taken = [...known.values()].flatMap((each) => [each.name, ...each.otherNames]);
  if (taken.some((other) => other.toLowerCase() === name.toLowerCase())) fail('the name is taken');
  const common = { resource: name, nativeName: key, collection: false, class: OPEN };
  const fieldsByName = new Map<string, Field>([
    [key, { ...common, name: key, type: { kind: 'string', maxLength: 255 } }],
    [TIMESTAMP, { ...common, name: TIMESTAMP, nativeName: TIMESTAMP, type: { kind: 'timestamp' } }],
  ]);
  if (!API_NAME.test(key) || key in Object.prototype || key === TIMESTAMP)
    fail(`${key} is not a valid name for a key`);
  for (const { name: field, type, lookup, class: seenBy = OPEN } of fields) {
    if (field === key || field === TIMESTAMP) continue;
    if (!API_NAME.test(field) || field in Object.prototype) fail(`${field} is not a valid name for a field`);
    const isTaken = [...fieldsByName.keys()].some((other) => other.toLowerCase() === field.toLowerCase());
    if (isTaken) fail(`it has the field ${field} twice`);
    const parsed = parseType(type) ?? fail(`the type ${type} of ${field} is not known`);
    if (lookup !== undefined && !lookups.has(lookup)) fail(`there is no lookup ${lookup}`);
    if (lookup !== undefined && parsed.type.kind !== 'string')
      fail(`${field} is not a string and cannot have a lookup`);
    fieldsByName.set(field, {
      resource: name,
      name: field,
      nativeName: field,
      ...parsed,
      ...(lookup === undefined ? {} : { lookup }),
      class: seenBy,
    });
  }
  return {
    name,
    key,
    always: false,
    otherNames: [],
    fields: fieldsByName,
    fieldAliases: new Map(),
    navigations: new Map(),
    searchedBy: BY_TIMESTAMP,
  };
}

// Replicas

/**
 * The timestamp that a replica sets on each record in addition to those that its source sent, so that a consumer of the
 * replica can read update windows without loss.
 */
export const REPLICA_TIMESTAMP = 'ReplicaModificationTimestamp';
/** The source's ModificationTimestamp, in a replica that returns its own timestamp under that name. */
export const SOURCE_TIMESTAMP = 'SourceModificationTimestamp';

/** Adds a replica's timestamp to every resource of a dictionary. */
export function withReplicaTimestamp(
  dictionary: Dictionary,
  name: typeof REPLICA_TIMESTAMP | typeof SOURCE_TIMESTAMP,
): Dictionary {
  const resources = [...dictionary.resources.values()].map((resource) => {
    const field: Field = {
      resource: resource.name,
      name,
      nativeName: name,
      type: { kind: 'timestamp' },
      collection: false,
      class: OPEN,
    };
    return { ...resource, fields: new Map(resource.fields).set(name, field) };
  });
  return { ...dictionary, resources: new Map(resources.map((resource) => [resource.name, resource])) };
}
