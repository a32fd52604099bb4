/**
 * Walks over the list that a filter found, as the service reads it (`service/paging`): in several orders of one cached list, in
 * either process, from any row, and from tokens whose list is no longer cached.
 */
import type { RecordQuery } from '../../src/compile/read.ts';
import type { OrderTerm } from '../../src/query/tree.ts';
import { BlockCache } from '../../src/service/cache/block-cache.ts';
import { FilterIndexCache } from '../../src/service/paging/filter-index.ts';
import { type PageOptions, type PageReadContext, readPage } from '../../src/service/paging/read-page.ts';
import { systemClock } from '../../src/shared/clock.ts';
import type { Store } from '../../src/store/store.ts';
import type { Random } from './random.ts';

/** How pages are read in each process, and in a process that caches no lists. */
export function readingsOf(stores: readonly Store[]): readonly PageReadContext[] {
  const reading = (store: Store, milliseconds: number): PageReadContext => ({
    store,
    clock: systemClock,
    indexes: new FilterIndexCache({ milliseconds, bytes: 2 ** 24 }, systemClock, store.shared),
    kept: new BlockCache(store, 0),
    read: { milliseconds: 20_000 },
  });
  const [first] = stores;
  if (first === undefined) throw new Error('a list is of a store');
  return [...stores.map((store) => reading(store, 600_000)), reading(first, 0)];
}

interface Walks {
  readonly readings: readonly PageReadContext[];
  readonly common: Pick<PageOptions, 'keyId' | 'query' | 'shape' | 'files' | 'model' | 'gzip'>;
  readonly random: Random;
  /** The keys of a query, in its order. */
  readonly expected: (query: RecordQuery) => Promise<readonly string[]>;
  readonly keysIn: (body: Uint8Array) => readonly string[];
}

const reversed = (order: readonly OrderTerm[]): OrderTerm[] =>
  order.map((term) => ({ ...term, descending: !term.descending }));

/** @returns how a walk differs from the expected result; undefined if none differs */
export async function differingWalk(walks: Walks): Promise<string | undefined> {
  const { random, common } = walks;
  const { order } = common.query;
  const orders = [order, [], reversed(order), order];
  // The list is cached in the order of the first request.
  const first = random.between(0, orders.length - 1);
  for (const each of [...orders.slice(first), ...orders.slice(0, first)]) {
    const how = await walk(walks, { ...common.query, order: each });
    if (how !== undefined) return `list ${each === order ? '' : 'in another order '}${how}`;
  }
  return undefined;
}

async function walk(
  { readings, common, random, expected, keysIn }: Walks,
  query: RecordQuery,
): Promise<string | undefined> {
  const wanted = await expected(query);
  const skip = random.chance(0.5) ? random.between(0, wanted.length) : 0;
  const limit = Math.max(1, Math.ceil((wanted.length - skip) / random.between(1, 4)));
  const rest = wanted.slice(skip);
  let found = 0;
  for (let token: string | undefined; ; ) {
    using taken = new DisposableStack();
    const asked = {
      ...common,
      query,
      limit,
      skip: token === undefined ? skip : 0,
      token,
      counts: true,
      taken,
    };
    const { page, count, next } = await readPage(random.pick(readings), asked);
    if (count !== wanted.length) return `counts ${count} of ${wanted.length}`;
    const keys = keysIn(page.body);
    const part = rest.slice(found, found + limit);
    if (keys.join('\n') !== part.join('\n'))
      return `returns ${JSON.stringify(keys)} after ${skip + found}, not ${JSON.stringify(part)}`;
    found += keys.length;
    if (next === undefined) return found === rest.length ? undefined : `ends after ${skip + found}`;
    if (found >= rest.length) return 'continues after its end';
    token = next;
  }
}
