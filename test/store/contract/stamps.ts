/** I2: timestamps are in the order of commits, whatever the clock does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { microsecondsOf, timestampFrom, timestampFromMicroseconds } from '../../../src/dictionary/index.ts';
import { listing, member, photo, photoOf } from '../../support/builders.ts';
import { SECOND, testClock } from '../../support/clock.ts';
import type { Engine } from '../../support/engine.ts';
import { nonZero } from '../../support/reports.ts';
import { type Json, makeWorld, operations, type World } from '../../support/world.ts';

const STAMPS = '$select=ListingKey,ModificationTimestamp,PhotosChangeTimestamp';

/** That many listings, in the order of their keys, with photos. */
const many = (prefix: string, count: number, photos = 0, fields: Json = {}): Json[] =>
  Array.from({ length: count }, (_, at) => {
    const key = `${prefix}-${1000 + at}`;
    const Media = Array.from({ length: photos }, (_, photoAt) => photo(`${key}-${photoAt}`));
    return listing(key, { ...(photos > 0 ? { Media } : {}), ...fields });
  });

const byTime = (left: string, right: string): number => microsecondsOf(left) - microsecondsOf(right);

/** The timestamps of a resource in the order of its keys. */
async function momentsOf(
  { rows }: Pick<World, 'rows'>,
  resource: string,
  filter?: string,
): Promise<string[]> {
  const where = filter === undefined ? '' : `&$filter=${filter}`;
  const found = await rows(resource, `$select=ModificationTimestamp${where}`);
  return found.map(({ ModificationTimestamp }) => String(ModificationTimestamp));
}

/** That many timestamps from a moment on, ten in each millisecond. */
const tenInEach = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, at) => timestampFromMicroseconds(from * 1000 + at * 100));

export function stampContract(engine: Engine): void {
  test('each record of a transaction has a timestamp of its own, in a millisecond of its own, and the last one is now', async (t) => {
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

  test('records that a commit restamps or adopts get timestamps in the order of keys, whatever order the engine reads them in', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('B', { Media: [photo('MB')] }), listing('C'));
    await world.write('Property', listing('A', { Media: [photo('MA')] }));
    await world.write('Media', photoOf('D', 'M3'), photoOf('D', 'M1'), photoOf('D', 'M2'));
    // An engine that reads rows in the order of their last write finds B before A.
    await world.write('Property', listing('A', { City: 'Ely' }));
    world.clock.advance(SECOND);
    await world.store.remove('Media', ['MA', 'MB']);
    const stamps = await world.rows('Property', '$select=ListingKey,PhotosChangeTimestamp');
    assert.deepEqual(stamps, [
      { ListingKey: 'A', PhotosChangeTimestamp: '2026-06-01T12:00:01.499Z' },
      { ListingKey: 'B', PhotosChangeTimestamp: '2026-06-01T12:00:01.500Z' },
      { ListingKey: 'C', PhotosChangeTimestamp: null },
    ]);
    world.clock.advance(SECOND);
    await world.write('Property', listing('D'));
    assert.deepEqual(await world.rows('Media', '$select=MediaKey,ModificationTimestamp'), [
      { MediaKey: 'M1', ModificationTimestamp: '2026-06-01T12:00:02.498Z' },
      { MediaKey: 'M2', ModificationTimestamp: '2026-06-01T12:00:02.499Z' },
      { MediaKey: 'M3', ModificationTimestamp: '2026-06-01T12:00:02.500Z' },
    ]);
  });

  test('an import into an empty resource has a millisecond for each record, over all of its commits', async (t) => {
    const world = await makeWorld(engine, t);
    const { clock } = world;
    const began = clock.now();
    // The last commit of a file may be small, and another file follows.
    for (const at of [0, 1]) await world.write('Property', ...many(`${at}`, 150, 2));
    await world.write('Property', ...many('2', 10, 2));
    await world.write('Property', ...many('3', 140, 2));
    assert.equal(clock.now(), began, 'no commit waits for the clock');
    for (const [resource, count] of [
      ['Property', 450],
      ['Media', 900],
    ] as const) {
      const moments = await momentsOf(world, resource);
      assert.equal(moments.length, count);
      assert.deepEqual(moments, moments.toSorted(byTime), 'in the order of the import');
      assert.equal(new Set(moments.map((moment) => moment.slice(0, 23))).size, count);
      assert.ok(moments.every((moment) => /\.(?!000)\d{3}Z$/.test(moment) && Date.parse(moment) <= began));
    }
    // Importing the same again moves no timestamp.
    const before = await world.rows('Property', STAMPS);
    assert.deepEqual(nonZero(await world.write('Property', ...many('0', 150, 2))), {
      unchanged: 150,
      children: { unchanged: 300 },
    });
    assert.deepEqual(await world.rows('Property', STAMPS), before);
    // A single change gets the current time.
    assert.equal((await world.write('Property', listing('0-1000', { ListPrice: 1 }))).stamp, clock.text());
  });

  test('values that an import into a new store brings into use have a millisecond each, and no commit waits for them', async (t) => {
    // The stores of tests were created at the beginning of 2020.
    const world = await makeWorld(engine, t, { clock: testClock('2020-01-01T00:00:00.300Z') });
    const { clock } = world;
    const began = clock.now();
    const schools = (prefix: string, count: number): Json[] =>
      many(prefix, count).map((record) => ({
        ...record,
        ElementarySchool: `E ${record.ListingKey}`,
        HighSchool: `H ${record.ListingKey}`,
      }));
    await world.write('Member', member('A1'));
    for (const prefix of ['a', 'b']) await world.write('Property', ...schools(prefix, 200));
    await world.write('Property', ...schools('c', 3));
    assert.equal(clock.now(), began, 'no commit waits for the clock');
    const moments = await momentsOf(world, 'Lookup', "LookupName in ('ElementarySchool','HighSchool')");
    assert.equal(moments.length, 806);
    assert.equal(new Set(moments.map((moment) => moment.slice(0, 23))).size, 806);
    assert.ok(moments.every((moment) => Date.parse(moment) <= began));
    // After a reader was promised that nothing more comes before a moment, a new value comes after it.
    const { settled } = await world.store.horizon();
    await world.write('Property', ...schools('d', 1));
    const [last = ''] = await momentsOf(world, 'Lookup', "LookupValue eq 'E d-1000'");
    assert.ok(Date.parse(last) >= settled, last);
  });

  test('a bulk change right after a promise to a reader has ten timestamps in each millisecond', async (t) => {
    const world = await makeWorld(engine, t);
    const { clock } = world;
    await world.write('Property', ...many('A', 300));
    clock.advance(60 * SECOND);
    const { now, standsUntil } = await world.store.horizon();
    assert.equal(standsUntil, now + SECOND);
    await world.write('Property', ...many('A', 300, 0, { ListPrice: 1 }));
    const crowded = await momentsOf(world, 'Property');
    assert.deepEqual(crowded, tenInEach(now, 300));
    assert.equal(clock.now(), now + 29, 'the commit waited for its last timestamp');
    // A promise covers a second; after it there are enough milliseconds.
    clock.advance(2 * SECOND);
    await world.write('Property', ...many('A', 300, 0, { ListPrice: 2 }));
    const own = (await momentsOf(world, 'Property')).map((moment) => Date.parse(moment));
    assert.equal(new Set(own).size, 300);
    assert.ok((own[0] ?? 0) >= standsUntil && (own.at(-1) ?? 0) <= clock.now());
    assert.equal(clock.now(), now + 29 + 2 * SECOND, 'no commit waits');
  });

  test('timestamps increase and never repeat: two processes, a clock that is set back, deletions', async (t) => {
    const world = await makeWorld(engine, t);
    const other = operations(await world.again(), world.clock);
    const seen: string[] = [];
    const write = async (from: typeof other, prefix: string, count: number, price: number) => {
      await from.write('Property', ...many(prefix, count, 0, { ListPrice: price }));
      const moments = await momentsOf(
        world,
        'Property',
        `ListPrice eq ${price} and startswith(ListingKey,'${prefix}')`,
      );
      assert.equal(moments.length, count);
      seen.push(...moments);
    };
    await Promise.all([write(world, 'A', 120, 1), write(other, 'B', 120, 2)]);
    seen.sort(byTime);
    await write(other, 'A', 120, 3);
    world.clock.advance(-3600 * SECOND);
    await write(world, 'B', 120, 4);
    await world.store.remove('Property', await world.keys('Property', "$filter=startswith(ListingKey,'A')"));
    await write(world, 'A', 5, 5);
    await write(other, 'B', 120, 6);
    assert.equal(new Set(seen).size, seen.length);
    assert.deepEqual(seen, seen.toSorted(byTime));
  });

  test('a store without a stored newest timestamp of each resource continues after its last one', async (t) => {
    const world = await makeWorld(engine, t);
    const { stamp } = await world.write('Property', listing('A'));
    await world.damage("DELETE FROM plat_meta WHERE name = 'last_stamps'");
    await world.write('Member', ...Array.from({ length: 120 }, (_, at) => member(`${at}`)));
    const members = await momentsOf(world, 'Member');
    assert.ok(byTime(members[0] ?? '', stamp) > 0, `${members[0]} after ${stamp}`);
    world.clock.advance(-60 * SECOND);
    assert.ok(byTime((await world.write('Property', listing('B'))).stamp, stamp) > 0);
  });

  test('a replica assigns its own timestamp to each record in the same way, next to what its source sent', async (t) => {
    for (const onwardTimestamps of ['source', 'own'] as const) {
      const world = await makeWorld(engine, t, { settings: { owner: 'replica', onwardTimestamps } });
      const sent = '2026-05-01T00:00:00.1234567Z';
      for (const prefix of ['A', 'B']) {
        await world.write('Property', ...many(prefix, 120, 1, { ModificationTimestamp: sent }));
      }
      const isOwn = onwardTimestamps === 'own';
      const [own, source] = isOwn
        ? ['ModificationTimestamp', 'SourceModificationTimestamp']
        : ['ReplicaModificationTimestamp', 'ModificationTimestamp'];
      const rows = await world.rows('Property', `$select=${own},${source}`);
      const moments = rows.map((row) => String(row[own]));
      assert.equal(new Set(moments.map((moment) => moment.slice(0, 23))).size, 240);
      assert.deepEqual(moments, moments.toSorted(byTime));
      assert.ok(moments.every((moment) => Date.parse(moment) <= world.clock.now()));
      if (!isOwn) assert.ok(rows.every((row) => row[source] === '2026-05-01T00:00:00.123456Z'));
    }
  });

  test('a requested span is used as far as it is available', async (t) => {
    const world = await makeWorld(engine, t);
    const { clock, store } = world;
    const parse = (resource: string, records: readonly Json[]) =>
      Promise.all(records.map((record) => world.parse(resource, record)));
    const to = clock.now() - 86_400 * SECOND;
    const over = { from: to - 1200 * SECOND, to };
    await store.write('Property', await parse('Property', many('A', 12, 1)), { over });
    const moments = await momentsOf(world, 'Property');
    assert.deepEqual(
      moments.map((moment) => Date.parse(moment) - over.from),
      Array.from({ length: 12 }, (_, at) => at * 100 * SECOND),
    );
    assert.equal((await momentsOf(world, 'Media')).length, 12);
    assert.ok((await momentsOf(world, 'Media')).every((moment) => Date.parse(moment) <= to));
    // A promise that a reader was given is kept.
    const { now } = await store.horizon();
    await store.write('Property', await parse('Property', many('B', 3)), { over: { from: to, to: now } });
    const later = await momentsOf(world, 'Property', "startswith(ListingKey,'B')");
    assert.ok(later.every((moment) => Date.parse(moment) >= now));
  });

  test('timestamps do not go back with a clock that is set back', async (t) => {
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
    // The same in another process, and after the store was opened again.
    const second = operations(await world.again(), world.clock);
    assert.equal((await second.write('Property', listing('C'))).stamp, '2026-06-01T12:00:00.5502Z');
    world.clock.set('2026-06-01T12:00:01.001Z');
    assert.equal((await world.write('Property', listing('D'))).stamp, '2026-06-01T12:00:01.001Z');
    assert.equal((await world.store.status()).lastStamp, '2026-06-01T12:00:01.001Z');
  });

  test('after horizon() no timestamp lies in the settled time, even if the clock is set back', async (t) => {
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
    // Another process knows a promise that may be 5 seconds old.
    assert.ok(Date.parse(elsewhere.stamp) >= later.settled - 5 * SECOND, elsewhere.stamp);
  });

  test('milliseconds are written if they are not zero, and compared as times', async (t) => {
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
