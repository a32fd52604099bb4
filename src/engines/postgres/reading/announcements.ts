/**
 * Hears of commits to the sequence of changes: the statement that takes their numbers notifies (PostgreSQL, NOTIFY), and one
 * connection of each process that follows listens. One that is lost is made again, and a server that is away is asked ever
 * more rarely. A proxy that shares connections between clients may swallow notifications; whoever follows asks now and then
 * besides.
 */
import type { Announcements, Hearing, Pause } from '../../../store/commit-watch.ts';
import type { PostgresAddress } from '../connection/address.ts';
import { StorePool } from '../connection/connect.ts';
import { CHANGES_CHANNEL } from '../dialect.ts';

/** Milliseconds until a connection that was lost is made again; they double with each attempt in vain. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;

export function announcementsAt(
  address: PostgresAddress,
  { heard, lost }: Hearing,
  pause: Pause,
): Announcements {
  const pool = new StorePool(address, { most: 1, pipeline: false });
  const ended = new AbortController();
  let isOpen = false;
  let isReported = false;
  /** Connections that were lost, or could not be made, since one has announced something. */
  let failures = 0;

  /** Listens until that is over. @throws what ended the connection, unless it was `close` */
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
      // A server that has fallen silent answers neither.
      await Promise.race([client.query(`LISTEN ${CHANGES_CHANNEL}`), over.promise]);
      if (ended.signal.aborted) return;
      isOpen = true;
      isReported = false;
      // What was committed meanwhile was announced to nobody.
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
        // What further attempts fail of is no news.
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
