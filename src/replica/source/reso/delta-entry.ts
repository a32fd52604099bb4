/**
 * The entries of a delta, in the forms of OData 4.0 and 4.01 (JSON format 4.0, 12; 4.01, 15): records, removed records, and links
 * between records. It knows nothing of delta links.
 */
import { isObject, type JsonObject } from '../../../shared/json.ts';
import { RequestFailure } from '../../http/failure.ts';
import { givenKey } from '../answer.ts';

/**
 * - `changed`: the record is new, or has changed.
 * - `removed`: it was deleted, or the collection does not have it any more.
 * - `related`: what it is connected with has changed.
 */
interface DeltaEntry {
  readonly kind: 'changed' | 'removed' | 'related';
  readonly key: string;
}

/** What the context of an entry says that it is: `#Property/$deletedEntity`. */
const CONTEXT = /#(\w+)(?:\(.*\))?\/\$(entity|deletedEntity|link|deletedLink)$/;

/** `…/Property('L1')`, `…/Property(ListingKey='L1')` or `…/Property(1)`. */
const ID = /(?:^|\/)(\w+)\((?:\w+=)?(?:'(.*)'|(\d+))\)$/;

/**
 * @param collection whose delta it is of
 * @param key the field of its key
 * @throws RequestFailure `rejected` for an entry that does not say which record of the collection it is about
 */
export function readEntry(value: unknown, collection: string, key: string): DeltaEntry {
  if (!isObject(value)) throw unreadable(collection, value);
  const [, set = collection, what] = CONTEXT.exec(textOf(controlOf(value, 'context')) ?? '') ?? [];
  const isLink = what === 'link' || what === 'deletedLink';
  const inOldForm = isLink ? value.source : what === 'deletedEntity' ? value.id : undefined;
  const id = inOldForm ?? controlOf(value, 'id');
  const found = (isLink ? undefined : givenKey(value[key])) ?? keyIn(textOf(id) ?? '', collection);
  if (found === undefined || set !== collection) throw unreadable(collection, value);
  if (isLink) return { kind: 'related', key: found };
  const isRemoved = what === 'deletedEntity' || isObject(controlOf(value, 'removed'));
  return { kind: isRemoved ? 'removed' : 'changed', key: found };
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Control information, with the prefix of OData 4.0 or without it. */
const controlOf = (value: JsonObject, name: string): unknown => value[`@odata.${name}`] ?? value[`@${name}`];

/** The key in the address of a record of a collection. */
function keyIn(id: string, collection: string): string | undefined {
  const [, set, quoted, digits] = ID.exec(decoded(id)) ?? [];
  return set === collection ? (quoted?.replaceAll("''", "'") ?? digits) : undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const unreadable = (collection: string, value: unknown): RequestFailure =>
  new RequestFailure(
    'rejected',
    `The source returned a delta entry of ${collection} that names none of its records: ${JSON.stringify(value)?.slice(0, 120)}`,
  );
