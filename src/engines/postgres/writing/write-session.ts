/** The session of a connection that holds the write lock, for the store's shared modules. */

import type { ColumnKind } from '../../../compile/column-value.ts';
import type { Dialect } from '../../../compile/dialect.ts';
import { bind, join, name, type Sql, sql } from '../../../compile/fragment.ts';
import type { StoredRows, WriteSession } from '../../../store/write-session.ts';
import type { ServerSession } from '../connection/session.ts';
import { partitionedDialect, postgresDialect } from '../dialect.ts';
import { placing } from '../partitions/partitions.ts';
import { copyIn } from './copy-in.ts';

export type ServerWriteSession = ServerSession & WriteSession;

function among({ oneOf, list }: Dialect, stored: StoredRows): Sql | undefined {
  switch (stored.by) {
    case '_key':
      return stored.keys.length === 0 ? undefined : oneOf(sql`_key`, stored.keys);
    case '_id':
      return stored.ids.length === 0
        ? undefined
        : sql`_id IN (SELECT l.value FROM ${list(bind(JSON.stringify(stored.ids)), 'l')})`;
  }
}

/** @param isPartitioned whether large tables are partitioned by originating system */
export const writeSessionOn = (session: ServerSession, isPartitioned = false): ServerWriteSession => ({
  ...session,
  dialect: isPartitioned ? partitionedDialect : postgresDialect,
  async replace(table, stored, columns, rows) {
    const isStored = among(session.dialect, stored);
    if (isStored !== undefined) await session.run(sql`DELETE FROM ${name(table)} WHERE ${isStored}`);
    await copyIn(session, table, columns, rows);
  },
  async update(table, columns, rows) {
    const kinds = new Map<string, ColumnKind>([['_key', 'text'], ...columns]);
    const names = [...kinds.keys()];
    const given = rows.map((row) => Object.fromEntries(names.map((each, at) => [each, row[at]])));
    const set = [...columns.keys()].map((each) => sql`${name(each)} = v.${name(each)}`);
    const values = session.dialect.rowsOf(bind(JSON.stringify(given)), 'v', kinds);
    await session.run(
      sql`UPDATE ${name(table)} AS t SET ${join(set, ', ')} FROM ${values} WHERE t._key = v._key`,
    );
  },
  ...(isPartitioned ? { beforePut: placing(session) } : {}),
});
