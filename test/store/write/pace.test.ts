/** How the size of transactions follows the time that they take. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Pace, type TransactionTimes } from '../../../src/store/write/pace.ts';

/** The limits after each of some transactions that are as large as the limit allows. */
function after(count: number, times: (records: number) => TransactionTimes): number[] {
  const pace = new Pace(16_000);
  return Array.from({ length: count }, () => {
    pace.succeeded(pace.records, times(pace.records));
    return pace.records;
  });
}

describe('the size of transactions', () => {
  it('stays while commits are cheap', () => {
    assert.deepEqual(
      after(3, (records) => ({ work: 0.6 * records, commit: 60 })),
      [1000, 1000, 1000],
    );
  });

  it('doubles up to a limit while twice as many records would still be stored quickly', () => {
    assert.deepEqual(
      after(3, (records) => ({ work: records / 4, commit: 60 })),
      [2000, 2000, 2000],
    );
    const pace = new Pace(16_000);
    pace.tookTooLong(300, 300);
    const limits = Array.from({ length: 5 }, () => {
      pace.succeeded(pace.records, { work: 500, commit: 60 });
      return pace.records;
    });
    assert.deepEqual(limits, [300, 600, 1200, 2000, 2000]);
  });

  it('grows while commits are expensive, as long as a transaction is quick', () => {
    assert.deepEqual(
      after(5, (records) => ({ work: records / 2, commit: 300 })),
      [1250, 1563, 1954, 1954, 1954],
    );
    assert.equal(after(20, () => ({ work: 1, commit: 1 })).at(-1), 3000);
  });

  it('shrinks while a transaction is slow, whatever makes it slow', () => {
    assert.deepEqual(
      after(4, (records) => ({ work: 2 * records, commit: 0 })),
      [800, 800, 800, 800],
    );
    assert.equal(after(30, () => ({ work: 0, commit: 9000 })).at(-1), 100);
  });

  it('does not follow a transaction that is smaller than it may be', () => {
    const pace = new Pace(16_000);
    pace.succeeded(999, { work: 1, commit: 100 });
    pace.succeeded(10, { work: 9000, commit: 100 });
    assert.equal(pace.records, 1000);
  });

  it('halves after one that took too long, and recovers', () => {
    const pace = new Pace(16_000);
    pace.tookTooLong(1000, 9000);
    assert.deepEqual([pace.records, pace.weight], [500, 4500]);
    pace.tookTooLong(3, 3);
    assert.deepEqual([pace.records, pace.weight], [100, 1]);
    for (let at = 0; at < 50; at++) pace.succeeded(pace.records, { work: 10, commit: 10 });
    assert.deepEqual([pace.records, pace.weight], [3000, 16_000]);
  });
});
