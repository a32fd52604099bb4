import type { FieldValues } from '../values.ts';

/** Reads fields of a record as a drawing needs them: what is absent has a plain default. */
export function wordOf(record: FieldValues, field: string): string {
  const value = record[field];
  return typeof value === 'string' ? value : '';
}

export function amountOf(record: FieldValues, field: string): number {
  const value = record[field];
  return typeof value === 'number' ? value : 0;
}

export function flagOf(record: FieldValues, field: string): boolean {
  return record[field] === true;
}

export function wordsOf(record: FieldValues, field: string): readonly string[] {
  const value = record[field];
  return typeof value === 'object' && value !== null ? value : [];
}
