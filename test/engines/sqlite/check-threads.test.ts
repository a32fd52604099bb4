/** Rows that are checked on threads: in parallel, with the same faults, and by the current model. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findAllDamage } from '../../../src/replica/verify/find-damage.ts';
import { listing, photo, room } from '../../support/builders.ts';
import { faultsIn } from '../../support/faults.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { makeWorld } from '../../support/world.ts';

const whole = (key: string) =>
  listing(key, { City: 'Springfield', Media: [photo(`p${key}`)], Rooms: [room(`r${key}`)] });

test('threads find the same faults as the calling thread, also in fields that came into use after they began', async (t) => {
  const world = await makeWorld(sqliteEngine({ checkers: 2 }), t);
  await world.write('Property', ...['A', 'B', 'C'].map(whole));
  assert.deepEqual(await faultsIn(world.store, 2), []);
  await world.write('Property', { ...whole('D'), YearBuilt: 1900 });
  assert.deepEqual(await faultsIn(world.store, 2), []);
  await world.damage(
    `UPDATE property_records SET "YearBuilt" = 1901 WHERE _key = 'D'`,
    `UPDATE media_records SET "_kind" = 'video' WHERE _key = 'pB'`,
    // This value is not text: the SQL check fails at it, so that all rows of the page are read.
    `UPDATE property_records SET "City" = x'00' WHERE _key = 'A'`,
  );
  const expected = [
    ['Lookup', '(values)', 'the stored counts of values in use are wrong'],
    ['Media', 'pB', '_kind'],
    ['Property', 'A', 'its search row', 'address_values', 'address_nulls', '_hash'],
    // Its photo counts as a video.
    ['Property', 'B', 'its counts of media'],
    ['Property', 'D', 'its search row', 'idx_values', '_hash'],
  ];
  assert.deepEqual((await faultsIn(world.store, 2)).toSorted(), expected);
  const { found } = findAllDamage(world.store, ['Property', 'Media', 'PropertyRooms'], () => undefined);
  assert.deepEqual(
    (await found).map(({ resource, key }) => [resource, key]),
    [
      ['Property', 'A'],
      ['Property', 'B'],
      ['Property', 'D'],
      ['Media', 'pB'],
    ],
  );
});

test('a resource is checked in parallel parts, and its faults are reported in order', async (t) => {
  const world = await makeWorld(sqliteEngine({ checkers: 2 }), t);
  const keys = Array.from({ length: 2300 }, (_, at) => `k${String(at).padStart(4, '0')}`);
  await world.write('Property', ...keys.map((key) => listing(key, { City: 'Springfield' })));
  const wrong = ['k0000', 'k0999', 'k1000', 'k1999', 'k2000', 'k2299'];
  await world.damage(
    `UPDATE property_records SET "City" = 'Shelbyville' WHERE _key IN (${wrong.map((key) => `'${key}'`)})`,
  );
  const read: number[] = [];
  const search = findAllDamage(world.store, ['Property'], (_resource, rows) => read.push(rows));
  assert.deepEqual(
    (await search.found).map(({ key }) => key),
    wrong,
  );
  assert.deepEqual(
    [read.length, read.at(-1), read.toSorted((one, other) => one - other)],
    [4, keys.length, read],
  );
});

test('a check that is stopped reads no further, and one that fails reports the error', async (t) => {
  const world = await makeWorld(sqliteEngine({ checkers: 1 }), t);
  await world.write('Property', ...['A', 'B'].map(whole));
  const read: number[] = [];
  const search = findAllDamage(world.store, ['Property', 'Media'], (_resource, rows) => read.push(rows));
  await search.stop();
  const seen = read.length;
  await world.store.rowFaults('Property', { kind: 'keys', keys: ['A'] });
  assert.equal(read.length, seen);
  await world.damage('DROP TABLE property_rooms_records');
  await assert.rejects(findAllDamage(world.store, ['PropertyRooms', 'Property'], () => undefined).found, {
    code: 'storeDamaged',
    message: /is damaged: there is no such table: property_rooms_records\./,
  });
});
