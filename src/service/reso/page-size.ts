import { platError } from '../../errors/index.ts';
import type { Paging } from '../surface.ts';

/** How many rows a page has, and what the next link says of it. */
export interface PageSize {
  readonly rows: number;
  /** `$top` of the next link, from the rows of this page; undefined: none, or no next link at all. */
  readonly nextTop: (rows: number) => number | undefined;
  /** Whether the rows of this page are all that were asked for. */
  readonly isAll: (rows: number) => boolean;
  /** The page size that was applied in place of a larger one. */
  readonly applied?: number;
}

/**
 * `$top` as the surface means it (contract, Paging): the page size on the replication surface, the total elsewhere.
 * @throws PlatError when `$top` would be cut although the client steps by it with `$skip`
 */
export function pageSize(
  paging: Paging,
  top: number | undefined,
  skip: number | undefined,
  preferred: number | undefined,
): PageSize {
  const { largestSize, defaultSize } = paging;
  if (paging.top === 'page') {
    if (top !== undefined && top > largestSize && skip !== undefined) {
      const reason = `a page has at most ${largestSize} rows, so a step of ${top} would lose rows`;
      throw platError('optionsConflict', { first: '$top', second: '$skip', reason }, { target: '$top' });
    }
    const rows = Math.min(top ?? defaultSize, largestSize, preferred ?? largestSize);
    const cut = rows < (top ?? rows) || preferred === rows;
    return { rows, nextTop: () => rows, isAll: () => rows === 0, ...(cut ? { applied: rows } : {}) };
  }
  const page = Math.min(preferred ?? largestSize, top === undefined ? defaultSize : largestSize);
  const rows = Math.min(page, top ?? page);
  return {
    rows,
    nextTop: (given) => (top === undefined ? undefined : top - given),
    isAll: (given) => top !== undefined && given >= top,
    ...(preferred !== undefined && preferred <= page ? { applied: preferred } : {}),
  };
}
