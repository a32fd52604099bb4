/** The memory of the filter-index cache: counted completely, limited, shared fairly between keys, released on expiry. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { FilterIndexCache, LIST_OVERHEAD } from '../../../src/service/paging/filter-index.ts';
import { cacheSizes } from '../../../src/shared/bounded-cache.ts';
import { testClock } from '../../support/clock.ts';

const MINUTE = 60_000;
const FULL = process.env.PLAT_FULL === '1';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

async function memory(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    collectGarbage();
    await setImmediate();
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function cacheOf(bytes: number, milliseconds = 10 * MINUTE) {
  const clock = testClock();
  const cache = new FilterIndexCache({ bytes, milliseconds }, clock);
  const take = async (key: string, text: string, ids = 0): Promise<string> =>
    (
      await cache.getOrMake({ key, text }, async () => ({
        ids: new Uint32Array(ids),
        order: '',
        openWindow: false,
      }))
    ).state;
  return { clock, cache, take };
}

const gauge = (): number => cacheSizes().find(({ name }) => name === 'filter indexes')?.bytes ?? Number.NaN;

/** A quarter: the memory of a list in hash tables depends on when they last grew. */
const TOLERANCE = 0.25;

for (const { what, ids, text } of [
  { what: 'lists of filters that find nothing', ids: 0, text: '' },
  { what: 'lists with long names', ids: 0, text: 'x'.repeat(9000) },
  { what: 'lists of a thousand records', ids: 1000, text: '' },
]) {
  test(`the gauge agrees with the growth of memory: ${what}`, async () => {
    const lists = 20_000 / (ids === 0 ? 1 : 4);
    const { cache, take } = cacheOf(1024 ** 3);
    await take('warm', 'up');
    const before = await memory();
    const counted = gauge();
    for (let index = 0; index < lists; index++) await take(`key ${index % 7}`, `${text}${index}`, ids);
    const grown = (await memory()) - before;
    const reported = gauge() - counted;
    assert.equal(cache.use.entries, lists + 1);
    assert.ok(Math.abs(reported / grown - 1) < TOLERANCE, `${reported} reported, ${grown} grown`);
    cache.close();
    assert.ok(Number.isNaN(gauge()), 'a closed cache is no longer reported');
  });
}

test('expired lists are removed even if they are never requested again', async () => {
  const windows = FULL ? 100_000 : 10_000;
  const { clock, cache, take } = cacheOf(64 * 1024 * 1024);
  let most = 0;
  for (let index = 0; index < windows; index++) {
    clock.advance((10 * 24 * 60 * MINUTE) / windows);
    assert.equal(await take('walker', `ModificationTimestamp gt ${index}`), 'fresh');
    most = Math.max(most, cache.use.entries);
  }
  // Those of the last ten minutes, and of the minute until the next sweep.
  const kept = Math.ceil((11 * windows) / (10 * 24 * 60)) + 1;
  assert.ok(most <= kept, `${most} lists of ${windows}`);
  clock.advance(10 * MINUTE);
  await cache.sweep();
  assert.deepEqual(cache.use, { entries: 0, bytes: 0 });
  cache.close();
});

test('when the clock is set back, lists with later timestamps are removed', async () => {
  const { clock, cache, take } = cacheOf(64 * 1024 * 1024);
  for (let index = 0; index < 100; index++) await take('a', String(index));
  clock.advance(-MINUTE);
  await take('a', 'now');
  assert.equal(cache.use.entries, 1);
  cache.close();
});

test('when the cache is full, the key that uses the most memory loses its least recently used lists', async () => {
  const { cache, take } = cacheOf(20 * LIST_OVERHEAD);
  for (const name of ['1', '2', '3']) await take('modest', name);
  for (let index = 0; index < 17; index++) await take('greedy', String(index));
  await take('greedy', '0'); // used again, so that the next one is evicted first
  for (let index = 100; index < 400; index++) await take('greedy', String(index));
  assert.ok(cache.use.bytes <= 20 * LIST_OVERHEAD);
  const states = [];
  for (const name of ['1', '2', '3']) states.push(await take('modest', name));
  assert.deepEqual(states, ['cached', 'cached', 'cached']);
  assert.equal(cache.bytesOf('modest'), 3 * LIST_OVERHEAD);
  assert.equal(await take('greedy', '399'), 'cached');
  assert.equal(await take('greedy', '0'), 'fresh');
  cache.close();
});

test('a list counts from the moment it is being built, and no longer if building it fails', async () => {
  const { cache } = cacheOf(64 * 1024 * 1024);
  const gate = Promise.withResolvers<never>();
  const running = Array.from({ length: 50 }, (_, index) =>
    cache.getOrMake({ key: 'a', text: String(index) }, () => gate.promise),
  );
  assert.equal(cache.use.bytes, 50 * LIST_OVERHEAD);
  gate.reject(new Error('the store is gone'));
  for (const each of running) await assert.rejects(each, /the store is gone/);
  assert.deepEqual(cache.use, { entries: 0, bytes: 0 });
  cache.close();
});

test('a list that is larger than the whole cache is not cached, and evicts no other list', async () => {
  const { cache, take } = cacheOf(10 * LIST_OVERHEAD);
  await take('small', '1');
  assert.equal(await take('large', '1', 10 * LIST_OVERHEAD), 'fresh');
  assert.equal(await take('small', '1'), 'cached');
  assert.equal(cache.bytesOf('large'), 0);
  cache.close();
});
