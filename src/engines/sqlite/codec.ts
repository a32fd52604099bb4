import type { Field, FieldValue } from '../../dictionary/index.ts';
import { isAbsent } from '../../records/parsed-record.ts';
import { storedList } from '../../records/stored-list.ts';
import type { Raw } from './connection.ts';

/** A field's value as its column holds it. */
export function encode(field: Field, value: FieldValue | undefined): string | number | null {
  if (value === undefined || value === null || isAbsent(value)) return null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'string') return field.type.kind === 'timestamp' ? value.slice(0, -1) : value;
  return typeof value === 'number' ? value : JSON.stringify(value);
}

/** The value of a field from its column; null where there is none. */
export function decode(field: Field, raw: Raw | undefined): FieldValue {
  if (raw === undefined || raw === null || raw instanceof Uint8Array) return null;
  if (field.collection) return storedList(String(raw));
  switch (field.type.kind) {
    case 'boolean':
      return Number(raw) === 1;
    case 'timestamp':
      return `${raw}Z`;
    case 'integer':
    case 'decimal':
      return Number(raw);
    case 'string':
    case 'date':
      return String(raw);
  }
}
