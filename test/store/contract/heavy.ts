/** A record that takes longer than a short transaction: it delays no other record, and no reader sees half of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeRandom } from 'plat-demo';
import { systemClock } from '../../../src/shared/clock.ts';
import { WRITE_LIMITS } from '../../../src/store/write/time-limits.ts';
import { listing, member, openHouse, photo, photoOf, room } from '../../support/builders.ts';
import { SECOND, testClock } from '../../support/clock.ts';
import type { Engine, Scope } from '../../support/engine.ts';
import { nonZero } from '../../support/reports.ts';
import { type Json, makeWorld, operations } from '../../support/world.ts';

const many = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));
const photos = (count: number, fields: Json = {}): Json[] => many(count, (at) => photo(`M${at}`, fields));

/** A store with a slow writer: each reading of the time takes `pace.look`, and there is one for every 10 rows. */
export async function slowWorld(engine: Engine, scope: Scope, owner: 'authority' | 'replica' = 'authority') {
  const pace = { look: 0, waiting: async (): Promise<void> => undefined };
  const clock = testClock();
  const waiting = {
    ...clock,
    sleep: async (milliseconds: number) => {
      await pace.waiting();
      await clock.sleep(milliseconds);
    },
  };
  const elapsed = (): number => {
    clock.advance(pace.look);
    return clock.now();
  };
  const world = await makeWorld(engine, scope, {
    clock: waiting,
    settings: { owner },
    limits: { ...WRITE_LIMITS, rowsAtOnce: 10, elapsed },
  });
  return { world, pace };
}

export function heavyContract(engine: Engine): void {
  test('a listing that takes too long is stored in one transaction, with a timestamp of the end of that transaction', async (t) => {
    const { world, pace } = await slowWorld(engine, t);
    await world.write('Property', listing('0'), listing('A', { Media: [photo('old')] }));
    const other = operations(await world.again(), world.clock);
    const seen: unknown[] = [];
    const before = world.clock.now();
    pace.waiting = async () => {
      pace.waiting = async () => undefined;
      // All of it has been written by now, and no reader sees any of it.
      seen.push(await other.keys('Media'), await other.keys('Property'));
      const { now, settled } = await world.store.horizon();
      assert.ok(settled <= before && now > before, 'no settled window may include an open transaction');
    };
    pace.look = 300;
    assert.equal(world.store.recordsAtOnce(), 1000);
    const records = [
      listing('A', { Media: photos(100) }),
      listing('B'),
      listing('C', { Media: [photo('X')] }),
    ];
    const report = await world.write('Property', ...records);
    pace.look = 0;
    assert.deepEqual(nonZero(report), { inserted: 2, restamped: 1, children: { stored: 101, deleted: 1 } });
    assert.equal(world.store.recordsAtOnce(), 100, 'transactions get smaller after one that took too long');
    assert.deepEqual(seen, [['old'], ['0', 'A']]);
    assert.equal(await world.count('Media'), 101);
    const own = await world.rows('Media', "$filter=ResourceRecordKey eq 'A'&$select=ModificationTimestamp");
    const stamps = own.map(({ ModificationTimestamp }) => String(ModificationTimestamp));
    assert.equal(new Set(stamps).size, 100, 'each photo has a timestamp of its own');
    const [stamp] = stamps.toSorted();
    const parent = await world.record('Property', 'A', '$select=ModificationTimestamp,PhotosChangeTimestamp');
    assert.equal(parent?.ModificationTimestamp, parent?.PhotosChangeTimestamp);
    const latest = [...stamps, String(parent?.ModificationTimestamp)].toSorted().at(-1);
    assert.ok(
      Date.parse(String(stamp)) >= before + 3 * SECOND,
      `${stamp} is of the end, not of the beginning`,
    );
    assert.ok(Date.parse(String(latest)) <= world.clock.now(), `${latest} is not of the future`);
    assert.ok(Date.parse((await world.store.status()).lastStamp) <= world.clock.now());
  });

  test('every kind of child, a Member, and an open house below a listing may take too long; written again they are unchanged', async (t) => {
    const { world, pace } = await slowWorld(engine, t);
    pace.look = 300;
    const heavy = listing('A', { Rooms: many(60, (at) => room(`R${at}`)), Media: photos(30) });
    const nested = listing('B', {
      OpenHouses: [openHouse('O', { Media: many(90, (at) => photo(`H${at}`)) })],
    });
    assert.deepEqual(nonZero(await world.write('Property', heavy, nested)), {
      inserted: 2,
      children: { stored: 181 },
    });
    assert.deepEqual(nonZero(await world.write('Property', heavy, nested)), {
      unchanged: 2,
      children: { unchanged: 181 },
    });
    const agent = member('Z', { Media: many(100, (at) => photo(`Z${at}`)) });
    assert.deepEqual(nonZero(await world.write('Member', agent)), { inserted: 1, children: { stored: 100 } });
    assert.equal(await world.count('Media'), 220);
    assert.equal(await world.count('PropertyRooms'), 60);
  });

  test('a record that takes longer than the longest transaction is rejected alone, and counted', async (t) => {
    const { world, pace } = await slowWorld(engine, t);
    await world.write('Property', listing('A', { City: 'Oslo' }));
    pace.look = 1000;
    const reason = 'Storing it with its 300 children takes longer than the 20 s that a transaction may last';
    for (const place of [0, 1, 2]) {
      const records = [listing(`L${place}`), listing(`M${place}`)];
      records.splice(place, 0, listing('A', { City: 'Bergen', Media: photos(300) }));
      assert.deepEqual(nonZero(await world.write('Property', ...records)), {
        inserted: 2,
        rejected: [{ resource: 'Property', key: 'A', reason }],
      });
    }
    assert.equal(await world.count('Media'), 0);
    assert.equal((await world.record('Property', 'A', '$select=City'))?.City, 'Oslo');
    pace.look = 0;
    assert.deepEqual(nonZero(await world.write('Property', listing('A', { Media: photos(300) }))), {
      changed: 1,
      children: { stored: 300 },
    });
  });

  test('in a replica such a record is quarantined alone, and the cursor is stored with the rest', async (t) => {
    const { world, pace } = await slowWorld(engine, t, 'replica');
    const given = [listing('A'), listing('B', { Media: photos(300) })];
    const records = await Promise.all(given.map((record) => world.parse('Property', record)));
    pace.look = 1000;
    const change = { records: [{ resource: 'Property', records }], state: { cursor: 'B' } };
    const { inserted, rejected } = await world.store.checkpoints.commit('feed', change);
    pace.look = 0;
    assert.deepEqual([inserted, rejected.length], [1, 1]);
    assert.deepEqual(await world.store.checkpoints.state('feed'), { cursor: 'B' });
    const [entry, ...more] = await world.store.checkpoints.quarantined('feed');
    assert.deepEqual([entry?.resource, entry?.key, more], ['Property', 'B', []]);
    assert.equal(JSON.parse(String(entry?.payload)).Media.length, 300);
    assert.deepEqual(await world.keys('Property'), ['A']);
  });

  test('a parent that adopts many photos, moves of a field or of visibility, and deletes may exceed a short transaction', async (t) => {
    const { world, pace } = await slowWorld(engine, t);
    // Photos that are written separately over many transactions, before their listing.
    for (let at = 0; at < 120; at += 60) {
      await world.write('Media', ...many(60, (index) => photoOf('A', `M${at + index}`)));
    }
    pace.look = 300;
    const came = await world.write('Property', listing('A', { OriginatingSystemID: 'S1' }));
    assert.deepEqual(nonZero(came), { inserted: 1, children: { stored: 120 } });
    pace.look = 700; // three readings: before, between and after
    assert.deepEqual(
      nonZero(await world.write('Property', listing('A', { City: 'Oslo', OriginatingSystemID: 'S1' }))),
      {
        changed: 1,
      },
    );
    const hidden = listing('A', { OriginatingSystemID: 'S1', InternetEntireListingDisplayYN: false });
    assert.deepEqual(nonZero(await world.write('Property', hidden)), { changed: 1 });
    assert.deepEqual(nonZero(await world.write('Media', photoOf('A', 'one'))), { inserted: 1, restamped: 1 });
    pace.look = 1500;
    assert.deepEqual(nonZero(await world.store.remove('Property', ['A', 'none'])), {
      deleted: 1,
      children: { deleted: 121 },
    });
    assert.deepEqual([await world.count('Property'), await world.count('Media')], [0, 0]);
  });

  test('a delete that takes longer than the longest transaction is skipped and reported', async (t) => {
    const { world, pace } = await slowWorld(engine, t);
    await world.write('Property', listing('A', { Media: photos(3) }), listing('B'));
    pace.look = 25_000;
    const rejected = ['A', 'B'].map((key) => ({
      resource: 'Property',
      key,
      reason: 'Deleting it with its children takes longer than the 20 s that a transaction may last',
    }));
    assert.deepEqual(nonZero(await world.store.remove('Property', ['A', 'B'])), { rejected });
    assert.deepEqual([await world.count('Property'), await world.count('Media')], [2, 3]);
  });

  test('records whose texts or rows an engine cannot store are rejected alone, and all others are stored', async (t) => {
    const world = await makeWorld(engine, t, { settings: { owner: 'replica' } });
    const random = makeRandom(1, 'texts').unit;
    const long = many(6000, () => String.fromCharCode(0x4e00 + Math.floor(random() * 20_000))).join('');
    const { fields } = (await world.store.model()).resource('Property');
    const texts = [...fields.values()].filter(
      ({ type, collection }) => type.kind === 'string' && !collection,
    );
    const wide = Object.fromEntries(texts.map(({ name }) => [name, name === 'ListingKey' ? 'wide' : long]));
    const odd = [
      listing('city', { City: long, ListPrice: 1 }),
      listing('postal', { PostalCode: long }),
      listing('agent', { ListAgentKey: long }),
      listing('remarks', { PublicRemarks: long }),
      listing('media', { Media: [photo('M1', { LongDescription: long, MediaObjectID: long })] }),
      wide,
    ];
    const records = odd.flatMap((record, at) => [listing(`s${at}`), record]);
    const { inserted, rejected } = await world.write('Property', ...records);
    const refused = rejected.map(({ key }) => key);
    const stored = await world.keys('Property');
    assert.deepEqual(
      [...stored, ...refused].toSorted(),
      records.map((record) => String(record.ListingKey)).toSorted(),
    );
    assert.equal(inserted, stored.length);
    for (const key of ['s0', 's1', 's2', 's3', 's4', 's5', 'remarks', 'media'])
      assert.ok(stored.includes(key), key);
    for (const { reason } of rejected) assert.match(reason, /^The store cannot hold it: /);
    const [remarks] = await world.rows('Property', "$filter=ListingKey eq 'remarks'&$select=PublicRemarks");
    assert.equal(remarks?.PublicRemarks, long);
  });

  if (process.env.PLAT_FULL !== '1') return;
  test('a listing with 100,000 photos and one with 100,000 rooms are stored, by the real clock', async (t) => {
    const world = await makeWorld(engine, t, { clock: { ...testClock(), ...systemClock } });
    const rooms = many(100_000, (at) => room(`R${at}`));
    const records = [
      listing('A'),
      listing('B', { Media: photos(100_000) }),
      listing('C', { Rooms: rooms }),
      ...many(2000, (at) => listing(`D${at}`)),
    ];
    assert.deepEqual(nonZero(await world.write('Property', ...records)), {
      inserted: 2003,
      children: { stored: 200_000 },
    });
    const changed = listing('B', { City: 'Oslo', Media: photos(100_000) });
    assert.deepEqual(nonZero(await world.write('Property', changed)), {
      changed: 1,
      children: { unchanged: 100_000 },
    });
    assert.equal(await world.count('Media'), 100_000);
    assert.equal(await world.count('PropertyRooms'), 100_000);
    assert.deepEqual(nonZero(await world.store.remove('Property', ['B', 'C'])), {
      deleted: 2,
      children: { deleted: 200_000 },
    });
  });
}
