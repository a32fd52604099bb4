/**
 * Entries of the quarantine: the names of data without a valid key, and the record of the source that an entry
 * concerns. By that record, and not by its own name, a copy learns that the source no longer has it.
 */
import { hash } from 'node:crypto';
import type { Dictionary } from '../../dictionary/index.ts';
import { isStorableKey } from '../../records/parsed-record.ts';
import { isObject, type JsonObject, tryParseJson } from '../../shared/json.ts';
import type { Keys, QuarantineEntry } from '../../store/checkpoint/checkpoints.ts';

/** The reason of entries for a complete record; any other is the name of a collection, or `children` for all. */
export const RECORD = 'record';
export const CHILDREN = 'children';

/** Keys that are to be requested from the source, and why. */
export type PendingFetch = Keys & { readonly why: string };

/**
 * The quarantine name of data that was requested and could not be returned: a record under its key, sub-resources of a
 * listing under a name of their own, so that the listing may be stored in the meantime and nothing is forgotten.
 */
export const entryName = (key: string, why: string): string => (why === RECORD ? key : `${key}/${why}`);

/** An entry for requested data that the source could not return. */
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

/** The name of received data without a valid key: that of its record, or of the key if only the key was received. */
export const nameOfPayload = (payload: string): string =>
  `#${hash('sha256', payload, 'base64url').slice(0, 16)}`;

const NAMELESS = /^#[\w-]{16}$/;

/** A key as marks and the quarantine call it: an invalid key goes by another name. */
export const storableName = (key: string): string => (isStorableKey(key) ? key : nameOfPayload(key));

/** A record that the source returns separately. */
export interface Subject {
  readonly resource: string;
  /** Absent if it is unknown which one. */
  readonly key?: string;
}

/** The reason for which the missing data was requested; undefined for received data. */
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
