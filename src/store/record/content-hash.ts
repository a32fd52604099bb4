import { hash } from 'node:crypto';
import { type FieldValue, type FieldValues, REPLICA_STAMP, type Resource } from '../../dictionary/index.ts';
import { type Owner, type StoreSettings, stampsAsOwn } from '../settings.ts';
import { isStamp } from './stamps.ts';

/** Fields that follow from the parent or from this store, whether the input gave them or not. */
const DERIVED = new Set([
  'OriginatingSystemResourceRecordKey',
  'OriginatingSystemResourceRecordSystemID',
  REPLICA_STAMP,
]);

/** Whether a field is no content of its record's own. */
export const isDerived = (name: string): boolean => DERIVED.has(name);

/**
 * Tells two contents apart: 128 bits over the values that are not null, in the order of their names. In an authority
 * stamps are no part of it; in a replica they are, since there they are what the source sent. What follows from the
 * parent is no part of it either, but where a replica's source says something else.
 * @param system the originating system of the record's parent; undefined where it is not known
 */
export function contentHash(
  resource: Resource,
  values: FieldValues,
  owner: Owner,
  system?: string | null,
): string {
  let text = '';
  for (const name of contentNames(resource)[owner]) {
    const value = values[name];
    if (value === undefined || (DERIVED.has(name) && follows(name, value, values, system))) continue;
    text += `${name}\n${JSON.stringify(value)}\n`;
  }
  return hash('sha256', text, 'base64url').slice(0, 22);
}

/** Whether a derived field says what follows from the parent. */
function follows(
  name: string,
  value: FieldValue,
  values: FieldValues,
  system: string | null | undefined,
): boolean {
  if (name === 'OriginatingSystemResourceRecordKey') return value === values.ResourceRecordKey;
  return system === undefined || value === system;
}

/** The hash of a stored content, whose own stamp came after the hash was made. */
export function storedHash(
  resource: Resource,
  values: FieldValues,
  settings: Pick<StoreSettings, 'owner' | 'onwardTimestamps'>,
  system?: string | null,
): string {
  if (!stampsAsOwn(settings)) return contentHash(resource, values, settings.owner, system);
  const { ModificationTimestamp: _, ...sent } = values;
  return contentHash(resource, sent, settings.owner, system);
}

type ContentNames = Readonly<Record<Owner, readonly string[]>>;

const namesOf = new WeakMap<Resource, ContentNames>();

/** The fields that count, in the order of their names. */
function contentNames(resource: Resource): ContentNames {
  const known = namesOf.get(resource);
  if (known !== undefined) return known;
  const replica = [...resource.fields.keys()].filter((name) => name !== REPLICA_STAMP).toSorted();
  const stamps = new Set([...resource.fields.values()].filter(isStamp).map((field) => field.name));
  const authority = replica.filter((name) => !DERIVED.has(name) && !stamps.has(name));
  const names = { replica, authority };
  namesOf.set(resource, names);
  return names;
}
