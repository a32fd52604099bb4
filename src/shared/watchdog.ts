/** Notices that a server no longer responds on a connection, which no error reports. */
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { settlesWithin } from './settles-within.ts';

/**
 * How much longer than the server's time limit the client waits for a response, in milliseconds. Dropped packets and
 * suspended processes end no connection.
 */
const SILENT = 2000;

/** How often a connection is checked, in milliseconds. While its server is at work, the pause between two checks doubles. */
const INTERVAL = 1500;

/** How long the server may take to say whether it is at work on a connection, in milliseconds. */
const PATIENCE = 2000;

/** Thrown if the server neither responded nor ended a statement within its time limit, or is not at work on it. */
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

interface WatchdogOptions {
  /** The time limit of a statement in milliseconds; 0: no limit. */
  readonly limit: number;
  /** Asks the server, over another connection, whether it is at work on this one. A failure means that this is unknown. */
  readonly isAtWork: () => Promise<boolean>;
}

/**
 * Ends a connection on which no data has arrived for too long, whether the server sends none or this process does not read: after
 * the time limit of a statement, or as soon as the server turns out not to be at work on what it was sent.
 */
export function startWatchdog(
  stream: Pick<Duplex, 'on' | 'off' | 'destroy'>,
  { limit, isAtWork }: WatchdogOptions,
): Watchdog {
  if (limit === 0) return NO_WATCHDOG;
  const socket = stream instanceof Socket ? stream : undefined;
  const sent = (): number => socket?.bytesWritten ?? 0;
  let patience = limit + SILENT;
  /** Whether data has arrived since the last check, and how long none had arrived by then. */
  let heard = false;
  let silence = 0;
  /** The number of bytes that had been sent when data last arrived, and at the last check. */
  let answered = sent();
  let checked = answered;
  let pause = INTERVAL;
  let ended = false;
  const check = async (waited: number): Promise<void> => {
    if (ended) return;
    if (heard) pause = INTERVAL;
    silence = heard ? 0 : silence + waited;
    heard = false;
    if (silence >= patience) return end(`The server has sent nothing for ${silence} ms`);
    // What was sent since the last check may not have arrived there yet.
    const isWaiting = silence > 0 && sent() > answered && sent() === checked;
    checked = sent();
    if (isWaiting) {
      if (await isStuck(isAtWork())) {
        if (!heard) return end('The server is not at work on what it was sent, or not at all');
      } else pause *= 2;
    }
    if (!ended) timer = next();
  };
  const end = (why: string): void => {
    if (!ended) stream.destroy(new UnresponsiveError(why));
  };
  const next = (): NodeJS.Timeout => {
    const wait = Math.max(1, Math.min(pause, patience - silence));
    // Data that arrived while this process was busy is processed first.
    return setTimeout(() => setImmediate(() => void check(wait)), wait);
  };
  let timer = next();
  const hear = (): void => {
    heard = true;
    answered = sent();
  };
  stream.on('data', hear);
  return {
    setTimeLimit(milliseconds) {
      patience = milliseconds + SILENT;
      silence = 0;
    },
    end() {
      ended = true;
      stream.off('data', hear);
      clearTimeout(timer);
    },
  };
}

/** Whether the server is not at work, or does not say so in time. */
async function isStuck(asked: Promise<boolean>): Promise<boolean> {
  if (!(await settlesWithin(PATIENCE, asked))) return true;
  return asked.then(
    (isAtWork) => !isAtWork,
    () => false,
  );
}
