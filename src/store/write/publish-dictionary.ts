import type { Role } from '../../access/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import type { ValueInUse } from '../../compile/values-in-use.ts';
import type { Field, FieldValues, Lookup } from '../../dictionary/index.ts';
import { standardDictionary } from '../../dictionary/index.ts';
import { contentHash } from '../../records/content-hash.ts';
import type { StoredRow } from '../../records/rows.ts';
import type { WriteTransaction } from './transaction.ts';

/** What the store publishes of one field, or of one value of a lookup. */
export interface PublishedEntry {
  readonly key: string;
  readonly values: FieldValues;
  /** Bits of the roles that may see it. */
  readonly audience: number;
}

/**
 * Brings the Field and Lookup resources in line with the fields in use. They show a role no field that it may not see, and
 * no lookup that only such fields have (I4).
 */
export async function publishDictionary(transaction: WriteTransaction): Promise<void> {
  const { model } = transaction;
  const fields = fieldEntries(model);
  await publish(
    transaction,
    'Field',
    fields.map(({ entry }) => entry),
  );
  const used = (await transaction.valuesInUse()).map(entryOfValue);
  await publish(transaction, 'Lookup', [...lookupEntries(model, fields), ...used]);
}

/** The entry of a value in use that is in no list. */
export function entryOfValue({ lookup, value, audience }: ValueInUse): PublishedEntry {
  const key = `${lookup}.${value}`;
  return { key, values: { LookupKey: key, LookupName: lookup, LookupValue: value }, audience };
}

/** Brings the Lookup resource in line with values that came into use or went out of use for a role. */
export async function publishValues(
  transaction: WriteTransaction,
  values: readonly ValueInUse[],
): Promise<void> {
  const changed = values.map(entryOfValue);
  if (changed.length === 0) return;
  const stored = await transaction.find(
    'Lookup',
    changed.map(({ key }) => key),
  );
  const [used, unused] = [
    changed.filter(({ audience }) => audience !== 0),
    changed.filter(({ audience }) => audience === 0),
  ];
  await transaction.remove(
    'Lookup',
    unused.flatMap(({ key }) => stored.get(key) ?? []),
  );
  await putEntries(transaction, 'Lookup', used, stored);
}

/** The work of a transaction, followed by publishing the values that it brought into use. */
export const publishing =
  <T>(work: (transaction: WriteTransaction) => Promise<T>) =>
  async (transaction: WriteTransaction): Promise<T> => {
    const result = await work(transaction);
    await publishValues(transaction, await transaction.valuesChanged());
    return result;
  };

function audienceOf(model: StoreModel, field: Field): number {
  const sees = (role: Role): boolean => role.readsResource(field.resource) && role.seesField(field);
  return [...model.rules.roles.values()].reduce((bits, role) => (sees(role) ? bits | role.bit : bits), 0);
}

function fieldEntries(model: StoreModel): { field: Field; entry: PublishedEntry }[] {
  const inUse = [...model.dictionary.resources.values()].flatMap(({ fields }) =>
    [...fields.values()].filter(model.inUse),
  );
  return inUse.map((field) => {
    const key = `${field.resource}.${field.name}`;
    const values = { FieldKey: key, ResourceName: field.resource, FieldName: field.name };
    return { field, entry: { key, values, audience: audienceOf(model, field) } };
  });
}

function lookupEntries(
  model: StoreModel,
  fields: readonly { field: Field; entry: PublishedEntry }[],
): PublishedEntry[] {
  const audiences = new Map<string, number>();
  for (const { field, entry } of fields) {
    if (field.lookup === undefined) continue;
    audiences.set(field.lookup, (audiences.get(field.lookup) ?? 0) | entry.audience);
  }
  return [...audiences].flatMap(([name, audience]) => {
    const lookup = model.dictionary.lookups.get(name);
    return lookup === undefined ? [] : valuesOf(lookup).map((entry) => ({ ...entry, audience }));
  });
}

function valuesOf(lookup: Lookup): Omit<PublishedEntry, 'audience'>[] {
  const standard = standardDictionary().lookups.get(lookup.name);
  return [...lookup.values.values()].map(({ value, legacy }) => {
    const key = `${lookup.name}.${value}`;
    const values: Record<string, string> = { LookupKey: key, LookupName: lookup.name, LookupValue: value };
    if (standard?.values.has(value)) values.StandardLookupValue = value;
    if (legacy !== undefined) values.LegacyODataValue = legacy;
    return { key, values };
  });
}

/** The entries to publish, by key. */
export function publishedEntries(model: StoreModel, resource: string): ReadonlyMap<string, PublishedEntry> {
  const known = published.get(model) ?? new Map<string, ReadonlyMap<string, PublishedEntry>>();
  published.set(model, known);
  const made = known.get(resource);
  if (made !== undefined) return made;
  const fields = fieldEntries(model);
  const entries = resource === 'Field' ? fields.map(({ entry }) => entry) : lookupEntries(model, fields);
  const byKey = new Map(entries.map((entry) => [entry.key, entry]));
  known.set(resource, byKey);
  return byKey;
}

const published = new WeakMap<StoreModel, Map<string, ReadonlyMap<string, PublishedEntry>>>();

export const publishedHash = (
  model: StoreModel,
  resource: string,
  { values, audience }: PublishedEntry,
): string => `${contentHash(model.resource(resource), values, 'authority')}.${audience}`;

async function publish(
  transaction: WriteTransaction,
  resource: string,
  entries: readonly PublishedEntry[],
): Promise<void> {
  const stored = new Map((await transaction.all(resource)).map((row) => [row.key, row]));
  const keys = new Set(entries.map(({ key }) => key));
  await transaction.remove(
    resource,
    [...stored.values()].filter(({ key }) => !keys.has(key)),
  );
  await putEntries(transaction, resource, entries, stored);
}

async function putEntries(
  transaction: WriteTransaction,
  resource: string,
  entries: readonly PublishedEntry[],
  stored: ReadonlyMap<string, StoredRow>,
): Promise<void> {
  const { model, timestamps } = transaction;
  const changed = entries.flatMap(({ key, values, audience }) => {
    const hash = publishedHash(model, resource, { key, values, audience });
    const before = stored.get(key);
    if (before?.hash === hash) return [];
    const place = { parent: null, parentResource: null, system: null, kind: null };
    return [{ ...place, key, stored: before, hash, values, audience }];
  });
  const stampOf = timestamps.of(
    resource,
    changed.map(({ key }) => key),
    changed.every((row) => row.stored === undefined),
  );
  const stamped = changed.map((row) => {
    return { ...row, values: { ...row.values, ModificationTimestamp: stampOf(row.key) } };
  });
  await transaction.put(resource, stamped);
}
