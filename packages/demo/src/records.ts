import type { FieldValue, FieldValues } from './values.ts';

/** A record as it is imported: fields, and for a listing its nested collections. */
export type ImportRecord = Readonly<Record<string, FieldValue | readonly FieldValues[]>>;

export type MarketResource = 'OUID' | 'Office' | 'Member' | 'Property';

/** One line of an import. */
export interface MarketRecord {
  readonly resource: MarketResource;
  readonly record: ImportRecord;
}

/** Fields as a stage fills them; what is undefined is omitted of the record. */
export type Fields = Readonly<Record<string, FieldValue | undefined>>;

type ChildCollection = 'Media' | 'Rooms' | 'UnitTypes' | 'OpenHouses';

function addFilled(
  record: Record<string, FieldValue | readonly FieldValues[]>,
  parts: readonly Fields[],
): void {
  for (const part of parts) {
    for (const name in part) {
      const value = part[name];
      if (value !== undefined) record[name] = value;
    }
  }
}

/** The fields that have a value, in the order of the parts. */
export function filled(...parts: readonly Fields[]): FieldValues {
  const values: Record<string, FieldValue> = {};
  addFilled(values, parts);
  return values;
}

/** A listing of the fields that have a value, and its children. */
export function withChildren(
  children: Readonly<Record<ChildCollection, readonly FieldValues[]>>,
  ...parts: readonly Fields[]
): ImportRecord {
  const record: Record<string, FieldValue | readonly FieldValues[]> = {};
  addFilled(record, parts);
  return Object.assign(record, children);
}

function isChild(value: string | FieldValues): value is FieldValues {
  return typeof value !== 'string';
}

/** The children of one kind; empty when the record carries none. */
export function childrenOf(record: ImportRecord, collection: ChildCollection): readonly FieldValues[] {
  const value = record[collection];
  if (typeof value !== 'object' || value === null) return [];
  return value.filter(isChild);
}

/** The text of a field; undefined when it has none. */
export function textOf(record: ImportRecord, field: string): string | undefined {
  const value = record[field];
  return typeof value === 'string' ? value : undefined;
}

/** The number of a field; undefined when it has none. */
export function numberOf(record: ImportRecord, field: string): number | undefined {
  const value = record[field];
  return typeof value === 'number' ? value : undefined;
}
