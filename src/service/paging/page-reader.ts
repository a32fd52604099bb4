import type { Position } from '../../compile/read.ts';
import { readSkipToken, tokenAfter } from '../../query/skip-token.ts';
import { readFromList } from './list-reader.ts';
import { NO_ROWS, owned, type PageAnswer, type PageSource, type PageWish } from './page-wish.ts';

const NO_INDEX = { state: 'none', age: 0 } as const;

/**
 * Reads a page. Without a filter of the client's it comes straight from the store; with one it is cut from the
 * list of records that the filter found when the key first asked for it (specification 8).
 */
export function readPage(source: PageSource, wish: PageWish): Promise<PageAnswer> {
  const { filter, search } = wish.query;
  return filter === undefined && search === undefined ? readDirect(source, wish) : readFromList(source, wish);
}

async function readDirect({ store, read }: PageSource, wish: PageWish): Promise<PageAnswer> {
  const { query, limit, shape, files, taken } = wish;
  const position = positionOf(wish);
  // Counted first: a page that is still being read holds what it is read with.
  const count = wish.counts ? await store.count(query, read) : undefined;
  const reading = () => owned(taken, store.page({ query, position, limit, shape, files }, read));
  const page = limit === 0 ? NO_ROWS : await reading();
  const next = page.more && page.last !== undefined ? tokenAfter(query.order, page.last) : undefined;
  return { page, count, next, index: NO_INDEX, openWindow: false };
}

function positionOf({ query, skip, token }: PageWish): Position {
  const after = readSkipToken(token, query.order);
  return after.kind === 'start' && skip > 0 ? { kind: 'offset', skip } : after;
}
