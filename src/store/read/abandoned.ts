/** Finds reads whose client has gone while a statement runs, so that an engine can end them. It must not know how. */
import { platError } from '../../errors/index.ts';
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
 * Runs a read, and ends it if its client has gone.
 * @param abandon called at each check from when the client has gone on: it may come between two statements of the read
 * @throws PlatError `clientGone` if the read fails after that
 */
export async function unlessGone<T>(
  caller: ReadCaller | undefined,
  abandon: () => void,
  read: () => Promise<T>,
): Promise<T> {
  if (caller?.isGone === undefined) return read();
  let hasGone = false;
  const entry: Watched = {
    isGone: caller.isGone,
    abandon() {
      hasGone = true;
      abandon();
    },
  };
  watched.add(entry);
  timer ??= setInterval(check, INTERVAL).unref();
  try {
    return await read();
  } catch (error) {
    throw hasGone ? platError('clientGone', {}, { cause: error }) : error;
  } finally {
    watched.delete(entry);
  }
}
