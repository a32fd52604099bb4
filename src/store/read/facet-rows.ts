/**
 * Converts the rows of a statement that counts the values of fields (compile/facets-plan.ts) to the requested result.
 */
import { ROW_KINDS, TOTAL } from '../../compile/facets-plan.ts';
import type { Facets, FieldFacet, Histogram } from '../../compile/read.ts';
import type { Row } from '../session.ts';

interface Asked {
  readonly fields: number;
  readonly ranges?: number;
}

export function readFacets(rows: Iterable<Row>, { fields, ranges }: Asked): Facets {
  // No engine guarantees the order of a union.
  const all = [...rows].sort((one, other) => Number(one.k) - Number(other.k));
  const at = (place: number): Row[] => all.filter((row) => Number(row.place) === place);
  return {
    records: recordCount(at(TOTAL)[0]),
    fields: Array.from({ length: fields }, (_, index) => fieldIn(at(index + 1))),
    ...(ranges === undefined ? {} : { histogram: histogramIn(at(fields + 1), ranges) }),
  };
}

const recordCount = (row: Row | undefined): number => Number(row?.n ?? 0);

const rowsOfKind = (rows: readonly Row[], what: number): Row[] =>
  rows.filter((row) => Number(row.what) === what);

function fieldIn(rows: readonly Row[]): FieldFacet {
  const values = rowsOfKind(rows, ROW_KINDS.value);
  return {
    values: values.map((row) => ({ value: valueIn(row), records: recordCount(row) })),
    more: Number(values[0]?.d ?? 0) - values.length,
    none: recordCount(rowsOfKind(rows, ROW_KINDS.none)[0]),
  };
}

function valueIn({ value }: Row): string | number | boolean {
  const parsed: unknown = JSON.parse(String(value));
  if (typeof parsed === 'string' || typeof parsed === 'number' || typeof parsed === 'boolean') return parsed;
  throw new Error('A value that is counted is a text, a number or a truth value');
}

function histogramIn(rows: readonly Row[], ranges: number): Histogram {
  const found = new Map(rowsOfKind(rows, ROW_KINDS.range).map((row) => [Number(row.k), recordCount(row)]));
  const [least = null, greatest = null] = rowsOfKind(rows, ROW_KINDS.extent).map(({ value }) =>
    value === 'null' ? null : Number(value),
  );
  return {
    records: Array.from({ length: ranges }, (_, index) => found.get(index) ?? 0),
    none: recordCount(rowsOfKind(rows, ROW_KINDS.none)[0]),
    least,
    greatest,
  };
}
