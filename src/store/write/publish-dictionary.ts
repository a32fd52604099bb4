/** Stores the records of the resources Field and Lookup, by which a role learns which fields and values it may see. */
import type { Role } from '../../access/index.ts';
import { PUBLISHED_RESOURCES } from '../../compile/layout/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import type { LookupValue, ValueInUse } from '../../compile/values-in-use.ts';
import { type Field, type FieldValues, type Lookup, standardDictionary } from '../../dictionary/index.ts';
import type { StoredRow } from '../../records/rows.ts';
import { chunked } from '../../shared/chunked.ts';
import { memoizePerObject } from '../../shared/memoize.ts';
import { hasherOf } from './prepare.ts';
import type { WriteTransaction } from './transaction.ts';

const LOOKUP = 'Lookup';

/** A published field, or a published value of a lookup. */
export interface PublishedEntry {
  readonly key: string;
  readonly values: FieldValues;
  /** Bits of the roles that may see it. */
  readonly audience: number;
  /** Whether it is known not to be stored yet. */
  readonly isNew?: boolean | undefined;
}

/** The number of entries in memory at once: a market has hundreds of thousands of values, of 1.5 kB each. */
const AT_ONCE = 1000;

/** Updates the Field and Lookup resources. A role receives only its fields, and only lookups that these have (I4). */
export async function publishDictionary(transaction: WriteTransaction): Promise<void> {
  for (const resource of PUBLISHED_RESOURCES) {
    await removeUnpublished(transaction, resource);
    await putEntries(transaction, resource, entriesOf(transaction, resource));
  }
}

/**
 * Publishes the changes that result from fields that came into use. The values in use stay: no record has been written since.
 * @param before the model without these fields, with the same settings
 */
export async function publishFields(transaction: WriteTransaction, before: StoreModel): Promise<void> {
  for (const resource of PUBLISHED_RESOURCES) {
    const known = publishedEntries(before, resource);
    const changed = [...publishedEntries(transaction.model, resource).values()].filter(
      ({ key, audience }) => known.get(key)?.audience !== audience,
    );
    await putEntries(transaction, resource, chunked(changed, AT_ONCE));
  }
}

/** The entry of a value in use that is in no list. */
export function entryOfValue({ lookup, value, audience, isNew }: ValueInUse): PublishedEntry {
  const key = `${lookup}.${value}`;
  return { key, values: { LookupKey: key, LookupName: lookup, LookupValue: value }, audience, isNew };
}

/** Updates the Lookup resource for values that came into use or went out of use for a role. */
export async function publishValues(
  transaction: WriteTransaction,
  values: readonly ValueInUse[],
): Promise<void> {
  const changed = values.map(entryOfValue);
  if (changed.length === 0) return;
  const [used, unused] = [
    changed.filter(({ audience }) => audience !== 0),
    changed.filter(({ audience }) => audience === 0),
  ];
  for (const some of chunked(unused, AT_ONCE)) {
    const stored = await transaction.find(LOOKUP, keysOf(some));
    await transaction.remove(
      LOOKUP,
      some.flatMap(({ key }) => stored.get(key) ?? []),
    );
  }
  await putEntries(transaction, LOOKUP, chunked(used, AT_ONCE));
}

/** Performs the work of a transaction, then publishes the values that it brought into use. */
export const withPublishedValues =
  <T>(work: (transaction: WriteTransaction) => Promise<T>) =>
  async (transaction: WriteTransaction): Promise<T> => {
    const result = await work(transaction);
    await publishValues(transaction, await transaction.takeChangedValues());
    return result;
  };

function audienceOfField(model: StoreModel, field: Field): number {
  const sees = (role: Role): boolean => role.readsResource(field.resource) && role.seesField(field);
  return [...model.rules.roles.values()].reduce((bits, role) => (sees(role) ? bits | role.bit : bits), 0);
}

function entryOfField(model: StoreModel, field: Field): PublishedEntry {
  const key = `${field.resource}.${field.name}`;
  const values = { FieldKey: key, ResourceName: field.resource, FieldName: field.name };
  return { key, values, audience: audienceOfField(model, field) };
}

function lookupEntries(model: StoreModel, fields: readonly Field[]): PublishedEntry[] {
  const audiences = new Map<string, number>();
  for (const field of fields) {
    if (field.lookup === undefined) continue;
    audiences.set(field.lookup, (audiences.get(field.lookup) ?? 0) | audienceOfField(model, field));
  }
  return [...audiences].flatMap(([name, audience]) => {
    const lookup = model.dictionary.lookups.get(name);
    return lookup === undefined ? [] : entriesOfLookup(lookup, audience);
  });
}

function entriesOfLookup(lookup: Lookup, audience: number): PublishedEntry[] {
  const standard = standardDictionary().lookups.get(lookup.name);
  return [...lookup.values.values()].map(({ value, legacy }) => {
    const key = `${lookup.name}.${value}`;
    const values: Record<string, string> = { LookupKey: key, LookupName: lookup.name, LookupValue: value };
    if (standard?.values.has(value)) values.StandardLookupValue = value;
    if (legacy !== undefined) values.LegacyODataValue = legacy;
    return { key, values, audience };
  });
}

/** The entries to publish, by key. */
export const publishedEntries = (model: StoreModel, resource: string): ReadonlyMap<string, PublishedEntry> =>
  publishedFor(model).getOrInsertComputed(resource, () => {
    const fields = [...model.dictionary.resources.values()].flatMap((each) =>
      [...each.fields.values()].filter(model.inUse),
    );
    const entries =
      resource === 'Field' ? fields.map((field) => entryOfField(model, field)) : lookupEntries(model, fields);
    return new Map(entries.map((entry) => [entry.key, entry]));
  });

const publishedFor = memoizePerObject(
  (_: StoreModel) => new Map<string, ReadonlyMap<string, PublishedEntry>>(),
);

export const publishedHash = (
  model: StoreModel,
  resource: string,
  { values, audience }: PublishedEntry,
): string => `${hasherOf(model, model.resource(resource), 'authority')(values)}.${audience}`;

async function* entriesOf(
  transaction: WriteTransaction,
  resource: string,
): AsyncGenerator<readonly PublishedEntry[]> {
  yield* chunked([...publishedEntries(transaction.model, resource).values()], AT_ONCE);
  if (resource !== LOOKUP) return;
  for (let last: ValueInUse | undefined; ; ) {
    const used = await transaction.valuesInUse(last, AT_ONCE);
    last = used.at(-1);
    if (last === undefined) return;
    yield used.map(entryOfValue);
  }
}

/** Removes stored entries that must not be published. */
async function removeUnpublished(transaction: WriteTransaction, resource: string): Promise<void> {
  const listed = publishedEntries(transaction.model, resource);
  for (let last = ''; ; ) {
    const rows = await transaction.after(resource, last, AT_ONCE);
    const [end] = rows.slice(-1);
    if (end === undefined) return;
    last = end.key;
    const others = rows.filter(({ key }) => !listed.has(key));
    const used = resource === LOOKUP ? await transaction.filterValuesInUse(others.flatMap(valueOfRow)) : [];
    const stays = new Set(keysOf(used.map(entryOfValue)));
    await transaction.remove(
      resource,
      others.filter(({ key }) => !stays.has(key)),
    );
  }
}

function valueOfRow({ values: { LookupName, LookupValue } }: StoredRow): LookupValue[] {
  if (typeof LookupName !== 'string' || typeof LookupValue !== 'string') return [];
  return [{ lookup: LookupName, value: LookupValue }];
}

const keysOf = (entries: readonly { readonly key: string }[]): string[] => entries.map(({ key }) => key);

/** Writes the entries that differ from the stored ones; all are compared first, as their timestamps share the room. */
async function putEntries(
  transaction: WriteTransaction,
  resource: string,
  pieces: Iterable<readonly PublishedEntry[]> | AsyncIterable<readonly PublishedEntry[]>,
): Promise<void> {
  const { model, timestamps } = transaction;
  const changed: { entry: PublishedEntry; hash: string; isNew: boolean }[] = [];
  for await (const entries of pieces) {
    const known = entries.filter(({ isNew }) => isNew !== true);
    const stored = await transaction.find(resource, keysOf(known));
    for (const entry of entries) {
      const hash = publishedHash(model, resource, entry);
      const before = stored.get(entry.key);
      if (before?.hash !== hash) changed.push({ entry, hash, isNew: before === undefined });
    }
  }
  // Entries that change during an import into a new store belong to it, so that the other records keep their room.
  const fills = true;
  const stampOf = timestamps.forRecords(
    resource,
    changed.map(({ entry }) => entry.key),
    fills,
  );
  for (const some of chunked(changed, AT_ONCE)) {
    const known = some.filter(({ isNew }) => !isNew).map(({ entry }) => entry.key);
    const stored = await transaction.find(resource, known);
    await transaction.put(
      resource,
      some.map(({ entry: { key, values, audience }, hash }) => {
        const place = { parent: null, parentResource: null, system: null, kind: null };
        const stamped = { ...values, ModificationTimestamp: stampOf(key) };
        return { ...place, key, stored: stored.get(key), hash, values: stamped, audience };
      }),
    );
  }
}
