/**
 * The session of a connection to a file, for the store's shared modules. SQLite answers synchronously. Statements that write use
 * `get`, because `run` also returns the last row id: that of a word index may exceed JavaScript's safe integers.
 */
import { render, type Sql } from '../../compile/fragment.ts';
import type { Row, Session, WriteSession } from '../../store/session.ts';
import { bindings, type Connection, readRows, toBindable } from './connection.ts';
import { sqliteDialect } from './dialect.ts';
import { indexWords } from './word-index.ts';

export function queryRows(connection: Connection, statement: Sql): readonly Row[] {
  const made = render(statement, sqliteDialect.placeholder);
  return readRows(connection, made.text, bindings(made));
}

/** Executes a statement. @returns how many rows it changed */
export function run(connection: Connection, statement: Sql): number {
  const made = render(statement, sqliteDialect.placeholder);
  connection.prepare(made.text).get(...bindings(made));
  return Number(connection.prepare('SELECT changes() AS n').get()?.n);
}

export const sessionOn = (connection: Connection): Session => ({
  dialect: sqliteDialect,
  rows: async (statement) => queryRows(connection, statement),
  run: async (statement) => run(connection, statement),
});

/** The session of a connection that holds the write lock. */
export const writeSessionOn = (connection: Connection): WriteSession => ({
  ...sessionOn(connection),
  async replace(table, { by }, columns, rows) {
    const key = columns.includes('_parent') ? ['_parent', '_key'] : [by];
    const others = columns.filter((column) => !key.includes(column));
    const statement = connection.prepare(
      `INSERT INTO "${table}" (${columns.map((column) => `"${column}"`).join(', ')})
       VALUES (${columns.map(() => '?').join(', ')}) ON CONFLICT (${key.join(', ')})
       DO UPDATE SET ${others.map((column) => `"${column}" = excluded."${column}"`).join(', ')}`,
    );
    for (const row of rows) statement.get(...row.map(toBindable));
  },
  async update(table, columns, rows) {
    const set = [...columns.keys()].map((column, at) => `"${column}" = ?${at + 2}`).join(', ');
    const statement = connection.prepare(`UPDATE "${table}" SET ${set} WHERE _key = ?1`);
    for (const row of rows) statement.get(...row.map(toBindable));
  },
  indexWords: async (layout, records) => indexWords(connection, layout, records),
});
