/** The session of a connection that holds the write lock, which the store's shared modules write through. */

import { name, sql } from '../../../compile/fragment.ts';
import type { WriteSession } from '../../../store/write-session.ts';
import type { ServerSession } from '../connection/session.ts';
import { partitionedDialect, postgresDialect } from '../dialect.ts';
import { placing } from '../partitions/partitions.ts';
import { copyIn } from './copy-in.ts';

export type ServerWriteSession = ServerSession & WriteSession;

/** @param isPartitioned whether large tables are partitioned by originating system */
export const writeSessionOn = (session: ServerSession, isPartitioned = false): ServerWriteSession => ({
  ...session,
  dialect: isPartitioned ? partitionedDialect : postgresDialect,
  async replace(table, stored, columns, rows) {
    if (stored.length > 0) {
      const isStored = session.dialect.oneOf(sql`_key`, stored);
      await session.run(sql`DELETE FROM ${name(table)} WHERE ${isStored}`);
    }
    await copyIn(session, table, columns, rows);
  },
  ...(isPartitioned ? { beforePut: placing(session) } : {}),
});
