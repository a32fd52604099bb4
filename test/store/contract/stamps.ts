/** I2: stamps are in the order of commits, whatever the clock does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timestampFrom } from '../../../src/dictionary/index.ts';
import { listing, photo } from '../../support/builders.ts';
import { SECOND } from '../../support/clock.ts';
import type { Engine } from '../../support/engine.ts';
import { makeWorld, operations } from '../../support/world.ts';

const STAMPS = '$select=ListingKey,ModificationTimestamp,PhotosChangeTimestamp';

export function stampContract(engine: Engine): void {
  test('each record of a transaction has a timestamp of its own, in a millisecond of its own, the last one of now', async (t) => {
    const world = await makeWorld(engine, t);
    const children = { Media: [photo('M1'), photo('M2'), photo('M0')] };
    const { stamp } = await world.write('Property', listing('B', children), listing('A'));
    assert.equal(stamp, '2026-06-01T12:00:00.500Z');
    assert.deepEqual(await world.rows('Property', STAMPS), [
      { ListingKey: 'A', ModificationTimestamp: stamp, PhotosChangeTimestamp: null },
      {
        ListingKey: 'B',
        ModificationTimestamp: '2026-06-01T12:00:00.499Z',
        PhotosChangeTimestamp: '2026-06-01T12:00:00.499Z',
      },
    ]);
    assert.deepEqual(await world.rows('Media', '$select=MediaKey,ModificationTimestamp'), [
      { MediaKey: 'M0', ModificationTimestamp: stamp },
      { MediaKey: 'M1', ModificationTimestamp: '2026-06-01T12:00:00.498Z' },
      { MediaKey: 'M2', ModificationTimestamp: '2026-06-01T12:00:00.499Z' },
    ]);
  });

  test('a clock that is set back does not take the stamps with it', async (t) => {
    const world = await makeWorld(engine, t);
    world.clock.set('2026-06-01T12:00:00.550Z');
    await world.write('Property', listing('A'));
    world.clock.set('2026-06-01T11:00:00Z');
    const { stamp } = await world.write('Property', listing('B'));
    assert.equal(stamp, '2026-06-01T12:00:00.5501Z');
    const moment = Date.parse('2026-06-01T12:00:00.550Z');
    assert.deepEqual(await world.store.horizon(), {
      ...{ now: moment, settled: moment },
      standsUntil: moment + SECOND,
    });
    // Nor in another process, nor after the store was opened anew.
    const second = operations(await world.again(), world.clock);
    assert.equal((await second.write('Property', listing('C'))).stamp, '2026-06-01T12:00:00.5502Z');
    world.clock.set('2026-06-01T12:00:01.001Z');
    assert.equal((await world.write('Property', listing('D'))).stamp, '2026-06-01T12:00:01.001Z');
    assert.equal((await world.store.status()).lastStamp, '2026-06-01T12:00:01.001Z');
  });

  test('what a horizon called settled stays so, also when the clock is set back after it', async (t) => {
    const world = await makeWorld(engine, t);
    const { settled } = await world.store.horizon();
    assert.equal(settled, world.clock.now());
    world.clock.set('2026-06-01T11:00:00Z');
    const { stamp } = await world.write('Property', listing('A'));
    assert.ok(Date.parse(stamp) >= settled, `${stamp} is before ${timestampFrom(settled)}`);
    world.clock.set('2026-06-01T13:00:00Z');
    const later = await world.store.horizon();
    world.clock.set('2026-06-01T12:30:00Z');
    const other = operations(await world.again(), world.clock);
    const elsewhere = await other.write('Property', listing('B'));
    // Another process knows of a promise that is 5 seconds old.
    assert.ok(Date.parse(elsewhere.stamp) >= later.settled - 5 * SECOND, elsewhere.stamp);
  });

  test('milliseconds are told when they are not zero, and compare as times', async (t) => {
    const world = await makeWorld(engine, t);
    for (const [key, moment] of [
      ['A', '2026-06-01T12:01:00.001Z'],
      ['B', '2026-06-01T12:01:00.002Z'],
      ['C', '2026-06-01T12:01:00.120Z'],
      ['D', '2026-06-01T12:01:01.300Z'],
    ] as const) {
      world.clock.set(moment);
      assert.equal((await world.write('Property', listing(key))).stamp, moment);
    }
    const inWindow = (from: string, to: string) =>
      world.keys('Property', `$filter=ModificationTimestamp ge ${from} and ModificationTimestamp lt ${to}`);
    assert.deepEqual(await inWindow('2026-06-01T12:01:00Z', '2026-06-01T12:01:01Z'), ['A', 'B', 'C']);
    assert.deepEqual(await inWindow('2026-06-01T12:01:00.002Z', '2026-06-01T12:01:00.12Z'), ['B']);
    assert.deepEqual(await world.keys('Property', '$orderby=ModificationTimestamp desc'), [
      'D',
      'C',
      'B',
      'A',
    ]);
  });
}
