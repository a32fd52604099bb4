/**
 * Hears of commits to the sequence of changes: the statement that takes their numbers notifies (PostgreSQL, NOTIFY), and one
 * connection of each process that follows listens. One that is lost is made again. A proxy that shares connections between
 * clients may swallow notifications; whoever follows asks now and then besides.
 */
import { setTimeout } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import type { Announcements } from '../../../store/commit-watch.ts';
import type { PostgresAddress } from '../connection/address.ts';
import { connectPool } from '../connection/connect.ts';
import { CHANGES_CHANNEL } from '../dialect.ts';

/** Milliseconds until a connection that was lost is made again. */
const PAUSE = 500;

/** @param heard called at each announcement, and when some may have been missed */
export function announcementsAt(address: PostgresAddress, heard: () => void): Announcements {
  const pool = connectPool(address, { most: 1, pipeline: false });
  const ended = new AbortController();
  let isOpen = false;
  const listen = async (client: PoolClient): Promise<void> => {
    const { promise: lost, resolve } = Promise.withResolvers<void>();
    client.once('end', resolve);
    client.once('error', () => resolve());
    ended.signal.addEventListener('abort', () => resolve(), { once: true });
    client.on('notification', ({ payload }) => {
      if (payload === address.schema) heard();
    });
    await client.query(`LISTEN ${CHANGES_CHANNEL}`);
    isOpen = true;
    heard();
    if (!ended.signal.aborted) await lost;
  };
  const keepListening = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      try {
        const client = await pool.connect();
        try {
          await listen(client);
        } finally {
          isOpen = false;
          client.release(true);
        }
      } catch {
        // A server that is away is asked again.
      }
      await setTimeout(PAUSE, undefined, { signal: ended.signal }).catch(() => undefined);
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
