/**
 * Entries of the quarantine: the names of entries for data without a valid key, and the source record that an entry concerns. A
 * copy finds out whether an entry is obsolete by this record, not by the name of the entry.
 */
import { hash } from 'node:crypto';
import type { Dictionary } from '../../dictionary/index.ts';
import { isStorableKey } from '../../records/parsed-record.ts';
import { isObject, type JsonObject, tryParseJson } from '../../shared/json.ts';
import type { Keys, QuarantineEntry } from '../../store/checkpoint/checkpoints.ts';

/** The reason for requesting a complete record. Any other reason is the name of a collection, or `children` for all collections. */
export const RECORD = 'record';
export const CHILDREN = 'children';

export type PendingFetch = Keys & { readonly why: string };

/**
 * The name of the quarantine entry for data that was requested and that the source could not return. An entry for a record has the
 * key of the record; an entry for sub-resources of a listing has a name of its own, so that it remains when the listing itself is
 * stored.
 */
export const entryName = (key: string, why: string): string => (why === RECORD ? key : `${key}/${why}`);

/** The quarantine entry for requested data that the source could not return. */
export const pendingEntry = (
  resource: string,
  key: string,
  why: string,
  reason: string,
): QuarantineEntry => ({
  resource,
  key: entryName(key, why),
  reason,
  payload: JSON.stringify({ wanted: why, key }),
});

/** The entry name for received data without a valid key, derived from the record, or from the key if only the key was received. */
export const nameOfPayload = (payload: string): string =>
  `#${hash('sha256', payload, 'base64url').slice(0, 16)}`;

const NAMELESS = /^#[\w-]{16}$/;

/** The name under which marks and the quarantine store a key: an invalid key is replaced by a hash. */
export const storableName = (key: string): string => (isStorableKey(key) ? key : nameOfPayload(key));

/** The source record that an entry concerns: one that the source returns by itself. */
export interface Subject {
  readonly resource: string;
  /** Absent if it is unknown which record it is. */
  readonly key?: string;
}

/** The reason for which the data of an entry was requested; undefined if the entry is for received data. */
export function pendingReason({ payload }: Pick<QuarantineEntry, 'payload'>): string | undefined {
  const { wanted } = parsePayload(payload);
  return typeof wanted === 'string' ? wanted : undefined;
}

export function subjectOf(
  { resources }: Dictionary,
  { resource, key, payload }: Pick<QuarantineEntry, 'resource' | 'key' | 'payload'>,
): Subject {
  const json = parsePayload(payload);
  if (typeof json.wanted === 'string') return { resource, key: keyIn(json.key) ?? key };
  const parent = resources.get(resource)?.parent;
  if (parent === undefined) return NAMELESS.test(key) ? { resource } : { resource, key };
  const [owner, of] =
    parent.kind === 'fixed'
      ? [parent.resource, json[parent.keyField]]
      : [
          keyIn(json[parent.resourceField]) ?? 'Property',
          json[parent.keyField] ?? json.OriginatingSystemResourceRecordKey,
        ];
  const named = keyIn(of);
  return named === undefined ? { resource: owner } : { resource: owner, key: named };
}

function parsePayload(payload: string): JsonObject {
  const json = tryParseJson(payload);
  return isObject(json) ? json : {};
}

const keyIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && isStorableKey(value) ? value : undefined;
