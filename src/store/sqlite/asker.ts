import type { Asker } from '../check/asker.ts';
import type { StoreModel } from '../model.ts';
import { decode } from './codec.ts';
import { bindings, type Connection, type Raw } from './connection.ts';
import { sqliteDialect } from './dialect.ts';

/** A connection, for checks. */
export const askerOf = (connection: Connection, model: StoreModel): Asker<Raw> => ({
  planner: { dialect: sqliteDialect, model },
  decode,
  rows: async (statement) => connection.prepare(statement.text).all(...bindings(statement)),
});
