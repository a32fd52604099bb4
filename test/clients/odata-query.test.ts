/** The unmodified npm package `odata-query`: the queries that it builds are sent to a live service. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, test } from 'node:test';
import type packageOf from 'odata-query';
import type { Alias, QueryOptions } from 'odata-query';
import { asker } from '../service/reso/asker.ts';
import { fillMarket, KEYS, keysWhere, MARKET } from '../service/reso/market.ts';
import { startTestService } from '../support/service.ts';
import type { Json } from '../support/world.ts';

/** The package's types describe its CommonJS form. */
const library: typeof packageOf = createRequire(import.meta.url)('odata-query');
const { default: buildQuery, duration, raw } = library;

const service = await startTestService({ after }, { fill: fillMarket });
const api = asker(service, 'api', await service.key('api'));
const replication = asker(service, 'replication', await service.key('replication'));

const ask = (options: Partial<QueryOptions<Json>>): string => `Property${buildQuery(options)}`;
const found = (filter: QueryOptions<Json>['filter']): Promise<string[]> => api.keys(ask({ filter }));

test('odata-query: walks by nextLink, with and without an order', async () => {
  assert.deepEqual(await replication.walk(ask({ top: 9, select: ['ListingKey'] })), [
    KEYS.slice(0, 9),
    KEYS.slice(9, 18),
    KEYS.slice(18, 27),
    KEYS.slice(27),
  ]);
  const byPrice = MARKET.toSorted((one, other) => other.price - one.price || (one.key < other.key ? -1 : 1));
  const pages = await replication.walk(ask({ top: 16, orderBy: [['ListPrice', 'desc'], 'ListingKey'] }));
  assert.deepEqual(
    pages.flat(),
    byPrice.map(({ key }) => key),
  );
});

test('odata-query: comparisons, lists, ranges and null', async () => {
  assert.deepEqual(
    await found({ ListPrice: { ge: 200_000, lt: 300_000 } }),
    keysWhere(({ price }) => price >= 200_000 && price < 300_000),
  );
  assert.deepEqual(
    await found({ BedroomsTotal: null }),
    keysWhere(({ bedrooms }) => bedrooms === null),
  );
  assert.deepEqual(
    await found({ StandardStatus: { in: ['Active', 'Closed'] } }),
    keysWhere(({ status }) => status === 'Active' || status === 'Closed'),
  );
  assert.deepEqual(
    await found({ City: "Coeur d'Alene" }),
    keysWhere(({ city }) => city === "Coeur d'Alene"),
  );
  const moment = new Date('2026-06-01T12:10:00.900Z');
  assert.deepEqual(
    await found({ ModificationTimestamp: { le: moment } }),
    keysWhere(({ modified }) => modified <= '2026-06-01T12:10:00.900Z'),
  );
  assert.deepEqual(
    await found({ ListingContractDate: { eq: raw('2026-03-03') } }),
    keysWhere(({ contractDate }) => contractDate === '2026-03-03'),
  );
});

test('odata-query: and, or, not, functions, arithmetic of durations', async () => {
  assert.deepEqual(
    await found({ or: [{ City: 'Zug' }, { and: [{ BedroomsTotal: 3 }, { ListPrice: { gt: 200_000 } }] }] }),
    keysWhere(({ city, bedrooms, price }) => city === 'Zug' || (bedrooms === 3 && price > 200_000)),
  );
  assert.deepEqual(
    await found({ not: { City: 'Zug' } }),
    keysWhere(({ city }) => city !== 'Zug'),
  );
  assert.deepEqual(
    await found({ City: { startswith: 'Br' } }),
    keysWhere(({ city }) => city.startsWith('Br')),
  );
  assert.deepEqual(
    await found({ 'tolower(City)': { contains: 'alene' } }),
    keysWhere(({ city }) => city.includes('Alene')),
  );
  assert.deepEqual(
    await found({ 'length(City)': 3 }),
    keysWhere(({ city }) => city === 'Zug'),
  );
  assert.deepEqual(
    await found({ 'now() sub ModificationTimestamp': { lt: duration('PT35M') } }),
    keysWhere(({ modified }) => modified > '2026-06-01T12:25:00.000Z'),
  );
});

test('odata-query: any and all over values and records, and paths', async () => {
  assert.deepEqual(await found({ Media: { any: { Order: { ge: 3 } } } }), ['1001']);
  assert.deepEqual(
    await found({ AccessibilityFeatures: { any: { '': { eq: 'Accessible Kitchen' } } } }),
    keysWhere(({ features }) => features.includes('Accessible Kitchen')),
  );
  assert.deepEqual(
    await found({ AccessibilityFeatures: { all: { '': { in: ['Accessible Doors'] } } } }),
    keysWhere(({ features }) => features.every((feature) => feature === 'Accessible Doors')),
  );
  assert.deepEqual(
    await found({ ListAgent: { MemberEmail: 'one@agents.example' } }),
    keysWhere(({ key }) => Number(key) % 3 === 0),
  );
});

test('odata-query: expansions with options, counts, search, keys, aliases', async () => {
  const expand = {
    Media: { select: ['MediaKey'], filter: { Order: { lt: 3 } }, orderBy: ['Order'], top: 1 },
  };
  const page = await api.page(
    ask({ select: ['ListingKey'], top: 1, count: true, expand: [expand, 'ListOffice'] }),
  );
  assert.equal(page.count, KEYS.length);
  assert.deepEqual(
    page.rows.map(({ ListingKey, Media, ListOffice }) => [
      ListingKey,
      Media,
      typeof ListOffice === 'object' && ListOffice !== null && 'OfficeKey' in ListOffice
        ? ListOffice.OfficeKey
        : undefined,
    ]),
    [['1001', [{ MediaKey: '1001-P1' }], 'O2']],
  );
  assert.deepEqual(await api.record(`Property${buildQuery({ key: '1002', select: 'ListingKey' })}`), {
    ListingKey: '1002',
  });
  const { text } = await api.get(`Property${buildQuery({ count: { City: 'Zug' } })}`);
  assert.equal(Number(text), keysWhere(({ city }) => city === 'Zug').length);
  assert.deepEqual(
    await api.keys(ask({ search: 'bremen' })),
    keysWhere(({ city }) => city === 'Bremen'),
  );
  const town: Alias = { type: 'alias', name: 'town', value: 'Zug' };
  assert.deepEqual(
    await api.keys(ask({ filter: { City: { eq: town } } })),
    keysWhere(({ city }) => city === 'Zug'),
  );
});
