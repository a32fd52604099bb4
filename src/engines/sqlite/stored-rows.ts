import type { ResourceLayout } from '../../compile/layout/index.ts';
import { storedForm } from '../../compile/stored-form.ts';
import type { FieldValues } from '../../dictionary/index.ts';
import { DamagedRecord } from '../../records/damage.ts';
import type { StoredRow } from '../../records/rows.ts';
import { anyRows, type Connection } from './connection.ts';
import { sqliteDialect } from './dialect.ts';

/** What a transaction finds of one resource. */
export interface StoredRows {
  find(keys: readonly string[]): Map<string, StoredRow>;
  all(): StoredRow[];
  /** Rows in the order of their keys. */
  after(key: string, limit: number): StoredRow[];
  /** Rows with a later timestamp in a field, in its order. */
  stampedAfter(field: string, moment: string, limit: number): StoredRow[];
  children(parentResource: string, parents: readonly string[]): Map<string, StoredRow[]>;
  load(rows: readonly StoredRow[]): Map<string, FieldValues>;
}

export function storedRows(connection: Connection, layout: ResourceLayout): StoredRows {
  const form = storedForm(layout, sqliteDialect);
  const select = (rest: string, ...values: readonly string[]): StoredRow[] =>
    anyRows(connection, `${form.rows} ${rest}`, values).map((raw) => sure(layout, form.row(raw)));
  return {
    find(keys) {
      const rows = select('WHERE r._key IN (SELECT value FROM json_each(?))', JSON.stringify(keys));
      return new Map(rows.map((row) => [row.key, row]));
    },
    all: () => select(''),
    after: (key, limit) => select(`WHERE r._key > ? ORDER BY r._key LIMIT ${limit}`, key),
    stampedAfter: (field, moment, limit) =>
      select(`WHERE r."${field}" > ? ORDER BY r."${field}", r._key LIMIT ${limit}`, moment.replace(/Z$/, '')),
    children(parentResource, parents) {
      if (parents.length === 0) return new Map();
      const rows = select('WHERE r._parent IN (SELECT value FROM json_each(?))', JSON.stringify(parents));
      const own = rows.filter((row) => row.parentResource === parentResource);
      return Map.groupBy(own, (row) => row.parent ?? '');
    },
    load(rows) {
      const keys = JSON.stringify(rows.map(({ key }) => key));
      const text = `${form.contents} WHERE r._key IN (SELECT value FROM json_each(?))`;
      const found = anyRows(connection, text, [keys]);
      return new Map(found.map((row) => [String(row._key), form.content(row)]));
    },
  };
}

/** A row is replaced under its own number. @throws DamagedRecord for one whose number no writer of plat gives */
function sure({ resource }: ResourceLayout, row: StoredRow): StoredRow {
  if (Number.isSafeInteger(row.id) && Number.isSafeInteger(row.visible)) return row;
  throw new DamagedRecord(`${resource.name} ${row.key}`);
}
