/**
 * Listens for commits to the sequence of changes: the statement that takes their numbers sends a notification (PostgreSQL, NOTIFY),
 * for which one connection of each following process listens. A lost connection is reopened, with growing pauses while the server
 * is unavailable. A proxy that shares connections among clients may swallow notifications, so followers also poll now and then.
 */
import { once } from 'node:events';
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

  /** Listens until the connection ends. @throws what ended it */
  const listen = async (): Promise<never> => {
    const client = await pool.connect();
    try {
      const over = once(client, 'end', { signal: ended.signal }).then(() => {
        throw new Error('The connection that listens has ended');
      });
      client.on('notification', ({ payload }) => {
        failures = 0;
        if (payload === address.schema) heard();
      });
      // An unresponsive server answers neither.
      await Promise.race([client.query(`LISTEN ${CHANGES_CHANNEL}`), over]);
      isOpen = true;
      isReported = false;
      // Commits before this moment were not announced to this connection.
      heard();
      return await over;
    } finally {
      isOpen = false;
      client.release(true);
    }
  };
  const keepListening = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      try {
        await listen();
      } catch (error) {
        if (ended.signal.aborted) break;
        // Only the first failure is reported.
        if (!isReported) lost(error);
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
