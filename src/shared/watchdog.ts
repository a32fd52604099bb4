import type { Duplex } from 'node:stream';

/**
 * How much longer than the server's time limit the client waits for a response, in milliseconds. Dropped packets and
 * suspended processes end no connection.
 */
const SILENT = 2000;

/** Thrown if the server neither responded nor ended a statement within its time limit. */
class UnresponsiveError extends Error {
  readonly code = 'ETIMEDOUT';
}

/** Ends a connection that no longer responds, and reports this to its user. */
export interface Watchdog {
  /** Restarts the timeout with another time limit of statements, in milliseconds. */
  setTimeLimit(limit: number): void;
  end(): void;
}

/** The watchdog of a connection without a timeout. */
const NO_WATCHDOG: Watchdog = { setTimeLimit: () => undefined, end: () => undefined };

/**
 * Ends a connection on which no data has arrived for too long, whether the server sends none or this process does not read.
 * @param milliseconds the time limit of a statement; 0: no limit
 */
export function startWatchdog(
  stream: Pick<Duplex, 'on' | 'off' | 'destroy'>,
  milliseconds: number,
): Watchdog {
  if (milliseconds === 0) return NO_WATCHDOG;
  let heard = false;
  let ended = false;
  const start = (limit: number): NodeJS.Timeout => {
    const patience = limit + SILENT;
    return setTimeout(() => {
      heard = false;
      // Data that arrived while this process was busy is processed first.
      setImmediate(() => {
        if (ended) return;
        if (heard) timer.refresh();
        else stream.destroy(new UnresponsiveError(`The server has sent nothing for ${patience} ms`));
      });
    }, patience);
  };
  let timer = start(milliseconds);
  const hear = (): void => {
    heard = true;
    timer.refresh();
  };
  stream.on('data', hear);
  return {
    setTimeLimit(limit) {
      clearTimeout(timer);
      timer = start(limit);
    },
    end() {
      ended = true;
      stream.off('data', hear);
      clearTimeout(timer);
    },
  };
}
