/** The hash of a record's content, by which a write recognizes an unchanged record. */
import { hash } from 'node:crypto';
import { type FieldValue, type FieldValues, REPLICA_TIMESTAMP, type Resource } from '../dictionary/index.ts';
import { memoizePerObject } from '../shared/memoize.ts';
import { isChildCount } from './media.ts';
import { ListedValues, valueIn } from './rows.ts';
import { type Owner, returnsOwnTimestamps, type StoreSettings } from './settings.ts';
import { isAssignedTimestamp } from './timestamps.ts';

/** Fields whose values follow from the parent or from the store itself, whether or not the input contains them. */
const DERIVED = new Set([
  'OriginatingSystemResourceRecordKey',
  'OriginatingSystemResourceRecordSystemID',
  REPLICA_TIMESTAMP,
]);

/** Whether a field is not part of a record's own content. */
export const isDerived = (name: string): boolean => DERIVED.has(name);

/** A field that a content hash covers. */
export interface HashedField {
  readonly name: string;
  /** If present, the hash omits a value that follows from the parent: the parent's key, or its originating system if known. */
  readonly follows?: 'key' | 'system';
}

/** A form of the hash of a resource's records. */
export interface HashForm {
  /** The fields that the hash covers, in order. */
  readonly list: readonly HashedField[];
  /** The number of characters of the hash. */
  readonly length: number;
}

/**
 * The current form of the hashes of a resource, and the form that earlier versions of plat used, if it was different: the hash of
 * an authority's listing covered the counts of its children, so that each new photo changed it.
 */
export function hashForms(
  resource: Resource,
  owner: Owner,
): { readonly form: HashForm; readonly former: HashForm | undefined } {
  const forms = fieldsOf(resource);
  return { form: forms[owner], former: owner === 'authority' ? forms.counted : undefined };
}

/** The number of characters of a hash; a hash that excludes the counts of children has one more. */
const HASH_LENGTH = 22;

/**
 * The number of characters of the hashes that earlier versions of plat computed for a resource; undefined if their form was the
 * same.
 */
export const formerHashLength = (resource: Resource, owner: Owner): number | undefined =>
  hashForms(resource, owner).former?.length;

/** Whether a stored hash has the form that earlier versions of plat used. */
export const isFormerHash = (resource: Resource, owner: Owner, hash: string): boolean =>
  formerHashLength(resource, owner) === hash.length;

/**
 * Computes a hash of 128 bits over the values that are not null, in the order of their names. It excludes timestamps and counts of
 * children that an authority assigns, but includes those that a replica received. It excludes values that follow from the parent,
 * unless the replica's source sent other ones.
 * @param system the originating system of the record's parent; undefined if it is unknown
 * @param sameFormAs a stored hash, whose form the result has
 */
export function contentHash(
  resource: Resource,
  values: FieldValues,
  owner: Owner,
  system?: string | null,
  sameFormAs = '',
): string {
  const forms = fieldsOf(resource);
  const { list, places, length } =
    isFormerHash(resource, owner, sameFormAs) && forms.counted !== undefined ? forms.counted : forms[owner];
  const fields = [...positionsOf(Object.keys(values), places)].flatMap((place) => list[place] ?? []);
  const given = fields.map(({ name }) => values[name]);
  return hashOf({ list: fields, length }, given, values.ResourceRecordKey, system);
}

/** Hashes the contents of records that have only certain fields. It is called for each record. */
export type ContentHasher = (values: FieldValues | ListedValues, system?: string | null) => string;

type FieldsInUse = ReadonlyMap<string, unknown>;
const hashersOf = memoizePerObject((_: Resource) => new WeakMap<FieldsInUse, Map<Owner, ContentHasher>>());

/**
 * Makes a faster `contentHash` for records that have only fields in use: looking these up in the record takes less time than
 * sorting the record's names.
 * @param inUse the fields in use of the resource; must be the same object until they change
 */
export function contentHasher(resource: Resource, owner: Owner, inUse: FieldsInUse): ContentHasher {
  const ofFields = hashersOf(resource).getOrInsertComputed(inUse, () => new Map());
  return ofFields.getOrInsertComputed(owner, () => {
    const { list, length } = fieldsOf(resource)[owner];
    const form = { list: list.filter(({ name }) => inUse.has(name)), length };
    const names = form.list.map(({ name }) => name);
    return (values, system) => {
      const list = values instanceof ListedValues ? values.inOrder(names) : names.map((name) => values[name]);
      return hashOf(form, list, valueIn(values, 'ResourceRecordKey'), system);
    };
  });
}

/** @param values the values of the fields, in their order @param key the key of the parent, as the record names it */
function hashOf(
  { list, length }: HashForm,
  values: readonly (FieldValue | undefined)[],
  key: FieldValue | undefined,
  system: string | null | undefined,
): string {
  let text = '';
  let at = 0;
  for (const { name, follows } of list) {
    const value = values[at++];
    if (value === undefined) continue;
    if (follows === 'key' && value === key) continue;
    if (follows === 'system' && (system === undefined || value === system)) continue;
    text += `${name}\n${JSON.stringify(value)}\n`;
  }
  return hash('sha256', text, 'base64url').slice(0, length);
}

/** Positions of a record's names among the hashed fields, ascending; a lookup per field takes three times as long. */
function positionsOf(names: readonly string[], places: ReadonlyMap<string, number>): Uint16Array {
  const found = new Uint16Array(names.length);
  let count = 0;
  for (const name of names) {
    const place = places.get(name);
    if (place !== undefined) found[count++] = place;
  }
  return found.subarray(0, count).sort();
}

/** The hash of a stored content whose own timestamp was set after hashing. @param system as in `contentHash` */
export function hashOfStoredContent(
  resource: Resource,
  values: FieldValues,
  settings: Pick<StoreSettings, 'owner' | 'onwardTimestamps'>,
  system?: string | null,
  sameFormAs?: string,
): string {
  if (!returnsOwnTimestamps(settings))
    return contentHash(resource, values, settings.owner, system, sameFormAs);
  const { [ASSIGNED_TIMESTAMP]: _, ...sent } = values;
  return contentHash(resource, sent, settings.owner, system);
}

/** The field that a store which assigns timestamps overwrites after the content has been hashed. */
export const ASSIGNED_TIMESTAMP = 'ModificationTimestamp';

interface HashedFields extends HashForm {
  /** The position of each name in the list. */
  readonly places: ReadonlyMap<string, number>;
}

interface HashedByOwner extends Readonly<Record<Owner, HashedFields>> {
  /** The fields that earlier versions of plat hashed in an authority; undefined if they were the same. */
  readonly counted: HashedFields | undefined;
}

const fieldsOf = memoizePerObject((resource: Resource): HashedByOwner => {
  const replica = [...resource.fields.keys()].filter((name) => name !== REPLICA_TIMESTAMP).toSorted();
  const stamps = new Set(
    [...resource.fields.values()].filter(isAssignedTimestamp).map((field) => field.name),
  );
  const counted = replica.filter((name) => !DERIVED.has(name) && !stamps.has(name));
  const authority = counted.filter((name) => !isChildCount({ resource: resource.name, name }));
  const isCounting = counted.length > authority.length;
  const hashed = (names: readonly string[], length = HASH_LENGTH): HashedFields => ({
    list: names.map(hashedField),
    length,
    places: new Map(names.map((name, place) => [name, place])),
  });
  return {
    replica: hashed(replica),
    authority: hashed(authority, isCounting ? HASH_LENGTH + 1 : HASH_LENGTH),
    counted: isCounting ? hashed(counted) : undefined,
  };
});

function hashedField(name: string): HashedField {
  switch (name) {
    case 'OriginatingSystemResourceRecordKey':
      return { name, follows: 'key' };
    case 'OriginatingSystemResourceRecordSystemID':
      return { name, follows: 'system' };
    default:
      return { name };
  }
}
