import type { NativeListingShape, Page, PageRequest } from '../../src/compile/read.ts';
import { SELECT_ALL } from '../../src/query/request.ts';
import { operations, TIME, type WorldRequest } from '../../test/support/world.ts';
import type { MarketStore } from './market-store.ts';
import { type Measurement, measure as measureCalls, megabytes } from './measure.ts';

export const PAGE = 1000;

/** Helpers to measure reads of a store. */
export function reads({ store, clock, engine }: MarketStore) {
  const { request } = operations(store, clock);
  const measure = (name: string, call: () => Promise<string>): Promise<Measurement> =>
    measureCalls(name, call, engine.used);
  const middle = middleKey({ store, clock });
  return {
    request,
    measure,
    /** A page of 1,000 records in the middle of the keys. */
    async page(
      name: string,
      resource: string,
      options: string,
      wish: WorldRequest = {},
    ): Promise<Measurement> {
      const position = { kind: 'after-key', key: await middle(resource) } as const;
      const asked = await request(resource, options, { position, limit: PAGE, ...wish });
      return measure(name, async () => told(await store.page(asked, TIME)));
    },
    async pageOf(name: string, asked: PageRequest): Promise<Measurement> {
      return measure(name, async () => told(await store.page(asked, TIME)));
    },
    async found(name: string, resource: string, options: string, wish: WorldRequest = {}) {
      const { query } = await request(resource, options, wish);
      return measure(name, async () => `${(await store.ids(query, TIME)).length} ids`);
    },
    async counted(name: string, resource: string, options: string, wish: WorldRequest = {}) {
      const { query } = await request(resource, options, wish);
      return measure(name, async () => `${await store.count(query, TIME)}`);
    },
  };
}

export const nativeShape = (expansions: NativeListingShape['expansions'] = []): NativeListingShape => ({
  kind: 'native-listing',
  display: 'Detail',
  selection: SELECT_ALL,
  expansions,
});

function told({ body, rows, release }: Page): string {
  release?.();
  return `${rows} rows, ${megabytes(body.byteLength)}`;
}

/** The middle key of a resource, so that a page by key is not at the beginning of the tables. */
function middleKey({ store, clock }: Pick<MarketStore, 'store' | 'clock'>) {
  const known = new Map<string, string>();
  return async (resource: string): Promise<string> => {
    const found = known.get(resource);
    if (found !== undefined) return found;
    const { keys, count } = operations(store, clock);
    const { key } = (await store.model()).resource(resource);
    const skip = Math.floor((await count(resource)) / 2);
    const [middle = ''] = await keys(resource, `$select=${key}&$skip=${skip}&$top=1`);
    known.set(resource, middle);
    return middle;
  };
}
