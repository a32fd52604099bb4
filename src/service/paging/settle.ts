import { platError } from '../../errors/index.ts';
import type { Clock } from '../../store/clock.ts';
import type { Store } from '../../store/store.ts';
import { endOf, type Window } from './window.ts';

/** How long a request waits for writers to finish, and how often it looks, in milliseconds. */
const PATIENCE = 5000;
const INTERVAL = 25;

/**
 * Waits until no record can enter the window any more (I2): every writer that may still stamp before its end has
 * finished. A window that ends in the future is answered as it is.
 * @returns whether the window is open, that is, ends in the future
 * @throws PlatError `windowNotSettled` when writers take too long
 */
export async function settle(store: Store, clock: Clock, window: Window): Promise<boolean> {
  if (window.to === undefined) return false;
  const end = endOf(window);
  for (let waited = 0; ; waited += INTERVAL) {
    const { now, settled } = await store.horizon();
    if (end > now) return true;
    if (end <= settled) return false;
    if (waited >= PATIENCE) {
      throw platError('windowNotSettled', { seconds: PATIENCE / 1000 }, { retryAfter: PATIENCE / 1000 });
    }
    await clock.sleep(INTERVAL);
  }
}
