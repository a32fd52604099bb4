import { hash } from 'node:crypto';
import { type FieldValues, REPLICA_TIMESTAMP, type Resource } from '../dictionary/index.ts';
import { isChildCount } from './child-counts.ts';
import { type Owner, type StoreSettings, stampsAsOwn } from './settings.ts';
import { isStamp } from './stamps.ts';

/** Fields that follow from the parent or from this store, whether the input gave them or not. */
const DERIVED = new Set([
  'OriginatingSystemResourceRecordKey',
  'OriginatingSystemResourceRecordSystemID',
  REPLICA_TIMESTAMP,
]);

/** Whether a field is no content of its record's own. */
export const isDerived = (name: string): boolean => DERIVED.has(name);

/** A field that a content hash is made of. */
interface HashedField {
  readonly name: string;
  /** Left out where it says what follows from the parent: its key, or its originating system as far as it is known. */
  readonly follows?: 'key' | 'system';
  /** Counts children of the record. */
  readonly isCount?: true;
}

/** The fields that the hash of a resource's records is made of, in their order. */
export const hashedFields = (resource: Resource, owner: Owner): readonly HashedField[] =>
  fieldsOf(resource)[owner].list;

/** Characters of a hash. */
export const HASH_LENGTH = 22;

/**
 * Tells two contents apart: 128 bits over the values that are not null, in the order of their names. In an authority
 * stamps are no part of it; in a replica they are, since there they are what the source sent. What follows from the
 * parent is no part of it either, but where a replica's source says something else.
 * @param system the originating system of the record's parent; undefined where it is not known
 * @param counts of its children, in place of those among the values: to copy so many values would take half as long as this
 */
export function contentHash(
  resource: Resource,
  values: FieldValues,
  owner: Owner,
  system?: string | null,
  counts?: FieldValues,
): string {
  const { list, places } = fieldsOf(resource)[owner];
  const names = Object.keys(values);
  if (counts !== undefined) {
    names.push(...Object.keys(counts).filter((name) => values[name] === undefined));
  }
  let text = '';
  for (const place of placesOf(names, places)) {
    const { name = '', follows, isCount } = list[place] ?? {};
    const value = isCount === true && counts !== undefined ? counts[name] : values[name];
    if (value === undefined) continue;
    if (follows === 'key' && value === values.ResourceRecordKey) continue;
    if (follows === 'system' && (system === undefined || value === system)) continue;
    text += `${name}\n${JSON.stringify(value)}\n`;
  }
  return hash('sha256', text, 'base64url').slice(0, HASH_LENGTH);
}

/**
 * The places of the names that a record has among those that are hashed, in their order. To ask a record for each of
 * 600 fields takes three times as long.
 */
function placesOf(names: readonly string[], places: ReadonlyMap<string, number>): Uint16Array {
  const found = new Uint16Array(names.length);
  let count = 0;
  for (const name of names) {
    const place = places.get(name);
    if (place !== undefined) found[count++] = place;
  }
  return found.subarray(0, count).sort();
}

/** The hash of a stored content, whose own stamp came after the hash was made. */
export function storedHash(
  resource: Resource,
  values: FieldValues,
  settings: Pick<StoreSettings, 'owner' | 'onwardTimestamps'>,
  system?: string | null,
): string {
  if (!stampsAsOwn(settings)) return contentHash(resource, values, settings.owner, system);
  const { [OWN_STAMP]: _, ...sent } = values;
  return contentHash(resource, sent, settings.owner, system);
}

/** What a store that stamps as its own puts in place of what was sent, after the hash was made. */
export const OWN_STAMP = 'ModificationTimestamp';

interface HashedFields {
  readonly list: readonly HashedField[];
  /** Of each name in the list. */
  readonly places: ReadonlyMap<string, number>;
}

const known = new WeakMap<Resource, Readonly<Record<Owner, HashedFields>>>();

function fieldsOf(resource: Resource): Readonly<Record<Owner, HashedFields>> {
  const found = known.get(resource);
  if (found !== undefined) return found;
  const replica = [...resource.fields.keys()].filter((name) => name !== REPLICA_TIMESTAMP).toSorted();
  const stamps = new Set([...resource.fields.values()].filter(isStamp).map((field) => field.name));
  const authority = replica.filter((name) => !DERIVED.has(name) && !stamps.has(name));
  const hashed = (names: readonly string[]): HashedFields => ({
    list: names.map((name) => hashedField(resource, name)),
    places: new Map(names.map((name, place) => [name, place])),
  });
  const fields = { replica: hashed(replica), authority: hashed(authority) };
  known.set(resource, fields);
  return fields;
}

function hashedField({ name: resource }: Resource, name: string): HashedField {
  switch (name) {
    case 'OriginatingSystemResourceRecordKey':
      return { name, follows: 'key' };
    case 'OriginatingSystemResourceRecordSystemID':
      return { name, follows: 'system' };
    default:
      return isChildCount({ resource, name }) ? { name, isCount: true } : { name };
  }
}
