/** The content of the schema of a store. */
import type { ColumnKind } from '../../../compile/column-value.ts';
import { sql } from '../../../compile/fragment.ts';
import type { Columns } from '../../../store/raw-tables.ts';
import type { Session } from '../../../store/session.ts';

export interface Catalog {
  /** The columns of each table or view, in order. */
  readonly columns: ReadonlyMap<string, Columns>;
  readonly indexes: ReadonlySet<string>;
}

export async function readCatalog({ rows: read }: Pick<Session, 'rows'>): Promise<Catalog> {
  const rows = await read(
    sql`SELECT c.relname AS relation, c.relkind IN ('i', 'I') AS is_index, a.attname AS name, format_type(a.atttypid, NULL) AS type
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'v', 'i', 'I')
       AND NOT c.relispartition AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.relname, a.attnum`,
  );
  const relations = (index: boolean) =>
    Map.groupBy(
      rows.filter((row) => row.is_index === index),
      ({ relation }) => String(relation),
    );
  const columnsOf = (found: typeof rows): Columns =>
    new Map(found.map(({ name, type }) => [String(name), kindOf(String(type))]));
  return {
    columns: new Map([...relations(false)].map(([table, found]) => [table, columnsOf(found)])),
    indexes: new Set(relations(true).keys()),
  };
}

function kindOf(type: string): ColumnKind {
  if (type === 'boolean') return 'boolean';
  return type === 'text' ? 'text' : 'number';
}
