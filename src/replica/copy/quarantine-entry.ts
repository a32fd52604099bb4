/**
 * Entries of the quarantine: the names of what has no key that a record can have, and the record of the source that an
 * entry is about. By that record, and not by its own name, a copy learns that the source has it no more.
 */
import { hash } from 'node:crypto';
import type { Dictionary } from '../../dictionary/index.ts';
import { isStorableKey } from '../../records/parsed-record.ts';
import { isObject, type JsonObject, parsedJson } from '../../shared/json.ts';
import type { Keys, QuarantineEntry } from '../../store/checkpoints.ts';

/** The reason of records that are fetched whole; any other is the name of a collection, or `children` for all. */
export const RECORD = 'record';
export const CHILDREN = 'children';

/** Keys that the source is to be asked for, and why. */
export type PendingFetch = Keys & { readonly why: string };

/**
 * The name in the quarantine of what was asked for and could not be given: a record under its key, sub-data of a listing
 * under a name of its own, so that the listing may be stored meanwhile and nothing is forgotten.
 */
export const entryName = (key: string, why: string): string => (why === RECORD ? key : `${key}/${why}`);

/** An entry for what the source was asked for and could not give. */
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

/** The name of what came without a key that a record can have: of its record, or of the key if only that came. */
export const nameOfPayload = (payload: string): string =>
  `#${hash('sha256', payload, 'base64url').slice(0, 16)}`;

const NAMELESS = /^#[\w-]{16}$/;

/** A key as marks and the quarantine call it: one that no record can have goes by another name. */
export const storableName = (key: string): string => (isStorableKey(key) ? key : nameOfPayload(key));

/** A record that the source gives by itself. */
export interface Subject {
  readonly resource: string;
  /** Absent: which one is not known. */
  readonly key?: string;
}

/** The reason for which the source was asked for what it could not give; undefined for what came. */
export function pendingReason({ payload }: Pick<QuarantineEntry, 'payload'>): string | undefined {
  const { wanted } = objectOf(payload);
  return typeof wanted === 'string' ? wanted : undefined;
}

export function subjectOf(
  { resources }: Dictionary,
  { resource, key, payload }: Pick<QuarantineEntry, 'resource' | 'key' | 'payload'>,
): Subject {
  const json = objectOf(payload);
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

function objectOf(payload: string): JsonObject {
  const json = parsedJson(payload);
  return isObject(json) ? json : {};
}

const keyIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && isStorableKey(value) ? value : undefined;
