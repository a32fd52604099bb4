import type { FieldValue } from '../../dictionary/index.ts';
import { contentHash } from '../../records/content-hash.ts';
import { isMediaOfListing, systemFieldsOfMedia } from '../../records/media.ts';
import { fillMissing, setFromParent } from '../../records/place.ts';
import type { StoredRow } from '../../records/rows.ts';
import type { Owner } from '../../records/settings.ts';
import type { MutableRow } from './own-stamps.ts';
import type { PreparedRecord } from './prepare.ts';
import type { WriteTransaction } from './transaction.ts';

/** The parent that a child names. */
export interface ParentName {
  readonly resource: string;
  readonly key: string;
}

/** The parent that a record's own fields name; undefined for resources without a parent. */
export function namedParent({ record }: PreparedRecord): ParentName | undefined {
  const { resource, values } = record;
  const { parent } = resource;
  if (parent === undefined) return undefined;
  const key = textOf(values[parent.keyField]) ?? '';
  if (parent.kind === 'fixed') return { resource: parent.resource, key };
  return { resource: textOf(values[parent.resourceField]) ?? 'Property', key };
}

/** The hash of a child under a parent in an originating system. A different system that its source names is content (I6). */
export function hashUnderSystem(
  { record: { resource, values }, hash }: PreparedRecord,
  system: string | null | undefined,
  owner: Owner,
): string {
  const given = values.OriginatingSystemResourceRecordSystemID;
  const isForeign = given !== undefined && system !== undefined && given !== system;
  return owner === 'replica' && isForeign ? contentHash(resource, values, owner, system) : hash;
}

/** A child ready to be stored under its parent, or the reason why it cannot be stored. */
type PlacedChild =
  | { readonly ok: true; readonly row: MutableRow }
  | { readonly ok: false; readonly reason: string };

/**
 * @param system of the parent and therefore of the child; undefined while the parent is not stored
 * @param owner an authority rejects a child that names another system; a replica keeps what its source sent
 */
export function placeChild(
  child: PreparedRecord,
  parent: ParentName,
  system: string | null | undefined,
  stored: StoredRow | undefined,
  owner: Owner,
): PlacedChild {
  const { resource, key } = child.record;
  const values: Record<string, FieldValue> = { ...child.record.values };
  const own = textOf(values.OriginatingSystemID);
  if (isMediaOfListing(resource, values)) {
    const ofListing = systemFieldsOfMedia(undefined, system ?? undefined);
    if (owner === 'replica') fillMissing(values, ofListing);
    else {
      const [reason] = setFromParent(values, ofListing, '');
      if (reason !== undefined) return { ok: false, reason };
    }
  }
  const row: MutableRow = {
    key,
    stored,
    parent: parent.key,
    parentResource: parent.resource,
    system: system === undefined ? (own ?? null) : system,
    kind: child.kind,
    hash: hashUnderSystem(child, system, owner),
    values,
  };
  return { ok: true, row };
}

/**
 * Why a stored record may not be replaced by this one: in an authority, a key belongs to one originating system; in a
 * replica, to one source, whose records may move between systems.
 * @param given the originating system of the record
 */
export function ownershipConflict(
  { source, model }: Pick<WriteTransaction, 'source' | 'model'>,
  stored: StoredRow | undefined,
  given: FieldValue | undefined,
): string | undefined {
  if (stored !== undefined && stored.source !== source) {
    return `The key belongs to ${stored.source === null ? 'this store' : `the source ${stored.source}`}`;
  }
  return model.settings.owner === 'replica' ? undefined : systemConflict(stored, textOf(given));
}

function systemConflict(stored: StoredRow | undefined, given: string | undefined): string | undefined {
  if (stored === undefined || stored.system === null || given === undefined || given === stored.system) {
    return undefined;
  }
  return `The key belongs to the originating system ${stored.system}; this record is of ${given}`;
}

const textOf = (value: FieldValue | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
