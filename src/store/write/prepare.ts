/** What is done with a record before the write lock is acquired. */
import { isStored, type StoreModel } from '../../compile/model.ts';
import {
  CHILD_COUNTS,
  type Field,
  type FieldValues,
  type MediaKind,
  type Resource,
} from '../../dictionary/index.ts';
import { type ContentHasher, contentHash, contentHasher } from '../../records/content-hash.ts';
import { COUNTED_RESOURCE, COUNTING_RESOURCE, countFieldOf, mediaKind } from '../../records/media.ts';
import type { ParsedRecord } from '../../records/parsed-record.ts';
import { plainValues } from '../../records/rows.ts';
import { timestampsOfNewRecord } from '../../records/timestamps.ts';

/** A record prepared before the write lock is acquired. */
export interface PreparedRecord {
  readonly record: ParsedRecord;
  readonly hash: string;
  readonly kind: MediaKind | null;
  readonly children: ReadonlyMap<string, readonly PreparedRecord[]>;
}

/** The counts in use that a store derives for a resource; none in a replica. */
export function derivedCounts({ settings, profile }: StoreModel, resource: string): readonly string[] {
  if (settings.owner !== 'authority' || resource !== COUNTING_RESOURCE) return [];
  const inUse = profile.since.get(resource);
  return CHILD_COUNTS.filter((name) => inUse?.has(name) === true);
}

/** The hash function for a resource's records, once their fields are in use. */
export function hasherOf(
  { settings, profile }: StoreModel,
  resource: Resource,
  owner = settings.owner,
): ContentHasher {
  const inUse = profile.since.get(resource.name);
  if (inUse !== undefined) return contentHasher(resource, owner, inUse);
  return (values, system) => contentHash(resource, plainValues(values), owner, system);
}

export function prepareRecord(record: ParsedRecord, model: StoreModel): PreparedRecord {
  const { resource } = record;
  const children = new Map<string, PreparedRecord[]>();
  for (const [navigation, records] of record.children) {
    children.set(
      navigation,
      records.map((child) => prepareRecord(child, model)),
    );
  }
  return {
    record,
    hash: record.prepared?.hash ?? hasherOf(model, resource)(record.listed ?? record.values),
    kind: resource.name === 'Media' ? mediaKind(record.values) : null,
    children,
  };
}

const NOTHING_KNOWN: ReadonlyMap<string, number> = new Map();

/** Fields that have a value for the first time. */
export function newFieldsInUse(model: StoreModel, batch: readonly ParsedRecord[]): Field[] {
  const found = new Set<Field>();
  const isAuthority = model.settings.owner === 'authority';
  const addIfNew = (
    resource: Resource,
    known: ReadonlyMap<string, number> | undefined,
    name: string,
  ): void => {
    if (known?.has(name) === true) return;
    const field = resource.fields.get(name);
    if (field !== undefined && isStored(field, model.settings)) found.add(field);
  };
  const collect = (record: ParsedRecord): void => {
    if (record.prepared?.generation === model.generation) return;
    const { resource, listed, children, dropped } = record;
    const known = model.profile.since.get(resource.name);
    addIfNew(resource, known, 'ModificationTimestamp');
    if (isAuthority)
      for (const name of timestampsOfNewRecord(resource.fields, record.values))
        addIfNew(resource, known, name);
    if (listed === undefined) for (const name in record.values) addIfNew(resource, known, name);
    else for (const name of listed.namesOutside(known ?? NOTHING_KNOWN)) addIfNew(resource, known, name);
    if (isAuthority && areCountsNew) addNewCounts(resource.name, record.values, dropped);
    for (const records of children.values()) records.forEach(collect);
  };
  const counting = model.dictionary.resources.get(COUNTING_RESOURCE);
  const counts = model.profile.since.get(COUNTING_RESOURCE);
  const areCountsNew = !CHILD_COUNTS.every((name) => counts?.has(name));
  /** A count comes into use with the first medium that it counts, or when a record names it. */
  function addNewCounts(resource: string, values: FieldValues, dropped: ParsedRecord['dropped']): void {
    const named = dropped.filter(({ why }) => why === 'count').map(({ name }) => name);
    const counted = resource === COUNTED_RESOURCE ? countFieldOf(mediaKind(values)) : undefined;
    for (const name of counted === undefined ? named : [counted]) {
      const field = counts?.has(name) === true ? undefined : counting?.fields.get(name);
      if (field !== undefined) found.add(field);
    }
  }
  batch.forEach(collect);
  return [...found];
}
