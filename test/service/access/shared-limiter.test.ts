/** The rate limiter of one process of several: when it borrows requests from the store, and what it does with them. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { platError } from '../../../src/errors/index.ts';
import { SharedRateLimiter } from '../../../src/service/access/rate-limits.ts';
import type { Loan, LoanRequest, ReturnedLoan, SharedState } from '../../../src/store/shared.ts';

const LIMIT = { requests: 100, seconds: 300 };

/** A limiter over a store that lends the given loans in order and records what it is asked for. */
function lender(...loans: readonly (Partial<Loan> | Error)[]) {
  const requests: LoanRequest[] = [];
  const returned: ReturnedLoan[] = [];
  const unused = () => Promise.reject(new Error('no limiter asks this'));
  const shared: SharedState = {
    async lendRequests(request) {
      const next = loans[requests.push(request) - 1];
      if (next instanceof Error) throw next;
      assert.ok(next !== undefined, 'the limiter borrows more often than expected');
      return { window: 1, requests: 0, remaining: 0, milliseconds: 300_000, ...next };
    },
    returnRequests: async (given) => void returned.push(...given),
    findList: unused,
    isListCurrent: unused,
    noteSweep: unused,
    sweepLists: async () => undefined,
    keepList: unused,
  };
  const limiter = new SharedRateLimiter(shared);
  const take = async (now: number): Promise<unknown[]> => {
    const { remaining, exceeded, reset } = await limiter.countRequest('a', LIMIT, now);
    return [remaining, exceeded, reset];
  };
  return { limiter, take, requests, returned };
}

it('queries the store again only when a loan is used up, and reports the remaining limit', async () => {
  const { take, requests, limiter, returned } = lender(
    { requests: 3, remaining: 40 },
    { requests: 2, remaining: 38 },
  );
  assert.deepEqual(await take(0), [42, false, 300]);
  assert.deepEqual(await take(500), [41, false, 300]);
  assert.deepEqual(await take(1000), [40, false, 299]);
  assert.equal(requests.length, 1);
  assert.deepEqual(await take(1500), [39, false, 300]);
  assert.deepEqual(requests, [
    { key: 'a', limit: LIMIT, left: { window: 0, requests: 0 } },
    { key: 'a', limit: LIMIT, left: { window: 1, requests: 0 } },
  ]);
  await limiter.close();
  assert.deepEqual(returned, [{ key: 'a', window: 1, requests: 1 }]);
});

it('counts by itself while the store has no room, and borrows again as soon as it has', async () => {
  const full = platError('storeFull', { store: 'postgres://db/market' });
  const { take, limiter } = lender(full, full, { requests: 3, remaining: 40 }, new Error('lost'));
  assert.deepEqual(await take(0), [99, false, 300]);
  assert.deepEqual(await take(1000), [98, false, 299]);
  assert.deepEqual(await take(2000), [42, false, 300]);
  await assert.rejects(take(5000), { message: 'lost' });
  await limiter.close();
});

it('returns requests that are unused for 2 s when it borrows again, and borrows again when a window has ended', async () => {
  const { take, requests, limiter } = lender(
    { requests: 5, remaining: 40 },
    { requests: 5, remaining: 36, milliseconds: 1000 },
    { window: 2, requests: 12, remaining: 88 },
  );
  await take(0);
  await take(1999);
  assert.equal(requests.length, 1);
  await take(2000);
  assert.deepEqual(requests[1]?.left, { window: 1, requests: 3 });
  await take(2999);
  assert.equal(requests.length, 2);
  assert.deepEqual(await take(3000), [99, false, 300]);
  await limiter.close();
});

it('after an empty loan, refuses for half a second without querying the store, then queries it again', async () => {
  const { take, requests, limiter } = lender({ requests: 1 }, {}, { requests: 1, milliseconds: 299_000 });
  assert.deepEqual(await take(0), [0, false, 300]);
  assert.deepEqual(await take(100), [0, true, 300], 'the loan is used up, and the store has no more');
  assert.equal(requests.length, 1);
  assert.deepEqual(await take(500), [0, true, 300]);
  assert.deepEqual(await take(999), [0, true, 300]);
  assert.equal(requests.length, 2);
  assert.deepEqual(await take(1000), [0, false, 299]);
  await limiter.close();
});

it('borrows once for requests that arrive at the same time', async () => {
  const { take, requests, limiter } = lender({ requests: 3, remaining: 1 }, { requests: 1 });
  const taken = await Promise.all([0, 0, 0, 0, 0].map(take));
  assert.deepEqual(
    taken.map(([, exceeded]) => exceeded),
    [false, false, false, false, true],
  );
  assert.equal(requests.length, 2);
  await limiter.close();
});

it('throws the error of an unavailable store, and continues when the store is available again', async () => {
  const { take, limiter } = lender(new Error('away'), { requests: 2, remaining: 9 });
  await assert.rejects(take(0), { message: 'away' });
  assert.deepEqual(await take(1), [10, false, 300]);
  await limiter.close();
});
