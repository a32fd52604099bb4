/** Opening the store of a watch, which waits for one that is away as it does later on. It knows nothing of sources. */
import { type ErrorCode, PlatError } from '../errors/index.ts';
import { restAfter, SHORT_REST } from '../replica/http/retry.ts';
import type { Clock } from '../store/clock.ts';
import type { Store } from '../store/store.ts';

/** A store that is away or busy; whatever else is wrong with it, no time mends. */
const AWAY: ReadonlySet<ErrorCode> = new Set([
  'storeUnavailable',
  'storeUnreachable',
  'storeBusy',
  'writeUnknown',
  'overloaded',
]);

export interface Patience {
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly onFailure: (reason: string, wait: number) => void;
}

/** @returns undefined when the signal comes before the store does */
export async function openPatiently(
  open: () => Promise<Store>,
  { clock, random, signal, onFailure }: Patience,
): Promise<Store | undefined> {
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof PlatError) || !AWAY.has(error.code)) throw error;
      const wait = restAfter(
        failures,
        error.retryAfter === undefined ? 0 : error.retryAfter * 1000,
        SHORT_REST,
        random,
      );
      onFailure(error.message, wait);
      await clock.sleep(wait, signal);
    }
  }
  return undefined;
}
