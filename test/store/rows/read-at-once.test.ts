/** The memory of a write, measured by the rows that each statement returns, since garbage collection hides the rest. */
import assert from 'node:assert/strict';
import { StatementSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { findFaults } from '../../../src/store/check/check-store.ts';
import { listing, photo, photoOf } from '../../support/builders.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { makeWorld, type World } from '../../support/world.ts';

/** Records the numbers of rows that statements return from now on, if their text contains all of some parts. */
function watchReads(t: TestContext, ...parts: readonly string[]): number[] {
  const returned: number[] = [];
  const { all } = StatementSync.prototype;
  t.mock.method(StatementSync.prototype, 'all', function (this: StatementSync, ...values: never[]) {
    const rows: unknown = Reflect.apply(all, this, values);
    if (Array.isArray(rows) && parts.every((part) => this.sourceSQL.includes(part)))
      returned.push(rows.length);
    return rows;
  });
  return returned;
}

/** That many texts, none of which is in a list. */
const texts = (count: number): string[] => Array.from({ length: count }, (_, at) => `Text ${at}`);

const keysOf = (values: readonly string[]): string[] => values.map((value) => `Appliances.${value}`).sort();

/** The values of a lookup that the dictionary does not list. */
const published = (world: World): Promise<string[]> =>
  world.keys('Lookup', "$filter=LookupName eq 'Appliances' and StandardLookupValue eq null");

test('listings whose counts move are not read completely', async (t) => {
  const world = await makeWorld(sqliteEngine(), t);
  const keys = Array.from({ length: 250 }, (_, at) => `L${at}`);
  await world.write('Property', ...keys.map((key) => listing(key, { PrivateRemarks: 'Ring twice' })));
  await world.write('Media', photoOf('L0', 'M')); // brings its fields into use
  const read = watchReads(t, '"PrivateRemarks"', 'property_records');
  await world.write('Media', ...keys.map((key) => photoOf(key, `M${key}`)));
  assert.deepEqual(read, []);
  t.mock.restoreAll();
  assert.equal(await world.count('Property', '$filter=PhotosCount eq 1'), 249);
  assert.equal(await world.count('Property', '$filter=PhotosCount eq 2'), 1);
  assert.deepEqual(await Array.fromAsync(findFaults(world.store)), []);
});

test('a field that comes into use reads no value in use', async (t) => {
  const world = await makeWorld(sqliteEngine(), t);
  await world.write('Property', listing('A', { Appliances: texts(20) }));
  const stored = await published(world);
  const read = watchReads(t, 'lookup_records', '_hash');
  const held = watchReads(t, 'SELECT DISTINCT resource FROM plat_counters');
  await world.write('Property', listing('B', { YearBuilt: 1982 }));
  assert.deepEqual(
    read.filter((count) => count > 0),
    [],
  );
  assert.deepEqual(held, [1]); // the listings
  t.mock.restoreAll();
  assert.deepEqual(await published(world), stored);
  // A field with a lookup reads the values of that lookup.
  const listed = "$filter=LookupName eq 'Flooring'";
  assert.equal(await world.count('Lookup', listed), 0);
  await world.write('Property', listing('C', { Flooring: ['Laminate', 'Lava'] }));
  const flooring = await world.keys('Lookup', listed);
  assert.ok(flooring.includes('Flooring.Bamboo') && flooring.includes('Flooring.Lava'));
  assert.deepEqual(await Array.fromAsync(findFaults(world.store)), []);
});

test('a dictionary is published a thousand entries at a time, however many values are in use', async (t) => {
  const world = await makeWorld(sqliteEngine(), t);
  const used = texts(2300);
  const systems = ['M000001', 'M000002'];
  const records = systems.map((OriginatingSystemID, at) =>
    listing(`L${at}`, { OriginatingSystemID, Appliances: used.slice(at, at + 2299) }),
  );
  const read = watchReads(t, 'lookup_records', '_hash');
  await world.write('Property', ...records);
  assert.deepEqual(await published(world), keysOf(used));
  const more = Array.from({ length: 1500 }, (_, at) => `More ${at}`);
  const declare = (values: readonly string[]) =>
    world.store.configure((settings) => ({
      ...settings,
      declarations: values.length === 0 ? {} : { lookups: [{ lookup: 'Appliances', values }] },
    }));
  await declare(more);
  assert.deepEqual(await published(world), keysOf([...used, ...more]));
  await declare(used.slice(0, 1200));
  assert.deepEqual(await published(world), keysOf(used));
  await world.store.remove('Property', ['L0']);
  await declare([]);
  assert.deepEqual(await published(world), keysOf(used.slice(1)));
  assert.equal(Math.max(...read), 1000);
  t.mock.restoreAll();
  assert.deepEqual(await Array.fromAsync(findFaults(world.store)), []);
});

test('a statement changes 500 counters at most, whose pages the engine keeps in memory until it has ended', async (t) => {
  const world = await makeWorld(sqliteEngine(), t);
  await world.write('Property', listing('A', { Appliances: texts(1) }));
  const given: number[] = [];
  const { get } = StatementSync.prototype;
  t.mock.method(StatementSync.prototype, 'get', function (this: StatementSync, ...values: never[]) {
    const [list] = values;
    if (this.sourceSQL.startsWith('INSERT INTO plat_counters')) given.push(JSON.parse(String(list)).length);
    return Reflect.apply(get, this, values);
  });
  await world.write('Property', listing('B', { Appliances: texts(1201) }));
  assert.ok(given.length > 2 && Math.max(...given) === 500, `${given}`);
  t.mock.restoreAll();
  assert.deepEqual(await published(world), keysOf(texts(1201)));
});

test('a medium reads what is counted of the others, and writes the columns that move with it', async (t) => {
  const world = await makeWorld(sqliteEngine(), t);
  const price = { ListPrice: 1, StandardStatus: 'Active' };
  await world.write('Property', listing('A', { ...price, Media: [photo('M1')] }), listing('B', price));
  const siblings = watchReads(t, 'media_records', '_hash');
  const updates = new Set<string>();
  const { get } = StatementSync.prototype;
  t.mock.method(StatementSync.prototype, 'get', function (this: StatementSync, ...values: never[]) {
    if (/^UPDATE "property_(records|search)"/.test(this.sourceSQL)) updates.add(this.sourceSQL);
    return Reflect.apply(get, this, values);
  });
  await world.write('Media', photoOf('A', 'M2'), photoOf('B', 'M3'));
  t.mock.restoreAll();
  assert.deepEqual([...new Set(siblings)], [0]);
  assert.deepEqual(
    [...updates],
    [
      'UPDATE "property_records" SET "ModificationTimestamp" = ?2, "PhotosChangeTimestamp" = ?3, "PhotosCount" = ?4 WHERE _key = ?1',
      'UPDATE "property_search" SET "ModificationTimestamp" = ?2, "PhotosChangeTimestamp" = ?3 WHERE _key = ?1',
    ],
  );
  assert.deepEqual(await world.rows('Property', '$select=PhotosCount'), [
    { PhotosCount: 2 },
    { PhotosCount: 1 },
  ]);
  assert.deepEqual(await Array.fromAsync(findFaults(world.store)), []);
});
