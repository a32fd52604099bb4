import type { FieldValue, FieldValues, Resource } from '../dictionary/index.ts';
import type { Leniency } from './lenient.ts';

/** A record that may be stored: checked against the dictionary, in canonical form, without what is ignored. */
export interface ParsedRecord {
  readonly resource: Resource;
  readonly key: string;
  /** Values that are not null (nor empty collections), by field name. */
  readonly values: FieldValues;
  /** Collections that the input gave, also empty ones, by navigation name: they replace what is stored. */
  readonly children: ReadonlyMap<string, readonly ParsedRecord[]>;
  /** Only the collections in it are stored; the record itself stays as it is. */
  readonly onlyChildren?: boolean;
  /** What was left out on purpose, and counted. */
  readonly dropped: readonly DroppedField[];
  /** What was taken though it is in another form than the dictionary has. */
  readonly lenient: readonly LenientField[];
  /** In a replica: members of collections that cannot be stored; the rest is. */
  readonly refused: readonly RefusedMember[];
  /** The record as it came. */
  readonly origin: unknown;
}

/** A member of a nested collection that cannot be stored, as it came. */
export interface RefusedMember {
  readonly resource: string;
  readonly key: string | undefined;
  readonly reasons: readonly string[];
  /** With the names of its parent, as far as it is a JSON object. */
  readonly origin: unknown;
}

export interface DroppedField {
  readonly resource: string;
  readonly name: string;
  readonly value: unknown;
  readonly why: 'stamp' | 'count' | 'joined' | 'expansion' | 'unknown';
}

export interface LenientField {
  readonly resource: string;
  readonly name: string;
  readonly why: Leniency;
}

/** The record cannot be stored. Each reason names the field, with its path for a child's. */
export interface InvalidRecord {
  readonly key: string | undefined;
  readonly reasons: readonly string[];
  /** Whether one of them is a field that the dictionary does not have. */
  readonly lacksField: boolean;
}

/** A value as the comparison of contents sees it: null and empty are the same as absent. */
export function isAbsent(value: FieldValue | undefined): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

/** Longest key that a store takes, in characters. */
export const KEY_LIMIT = 255;

/** Whether a text can be the key of a stored record. */
export const isStorableKey = (key: string): boolean => key.length <= KEY_LIMIT && !/\p{Cc}/u.test(key);

const INTEGER_KEY_DIGITS = 19;

/**
 * A key as it is stored and ordered. Keys are strings; the whole number that an EntityEvent has is padded so
 * that its byte-wise order is its order as a number.
 */
export function keyText(resource: Resource, value: FieldValue | undefined): string | undefined {
  if (typeof value === 'string' && value !== '') return value;
  const isNumber = resource.fields.get(resource.key)?.type.kind === 'integer';
  if (isNumber && typeof value === 'number') return String(value).padStart(INTEGER_KEY_DIGITS, '0');
  return undefined;
}
