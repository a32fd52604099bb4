/** The unmodified npm package `odata` (o.js) against a live service. It reads one page of a collection and ignores nextLink. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, test } from 'node:test';
import type packageOf from 'odata';
import { fillMarket, KEYS, keysWhere, MARKET } from '../service/reso/market.ts';
import { startTestService } from '../support/service.ts';

/** The package's types describe its CommonJS form. */
const { o }: typeof packageOf = createRequire(import.meta.url)('odata');

const service = await startTestService({ after }, { fill: fillMarket });
const headers = { authorization: `Bearer ${await service.key('api')}` };
const client = () => o(`${service.addresses.api}/Reso/OData/`, { headers });

const keysOf = (rows: readonly { readonly ListingKey: string }[]): string[] =>
  rows.map(({ ListingKey }) => ListingKey);

test('o.js reads a collection with query options', async () => {
  assert.deepEqual(keysOf(await client().get('Property').query({ $select: 'ListingKey' })), KEYS);
  const expensive = MARKET.toSorted((one, other) => other.price - one.price).slice(0, 3);
  const found = await client()
    .get('Property')
    .query({ $orderby: 'ListPrice desc', $top: 3, $expand: 'Media' });
  assert.deepEqual(
    keysOf(found),
    expensive.map(({ key }) => key),
  );
  assert.deepEqual(
    keysOf(await client().get('Property').query({ $filter: "City eq 'Zug' and ListPrice gt 200000" })),
    keysWhere(({ city, price }) => city === 'Zug' && price > 200_000),
  );
});

test('o.js reads a record, a count, and several requests in a chain', async () => {
  const record = await client().get("Property('1003')").query();
  assert.deepEqual([record.ListingKey, record.ListPrice], ['1003', MARKET[2]?.price]);
  const [listing, members] = await client().get("Property('1001')").get('Member').query();
  assert.deepEqual([listing.ListingKey, members.length], ['1001', 3]);
  const counted = await client().get('Property/$count').fetch();
  assert.ok(!Array.isArray(counted));
  assert.equal(await counted.text(), String(KEYS.length));
});

test('o.js rejects with the error response of the service', async () => {
  const rejected = await client()
    .get('Property')
    .query({ $filter: "Cty eq 'Zug'" })
    .then(assert.fail, (error: Response) => error);
  assert.equal(rejected.status, 400);
  assert.deepEqual(await rejected.json(), {
    error: {
      code: 'fieldUnknown',
      message: '$filter: Property has no field Cty at position 1. Did you mean City?',
      target: '$filter',
    },
  });
});
