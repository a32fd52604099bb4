import type { DatabaseSync } from 'node:sqlite';
import type { ColumnKind } from '../../compile/column-value.ts';
import type { StoredKind } from '../../compile/layout/tables.ts';
import type { Columns } from '../../store/raw-tables.ts';

/** Numbers and truth values are kept as the numbers they are (a BOOLEAN is NUMERIC to the engine); all else is text. */
export const TYPES = {
  text: 'TEXT',
  number: 'NUMERIC',
  boolean: 'BOOLEAN',
  count: 'INTEGER',
  id: 'INTEGER',
} as const satisfies Readonly<Record<StoredKind, string>>;

/** The columns of a table; none where there is no such table. */
export function columnsOf(database: DatabaseSync, table: string): Columns {
  const rows = database.prepare('SELECT name, type FROM pragma_table_info(?)').all(table);
  return new Map(rows.map(({ name, type }) => [String(name), kindOf(String(type))]));
}

function kindOf(type: string): ColumnKind {
  if (type === TYPES.boolean) return 'boolean';
  return type === TYPES.text || type === '' ? 'text' : 'number';
}
