import type { ColumnKind } from '../../../compile/column-value.ts';
import type { Columns } from '../../../store/raw-tables.ts';
import { COLUMN_TYPES } from '../column-types.ts';
import type { ServerSession } from '../connection/session.ts';

/** The columns of the tables in the schema of a store. */
export async function readColumns(session: ServerSession): Promise<ReadonlyMap<string, Columns>> {
  const rows = await session.rows(
    `SELECT c.relname AS table, a.attname AS name, format_type(a.atttypid, NULL) AS type
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0
       AND NOT a.attisdropped ORDER BY c.relname, a.attnum`,
  );
  const tables = Map.groupBy(rows, ({ table }) => String(table));
  return new Map(
    [...tables].map(([table, columns]) => [
      table,
      new Map(columns.map(({ name, type }) => [String(name), kindOf(String(type))])),
    ]),
  );
}

function kindOf(type: string): ColumnKind {
  if (type === 'boolean') return 'boolean';
  return type === 'text' ? 'text' : 'number';
}

/** Adds what a table lacks: columns of fields that are not declared any more keep their values, should they come back. */
export async function addColumns(
  session: ServerSession,
  table: string,
  known: Columns | undefined,
  wanted: Columns,
): Promise<void> {
  for (const [name, kind] of wanted) {
    if (!known?.has(name)) await session.run(`ALTER TABLE "${table}" ADD "${name}" ${COLUMN_TYPES[kind]}`);
  }
}
