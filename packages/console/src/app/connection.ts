/**
 * Whether the service can be reached. Whoever gets no answer reports a doubt; the service is then asked whether it is there
 * until it answers, so that an open page recovers by itself. This module must not know what is asked or shown.
 */
import { signal } from '@preact/signals';

/** Whether nothing answers at the moment. */
export const isAway = signal(false);

/** Grows each time that the service is back: whatever failed meanwhile is then requested again. */
export const returns = signal(0);

/** Milliseconds between two attempts; the last one repeats. */
const PAUSES = [500, 1000, 2000] as const;
/** Milliseconds after which a service that takes the connection and says nothing counts as away. */
const PATIENCE = 5000;

let isProbing = false;

/** Determines whether the service is there, and waits for it if it is not. */
export function doubt(): void {
  if (isProbing) return;
  isProbing = true;
  void probe(0);
}

async function probe(attempt: number): Promise<void> {
  if (await answers()) {
    isProbing = false;
    isAway.value = false;
    returns.value++;
    return;
  }
  isAway.value = true;
  setTimeout(() => void probe(attempt + 1), PAUSES[attempt] ?? PAUSES[2]);
}

async function answers(): Promise<boolean> {
  try {
    const response = await fetch('/live', { cache: 'no-store', signal: AbortSignal.timeout(PATIENCE) });
    return response.ok;
  } catch {
    return false;
  }
}
