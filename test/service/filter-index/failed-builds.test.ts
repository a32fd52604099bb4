/** A request that fails while it builds a list that another request waits for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { platError } from '../../../src/errors/index.ts';
import { FilterIndexCache } from '../../../src/service/paging/filter-index.ts';
import type { SharedState } from '../../../src/store/shared.ts';
import { LookChanged } from '../../../src/store/store.ts';
import { testClock } from '../../support/clock.ts';

for (const [why, error] of [
  ['is abandoned by its client', platError('clientGone', {})],
  ['is repeated because the store has changed', new LookChanged()],
] as const) {
  test(`a list whose first request ${why} is built by the next one`, async () => {
    const cache = new FilterIndexCache({ milliseconds: 60_000, bytes: 1_000_000 }, testClock());
    const list = { key: 'a', text: 'f' };
    const failure = Promise.withResolvers<void>();
    const first = cache.getOrMake(list, async () => {
      await failure.promise;
      throw error;
    });
    const ids = Uint32Array.of(1, 2);
    const retried = cache.getOrMake(list, async () => ({ ids, order: '', openWindow: false }));
    failure.resolve();
    await assert.rejects(first, error);
    const found = await retried;
    assert.deepEqual([found.index.ids, found.state], [ids, 'fresh']);
    cache.close();
  });
}

test('other errors are reported to all requests that wait for the list', async () => {
  const cache = new FilterIndexCache({ milliseconds: 60_000, bytes: 1_000_000 }, testClock());
  const list = { key: 'a', text: 'f' };
  const failing = async (): Promise<never> => {
    throw platError('overloaded', { seconds: 5 });
  };
  const both = [cache.getOrMake(list, failing), cache.getOrMake(list, failing)];
  for (const each of both) await assert.rejects(each, { code: 'overloaded' });
  assert.equal(cache.use.entries, 0);
  cache.close();
});

test('a list that the store has no room for is used once, and found again by the next page', async () => {
  const shared: SharedState = {
    findList: async () => undefined,
    isListCurrent: async () => false,
    keepList: () => Promise.reject(platError('storeFull', { store: 'postgres://db/market' })),
    lendRequests: () => assert.fail('no list borrows requests'),
    returnRequests: async () => undefined,
    noteSweep: async () => 'unknown',
    sweepLists: async () => undefined,
  };
  const cache = new FilterIndexCache({ milliseconds: 60_000, bytes: 1_000_000 }, testClock(), shared);
  for (const id of [1, 2]) {
    const made = { ids: Uint32Array.of(id), order: '', openWindow: false };
    const found = await cache.getOrMake({ key: 'a', text: 'f' }, async () => made);
    assert.deepEqual([found.index.ids, found.state], [made.ids, 'fresh']);
  }
  cache.close();
});
