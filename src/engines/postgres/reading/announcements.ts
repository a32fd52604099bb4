/**
 * Listens for commits to the sequence of changes: the statement that takes their numbers sends a notification (PostgreSQL, NOTIFY),
 * for which one connection of each following process listens. A proxy that shares connections among clients may swallow
 * notifications, so followers also poll now and then.
 */
import { once } from 'node:events';
import type { Listen } from '../../../store/changes/commit-watch.ts';
import type { PostgresAddress } from '../connection/address.ts';
import { StorePool } from '../connection/connect.ts';
import { CHANGES_CHANNEL } from '../dialect.ts';

export const listenAt =
  (address: PostgresAddress): Listen =>
  async ({ opened, announced }, signal) => {
    await using pool = new StorePool(address);
    const client = await pool.connect();
    try {
      const over = once(client, 'end', { signal }).then(() => {
        throw new Error('The connection that listens has ended');
      });
      client.on('notification', ({ payload }) => {
        if (payload === address.schema) announced();
      });
      // If the server does not respond, the signal ends the wait.
      await Promise.race([client.query(`LISTEN ${CHANGES_CHANNEL}`), over]);
      opened();
      return await over;
    } finally {
      client.release(true);
    }
  };
