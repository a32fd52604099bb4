/** A clock that moves only when a test moves it, also for tasks that sleep on it. */
import type { Clock } from '../../../src/shared/clock.ts';
import { type TestClock, testClock } from '../../support/clock.ts';

export interface ManualClock extends Clock {
  /** Moves the clock and wakes whoever is due; resolves after they have run. */
  advance(milliseconds: number): Promise<void>;
}

export function manualClock(base: TestClock = testClock()): ManualClock {
  const sleepers = new Map<() => void, number>();
  return {
    now: base.now,
    sleep: (milliseconds, signal) =>
      new Promise((resolve) => {
        const wake = (): void => {
          sleepers.delete(wake);
          resolve();
        };
        if (signal?.aborted) resolve();
        else sleepers.set(wake, base.now() + milliseconds);
        signal?.addEventListener('abort', wake, { once: true });
      }),
    advance: async (milliseconds) => {
      base.advance(milliseconds);
      for (const [wake, at] of [...sleepers]) if (at <= base.now()) wake();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
