/** Timestamps that a clock was ahead for have left are restamped while the store is served. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Store } from '../../../src/store/store.ts';
import { aheadText } from '../../../src/store/write/restamp-store.ts';
import { floorPlan, listing, photo } from '../../support/builders.ts';
import { DAY, SECOND, testClock } from '../../support/clock.ts';
import type { Engine, Scope } from '../../support/engine.ts';
import { faultsIn } from '../../support/faults.ts';
import { makeWorld, operations, type World } from '../../support/world.ts';

const STAMPS = ['ModificationTimestamp', 'PhotosChangeTimestamp', 'PriceChangeTimestamp'] as const;
const SELECT = `$select=${STAMPS.join()}&$orderby=ModificationTimestamp`;
const RESOURCES = ['Property', 'Media', 'Field', 'Lookup'];
const BACK = '2026-06-01T13:00:00Z';

/** Changes on a right clock, and then on one twenty years ahead; another process reads all the time. */
async function frozen(world: World) {
  const { clock } = world;
  const other = { store: await world.again(), ...operations(await world.again(), clock) };
  await world.write('Property', listing('A', { Media: [photo('M1')] }), listing('B'), listing('C'));
  clock.set('2046-06-01T12:00:00Z');
  await world.write('Property', listing('C', { ListPrice: 5, Media: [photo('M3')] }));
  clock.set('2046-06-01T12:00:00.500Z');
  await world.write('Property', listing('D', { Media: [photo('M4')] }));
  await world.store.remove('Property', ['B']);
  clock.set('2046-06-03T12:00:00Z');
  await world.write('Property', listing('A', { Media: [photo('M1', { ShortDescription: 'new' })] }));
  // The other process has promised a reader that windows of the future are closed.
  clock.set('2046-06-04T12:00:00Z');
  await other.store.horizon();
  clock.set(BACK);
  return other;
}

/** A store on a machine whose clock can be set; each new process reads it anew. */
async function onMachine(engine: Engine, scope: Scope, behind: number) {
  const clock = testClock();
  const running = { milliseconds: 50 * DAY };
  const uptime = (): number => running.milliseconds;
  clock.advance(-behind);
  const world = await makeWorld(engine, scope, {
    clock,
    machine: { boot: 'first', uptime, elapsed: uptime },
  });
  return {
    ...world,
    /** Lets time pass. */
    live(milliseconds: number) {
      clock.advance(milliseconds);
      running.milliseconds += milliseconds;
    },
    /** @returns the store in another process, after a minute and then a change of the clock by that much */
    async set(milliseconds: number, allowClockJump = false) {
      clock.advance(60_000 + milliseconds);
      running.milliseconds += 60_000;
      const store = await world.again(clock, { allowClockJump });
      return { ...operations(store, clock), store };
    },
  };
}

/** Asserts that restamp() is rejected and changes nothing. */
async function refuses(store: Store, code: string): Promise<void> {
  const before = [(await store.model()).epoch, (await store.status()).lastStamp];
  await assert.rejects(store.restamp(), { code });
  assert.deepEqual([(await store.model()).epoch, (await store.status()).lastStamp], before);
}

export function restampContract(engine: Engine): void {
  test('while the clock is behind, or is ahead, restamp() is rejected; once it is right again, it brings timestamps back', async (t) => {
    const { write, set, clock, live } = await onMachine(engine, t, 0);
    await write('Property', listing('Z'));
    live(30 * DAY);
    const { stamp } = await write('Property', listing('A'));
    const behind = await set(-2 * DAY);
    assert.equal((await behind.write('Property', listing('B'))).stamp, stamp.replace('Z', '1Z'));
    const ahead = await behind.store.ahead();
    assert.equal(ahead?.setBack, 2 * DAY);
    assert.match(
      ahead === undefined ? '' : aheadText(ahead),
      /^the last timestamp, 2026-07-01T12:00:00\.500Z, is 2\.0 days ahead of the clock, which was set back by 2\.0 days since .+ "plat restamp" brings the timestamp back$/,
    );
    await refuses(behind.store, 'clockSetBack');
    const right = await set(2 * DAY);
    assert.deepEqual([await right.store.clockJump(), await right.store.ahead()], [0, undefined]);
    assert.equal((await right.write('Property', listing('C'))).stamp, clock.text());

    const wrong = await set(2 * DAY);
    await assert.rejects(wrong.write('Property', listing('D')), { code: 'clockJumped' });
    await refuses(wrong.store, 'clockJumped');
    // The clock is confirmed by mistake; the earlier reading shows later that it is right again.
    await (await set(0, true)).write('Property', listing('D'));
    const again = await set(-2 * DAY);
    assert.equal((await again.store.ahead())?.setBack, undefined);
    const moment = clock.text();
    assert.equal((await again.store.restamp()).notAfter, moment);
    assert.deepEqual(await faultsIn(again.store), []);
    await assert.rejects((await set(2 * DAY)).write('Property', listing('E')), { code: 'clockJumped' });
  });

  test('a store whose timestamps are all ahead was created with a wrong clock, and is restamped', async (t) => {
    const { write, set, clock } = await onMachine(engine, t, -2 * DAY);
    await write('Property', listing('A'));
    const right = await set(-3 * DAY);
    assert.equal((await right.store.ahead())?.setBack, 3 * DAY);
    const moment = clock.text();
    const { notAfter, records } = await right.store.restamp();
    assert.deepEqual([notAfter, records.Property], [moment, 1]);
    assert.deepEqual(await faultsIn(right.store), []);
    assert.equal(await right.store.ahead(), undefined);
    await right.write('Property', listing('B'));
    assert.equal(await (await set(0)).store.clockJump(), 0);
  });

  test('if a clock that was behind cannot be distinguished from one that is ahead, a confirmation or another clock decides', async (t) => {
    const { write, set, clock } = await onMachine(engine, t, 2 * DAY);
    await write('Property', listing('A'));
    const { store, ...right } = await set(2 * DAY);
    await assert.rejects(right.write('Property', listing('B')), {
      code: 'clockJumped',
      message: `The clock says ${clock.text()}, and was set ahead by 2.0 days since the store was last written to. Nothing is written. If the clock is wrong now, correct it, since timestamps would lie in the future; if it was behind before and is right now, confirm it once with --allow-clock-jump.`,
    });
    await store.confirmClock(clock.now() - 2 * DAY);
    assert.equal(await store.clockJump(), 2 * DAY);
    await store.confirmClock(clock.now() - DAY / 24);
    assert.equal((await right.write('Property', listing('B'))).stamp, clock.text());
    assert.equal(await (await set(0)).store.clockJump(), 0);
  });

  test('restamping changes every text that has the timestamp', async (t) => {
    const { clock, write, store } = await makeWorld(engine, t);
    await write('Property', listing('A', { Media: [floorPlan('F1'), photo('M1')] }));
    clock.advance(3 * DAY);
    await write('Property', listing('B', { Media: [floorPlan('F2'), photo('M2')] }));
    clock.advance(-DAY);
    assert.equal((await store.restamp()).records.Media, 2);
    assert.deepEqual(await faultsIn(store), []);
  });

  test('timestamps ahead of the clock are reported, and moved back in order, in columns and texts', async (t) => {
    const world = await makeWorld(engine, t);
    const { clock, store } = world;
    assert.equal(await store.ahead(), undefined);
    const other = await frozen(world);
    const { epoch } = await other.store.model();
    const ahead = await store.ahead();
    assert.deepEqual(ahead, {
      milliseconds: Date.parse('2046-06-04T12:00:00Z') - clock.now(),
      newest: '2046-06-04T12:00:00Z',
      isRestamping: false,
    });
    assert.equal(
      ahead && aheadText(ahead),
      'the last timestamp, 2046-06-04T12:00:00Z, is 7308.0 days ahead of the clock: windows up to it stay empty; "plat restamp" brings it back',
    );
    const { stamp: stuck } = await other.write('Property', listing('E'));
    assert.equal(stuck, '2046-06-04T12:00:00.001Z');

    const report = await store.restamp();
    assert.deepEqual(
      { ...report, epoch: undefined },
      {
        records: { Media: 3, Property: 4, Field: 2 },
        tombstones: 1,
        notAfter: '2026-06-01T13:00:00.001Z',
        epoch: undefined,
      },
    );
    assert.notEqual(report.epoch, epoch);
    for (const reader of [world, other]) {
      assert.equal(await reader.store.ahead(), undefined);
      assert.equal((await reader.store.model()).epoch, report.epoch);
      assert.equal((await reader.store.model()).day, '2026-06-01');
      const listings = await reader.rows('Property', SELECT);
      assert.deepEqual(
        (await reader.rows('Property', '$select=ListingKey&$orderby=ModificationTimestamp')).map(
          ({ ListingKey }) => ListingKey,
        ),
        ['C', 'D', 'A', 'E'],
      );
      for (const each of [...listings, ...(await reader.rows('Media', '$select=ModificationTimestamp'))]) {
        for (const [name, value] of Object.entries(each)) {
          if (value === null) continue;
          const moment = Date.parse(String(value));
          assert.ok(
            moment >= Date.parse('2026-06-01T12:00:00Z') && moment <= clock.now(),
            `${name} ${value}`,
          );
        }
      }
      const [c] = listings;
      assert.equal(c?.PriceChangeTimestamp, c?.ModificationTimestamp);
      // Columns and texts agree, in both interfaces.
      for (const key of ['A', 'C', 'D', 'E']) {
        const text = (await reader.record('Property', key))?.ModificationTimestamp;
        const [row] = await reader.rows(
          'Property',
          `$select=ModificationTimestamp&$filter=ListingKey eq '${key}'`,
        );
        assert.equal(row?.ModificationTimestamp, text);
        const native = Object((await reader.listing(key))?.StandardFields);
        assert.equal(native.ModificationTimestamp, text);
      }
      for (const resource of RESOURCES) {
        assert.equal(
          await reader.count(resource, '$filter=ModificationTimestamp gt 2026-06-02'),
          0,
          resource,
        );
      }
    }
  });

  test('afterwards timestamps follow the clock, also in processes that had followed the wrong one', async (t) => {
    const world = await makeWorld(engine, t);
    const other = await frozen(world);
    await world.store.restamp();
    world.clock.set('2026-06-01T14:00:00Z');
    const now = world.clock.now();
    assert.deepEqual(await other.store.horizon(), { now, settled: now, standsUntil: now + SECOND });
    assert.equal(await other.store.now(), now);
    assert.deepEqual(await world.store.horizon(), { now, settled: now, standsUntil: now + SECOND });
    assert.equal((await other.write('Property', listing('F'))).stamp, '2026-06-01T14:00:00.001Z');
    assert.equal((await world.write('Property', listing('G'))).stamp, '2026-06-01T14:00:00.0011Z');
    const window = '$filter=ModificationTimestamp ge 2026-06-01T14:00:00Z';
    assert.deepEqual(await other.keys('Property', window), ['F', 'G']);
    assert.equal((await world.store.status()).lastStamp, '2026-06-01T14:00:00.0011Z');
    // A promise made now holds as always, even if the clock is set back a little.
    world.clock.set('2026-06-01T13:59:30Z');
    const { stamp } = await operations(await world.again(), world.clock).write('Property', listing('H'));
    assert.ok(Date.parse(stamp) >= now, stamp);
  });

  test('if no timestamp is ahead, nothing is changed, and the epoch continues', async (t) => {
    const world = await makeWorld(engine, t);
    await world.write('Property', listing('A'));
    world.clock.advance(-30_000);
    const { epoch } = await world.store.model();
    assert.deepEqual(await world.store.restamp(), { records: {}, tombstones: 0 });
    assert.equal((await world.store.model()).epoch, epoch);
  });

  test('an interrupted restamp is reported, and resumed', async (t) => {
    const world = await makeWorld(engine, t);
    const other = await frozen(world);
    const { epoch } = await world.store.beginEpoch({ notAfter: world.clock.now() });
    const ahead = await other.store.ahead();
    assert.equal(ahead?.isRestamping, true);
    assert.equal(
      ahead && aheadText(ahead),
      'timestamps are being restamped; "plat restamp" resumes an interrupted run',
    );
    const report = await other.store.restamp();
    const records = { Media: 3, Property: 3, Field: 2 };
    assert.deepEqual(report, { records, tombstones: 1, notAfter: BACK, epoch });
    assert.equal(await world.store.ahead(), undefined);
    assert.equal(await world.count('Property', '$filter=ModificationTimestamp gt 2026-06-02'), 0);
  });

  test('a replica gets its own timestamps back; those of its source stay', async (t) => {
    const world = await makeWorld(engine, t, { settings: { owner: 'replica' } });
    world.clock.set('2046-06-01T12:00:00Z');
    const sent = listing('A', { ModificationTimestamp: '2046-05-01T00:00:00Z' });
    await world.write('Property', sent);
    world.clock.set(BACK);
    await world.store.restamp();
    const [found] = await world.rows(
      'Property',
      '$select=ModificationTimestamp,ReplicaModificationTimestamp',
    );
    assert.equal(found?.ModificationTimestamp, '2046-05-01T00:00:00Z');
    assert.equal(String(found?.ReplicaModificationTimestamp).slice(0, 16), '2026-06-01T13:00');
  });
}
