/** The unmodified npm package `ts-odata-client` against a live service. A program must double quotes in texts itself. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ODataQuery } from 'ts-odata-client';
import { fillMarket, KEYS, keysWhere, MARKET } from '../service/reso/market.ts';
import { startTestService } from '../support/service.ts';

/** The records as a program that uses the client declares them. */
interface Property {
  readonly ListingKey: string;
  readonly ListPrice: number;
  /** A misspelled field. */
  readonly ListPrize: number;
  readonly BedroomsTotal: number;
  readonly City: string;
  readonly StandardStatus: string;
  readonly ModificationTimestamp: Date;
  readonly AccessibilityFeatures: string[];
  readonly ListAgent: Member;
  readonly Media: Medium[];
}
interface Member {
  readonly MemberKey: string;
  readonly MemberPreferredPhone: string;
}
interface Medium {
  readonly MediaKey: string;
  readonly Order: number;
}

let query: (headers?: Record<string, string>) => ODataQuery<Property>;
let replicated: () => ODataQuery<Property>;

const service = await startTestService({ after }, { fill: fillMarket });
before(async () => {
  const [api, replication] = [await service.key('api'), await service.key('replication')];
  const at = (surface: 'api' | 'replication', token: string, headers: Record<string, string> = {}) =>
    ODataQuery.forV4<Property>(`${service.addresses[surface]}/Reso/OData/Property`, {
      requestInit: () => ({ headers: { authorization: `Bearer ${token}`, ...headers } }),
    });
  query = (headers) => at('api', api, headers);
  replicated = () => at('replication', replication);
});

const keysOf = (rows: readonly { readonly ListingKey: string }[]): string[] =>
  rows.map(({ ListingKey }) => ListingKey);

test('ts-odata-client: iterating follows nextLink', async () => {
  const iterated: string[] = [];
  for await (const { ListingKey } of query({ prefer: 'odata.maxpagesize=7' })) iterated.push(ListingKey);
  assert.deepEqual(iterated, KEYS);
  const walked: string[] = [];
  for await (const { ListingKey } of replicated().top(4)) walked.push(ListingKey);
  assert.deepEqual(walked, KEYS);
});

test('ts-odata-client: next() returns the next page, and is undefined on the last one', async () => {
  let page = await replicated().top(11).getManyAsync();
  const pages = [keysOf(page.value)];
  while (page.next !== undefined) {
    page = await page.next();
    pages.push(keysOf(page.value));
  }
  assert.deepEqual(pages, [KEYS.slice(0, 11), KEYS.slice(11, 22), KEYS.slice(22)]);
});

test('ts-odata-client reads a record by key', async () => {
  const { ListingKey, ListPrice } = await query().getAsync('1003');
  assert.deepEqual({ ListingKey, ListPrice }, { ListingKey: '1003', ListPrice: MARKET[2]?.price });
});

test('ts-odata-client reads a page with the number of all matches', async () => {
  const found = await query()
    .filter((each) => each.StandardStatus.$equals('Active'))
    .top(2)
    .getManyWithCountAsync();
  const active = keysWhere(({ status }) => status === 'Active');
  assert.deepEqual([found['@odata.count'], keysOf(found.value)], [active.length, active.slice(0, 2)]);
});

test('ts-odata-client: conditions of every kind', async () => {
  const found = async (asked: ODataQuery<Property>) => keysOf((await asked.getManyAsync()).value);
  assert.deepEqual(
    await found(
      query().filter((each) =>
        each.ListPrice.$greaterThan(300_000).and(each.BedroomsTotal.$lessThanOrEqualTo(2)),
      ),
    ),
    keysWhere(({ price, bedrooms }) => price > 300_000 && bedrooms !== null && bedrooms <= 2),
  );
  assert.deepEqual(
    await found(
      query().filter((each, { not, or }) => not(or(each.City.$equals('Zug'), each.City.$equals('Bremen')))),
    ),
    keysWhere(({ city }) => city !== 'Zug' && city !== 'Bremen'),
  );
  assert.deepEqual(
    await found(query().filter((each) => each.City.$equals("Coeur d''Alene"))),
    keysWhere(({ city }) => city === "Coeur d'Alene"),
  );
  assert.deepEqual(
    await found(query().filter((each) => each.City.$startsWith('Å').or(each.City.$endsWith('men')))),
    keysWhere(({ city }) => city === 'Åland' || city === 'Bremen'),
  );
  assert.deepEqual(
    await found(query().filter((each) => each.City.$contains('eu'))),
    keysWhere(({ city }) => city.includes('eu')),
  );
  assert.deepEqual(
    await found(query().filter((each) => each.BedroomsTotal.$equals(null))),
    keysWhere(({ bedrooms }) => bedrooms === null),
  );
  assert.deepEqual(
    await found(query().filter((each) => each.StandardStatus.$in(['Pending', 'Closed']))),
    keysWhere(({ status }) => status === 'Pending' || status === 'Closed'),
  );
  const moment = '2026-06-01T12:20:00.900Z';
  assert.deepEqual(
    await found(query().filter((each) => each.ModificationTimestamp.$greaterThan(new Date(moment)))),
    keysWhere(({ modified }) => modified > moment),
  );
});

test('ts-odata-client: conditions on lists and related records', async () => {
  const found = async (asked: ODataQuery<Property>) => keysOf((await asked.getManyAsync()).value);
  assert.deepEqual(await found(query().filter((each) => each.Media.$any((one) => one.Order.$equals(1)))), [
    '1001',
  ]);
  assert.deepEqual(
    await found(query().filter((each) => each.ListAgent.MemberPreferredPhone.$equals('555-0102'))),
    keysWhere(({ key }) => Number(key) % 3 === 1),
  );
});

test('ts-odata-client: order, selection, skip and expansion', async () => {
  const byPrice = MARKET.toSorted((one, other) => other.price - one.price || (one.key < other.key ? -1 : 1));
  const sorted = await query()
    .orderByDescending((each) => [each.ListPrice])
    .orderBy((each) => [each.ListingKey])
    .select('ListingKey', 'ListPrice')
    .skip(3)
    .top(4)
    .getManyAsync();
  assert.deepEqual(
    sorted.value,
    byPrice.slice(3, 7).map(({ key, price }) => ({ ListingKey: key, ListPrice: price })),
  );
  const projected = await query()
    .select((each) => ({ key: each.ListingKey, town: each.City }))
    .top(1)
    .getManyAsync();
  assert.deepEqual(projected.value, [{ key: '1001', town: 'Bremen' }]);
  const expanded = await query().expand('Media', 'ListAgent').top(1).getManyAsync();
  assert.deepEqual(
    expanded.value.map(({ Media, ListAgent }) => [
      Media.map(({ MediaKey }) => MediaKey),
      ListAgent.MemberKey,
    ]),
    [[['1001-F1', '1001-P1', '1001-P2'], 'A3']],
  );
});

test('ts-odata-client throws an error with the message of the service', async () => {
  await assert.rejects(
    query()
      .filter((each) => each.ListPrize.$greaterThan(1))
      .getManyAsync(),
    (error: Error) =>
      error.message.includes(
        '$filter: Property has no field ListPrize at position 1. Did you mean ListPrice?',
      ),
  );
});
