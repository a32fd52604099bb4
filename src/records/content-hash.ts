/** The hash of a record's content, by which a write recognizes an unchanged record. */
import { hash } from 'node:crypto';
import { type FieldValues, REPLICA_TIMESTAMP, type Resource } from '../dictionary/index.ts';
import { isChildCount } from './media.ts';
import { type Owner, type StoreSettings, stampsAsOwn } from './settings.ts';
import { isStamp } from './stamps.ts';

/** Fields whose values follow from the parent or from the store itself, whether or not the input contains them. */
const DERIVED = new Set([
  'OriginatingSystemResourceRecordKey',
  'OriginatingSystemResourceRecordSystemID',
  REPLICA_TIMESTAMP,
]);

/** Whether a field is not part of a record's own content. */
export const isDerived = (name: string): boolean => DERIVED.has(name);

/** A field that a content hash covers. */
interface HashedField {
  readonly name: string;
  /** Omitted if its value follows from the parent: the parent's key, or its originating system if that is known. */
  readonly follows?: 'key' | 'system';
  /** Whether the field counts children of the record. */
  readonly isCount?: true;
}

/** The fields that the hash of a resource's records covers, in their order. */
export const hashedFields = (resource: Resource, owner: Owner): readonly HashedField[] =>
  fieldsOf(resource)[owner].list;

/** The number of characters of a hash. */
export const HASH_LENGTH = 22;

/**
 * A hash of 128 bits over the values that are not null, in the order of their names. It excludes timestamps that an authority
 * assigns, but includes those that a replica received. It excludes values that follow from the parent, unless the replica's source
 * has other ones.
 *
 * @param system the originating system of the record's parent; undefined if it is unknown
 * @param counts counts of children, which replace those among the values. They are passed separately because copying the values
 * would take half as long as hashing them.
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
  const fields = [...placesOf(names, places)].flatMap((place) => list[place] ?? []);
  return hashOf(fields, values, system, counts);
}

/** Hashes the contents of records that have only certain fields. It is called for each record. */
export type ContentHasher = (values: FieldValues, system?: string | null, counts?: FieldValues) => string;

type FieldsInUse = ReadonlyMap<string, unknown>;
const hashers = new WeakMap<Resource, WeakMap<FieldsInUse, Map<Owner, ContentHasher>>>();

/**
 * `contentHash` for records that have only fields in use. Looking those up in the record takes less time than sorting the record's
 * names.
 *
 * @param inUse the fields in use of the resource; the same object as long as they do not change
 */
export function contentHasher(resource: Resource, owner: Owner, inUse: FieldsInUse): ContentHasher {
  const ofResource = hashers.get(resource) ?? new WeakMap<FieldsInUse, Map<Owner, ContentHasher>>();
  hashers.set(resource, ofResource);
  const ofFields = ofResource.get(inUse) ?? new Map<Owner, ContentHasher>();
  ofResource.set(inUse, ofFields);
  const known = ofFields.get(owner);
  if (known !== undefined) return known;
  const fields = fieldsOf(resource)[owner].list.filter(({ name }) => inUse.has(name));
  const made: ContentHasher = (values, system, counts) => hashOf(fields, values, system, counts);
  ofFields.set(owner, made);
  return made;
}

function hashOf(
  fields: readonly HashedField[],
  values: FieldValues,
  system: string | null | undefined,
  counts: FieldValues | undefined,
): string {
  let text = '';
  for (const { name, follows, isCount } of fields) {
    const value = isCount === true && counts !== undefined ? counts[name] : values[name];
    if (value === undefined) continue;
    if (follows === 'key' && value === values.ResourceRecordKey) continue;
    if (follows === 'system' && (system === undefined || value === system)) continue;
    text += `${name}\n${JSON.stringify(value)}\n`;
  }
  return hash('sha256', text, 'base64url').slice(0, HASH_LENGTH);
}

/**
 * The positions, among the hashed fields, of a record's names, in ascending order. Looking up each of 600 fields in the record
 * would take three times as long.
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

/** The hash of a stored content whose own timestamp was set after hashing. */
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

/** The field that a store which assigns timestamps overwrites after the content has been hashed. */
export const OWN_STAMP = 'ModificationTimestamp';

interface HashedFields {
  readonly list: readonly HashedField[];
  /** The position of each name in the list. */
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
