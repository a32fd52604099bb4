import type { StoreModel } from '../../compile/model.ts';
import { CHILD_COUNTS, type MediaKind, type Resource } from '../../dictionary/index.ts';
import { type ContentHasher, contentHash, contentHasher } from '../../records/content-hash.ts';
import { COUNTING_RESOURCE, mediaKind } from '../../records/media.ts';
import type { ParsedRecord } from '../../records/parsed-record.ts';

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
  return (values, system) => contentHash(resource, values, owner, system);
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
    hash: record.prepared?.hash ?? hasherOf(model, resource)(record.values),
    kind: resource.name === 'Media' ? mediaKind(record.values) : null,
    children,
  };
}
