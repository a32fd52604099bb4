/** Pages, tokens, orders and counts of `/v1/listings` (specification 4.3, 4.4; contract, Native interface). */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import { startTestService } from '../../support/service.ts';
import { objectIn } from '../http/envelopes.ts';
import { nativeAsker } from './asker.ts';
import { fillMarket, HIDDEN_KEYS, KEYS, marketListing } from './market.ts';

const service = await startTestService({ after }, { fill: fillMarket });
const all = nativeAsker(service, 'replication', await service.key('replication'));
const feed = nativeAsker(service, 'replication', await service.key('replication', { role: 'idx' }));
const api = nativeAsker(service, 'api', await service.key('api', { role: 'idx' }));

describe('a walk', () => {
  it('is in bytewise order of the keys', async () => {
    assert.deepEqual(await feed.keys('listings?_limit=1000'), KEYS);
    assert.deepEqual(await all.keys('listings?_limit=1000'), [...KEYS, ...HIDDEN_KEYS].toSorted(byBytes));
  });

  it('returns every listing once with any page size, with an absent or empty first token', async () => {
    for (const size of [1, 2, 3, 5, KEYS.length - 1, KEYS.length, KEYS.length + 1, 1000]) {
      for (const first of [undefined, '']) {
        const pages = await feed.walk(`listings?_limit=${size}&_select=ListingKey`, first);
        assert.deepEqual(pages, chunks(KEYS, size), `${size}`);
      }
    }
  });

  it('has the key of its last record as the token on every page with records, full or not', async () => {
    const tokens = async (path: string): Promise<unknown> => (await feed.page(path)).token;
    assert.equal(await tokens('listings?_limit=5'), KEYS[4]);
    assert.equal(await tokens(`listings?_limit=5&_skiptoken=${KEYS[4]}`), KEYS[9]);
    assert.equal(await tokens(`listings?_limit=5&_skiptoken=${KEYS[9]}`), '日');
    assert.equal(await tokens('listings?_limit=1000'), '日');
    assert.equal(await tokens("listings?_filter=City Eq 'Fargo'&_limit=2"), KEYS[3]);
  });

  it('returns the token that was sent on a page without records', async () => {
    for (const sent of ['日', '日x', '\u{10ffff}']) {
      const { keys, token } = await feed.page(`listings?_skiptoken=${sent}`);
      assert.deepEqual([keys, token], [[], sent]);
    }
    const { keys, token } = await feed.page("listings?_filter=City Eq 'Nowhere'&_skiptoken=");
    assert.deepEqual([keys, token], [[], '']);
    const unsent = await feed.page("listings?_filter=City Eq 'Elsewhere'");
    assert.deepEqual([unsent.keys, unsent.token], [[], undefined]);
  });

  it('continues after any key, whether its record exists or not', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.constantFrom(...KEYS, ...HIDDEN_KEYS), fc.string({ unit: 'grapheme', minLength: 1 })),
        async (key) => {
          const path = `listings?_limit=1000&_select=Id&_skiptoken=${encodeURIComponent(key)}`;
          const behind = KEYS.filter((each) => byBytes(each, key) > 0);
          assert.deepEqual(await feed.keys(path), behind);
        },
      ),
      { seed: 20260601, numRuns: 60 },
    );
  });

  it('has no token with _orderby, _page or _skip', async () => {
    for (const parameter of ['_orderby=ListPrice', '_page=1', '_page=2', '_skip=0', '_skip=3', '_$skip=3']) {
      const { keys, token } = await feed.page(`listings?${parameter}&_limit=5`);
      assert.deepEqual([keys.length, token], [5, undefined], parameter);
    }
  });

  it('by _skip or _page returns every listing once while nothing changes', async () => {
    const skipped = [];
    for (let skip = 0; skip < KEYS.length; skip += 5) {
      skipped.push(...(await feed.keys(`listings?_limit=5&_skip=${skip}`)));
    }
    assert.deepEqual(skipped, KEYS);
    assert.deepEqual(await feed.keys('listings?_limit=5&_page=3'), KEYS.slice(10));
    assert.deepEqual(await feed.keys('listings?_limit=5&_page=4'), []);
    assert.deepEqual(await feed.keys('listings?_limit=5&_%24skip=10'), KEYS.slice(10));
    assert.deepEqual(await feed.keys('listings?_limit=5&_skip=2500000'), []);
    assert.deepEqual(await feed.keys('listings?_limit=1000&_page=100000'), []);
  });
});

describe('_limit', () => {
  it('defaults to 10 on both surfaces', async () => {
    assert.equal((await api.keys('listings')).length, 10);
    assert.equal((await feed.keys('listings')).length, 10);
  });

  it('is at most 25 on the regular host and 1000 on the replication host; other values are refused with 1053', async () => {
    assert.equal((await api.get('listings?_limit=25')).status, 200);
    assert.equal((await feed.get('listings?_limit=1000')).status, 200);
    const error = (value: string, most: number): unknown => [
      400,
      1053,
      `_limit is ${JSON.stringify(value)}, but takes a whole number from 1 to ${most}.`,
    ];
    for (const value of ['26', '0', '-1', '1000', '2.5', '', 'ten', '1e1', '99999999999']) {
      assert.deepEqual(await api.fault(`listings?_limit=${value}`), error(value, 25));
    }
    assert.deepEqual(await feed.fault('listings?_limit=1001'), error('1001', 1000));
  });
});

describe('Pagination', () => {
  it('is absent unless _pagination requests it', async () => {
    for (const path of ['listings', 'listings?_pagination=0']) {
      assert.equal((await feed.page(path)).pagination, undefined);
    }
  });

  it('reports rows, page size, pages and current page, with the rows or without them', async () => {
    const expected = { TotalRows: 12, PageSize: 5, TotalPages: 3, CurrentPage: 1 };
    const rows = await feed.page('listings?_limit=5&_pagination=1');
    assert.deepEqual([rows.keys, rows.pagination, rows.token], [KEYS.slice(0, 5), expected, KEYS[4]]);
    const count = await feed.page('listings?_limit=5&_pagination=count');
    assert.deepEqual([count.keys, count.pagination], [[], expected]);
    const whole = await feed.page('listings?_limit=12&_pagination=1');
    assert.deepEqual(whole.pagination, { TotalRows: 12, PageSize: 12, TotalPages: 1, CurrentPage: 1 });
    const none = await feed.page("listings?_pagination=count&_filter=City Eq 'Nowhere'");
    assert.deepEqual(none.pagination, { TotalRows: 0, PageSize: 10, TotalPages: 0, CurrentPage: 1 });
  });

  it('reports the current page, or with _skip the current offset', async () => {
    const of = async (more: string): Promise<unknown> => {
      const { pagination } = await feed.page(`listings?_limit=5&_pagination=1&${more}`);
      const { TotalRows, PageSize, TotalPages, ...place } = objectIn(pagination);
      assert.deepEqual([TotalRows, PageSize, TotalPages], [12, 5, 3]);
      return place;
    };
    assert.deepEqual(await of('_page=3'), { CurrentPage: 3 });
    assert.deepEqual(await of('_page=9'), { CurrentPage: 9 });
    assert.deepEqual(await of('_skip=0'), { CurrentOffset: 0 });
    assert.deepEqual(await of('_skip=7'), { CurrentOffset: 7 });
    assert.deepEqual(await of('_skiptoken='), { CurrentPage: 1 });
    assert.deepEqual(await of(`_skiptoken=${KEYS[4]}`), { CurrentPage: 2 });
    assert.deepEqual(await of(`_skiptoken=${KEYS[9]}`), { CurrentPage: 3 });
  });

  it('counts the matches of the filter that the key sees', async () => {
    const total = async (asker: typeof feed, filter: string): Promise<unknown> => {
      const { pagination } = await asker.page(`listings?_pagination=count&_filter=${filter}`);
      return objectIn(pagination).TotalRows;
    };
    assert.equal(await total(feed, "City Eq 'Fargo'"), 4);
    assert.equal(await total(all, "City Eq 'Fargo'"), 6);
    assert.equal(await total(all, "StandardStatus Eq 'Withdrawn'"), 1);
    assert.equal(await total(feed, "StandardStatus Eq 'Withdrawn'"), 0);
  });
});

describe('_orderby', () => {
  const prices = (direction: 1 | -1): string[] => {
    const priced = KEYS.map((key) => [key, marketListing(key).ListPrice] as const);
    const rank = (price: unknown): number => (price === null ? -1 : Number(price));
    return priced
      .toSorted(([a, p], [b, q]) => direction * (rank(p) - rank(q)) || byBytes(a, b))
      .map(([key]) => key);
  };

  it('orders by a field, ascending or descending, null lowest, and by key among equals', async () => {
    for (const sign of ['', '+', '%2B', ' ']) {
      assert.deepEqual(await feed.keys(`listings?_limit=1000&_orderby=${sign}ListPrice`), prices(1));
    }
    assert.deepEqual(await feed.keys('listings?_limit=1000&_orderby=-ListPrice'), prices(-1));
  });

  it('orders by several fields, with or without spaces after commas', async () => {
    const expected = KEYS.toSorted((a, b) => {
      const [one, other] = [marketListing(a), marketListing(b)];
      const city = byBytes(String(other.City), String(one.City));
      return city || Number(one.BedroomsTotal) - Number(other.BedroomsTotal) || byBytes(a, b);
    });
    for (const order of ['-City,BedroomsTotal', '-City, +BedroomsTotal', '-City,%20%2BBedroomsTotal']) {
      assert.deepEqual(await feed.keys(`listings?_limit=1000&_orderby=${order}`), expected);
    }
    const second = await feed.keys('listings?_limit=5&_page=2&_orderby=-City,BedroomsTotal');
    assert.deepEqual(second, expected.slice(5, 10));
  });

  it('orders the results of a filter', async () => {
    const expected = prices(-1).filter((key) => marketListing(key).City === 'Fargo');
    assert.deepEqual(await feed.keys("listings?_filter=City Eq 'Fargo'&_orderby=-ListPrice"), expected);
  });
});

function byBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
