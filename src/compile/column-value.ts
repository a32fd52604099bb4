/** How the value of a field is stored in its column, in every engine. This module knows no table and no SQL. */

import type { Field, FieldValue } from '../dictionary/index.ts';
import { Damage, parseStoredList } from '../records/damage.ts';
import { isAbsent } from '../records/parsed-record.ts';
import type { BoundValue } from './fragment.ts';

/** The kind of values in a column. An engine without booleans stores them as 0 and 1. */
export type ColumnKind = 'text' | 'number' | 'boolean';

/** Makes the columns of rows in order, by name. */
export const columnKinds = (kinds: Readonly<Record<string, ColumnKind>>): ReadonlyMap<string, ColumnKind> =>
  new Map(Object.entries(kinds));

const KINDS: Readonly<Record<Field['type']['kind'], ColumnKind>> = {
  ...{ string: 'text', date: 'text', timestamp: 'text' },
  ...{ integer: 'number', decimal: 'number', boolean: 'boolean' },
};

/** The kind of a field's column. Timestamps are texts that sort by time; a list is stored as JSON text. */
export const columnKind = ({ collection, type }: Field): ColumnKind =>
  collection ? 'text' : KINDS[type.kind];

/** The kind of a column according to the type that an engine reports. A column without a type contains texts. */
export function kindOfType(type: string): ColumnKind {
  switch (type.toLowerCase()) {
    case 'boolean':
      return 'boolean';
    case 'text':
    case '':
      return 'text';
    default:
      return 'number';
  }
}

/** Converts the value of a field to the form in which its column stores it. */
export function encode(field: Field, value: FieldValue | undefined): string | number | boolean | null {
  if (value === undefined || value === null || isAbsent(value)) return null;
  if (typeof value === 'string') return field.type.kind === 'timestamp' ? value.slice(0, -1) : value;
  return typeof value === 'object' ? JSON.stringify(value) : value;
}

/** The value of a column as a driver returns it; null for a type that no column of plat has. */
export const boundValueOf = (raw: unknown): BoundValue =>
  typeof raw === 'string' || typeof raw === 'number' || typeof raw === 'boolean' ? raw : null;

/** A text from a column, or null. */
export const textOrNull = (raw: unknown): string | null => (typeof raw === 'string' ? raw : null);

/** Reads the value of a field from its column; null if there is none. */
export function decode(field: Field, raw: unknown): FieldValue {
  if (raw === undefined || raw === null || raw instanceof Uint8Array) return null;
  if (field.collection) return parseStoredList(String(raw));
  switch (columnKind(field)) {
    case 'boolean':
      return Number(raw) === 1;
    case 'number':
      return Number(raw);
    case 'text':
      return field.type.kind === 'timestamp' ? `${raw}Z` : String(raw);
  }
}

/**
 * Like `decode`, for a value that is only compared or counted, so that a damaged one prevents no write: undefined if the column
 * does not contain a value of the field.
 */
export function decodeOrUndefined(field: Field, raw: unknown): FieldValue | undefined {
  try {
    return decode(field, raw);
  } catch (error) {
    if (error instanceof Damage) return undefined;
    throw error;
  }
}
