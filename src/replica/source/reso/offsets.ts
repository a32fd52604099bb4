/**
 * Pages by offset. A row that leaves the list moves all rows behind it, and a walk that only adds up its pages misses as many as have
 * moved: the pages of a window overlap, since each record that changes leaves it. It sends no requests.
 */
import { RowsMoved } from '../../http/failure.ts';
import type { WalkPosition } from '../source.ts';

/** Rows that two pages share at most, and which part of the page they are. */
const SHARED = 50;
const SHARE = 4;

/** Rows before a page. */
export const rowsBefore = (position: WalkPosition | undefined): number =>
  position === undefined || position.kind === 'token' ? 0 : (position.skip ?? 0);

/** Options of a link that leads to an offset and to nothing else. */
const PLAIN = /^\$?(skip|top|count|filter|select|expand|orderby|format)$/i;

/** The offset to which a link leads; undefined where it leads by something else, such as a token. */
export function offsetOfLink(link: string): number | undefined {
  const { searchParams } = new URL(link);
  if (![...searchParams.keys()].every((name) => PLAIN.test(name))) return undefined;
  const [, offset = ''] = [...searchParams].find(([name]) => /^\$?skip$/i.test(name)) ?? [];
  return /^\d+$/.test(offset) ? Number(offset) : undefined;
}

/**
 * The rows of a page that the page before it did not have.
 * @throws RowsMoved if it has none of the rows that both should have
 */
export function rowsAfter<Row>(
  rows: readonly Row[],
  position: WalkPosition | undefined,
  keyOf: (row: Row) => string | undefined,
): readonly Row[] {
  if (position?.kind !== 'skip' || position.after === undefined) return rows;
  const before = new Set<string | undefined>(position.after);
  const fresh = rows.filter((row) => !before.has(keyOf(row)));
  if (fresh.length < rows.length) return fresh;
  throw new RowsMoved();
}

/** The position of the next page, so that it begins with the last rows of this one, unless this one has no others. */
export function withOverlap(
  next: WalkPosition | undefined,
  rows: readonly unknown[],
  fresh: readonly unknown[],
  keysOf: (rows: readonly unknown[]) => readonly string[],
): WalkPosition | undefined {
  if (next?.kind !== 'skip') return next;
  const after = keysOf(rows.slice(rows.length - Math.min(SHARED, Math.floor(fresh.length / SHARE))));
  return after.length === 0 ? next : { kind: 'skip', skip: next.skip - after.length, after };
}
