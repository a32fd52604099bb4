/** A deleted record is deleted with its children, and leaves a tombstone for each. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listing, member, openHouse, photo, photoOf, room } from '../../support/builders.ts';
import { SECOND } from '../../support/clock.ts';
import type { Engine } from '../../support/engine.ts';
import { nonZero } from '../../support/reports.ts';
import { makeWorld } from '../../support/world.ts';

export function deleteContract(engine: Engine): void {
  test('a listing is deleted with its children and theirs', async (t) => {
    const world = await makeWorld(engine, t);
    const children = {
      Media: [photo('M1'), photo('M2')],
      Rooms: [room('R1')],
      OpenHouses: [openHouse('O1', { Media: [photo('M3')] })],
    };
    await world.write('Property', listing('A', children), listing('B', { Media: [photo('M4')] }));
    const report = await world.store.remove('Property', ['A', 'A', 'none']);
    assert.deepEqual(nonZero(report), { deleted: 1, children: { deleted: 5 } });
    assert.deepEqual(await world.keys('Property'), ['B']);
    assert.deepEqual(await world.keys('Media'), ['M4']);
    assert.deepEqual(await world.keys('PropertyRooms'), []);
    assert.deepEqual(await world.keys('OpenHouse'), []);
    const { resources } = await world.store.status();
    const told2 = resources.map(({ resource, rows, deleted }) => [resource, rows, deleted]);
    assert.deepEqual(
      told2.filter(([, , deleted]) => deleted !== 0),
      [
        ['Property', 1, 1],
        ['Media', 1, 3],
        ['PropertyRooms', 0, 1],
        ['OpenHouse', 0, 1],
      ],
    );
  });

  test('writing a deleted record again removes its tombstone', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('A'));
    await world.store.remove('Property', ['A']);
    assert.equal(await world.record('Property', 'A'), undefined);
    world.clock.advance(SECOND);
    assert.deepEqual(nonZero(await world.write('Property', listing('A'))), { inserted: 1 });
    const { resources } = await world.store.status();
    const property = resources.find(({ resource }) => resource === 'Property');
    assert.deepEqual([property?.rows, property?.deleted], [1, 0]);
  });

  test('an id is never used again', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('A'), listing('B'));
    const { query } = await world.request('Property');
    const before = await world.store.ids(query, { milliseconds: 1000 });
    await world.store.remove('Property', ['B']);
    await world.write('Property', listing('B'), listing('C'));
    const after = await world.store.ids(query, { milliseconds: 1000 });
    assert.equal(after[0], before[0]);
    assert.equal(new Set([...before, ...after]).size, 4);
  });

  test('deleting children moves their parent once', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('A', { Media: [photo('M1'), photo('M2')] }), listing('B'));
    await world.write('Media', photoOf('B', 'M3'));
    world.clock.advance(SECOND);
    const report = await world.store.remove('Media', ['M1', 'M2']);
    assert.deepEqual(nonZero(report), { deleted: 2, restamped: 1 });
    assert.deepEqual(await world.rows('Property', '$select=ListingKey,PhotosChangeTimestamp'), [
      { ListingKey: 'A', PhotosChangeTimestamp: '2026-06-01T12:00:01.500Z' },
      { ListingKey: 'B', PhotosChangeTimestamp: '2026-06-01T12:00:00.5001Z' },
    ]);
  });

  test('listings of a deleted agent stay, without the agent’s fields', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Member', member('1', { Media: [photo('P1')] }));
    await world.write('Property', listing('A', { ListAgentKey: '1' }));
    assert.deepEqual(nonZero(await world.store.remove('Member', ['1'])), {
      deleted: 1,
      children: { deleted: 1 },
    });
    const expected = [{ ListAgentKey: '1', ListAgentFullName: null }];
    assert.deepEqual(await world.rows('Property', '$select=ListAgentKey,ListAgentFullName'), expected);
  });

  test('more keys than one transaction takes are deleted in several', async (t) => {
    const world = await makeWorld(engine, t);
    const keys = Array.from({ length: 2300 }, (_, index) => `K${String(index).padStart(5, '0')}`);
    await world.write('Property', ...keys.map((key) => listing(key)));
    assert.deepEqual(nonZero(await world.store.remove('Property', keys.slice(1))), { deleted: 2299 });
    assert.deepEqual(await world.keys('Property'), ['K00000']);
  });
}
