import type { StoreModel } from '../../compile/model.ts';
import type { MediaKind } from '../../dictionary/index.ts';
import { contentHash } from '../../records/content-hash.ts';
import { mediaKind } from '../../records/media.ts';
import type { ParsedRecord } from '../../records/parsed-record.ts';
import { derivedCounts } from './child-counts.ts';

/** A record made ready before the write lock is taken. */
export interface PreparedRecord {
  readonly record: ParsedRecord;
  readonly hash: string;
  readonly kind: MediaKind | null;
  readonly children: ReadonlyMap<string, readonly PreparedRecord[]>;
}

/** Stands for the hash of a record that has its counts yet to come: they are part of it (child-counts.ts). */
const UNCOUNTED = '';

export function prepareRecord(record: ParsedRecord, model: StoreModel): PreparedRecord {
  const { resource, values } = record;
  const children = new Map<string, PreparedRecord[]>();
  for (const [navigation, records] of record.children) {
    children.set(
      navigation,
      records.map((child) => prepareRecord(child, model)),
    );
  }
  return {
    record,
    hash:
      derivedCounts(model, resource.name).length > 0
        ? UNCOUNTED
        : contentHash(resource, values, model.settings.owner),
    kind: resource.name === 'Media' ? mediaKind(values) : null,
    children,
  };
}
