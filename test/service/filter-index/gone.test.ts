/** A client that begins to search and is gone, and another request for the same list. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { platError } from '../../../src/errors/index.ts';
import { FilterIndexCache } from '../../../src/service/paging/filter-index.ts';
import { LookChanged } from '../../../src/store/store.ts';
import { testClock } from '../../support/clock.ts';

for (const [why, error] of [
  ['is gone', platError('clientGone', {})],
  ['is answered anew', new LookChanged()],
] as const) {
  test(`a list whose request ${why} is made by the next one`, async () => {
    const cache = new FilterIndexCache({ milliseconds: 60_000, bytes: 1_000_000 }, testClock());
    const list = { key: 'a', text: 'f' };
    const turn = Promise.withResolvers<void>();
    const gone = cache.take(list, async () => {
      await turn.promise;
      throw error;
    });
    const ids = Uint32Array.of(1, 2);
    const retried = cache.take(list, async () => ({ ids, order: '', openWindow: false }));
    turn.resolve();
    await assert.rejects(gone, error);
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
  const both = [cache.take(list, failing), cache.take(list, failing)];
  for (const each of both) await assert.rejects(each, { code: 'overloaded' });
  assert.equal(cache.size, 0);
  cache.close();
});
