/**
 * What an entry of the quarantine is about: the record of the source without which nothing of it would be there. By that
 * record, and not by the entry's own name, a copy learns that the source has it no more.
 */
import type { Dictionary } from '../../dictionary/index.ts';
import { isStorableKey } from '../../records/parsed-record.ts';
import { isObject } from '../../shared/json.ts';
import type { QuarantineEntry } from '../../store/ledger.ts';

/** A record that the source gives by itself. */
export interface Subject {
  readonly resource: string;
  /** Absent: which one is not known. */
  readonly key?: string;
}

/** Under which reason the source was asked for what it could not give (wanted.ts); undefined for what came. */
export function reasonWanted({ payload }: Pick<QuarantineEntry, 'payload'>): string | undefined {
  const { wanted } = readPayload(payload);
  return typeof wanted === 'string' ? wanted : undefined;
}

/** Names of what came without a key that a record can have. */
const NAMELESS = /^#[\w-]{16}$/;

export function subjectOf(
  { resources }: Dictionary,
  { resource, key, payload }: Pick<QuarantineEntry, 'resource' | 'key' | 'payload'>,
): Subject {
  const json = readPayload(payload);
  if (typeof json.wanted === 'string') return { resource, key: textOf(json.key) ?? key };
  const parent = resources.get(resource)?.parent;
  if (parent === undefined) return NAMELESS.test(key) ? { resource } : { resource, key };
  const [owner, of] =
    parent.kind === 'fixed'
      ? [parent.resource, json[parent.keyField]]
      : [
          textOf(json[parent.resourceField]) ?? 'Property',
          json[parent.keyField] ?? json.OriginatingSystemResourceRecordKey,
        ];
  const named = textOf(of);
  return named === undefined ? { resource: owner } : { resource: owner, key: named };
}

function readPayload(payload: string): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(payload);
    return isObject(json) ? json : {};
  } catch {
    return {};
  }
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && isStorableKey(value) ? value : undefined;
