/**
 * Opens the store of a watch. Waits while the store is unreachable, and, if the store has yet to be created, while its source is.
 */
import { type ErrorCode, PlatError } from '../errors/index.ts';
import { isTemporary } from '../replica/checkpoint/troubles.ts';
import { RequestFailure } from '../replica/http/failure.ts';
import { delayAfter, LONGEST_DELAY, SHORT_DELAY } from '../replica/http/retry.ts';
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
  readonly onFailure: (reason: string, wait: number, isOfSource: boolean) => void;
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
      if (signal.aborted) return undefined;
      const isOfSource = error instanceof RequestFailure;
      if (!isOfSource && !(error instanceof PlatError && TEMPORARY.has(error.code))) throw error;
      const least = error.retryAfter ?? 0;
      const wait = isOfSource
        ? delayAfter(failures, least, isTemporary(error) ? SHORT_DELAY : LONGEST_DELAY, random)
        : delayAfter(failures, least * 1000, SHORT_DELAY, random);
      onFailure(error.message, wait, isOfSource);
      await clock.sleep(wait, signal);
    }
  }
  return undefined;
}
