/** Which lane an engine uses for each read: a read that may scan does not delay reads with a bound. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RecordQuery } from '../../../src/compile/read.ts';
import type { ReadCaller } from '../../../src/store/read/lanes.ts';
import type { ReadOptions } from '../../../src/store/store.ts';
import { listing, room } from '../../support/builders.ts';
import type { Engine } from '../../support/engine.ts';
import { makeWorld, TIME, type WorldRequest } from '../../support/world.ts';

export function laneContract(engine: Engine): void {
  test('reads with a bound have lanes of their own, and reads that may scan have another', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('A', { Rooms: [room('R')] }), listing('B'));
    const lanes: string[] = [];
    const caller: ReadCaller = {
      name: 'somebody',
      begin: (lane) => void lanes.push(lane),
      made: () => undefined,
      spent: () => undefined,
    };
    const options: ReadOptions = { ...TIME, caller };
    const { navigations } = (await world.store.model()).resource('Property');
    const navigation = navigations.get('Rooms');
    assert.ok(navigation);
    const under = { navigation, key: 'A' };
    const laneOf = async (read: () => Promise<unknown>): Promise<string> => {
      lanes.length = 0;
      await read();
      return lanes.join();
    };
    const page = async (query: string, wanted: WorldRequest = {}, resource = 'Property'): Promise<string> => {
      const request = await world.request(resource, query, wanted);
      return laneOf(async () => (await world.store.page(request, options)).release?.());
    };
    const offset = { kind: 'offset', skip: 1 } as const;
    const pages = {
      'a page by key': await page(''),
      'the next one': await page('', { position: { kind: 'after-key', key: 'A' } }),
      'a page of keys': await page('$select=ListingKey'),
      'keys and a field': await page('$select=ListingKey,City'),
      'with media': await page('$expand=Media'),
      'with filtered media': await page("$expand=Media($filter=MediaType eq 'png')"),
      'by a filter': await page('$filter=ListPrice gt 1'),
      'in an order': await page('$orderby=ListPrice'),
      'far behind': await page('', { position: offset }),
      'the rooms of a listing': await page('', { under }, 'PropertyRooms'),
      'the last of them': await page('', { under, position: offset }, 'PropertyRooms'),
      'some of them': await page('$filter=RoomType eq null', { under }, 'PropertyRooms'),
    };
    assert.deepEqual(pages, {
      'a page by key': 'pages',
      'the next one': 'pages',
      'a page of keys': 'records',
      'keys and a field': 'pages',
      'with media': 'pages',
      'with filtered media': 'searches',
      'by a filter': 'searches',
      'in an order': 'searches',
      'far behind': 'searches',
      'the rooms of a listing': 'records',
      'the last of them': 'records',
      'some of them': 'searches',
    });
    const { query, shape, files } = await world.request('Property', '');
    const filtered = (await world.request('Property', '$filter=ListPrice gt 1')).query;
    const photos: RecordQuery = { ...(await world.request('Media')).query, part: 'photos' };
    const ids = await world.store.ids(query, TIME);
    const others = {
      record: await laneOf(() => world.store.record({ query, key: 'A', shape, files }, options)),
      list: await laneOf(() => world.store.listPage({ query, ids, limit: 9, shape, files }, options)),
      ids: await laneOf(() => world.store.ids(query, options)),
      count: await laneOf(() => world.store.count(query, options)),
      'count of some': await laneOf(() => world.store.count(filtered, options)),
      'count of photos': await laneOf(() => world.store.count(photos, options)),
    };
    assert.deepEqual(others, {
      record: 'records',
      list: 'pages',
      ids: 'searches',
      count: 'pages',
      'count of some': 'searches',
      'count of photos': 'searches',
    });
  });
}
