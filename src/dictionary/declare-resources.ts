import { platError } from '../errors/index.ts';
import { parseType } from './field-line.ts';
import { BY_STAMP } from './load.ts';
import type { Dictionary, Field, Lookup, Resource } from './types.ts';

/** A resource of an operator's own, with all of its fields. */
export interface ResourceDeclaration {
  readonly name: string;
  /** The field whose value names a record; it is made a string of 255 characters. */
  readonly key: string;
  readonly fields: readonly {
    readonly name: string;
    /** As in the field tables: `string(50)`, `decimal(14,2)`, `boolean`, `string(50)[]`, … */
    readonly type: string;
    readonly lookup?: string;
    /** Who sees it, of those who may read the resource at all; `open` if it is not said. */
    readonly class?: string;
  }[];
}

const NAME = /^[A-Z][A-Za-z0-9]{0,63}$/;
const FIELD_NAME = /^[A-Za-z][A-Za-z0-9_]{0,127}$/;
const STAMP = 'ModificationTimestamp';
const OPEN = 'open';

/**
 * The dictionary with resources of an operator's own. They are stored, stamped, queried and published like any other;
 * a role reads them if it reads all resources, or names them.
 * @throws PlatError `usage` that names the declaration at fault
 */
export function declareResources(
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
  const wrong = (reason: string): never => {
    throw platError('usage', { reason: `The resource ${name}: ${reason}.` });
  };
  if (!NAME.test(name)) wrong('its name must begin with a capital and hold letters and digits, at most 64');
  // Engines tell tables apart without regard to case.
  const taken = [...known.values()].flatMap((each) => [each.name, ...each.otherNames]);
  if (taken.some((other) => other.toLowerCase() === name.toLowerCase())) wrong('the name is taken');
  const own = { resource: name, nativeName: key, collection: false, class: OPEN };
  const made = new Map<string, Field>([
    [key, { ...own, name: key, type: { kind: 'string', maxLength: 255 } }],
    [STAMP, { ...own, name: STAMP, nativeName: STAMP, type: { kind: 'timestamp' } }],
  ]);
  if (!FIELD_NAME.test(key) || key in Object.prototype || key === STAMP) wrong(`${key} is no name of a key`);
  for (const { name: field, type, lookup, class: seenBy = OPEN } of fields) {
    if (field === key || field === STAMP) continue;
    if (!FIELD_NAME.test(field) || field in Object.prototype) wrong(`${field} is no name of a field`);
    const isTaken = [...made.keys()].some((other) => other.toLowerCase() === field.toLowerCase());
    if (isTaken) wrong(`it has the field ${field} twice`);
    const parsed = parseType(type) ?? wrong(`the type ${type} of ${field} is not known`);
    if (lookup !== undefined && !lookups.has(lookup)) wrong(`there is no lookup ${lookup}`);
    if (lookup !== undefined && parsed.type.kind !== 'string')
      wrong(`${field} is no string and has no lookup`);
    made.set(field, {
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
    fields: made,
    fieldAliases: new Map(),
    navigations: new Map(),
    searchedBy: BY_STAMP,
  };
}
