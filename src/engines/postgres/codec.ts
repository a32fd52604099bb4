import type { Field, FieldValue } from '../../dictionary/index.ts';
import { isAbsent } from '../../records/parsed-record.ts';
import { storedList } from '../../records/stored-list.ts';

/** A field's value as its column holds it. */
export function encode(field: Field, value: FieldValue | undefined): string | number | boolean | null {
  if (value === undefined || value === null || isAbsent(value)) return null;
  if (typeof value === 'string') return field.type.kind === 'timestamp' ? value.slice(0, -1) : value;
  return typeof value === 'object' ? JSON.stringify(value) : value;
}

/** The value of a field from its column; null where there is none. */
export function decode(field: Field, raw: unknown): FieldValue {
  if (raw === undefined || raw === null) return null;
  if (field.collection) return storedList(String(raw));
  switch (field.type.kind) {
    case 'boolean':
      return raw === true;
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

/** The type of a field's column. Numbers are those of JSON; a replica keeps a fraction also where none is due. */
export function columnType(field: Field): string {
  if (field.collection) return TEXT;
  switch (field.type.kind) {
    case 'boolean':
      return 'boolean';
    case 'integer':
    case 'decimal':
      return 'double precision';
    case 'string':
    case 'date':
    case 'timestamp':
      return TEXT;
  }
}

/** Texts are compared by their bytes (I1); moments are kept as texts that sort by time. */
export const TEXT = 'text COLLATE "C"';
