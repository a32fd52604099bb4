import { decode } from '../../compile/column-value.ts';
import type { Dialect } from '../../compile/dialect.ts';
import { sql } from '../../compile/fragment.ts';
import type { StoreModel } from '../../compile/model.ts';
import type { Asker } from '../../store/check/asker.ts';
import { anyRows, bindings, type Connection } from './connection.ts';
import { sqliteDialect } from './dialect.ts';

/** A list that is damaged has no members, so that rules can be evaluated for the rows beside it. */
const forgiving: Dialect = {
  ...sqliteDialect,
  members: (list, alias) => sqliteDialect.members(sql`CASE WHEN json_valid(${list}) THEN ${list} END`, alias),
};

/** A connection, for checks. */
export const askerOf = (connection: Connection, model: StoreModel): Asker<unknown> => ({
  planner: { dialect: forgiving, model },
  decode,
  rows: async (statement) => anyRows(connection, statement.text, bindings(statement)),
  sound: async (statement) => {
    try {
      return anyRows(connection, statement.text, bindings(statement));
    } catch {
      // If it is not a value but the file that is damaged, the next statement says so.
      return undefined;
    }
  },
});
