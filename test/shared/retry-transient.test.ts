/** Trying again while a failure may pass. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryTransient } from '../../src/shared/retry-transient.ts';

/** Attempts that fail with these reasons in turn and then succeed, by a clock that only the pauses move. */
async function tried(...reasons: readonly string[]) {
  let time = 0;
  let attempts = 0;
  const attempt = (): string => {
    const reason = reasons[attempts++];
    if (reason !== undefined) throw new Error(reason);
    return 'done';
  };
  const result = await retryTransient(attempt, {
    passes: (error) => error instanceof Error && error.message.startsWith('busy'),
    patience: 20,
    pause: 10,
    elapsed: () => time,
    sleep: async (milliseconds) => {
      time += milliseconds;
    },
  }).catch((error: unknown) => String(error));
  return { result, attempts, time };
}

test('what succeeds at once is not repeated', async () => {
  assert.deepEqual(await tried(), { result: 'done', attempts: 1, time: 0 });
});

test('a failure that passes is tried again after a pause', async () => {
  assert.deepEqual(await tried('busy', 'busy'), { result: 'done', attempts: 3, time: 20 });
});

test('another failure is final', async () => {
  assert.deepEqual(await tried('busy', 'broken'), { result: 'Error: broken', attempts: 2, time: 10 });
});

test('the last failure is thrown once the time is up', async () => {
  const busy = ['busy 1', 'busy 2', 'busy 3', 'busy 4', 'busy 5'];
  assert.deepEqual(await tried(...busy), { result: 'Error: busy 4', attempts: 4, time: 30 });
});
