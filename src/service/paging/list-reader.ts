import type { Page, RecordQuery } from '../../compile/read.ts';
import { platError } from '../../errors/index.ts';
import { canonicalText } from '../../query/canonical.ts';
import { readSkipToken, tokenAfter } from '../../query/skip-token.ts';
import type { FilterIndex, ListName } from '../filter-index/cache.ts';
import { findIds } from './find.ts';
import { NO_ROWS, owned, type PageAnswer, type PageSource, type PageWish } from './page-wish.ts';

/** Ids beyond a page's own that are looked at, since the records of some may be gone. */
const SPARE = 500;

/** A page of the list that a filter found. The list is frozen, the records are live (I5). */
export async function readFromList(source: PageSource, wish: PageWish): Promise<PageAnswer> {
  const { query, limit } = wish;
  const name = listName(wish);
  const { index, state, age } = await source.indexes.take(name, () => findIds(source, query));
  const ordered = await orderedList(source, wish, index);
  const list = ordered.ids;
  const start = (await startIn(source, wish, index, ordered)) + wish.skip;
  const page = limit === 0 ? NO_ROWS : await cutPage(source, wish, list, start);
  const place = { id: ordered.id, position: start + (page.consumed ?? 0) };
  const next = page.more && page.last !== undefined ? tokenAfter(query.order, page.last, place) : undefined;
  const count = wish.counts ? index.ids.length : undefined;
  return { page, count, next, index: { state, age }, openWindow: index.openWindow };
}

/** What is the same filter: key, resource and what is asked of it; order, paging and fields are no part of it. */
function listName({ keyId, query }: PageWish): ListName {
  const { resource, filter, search, under, part } = query;
  const text = (each: typeof filter | typeof search): string =>
    each === undefined ? '' : canonicalText(each);
  const place = under === undefined ? [] : [under.navigation.resource, under.navigation.name, under.key];
  const parts = [resource.name, text(filter), text(search), part ?? '', ...place];
  return { key: keyId, text: JSON.stringify(parts) };
}

/** The rows of a list, whatever first found them. */
function among({ filter: _, search: __, ...query }: RecordQuery, ids: Uint32Array): RecordQuery {
  return { ...query, among: ids };
}

/** The list in the order of the request. */
async function orderedList(
  { store, indexes, read }: PageSource,
  { keyId, query }: PageWish,
  index: FilterIndex,
): Promise<FilterIndex> {
  if (query.order.length === 0) return index;
  const order = query.order
    .map(({ expression, descending }) => `${canonicalText(expression)} ${descending ? 'desc' : 'asc'}`)
    .join(',');
  return indexes.inOrder(keyId, index, order, () => store.ids(among(query, index.ids), read));
}

/** The position in the list at which the page begins, before `$skip`. */
async function startIn(
  { store, read }: PageSource,
  { query, token }: PageWish,
  index: FilterIndex,
  ordered: FilterIndex,
): Promise<number> {
  const after = readSkipToken(token, query.order);
  if (after.kind === 'start') return 0;
  if (after.kind === 'after-key') {
    return store.positionAfter(query.resource.name, ordered.ids, after.key);
  }
  const { list: known, key, values } = after;
  if (known?.id === ordered.id) {
    if (known.position < 0 || known.position > ordered.ids.length) throw platError('skipTokenInvalid', {});
    return known.position;
  }
  // The list that the token is of is no longer kept: the place is found by the row's values.
  return (
    ordered.ids.length - (await store.count({ ...among(query, index.ids), after: { key, values } }, read))
  );
}

/** Cuts a page; only as many ids travel to the reader as it needs. */
async function cutPage(
  { store, read }: PageSource,
  { query, limit, shape, files, taken }: PageWish,
  list: Uint32Array,
  start: number,
): Promise<Page> {
  const readIds = (first: number, length: number, most: number): Promise<Page> =>
    owned(
      taken,
      store.listPage({ query, ids: list.subarray(first, first + length), limit: most, shape, files }, read),
    );
  for (let first = start; first < list.length; first += limit + SPARE) {
    let page = await readIds(first, limit + SPARE, limit);
    if (page.rows === 0) continue;
    if (!page.more && first + limit + SPARE < list.length) page = await withRest(page);
    let more = page.more;
    for (let next = first + limit + SPARE; !more && next < list.length; next += SPARE) {
      const following = await readIds(next, SPARE, 1);
      following.release?.();
      more = following.rows > 0;
    }
    return { ...page, more, consumed: first - start + (page.consumed ?? 0) };
  }
  return NO_ROWS;
}

/** A page that is read to its end, before anything else is asked of the store. */
async function withRest({ rest, body, ...page }: Page): Promise<Page> {
  if (rest === undefined) return { ...page, body };
  const parts = [body];
  for await (const part of rest) parts.push(part);
  const whole = Buffer.concat(parts);
  const said = body.length + rest.length;
  if (whole.length !== said)
    throw new Error(`The store gave ${whole.length} bytes of the ${said} that it said`);
  return { ...page, body: whole };
}
