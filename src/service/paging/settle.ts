import { platError } from '../../errors/index.ts';
import type { Clock } from '../../store/clock.ts';
import type { Store } from '../../store/store.ts';
import { endOf, type Window } from './window.ts';
import { AHEAD, INTERVAL, PATIENCE } from './window-ahead.ts';

/**
 * Waits until no record can enter the window any more (I2): every writer that may still stamp before its end has
 * finished, and, where it ends a little ahead of the clock, the clock is there. One that ends later is answered as it is.
 * @returns whether the window is open, that is, ends in the future
 * @throws PlatError `windowNotSettled`, `windowAhead` when that takes too long
 */
export async function settle(store: Store, clock: Clock, window: Window): Promise<boolean> {
  if (window.to === undefined) return false;
  const end = endOf(window);
  for (let waited = 0; ; waited += INTERVAL) {
    const { now, settled } = await store.horizon();
    if (end > now + AHEAD) return true;
    if (end <= settled) return false;
    if (end > now && (waited >= PATIENCE || end > now + PATIENCE - waited)) {
      const seconds = Math.ceil((end - now) / 1000);
      throw platError('windowAhead', { seconds }, { retryAfter: seconds });
    }
    if (waited >= PATIENCE) {
      throw platError('windowNotSettled', { seconds: PATIENCE / 1000 }, { retryAfter: PATIENCE / 1000 });
    }
    await clock.sleep(INTERVAL);
  }
}
