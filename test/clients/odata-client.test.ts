/** The unmodified npm package `@odata/client`, in its mode for OData 4, against a live service. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, test } from 'node:test';
import type packageOf from '@odata/client';
import { fillMarket, KEYS, keysWhere, MARKET } from '../service/reso/market.ts';
import { startTestService } from '../support/service.ts';

const require = createRequire(import.meta.url);
/** The package's types describe its CommonJS form. */
const { OData, EdmV4 }: typeof packageOf = require('@odata/client');

interface Property {
  readonly ListingKey: string;
  readonly ListPrice: number;
  readonly City: string;
  readonly BedroomsTotal: number;
  readonly ModificationTimestamp: string;
}

const service = await startTestService({ after }, { fill: fillMarket });
const token = await service.key('api');
const client = OData.New4({
  serviceEndpoint: `${service.addresses.api}/Reso/OData/`,
  commonHeaders: { authorization: `Bearer ${token}` },
});
const properties = client.getEntitySet<Property>('Property');

const keysOf = (rows: readonly Property[]): string[] => rows.map(({ ListingKey }) => ListingKey);

test('@odata/client reads records by key, filter and example', async () => {
  const { ListingKey, ListPrice } = await properties.retrieve('1003');
  assert.deepEqual([ListingKey, ListPrice], ['1003', MARKET[2]?.price]);
  const filter = client.newFilter().property('City').eq('Zug').property('ListPrice').gt(200_000);
  assert.deepEqual(
    keysOf(await properties.query(filter)),
    keysWhere(({ city, price }) => city === 'Zug' && price > 200_000),
  );
  assert.deepEqual(
    keysOf(await properties.find({ City: 'Bremen' })),
    keysWhere(({ city }) => city === 'Bremen'),
  );
  const moment = EdmV4.DateTimeOffset.from(new Date('2026-06-01T12:20:30Z'));
  assert.deepEqual(
    keysOf(await properties.query(client.newFilter().property('ModificationTimestamp').gt(moment))),
    keysWhere(({ modified }) => modified > '2026-06-01T12:20:30Z'),
  );
});

test('@odata/client reads a page with order, selection and expansion, and counts', async () => {
  const options = client
    .newOptions()
    .orderby([{ field: 'ListPrice', order: 'desc' }])
    .select(['ListingKey', 'ListPrice'])
    .expand('Media')
    .top(2)
    .skip(1);
  const expensive = MARKET.toSorted((one, other) => other.price - one.price).slice(1, 3);
  assert.deepEqual(
    keysOf(await properties.query(options)),
    expensive.map(({ key }) => key),
  );
  assert.equal(await properties.count(), KEYS.length);
  assert.equal(await properties.count({ City: 'Zug' }), keysWhere(({ city }) => city === 'Zug').length);
});

test('@odata/client throws an error with the message of the service', async () => {
  await assert.rejects(properties.query(client.newFilter().property('Cty').eq('Zug')), {
    message: '$filter: Property has no field Cty at position 1. Did you mean City?',
  });
});
