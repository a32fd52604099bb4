/** What the processes of one store share: loans of requests, and stored lists. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import { Client } from 'pg';
import { openPostgresStore } from '../../../src/engines/postgres/store.ts';
import { writeBackup } from '../../../src/engines/sqlite/backup.ts';
import { DEFAULT_SETTINGS } from '../../../src/records/settings.ts';
import { SharedRateLimiter } from '../../../src/service/access/rate-limits.ts';
import {
  type FilterIndex,
  FilterIndexCache,
  type FilterListName,
} from '../../../src/service/paging/filter-index.ts';
import { systemClock } from '../../../src/shared/clock.ts';
import type { KeptList, Loan, SharedState } from '../../../src/store/shared.ts';
import { emptyDatabase } from '../../support/postgres-engine.ts';
import { runOn } from '../../support/postgres-server.ts';

const { address, drop } = await emptyDatabase(DEFAULT_SETTINGS);
const stores = await Promise.all(
  [1, 2, 3].map(() => openPostgresStore({ address: `${address}&connections=3`, writeBackup })),
);
after(async () => {
  for (const store of stores) await store.close();
  await drop();
});
const shares: readonly SharedState[] = stores.flatMap(({ shared }) => (shared === undefined ? [] : [shared]));
const [shared] = shares;
assert.ok(shared !== undefined && shares.length === 3);

const onTables = (...statements: readonly string[]) =>
  runOn(address, ...statements.map((text) => text.replaceAll('plat_', 'plat.plat_')));

/** The number of rows of a table. */
async function rowsOf(table: string): Promise<number> {
  const client = new Client({ connectionString: address });
  await client.connect();
  const { rows } = await client.query<{ n: string }>(`SELECT count(*) AS n FROM plat.${table}`);
  await client.end();
  return Number(rows[0]?.n);
}

let names = 0;
const newName = (): string => `name ${++names}`;

const list = (id: string, ...ids: readonly number[]): KeptList => ({
  id,
  ids: Uint32Array.from(ids),
  order: '',
  openWindow: false,
});
const BOUNDS = { age: 0, milliseconds: 600_000, bytes: 2 ** 26 };

describe('loans of requests', () => {
  const limit = { requests: 20, seconds: 300 };
  const none = { window: 0, requests: 0 };

  it('are an eighth of the remaining requests, then one at a time, then none', async () => {
    const key = newName();
    const lent = [];
    for (let time = 0; time < 19; time++) {
      const loan: Loan = await shared.lendRequests({ key, limit, left: none });
      const { requests, remaining, milliseconds } = loan;
      assert.ok(milliseconds <= 300_000 && milliseconds > 290_000);
      lent.push([requests, remaining]);
    }
    const singly = Array.from({ length: 14 }, (_, index) => [1, 13 - index]);
    assert.deepEqual(lent, [[2, 18], [2, 16], [2, 14], ...singly, [0, 0], [0, 0]]);
  });

  it('that are returned can be lent to others, in the same window only', async () => {
    const key = newName();
    const first = await shared.lendRequests({ key, limit: { requests: 800, seconds: 300 }, left: none });
    assert.deepEqual([first.requests, first.remaining], [100, 700]);
    await shared.returnRequests([{ key, window: first.window, requests: 60 }]);
    await shared.returnRequests([{ key, window: first.window - 1, requests: 40 }]);
    const left = { window: first.window, requests: 40 };
    const again = await shared.lendRequests({ key, limit: { requests: 800, seconds: 300 }, left });
    assert.deepEqual([again.requests, again.remaining, again.window], [100, 700, first.window]);
    const old = { window: first.window - 1, requests: 100 };
    const third = await shared.lendRequests({ key, limit: { requests: 800, seconds: 300 }, left: old });
    assert.deepEqual([third.requests, third.remaining], [87, 613]);
  });

  it('are available again when the window has ended, or the clock was set back', async () => {
    for (const moved of ['ends - 300001', 'ends + 300001']) {
      const key = newName();
      const first = await shared.lendRequests({ key, limit, left: none });
      await onTables(`UPDATE plat_request_windows SET ends = ${moved} WHERE key = '${key}'`);
      const left = { window: first.window, requests: 2 };
      const next = await shared.lendRequests({ key, limit, left });
      assert.deepEqual([next.requests, next.remaining], [2, 18], moved);
    }
  });

  it('add up to exactly the limit, whichever process asks and when', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 60 }),
        fc.array(fc.nat(2), { minLength: 70, maxLength: 90 }),
        async (requests, order) => {
          const limiters = shares.map((each) => new SharedRateLimiter(each));
          const key = newName();
          const take = async (process: number): Promise<boolean> => {
            const taken = await limiters[process]?.countRequest(
              key,
              { requests, seconds: 300 },
              performance.now(),
            );
            assert.ok(taken !== undefined && taken.remaining <= requests);
            return !taken.exceeded;
          };
          const passed = (await Promise.all(order.map(take))).filter((each) => each).length;
          // A process returns what it has not used, and others get it.
          await Promise.all(limiters.slice(1).map((each) => each.close()));
          const rest = new SharedRateLimiter(shared);
          await limiters[0]?.close();
          let more = 0;
          while (!(await rest.countRequest(key, { requests, seconds: 300 }, performance.now())).exceeded)
            more++;
          await rest.close();
          assert.equal(passed + more, requests);
        },
      ),
      { seed: 5, numRuns: 25 },
    );
  });
});

describe('a stored list', () => {
  it('is the first one that was stored, for every process', async () => {
    const name = newName();
    const lists = shares.map((_, index) => list(`list ${index}`, index, 7, 2 ** 32 - 1));
    const kept = await Promise.all(
      shares.map((each, index) => each.keepList(name, lists[index] ?? list(''), BOUNDS)),
    );
    const [first] = kept;
    assert.ok(first !== undefined);
    for (const each of kept) assert.deepEqual([each.id, each.ids], [first.id, first.ids]);
    for (const each of shares) {
      const found = await each.findList(name);
      assert.deepEqual([found?.id, found?.ids, found?.openWindow], [first.id, first.ids, false]);
      assert.equal(await each.isListCurrent(name, first.id), true);
      assert.equal(await each.isListCurrent(name, 'another'), false);
    }
  });

  it('has the age of its first request, reports an open window, and may be empty or large', async () => {
    const name = newName();
    const large = Uint32Array.from({ length: 300_000 }, (_, index) => index * 7);
    await shared.keepList(
      name,
      { id: 'large', ids: large, order: 'price', openWindow: true },
      { ...BOUNDS, age: 5000, bytes: 2 ** 21 },
    );
    const found = await shared.findList(name);
    assert.deepEqual([found?.ids, found?.order, found?.openWindow], [large, 'price', true]);
    assert.ok(found !== undefined && found.age >= 5000 && found.age < 15_000);
    const empty = newName();
    await shared.keepList(empty, list('empty'), BOUNDS);
    assert.deepEqual((await shared.findList(empty))?.ids, new Uint32Array(0));
  });

  it('is removed when it has expired, and another may be stored', async () => {
    const name = newName();
    await shared.keepList(name, list('old', 1), { ...BOUNDS, milliseconds: 0 });
    assert.equal(await shared.findList(name), undefined);
    assert.equal(await shared.isListCurrent(name, 'old'), false);
    assert.equal((await shared.keepList(name, list('new', 2), BOUNDS)).id, 'new');
    assert.equal((await shared.keepList(name, list('newer', 3), BOUNDS)).id, 'new');
  });

  it('is removed when all lists together are too large, the oldest first', async () => {
    const oldest = newName();
    await shared.keepList(oldest, list('oldest', ...Array(100).keys()), { ...BOUNDS, age: 9000 });
    const older = newName();
    await shared.keepList(older, list('older', ...Array(100).keys()), { ...BOUNDS, age: 8000 });
    const process = await openPostgresStore({ address: `${address}&connections=2`, writeBackup });
    await process.shared?.keepList(newName(), list('young', 1), { ...BOUNDS, bytes: 2 ** 21 });
    await onTables("DELETE FROM plat_filter_lists WHERE id NOT IN ('oldest', 'older', 'young')");
    const another = await openPostgresStore({ address: `${address}&connections=2`, writeBackup });
    await another.shared?.keepList(newName(), list('youngest', 1), { ...BOUNDS, bytes: 1158 });
    assert.equal(await shared.findList(oldest), undefined);
    assert.equal((await shared.findList(older))?.id, 'older');
    await Promise.all([process.close(), another.close()]);
  });
});

describe('a walk over all listings', () => {
  const step = (from: string, reached: readonly string[], ended = false) => ({ from, reached, ended });

  it('is complete if no page was left out, whichever processes returned its pages', async () => {
    const key = newName();
    const [one, two, three] = shares;
    assert.ok(one !== undefined && two !== undefined && three !== undefined);
    assert.equal(await one.noteSweep(key, step('', ['skip 7', 'after G'])), 'noted');
    assert.equal(await two.noteSweep(key, step('after G', ['skip 14', 'after N'])), 'noted');
    assert.equal(await three.noteSweep(key, step('after N', [], true)), 'complete');
    assert.equal(await three.noteSweep(key, step('after N', [], true)), 'unknown', 'the walk has ended');
  });

  it('is not complete if a page was left out; a single page may be complete', async () => {
    const key = newName();
    await shared.noteSweep(key, step('', ['after G']));
    assert.equal(await shared.noteSweep(key, step('after N', ['after T'])), 'unknown');
    assert.equal(await shared.noteSweep(key, step('after T', [], true)), 'unknown');
    assert.equal(await shared.noteSweep(newName(), step('after T', [], true)), 'unknown');
    assert.equal(await shared.noteSweep(key, step('', [], true)), 'complete');
    assert.equal(await shared.noteSweep(newName(), step('', [], true)), 'complete');
  });
});

describe('the table of lists', () => {
  it('loses expired lists, even if no other one is stored', async () => {
    await onTables('TRUNCATE plat_filter_lists, plat_request_windows');
    for (let index = 0; index < 20; index++) {
      await shared.keepList(`K.${index}`, list(`K${index}`), {
        ...BOUNDS,
        milliseconds: index < 15 ? 1000 : 600_000,
      });
    }
    await shared.lendRequests({
      key: 'W',
      limit: { requests: 9, seconds: 60 },
      left: { window: 0, requests: 0 },
    });
    await onTables(
      'UPDATE plat_filter_lists SET made = made - 2000, expires = expires - 2000',
      'UPDATE plat_request_windows SET ends = ends - 100000',
    );
    await shared.sweepLists(2 ** 26);
    assert.deepEqual(await rowsOf('plat_filter_lists'), 5);
    assert.deepEqual(await rowsOf('plat_request_windows'), 0);
  });

  it('loses lists of the key that has the most, and counts empty lists as well', async () => {
    await onTables('TRUNCATE plat_filter_lists');
    const ROW = 250;
    for (let index = 0; index < 3; index++)
      await shared.keepList(`modest.${index}`, list(`M${index}`), { ...BOUNDS, age: 9000 });
    for (let index = 0; index < 30; index++)
      await shared.keepList(`greedy.${index}`, list(`G${index}`), { ...BOUNDS, age: 8000 - index });
    await shared.sweepLists(10 * ROW);
    assert.deepEqual(await rowsOf('plat_filter_lists'), 10);
    for (let index = 0; index < 3; index++)
      assert.equal((await shared.findList(`modest.${index}`))?.id, `M${index}`);
    assert.equal((await shared.findList('greedy.29'))?.id, 'G29');
    assert.equal(await shared.findList('greedy.22'), undefined);
  });
});

describe('filter indexes of several processes', () => {
  const LIMITS = { milliseconds: 600_000, bytes: 5000 };
  const newList = (): FilterListName => ({ key: 'K', text: newName() });
  const caches = (): FilterIndexCache[] =>
    shares.map((each) => new FilterIndexCache(LIMITS, systemClock, each));
  const finding = (...ids: readonly number[]) => {
    return async () => ({ ids: Uint32Array.from(ids), order: '', openWindow: false });
  };

  it('are one list, even if all of them are requested at the same time', async () => {
    for (let round = 0; round < 10; round++) {
      const name = newList();
      const found = await Promise.all(
        caches().map((each, index) => each.getOrMake(name, finding(round, index))),
      );
      const [first] = found;
      for (const { index } of found) assert.deepEqual(index.ids, first?.index.ids);
      assert.equal(
        found.filter(({ state }) => state === 'fresh').length,
        1,
        'only one process made the list',
      );
    }
  });

  it('are found again once, for all processes, after the store has lost them', async () => {
    const [one, two] = caches();
    assert.ok(one !== undefined && two !== undefined);
    const name = newList();
    let finds = 0;
    const listed = async (cache: FilterIndexCache, id: number): Promise<unknown> => {
      const find = finding(id);
      const { state, index } = await cache.getOrMake(name, () => {
        finds++;
        return find();
      });
      return [state, ...index.ids];
    };
    assert.deepEqual(await listed(one, 1), ['fresh', 1]);
    assert.deepEqual(await listed(two, 2), ['cached', 1]);
    await onTables('TRUNCATE plat_filter_lists');
    assert.deepEqual(await listed(two, 3), ['fresh', 3]);
    assert.deepEqual(await listed(one, 4), ['cached', 3]);
    assert.deepEqual(await listed(two, 5), ['cached', 3]);
    assert.equal(finds, 2, 'a list that one process found is not searched again');
  });

  it('may begin with the first result, and still become one list', async () => {
    for (let round = 0; round < 3; round++) {
      const name = newList();
      const begun: FilterIndex[] = [];
      const asked = caches().map((each, index) =>
        each.getOrMake(name, finding(round, index), (own) => void begun.push(own)),
      );
      const found = await Promise.all(asked);
      const [kept, ...others] = found.filter(({ state }) => state === 'fresh');
      assert.deepEqual(others, [], 'only one process made the list');
      for (const { index } of found)
        assert.deepEqual([index.id, index.ids], [kept?.index.id, kept?.index.ids]);
      assert.equal(begun.length, found.length, 'each began with its own result');
      assert.equal(begun.filter((own) => own === kept?.index).length, 1);
    }
    const [one, two] = caches();
    const name = newList();
    await one?.getOrMake(name, finding(1));
    const late = await two?.getOrMake(name, finding(2), () => undefined);
    assert.deepEqual([late?.state, late?.index.ids], ['cached', Uint32Array.of(1)]);
  });

  it('that are larger than the limit are not stored', async () => {
    const [one, two] = caches();
    assert.ok(one !== undefined && two !== undefined);
    const name = newList();
    const large = Array.from({ length: 1251 }, (_, index) => index);
    for (const cache of [one, two, one]) {
      assert.equal((await cache.getOrMake(name, finding(...large))).state, 'fresh');
    }
    for (const each of [one, two]) assert.deepEqual(each.use, { entries: 0, bytes: 0 });
    assert.equal((await two.getOrMake(name, finding(1))).state, 'fresh', 'the store does not have it either');
  });

  it('share one list for each other order as well', async () => {
    const [one, two] = caches();
    assert.ok(one !== undefined && two !== undefined);
    const name = newList();
    const first = (await one.getOrMake(name, finding(1, 2, 3))).index;
    const second = (await two.getOrMake(name, finding(4))).index;
    const { index: sorted } = await one.inOrder('K', first, 'price', async () => Uint32Array.from([3, 1, 2]));
    const { index: same } = await two.inOrder('K', second, 'price', async () => Uint32Array.from([1, 2, 3]));
    assert.deepEqual([same.id, same.ids], [sorted.id, Uint32Array.from([3, 1, 2])]);
    const { index: other } = await two.inOrder('K', second, 'price desc', async () =>
      Uint32Array.from([2, 1, 3]),
    );
    assert.deepEqual(other.ids, Uint32Array.from([2, 1, 3]));
    const { index: own } = await two.inOrder('K', second, '', () =>
      Promise.reject(new Error('It has this order')),
    );
    assert.equal(own, second);
  });
});
