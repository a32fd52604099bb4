/** The session of a connection to a file, which the store's shared modules work on. The engine answers at once. */

import { render, type Sql } from '../../compile/fragment.ts';
import type { Session } from '../../store/session.ts';
import { anyRows, bindings, type Connection } from './connection.ts';
import { sqliteDialect } from './dialect.ts';

export function sessionOn(connection: Connection): Session {
  const rendered = (statement: Sql) => render(statement, sqliteDialect.placeholder);
  return {
    dialect: sqliteDialect,
    rows: async (statement) => {
      const made = rendered(statement);
      return anyRows(connection, made.text, bindings(made));
    },
    run: async (statement) => {
      const made = rendered(statement);
      return Number(connection.prepare(made.text).run(...bindings(made)).changes);
    },
  };
}
