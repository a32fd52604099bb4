/** Opens the store of a watch, and waits as long as it is unreachable. This module knows nothing of sources. */
import { type ErrorCode, PlatError } from '../errors/index.ts';
import { restAfter, SHORT_REST } from '../replica/http/retry.ts';
import type { Clock } from '../shared/clock.ts';
import type { Store } from '../store/store.ts';

/** Errors of an unreachable or busy store. Waiting does not help with any other error. */
const TEMPORARY: ReadonlySet<ErrorCode> = new Set([
  'storeUnavailable',
  'storeUnreachable',
  'storeBusy',
  'writeUnknown',
  'overloaded',
]);

interface Patience {
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly onFailure: (reason: string, wait: number) => void;
}

/** @returns undefined if the signal is aborted before the store is open */
export async function openPatiently(
  open: () => Promise<Store>,
  { clock, random, signal, onFailure }: Patience,
): Promise<Store | undefined> {
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof PlatError) || !TEMPORARY.has(error.code)) throw error;
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
