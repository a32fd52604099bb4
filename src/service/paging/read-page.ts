/**
 * Reads a page of a collection for both interfaces: directly from the store or, if the client sent a filter or search, from the
 * list of records that the filter found when the key first requested it (specification 8). It must not know the syntax of requests
 * or the envelope of responses.
 */
import { hash } from 'node:crypto';
import { parseEntryNumber } from '../../compile/events-plan.ts';
import type { StoreModel } from '../../compile/model.ts';
import type { FileSigning, Page, Position, RecordQuery, Shape } from '../../compile/read.ts';
import { platError } from '../../errors/index.ts';
import { canonicalText } from '../../query/canonical.ts';
import { readSkipToken, tokenAfter } from '../../query/skip-token.ts';
import type { Clock } from '../../shared/clock.ts';
import type { ReadOptions, Store } from '../../store/store.ts';
import type { BlockCache } from '../cache/block-cache.ts';
import { type Basis, basisOfList, basisOfPage } from '../cache/response-basis.ts';
import type { FilterIndex, FilterIndexCache, FilterListName } from './filter-index.ts';
import { waitUntilSettled, windowOf } from './window.ts';

export interface PageOptions {
  /** The id of the key. Requests of one key share the lists of their filters. */
  readonly keyId: string;
  /** Names a walk that begins at a certain time: it uses no older list, and shares its lists with no other walk. */
  readonly walk?: string | undefined;
  readonly query: RecordQuery;
  readonly limit: number;
  readonly skip: number;
  /** The skip token; empty or absent: the first page. */
  readonly token?: string | undefined;
  readonly shape: Shape;
  readonly files: FileSigning;
  readonly counts: boolean;
  /** The store model that the view was made from. */
  readonly model: StoreModel;
  /** Whether the client accepts gzip and the page is sent as it was read; it can then come from the cache of blocks. */
  readonly gzip: boolean;
  /** Owns the memory of the pages that are read. */
  readonly taken: DisposableStack;
}

export interface PageAnswer {
  readonly page: Page;
  /** The number of records that match, regardless of the page. */
  readonly count?: number | undefined;
  /** The skip token of the next page, before `skipTokenOf`; absent on the last page. */
  readonly next?: string | undefined;
  /** Whether the rows come from a filter's list, and the age of the list in seconds. */
  readonly index: { readonly state: 'fresh' | 'cached' | 'none'; readonly age: number };
  /** Whether the window ends in the future, so that records may still enter it. */
  readonly openWindow: boolean;
  /** What the response was made from, if it may be cached. */
  readonly basis?: Basis | undefined;
}

export interface PageReadContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly indexes: FilterIndexCache;
  readonly kept: BlockCache;
  readonly read: ReadOptions;
}

const NO_ROWS: Page = { body: new Uint8Array(0), rows: 0, more: false };
const NO_INDEX = { index: { state: 'none', age: 0 }, openWindow: false } as const;

/** The response for a collection of which nothing was ever stored. */
export const NOTHING_STORED: PageAnswer = { page: NO_ROWS, count: 0, ...NO_INDEX };

/** The number of ids that are read in addition to the page size, because some of the records may no longer exist. */
const SPARE = 500;

export function readPage(reading: PageReadContext, options: PageOptions): Promise<PageAnswer> {
  const { filter, search, resource } = options.query;
  // Events must include the latest changes, so their lists are not cached.
  return (filter === undefined && search === undefined) || resource.fromChanges
    ? readDirect(reading, options)
    : readFromList(reading, options);
}

/** Headers that report the origin of the rows (contract, The filter-index cache). */
export function indexHeaders({
  index,
  openWindow,
}: Pick<PageAnswer, 'index' | 'openWindow'>): Record<string, string> {
  return {
    'x-plat-index': index.state,
    ...(index.state === 'none' ? {} : { 'x-plat-index-age': String(index.age) }),
    ...(openWindow ? { 'x-plat-window': 'open' } : {}),
  };
}

/**
 * Reads the ids of the records that match a filter now, in the order of the query. For a window, waits until no further record can
 * enter it (I2).
 *
 * @throws PlatError `windowNotSettled`, `queryTimedOut`
 */
export async function findIds(
  { store, clock, read }: PageReadContext,
  query: RecordQuery,
): Promise<Omit<FilterIndex, 'id'>> {
  const window = windowOf(query.filter);
  const openWindow = window !== undefined && (await waitUntilSettled(store, clock, window));
  return { ids: await store.ids(query, read), order: orderName(query), openWindow };
}

export async function readOwned(taken: DisposableStack, reading: Promise<Page>): Promise<Page> {
  const page = await reading;
  registerForRelease(taken, page);
  return page;
}

/**
 * Registers a page with the request that owns its memory; if that request has ended by the time the page is read, the page is
 * released at once.
 */
export function registerForRelease(taken: DisposableStack, { release }: Pick<Page, 'release'>): void {
  if (taken.disposed) release?.();
  else if (release !== undefined) taken.defer(release);
}

async function readDirect({ store, kept, read }: PageReadContext, options: PageOptions): Promise<PageAnswer> {
  const { query, limit, skip, shape, files, model, gzip, taken } = options;
  const start = readSkipToken(options.token, query.order);
  if (query.resource.fromChanges && 'key' in start && parseEntryNumber(start.key) === undefined) {
    throw platError('skipTokenInvalid', {}, { target: '$skiptoken' });
  }
  const position: Position = start.kind === 'start' && skip > 0 ? { kind: 'offset', skip } : start;
  // The count comes first, because a page that is still being read holds a connection of the store.
  const count = options.counts ? await store.count(query, read) : undefined;
  const request = { query, position, limit, shape, files };
  const known = gzip ? await kept.gzipPage(request, model, read) : await kept.textPage(request, model, read);
  const page = known ?? (limit === 0 ? NO_ROWS : await store.page(request, read));
  const isInBlocks = kept.cachesTexts(request, model, read);
  if (known === undefined && !gzip && isInBlocks) kept.noteRead(request, page);
  registerForRelease(taken, page);
  const next = page.more && page.last !== undefined ? tokenAfter(query.order, page.last) : undefined;
  const by = { model, damaged: read.damaged };
  const basis = options.counts ? undefined : basisOfPage(by, request, page);
  return { page, count, next, ...NO_INDEX, basis: basis && { ...basis, isInBlocks } };
}

/** A page of the list that a filter found. The list is fixed; the records are current (I5). */
async function readFromList(reading: PageReadContext, options: PageOptions): Promise<PageAnswer> {
  const { query } = options;
  const first = firstPage(reading, options);
  const found = await reading.indexes.getOrMake(
    listName(options),
    () => findIds(reading, query),
    first?.begin,
  );
  const { index, state, age } = found;
  const { index: ordered, used } = await orderedList(reading, options, index);
  const start = (await startIn(reading, options, ordered)) + options.skip;
  const page = await (first?.of(index) ?? readListPage(reading, options, ordered.ids, start));
  const reached = { id: ordered.id, position: start + (page.consumed ?? 0) };
  const next = page.more && page.last !== undefined ? tokenAfter(query.order, page.last, reached) : undefined;
  const count = options.counts ? index.ids.length : undefined;
  const by = { model: options.model, damaged: reading.read.damaged };
  const lists = [found.used, used].filter((each) => each !== undefined);
  // A response to a window is not cached, because its end decides where it is cut (window.ts).
  const isPlaced = windowOf(query.filter) === undefined && isPositionInList(options, ordered);
  const basis = isPlaced ? basisOfList(by, options, lists) : undefined;
  return { page, count, next, index: { state, age }, openWindow: index.openWindow, basis };
}

/**
 * Starts to read the first page of a walk, which is probably the first request with its filter. For a window, this is not done,
 * because it may have to wait for a horizon that another process has already waited for.
 */
function firstPage(reading: PageReadContext, options: PageOptions) {
  const isStart = options.token === undefined || options.token === '';
  if (!isStart || windowOf(options.query.filter) !== undefined) return undefined;
  let begun: { readonly index: FilterIndex; readonly page: Promise<Page> } | undefined;
  return {
    begin(index: FilterIndex): void {
      begun = { index, page: readListPage(reading, options, index.ids, options.skip) };
      begun.page.catch(() => undefined); // the request that awaits the page gets the error
    },
    /** Undefined if the page is of another list than the one that is kept. */
    of: (index: FilterIndex) => (begun?.index === index ? begun.page : undefined),
  };
}

/** The name of a list: equal for the same key, resource and filter, whatever the order, paging or fields. */
function listName({ keyId, walk, query }: PageOptions): FilterListName {
  const { resource, filter, search, under, part } = query;
  const text = (each: typeof filter | typeof search): string =>
    each === undefined ? '' : canonicalText(each);
  const parent = under === undefined ? [] : [under.navigation.resource, under.navigation.name, under.key];
  const parts = [
    resource.name,
    text(filter),
    text(search),
    part ?? '',
    ...parent,
    ...(walk === undefined ? [] : [{ walk }]),
  ];
  return { key: keyId, text: JSON.stringify(parts) };
}

/** A query for the rows of a list, without the filter that found them. */
function restrictToIds({ filter: _, search: __, ...query }: RecordQuery, ids: Uint32Array): RecordQuery {
  return { ...query, among: ids };
}

/** A name for an order, of the same length for all orders; empty: by key. */
function orderName({ order }: Pick<RecordQuery, 'order'>): string {
  if (order.length === 0) return '';
  const terms = order.map(
    ({ expression, descending }) => `${canonicalText(expression)} ${descending ? 'desc' : 'asc'}`,
  );
  return hash('sha256', terms.join(','), 'base64url');
}

/** The list in the order of the request. */
const orderedList = (
  { store, indexes, read }: PageReadContext,
  { keyId, query }: PageOptions,
  index: FilterIndex,
): ReturnType<FilterIndexCache['inOrder']> =>
  indexes.inOrder(keyId, index, orderName(query), () => store.ids(restrictToIds(query, index.ids), read));

/** Whether the list alone determines where the page begins. A token of another list must be looked up by its values. */
function isPositionInList({ token, query }: PageOptions, { id }: FilterIndex): boolean {
  const start = readSkipToken(token, query.order);
  return start.kind !== 'after-row' || start.list?.id === id;
}

/** The index in the list at which the page begins, before `$skip`. */
async function startIn(
  { store, read }: PageReadContext,
  { query, token }: PageOptions,
  { id, ids }: FilterIndex,
): Promise<number> {
  const start = readSkipToken(token, query.order);
  switch (start.kind) {
    case 'start':
      return 0;
    case 'after-key':
      return store.positionAfter(query.resource.name, ids, start.key);
    case 'after-row': {
      const { list, values, key } = start;
      // If the token belongs to a list that is no longer kept, the values of its row determine where to continue.
      if (list?.id !== id) {
        return (
          ids.length - (await store.count({ ...restrictToIds(query, ids), after: { values, key } }, read))
        );
      }
      if (list.position < 0 || list.position > ids.length) throw platError('skipTokenInvalid', {});
      return list.position;
    }
  }
}

/** Reads a page of a list. Only the ids that it needs are passed to the reader. */
async function readListPage(
  { store, read }: PageReadContext,
  { query, limit, shape, files, taken }: PageOptions,
  list: Uint32Array,
  start: number,
): Promise<Page> {
  if (limit === 0) return NO_ROWS;
  const readIds = (first: number, length: number, most: number): Promise<Page> =>
    readOwned(
      taken,
      // `slice` copies: a view would send the whole list to the thread.
      store.listPage({ query, ids: list.slice(first, first + length), limit: most, shape, files }, read),
    );
  for (let first = start; first < list.length; first += limit + SPARE) {
    const page = await readIds(first, limit + SPARE, limit);
    if (page.rows === 0) continue;
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
