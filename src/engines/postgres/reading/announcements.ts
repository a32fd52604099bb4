/**
 * Listens for commits to the sequence of changes: the statement that takes their numbers sends a notification (PostgreSQL, NOTIFY),
 * for which one connection of each following process listens. A lost connection is reopened, with growing pauses while the server
 * is unavailable. A proxy that shares connections among clients may swallow notifications, so followers also poll now and then.
 */
import type { Announcements, Hearing, Pause } from '../../../store/commit-watch.ts';
import type { PostgresAddress } from '../connection/address.ts';
import { StorePool } from '../connection/connect.ts';
import { CHANGES_CHANNEL } from '../dialect.ts';

/** Milliseconds until a lost connection is reopened; the pause doubles with each failed attempt. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;

export function announcementsAt(
  address: PostgresAddress,
  { heard, lost }: Hearing,
  pause: Pause,
): Announcements {
  const pool = new StorePool(address);
  const ended = new AbortController();
  let isOpen = false;
  let isReported = false;
  /** The number of connections that were lost, or failed, since the last notification. */
  let failures = 0;

  /** Listens until the connection ends. @throws what ended it, unless `close` did */
  const listen = async (): Promise<void> => {
    const client = await pool.connect();
    const over = Promise.withResolvers<void>();
    const close = (): void => over.resolve();
    try {
      client.once('error', over.reject);
      client.once('end', () => over.reject(new Error('The connection that listens has ended')));
      ended.signal.addEventListener('abort', close);
      if (ended.signal.aborted) close();
      client.on('notification', ({ payload }) => {
        failures = 0;
        if (payload === address.schema) heard();
      });
      // An unresponsive server answers neither.
      await Promise.race([client.query(`LISTEN ${CHANGES_CHANNEL}`), over.promise]);
      if (ended.signal.aborted) return;
      isOpen = true;
      isReported = false;
      // Commits before this moment were not announced to this connection.
      heard();
      await over.promise;
    } finally {
      isOpen = false;
      ended.signal.removeEventListener('abort', close);
      client.release(true);
    }
  };
  const keepListening = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      try {
        await listen();
      } catch (error) {
        // Only the first failure is reported.
        if (!isReported && !ended.signal.aborted) lost(error);
        isReported = true;
        await pause(Math.min(FIRST_PAUSE * 2 ** failures++, LONGEST_PAUSE), ended.signal);
      }
    }
    await pool.end();
  };
  const listening = keepListening();
  return {
    get isOpen() {
      return isOpen;
    },
    close() {
      ended.abort();
      return listening;
    },
  };
}
