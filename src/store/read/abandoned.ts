/** Finds reads whose client has gone while a statement runs, so that an engine can end them. It must not know how. */
import type { ReadCaller } from './lanes.ts';

/** How often clients are checked, in milliseconds. Most reads end before the first check. */
const INTERVAL = 250;

interface Watched {
  readonly isGone: () => boolean;
  readonly abandon: () => void;
}

const watched = new Set<Watched>();
let timer: NodeJS.Timeout | undefined;

/** One timer checks all reads, and rests while there are none. */
function check(): void {
  if (watched.size === 0) {
    clearInterval(timer);
    timer = undefined;
  }
  for (const { isGone, abandon } of watched) if (isGone()) abandon();
}

/**
 * Watches the client of a read until the scope that reads is left.
 * @param abandon called at each check from when the client has gone on: it may come between two statements of the read
 */
export function watchClient(caller: ReadCaller | undefined, abandon: () => void): Disposable {
  if (caller?.isGone === undefined) return { [Symbol.dispose]: () => undefined };
  const entry = { isGone: caller.isGone, abandon };
  watched.add(entry);
  timer ??= setInterval(check, INTERVAL).unref();
  return { [Symbol.dispose]: () => void watched.delete(entry) };
}
