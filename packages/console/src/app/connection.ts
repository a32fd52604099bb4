/**
 * Whether the service can be reached. A request without a response reports a doubt; the console then probes the service until it
 * responds, so that an open page recovers by itself. This module must not know what is requested or displayed.
 */
import { signal } from '@preact/signals';

/** Whether the service is currently unreachable. */
export const isAway = signal(false);

/** Incremented whenever the service is back; failed requests are then repeated. */
export const returns = signal(0);

/** Milliseconds between two attempts; the last value repeats. */
const PAUSES = [500, 1000, 2000] as const;
/** Milliseconds after which a service that accepts the connection but does not respond counts as unreachable. */
const PATIENCE = 5000;

let isProbing = false;

/** Probes the service, and waits until it responds. */
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
