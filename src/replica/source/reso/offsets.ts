/**
 * Paging by offset. If a row leaves the list during a walk, all rows after it move up, and the next page would miss one. This
 * happens in windows, since a record that changes leaves its window, so the pages of a window overlap. This module sends no
 * requests.
 */
import { RowsMoved } from '../../http/failure.ts';
import type { WalkPosition } from '../source.ts';

/** The overlap of two pages: the maximum number of rows, and the fraction of the page. */
const SHARED = 50;
const SHARE = 4;

export const rowsBefore = (position: WalkPosition | undefined): number =>
  position === undefined || position.kind === 'token' ? 0 : (position.skip ?? 0);

/** The query options that a next link by offset may have. */
const PLAIN = /^\$?(skip|top|count|filter|select|expand|orderby|format)$/i;

/** The offset to which a next link leads; undefined if the link contains something else, such as a token. */
export function offsetOfLink(link: string): number | undefined {
  const { searchParams } = new URL(link);
  if (![...searchParams.keys()].every((name) => PLAIN.test(name))) return undefined;
  const [, offset = ''] = [...searchParams].find(([name]) => /^\$?skip$/i.test(name)) ?? [];
  return /^\d+$/.test(offset) ? Number(offset) : undefined;
}

/** Whether the token of a next link is an offset: the number of rows up to the next page. */
export const isOffsetToken = (link: string, rows: number): boolean =>
  [...new URL(link).searchParams].some(
    ([name, value]) => /^\$?skiptoken$/i.test(name) && value === `${rows}`,
  );

/**
 * The rows of a page that the previous page did not have.
 * @throws RowsMoved if the page has none of the rows in the overlap
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

/**
 * Moves the position of the next page back, so that it begins with the last rows of this page, unless those are all of its rows.
 */
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
