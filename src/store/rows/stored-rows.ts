/** Reads what a write transaction needs from the stored records of one resource. */

import { bind, column, integer, name, type Sql, sql } from '../../compile/fragment.ts';
import { type ResourceLayout, tableWith } from '../../compile/layout/index.ts';
import { storedRowReader } from '../../compile/stored-form.ts';
import type { FieldValue } from '../../dictionary/index.ts';
import { DamagedRecord } from '../../records/damage.ts';
import type { CountedChild } from '../../records/media.ts';
import type { StoredRow } from '../../records/rows.ts';
import type { Session } from '../session.ts';

export type StoredRows = ReturnType<typeof storedRows>;

const KEY = sql`r._key`;

/**
 * What a write transaction (write/transaction.ts) reads of one resource. No result depends on the order in which an engine returns
 * rows: timestamps are assigned in the order of rows, and two stores with the same records must assign the same ones.
 */
export function storedRows({ dialect, rows }: Pick<Session, 'dialect' | 'rows'>, layout: ResourceLayout) {
  const form = storedRowReader(layout, dialect);
  const select = async (rest: Sql): Promise<StoredRow[]> =>
    (await rows(sql`${form.rows} ${rest}`)).map((raw) => requireSafeNumbers(layout, form.row(raw)));
  /** In the order of the requested keys. */
  const find = async (keys: readonly string[]): Promise<Map<string, StoredRow>> => {
    if (keys.length === 0) return new Map();
    const found = await select(sql`WHERE ${dialect.oneOf(KEY, keys)}`);
    return inOrder(keys, new Map(found.map((row) => [row.key, row])));
  };
  const isUnder = (parentResource: string, parents: readonly string[]): Sql =>
    sql`${dialect.oneOf(sql`r._parent`, parents)} AND r._parent_resource = ${bind(parentResource)}`;
  return {
    find,
    after: (key: string, limit: number) =>
      select(sql`WHERE r._key > ${bind(key)} ORDER BY r._key LIMIT ${integer(limit)}`),
    async withTimestampAfter(field: string, moment: string, limit: number): Promise<StoredRow[]> {
      const stamp = column('s', field);
      const after = dialect.literal('timestamp', moment);
      const keys = (
        await rows(sql`SELECT s._key AS key FROM ${name(tableWith(layout, [field]))} s
          WHERE ${stamp} > ${after} ORDER BY ${stamp}, s._key LIMIT ${integer(limit)}`)
      ).map(({ key }) => String(key));
      return [...(await find(keys)).values()];
    },
    /** In the order of the requested parents; the children of each in key order. */
    async children(parentResource: string, parents: readonly string[]): Promise<Map<string, StoredRow[]>> {
      if (parents.length === 0) return new Map();
      const found = await select(sql`WHERE ${isUnder(parentResource, parents)}`);
      const sorted = found.sort((one, other) => (one.key < other.key ? -1 : 1));
      return inOrder(
        parents,
        Map.groupBy(sorted, (row) => row.parent ?? ''),
      );
    },
    async countedChildren(
      parentResource: string,
      parents: readonly string[],
    ): Promise<Map<string, CountedChild[]>> {
      if (parents.length === 0) return new Map();
      const found = await rows(sql`${form.counted} WHERE ${isUnder(parentResource, parents)}`);
      const children = new Map<string, CountedChild[]>();
      for (const row of found)
        children.getOrInsertComputed(String(row._parent), () => []).push(form.countedChild(row));
      return children;
    },
    async load(stored: readonly StoredRow[]): Promise<Map<string, Record<string, FieldValue>>> {
      const keys = stored.map(({ key }) => key);
      const found = await rows(sql`${form.contents} WHERE ${dialect.oneOf(KEY, keys)}`);
      return new Map(found.map((row) => [String(row._key), form.content(row)]));
    },
  };
}

/** The results for each of the keys, in their order. */
function inOrder<T>(keys: readonly string[], found: ReadonlyMap<string, T>): Map<string, T> {
  const ordered = new Map<string, T>();
  for (const key of keys) {
    const value = found.get(key);
    if (value !== undefined) ordered.set(key, value);
  }
  return ordered;
}

/** @throws DamagedRecord for a row with a number that plat never writes: a row is replaced under its own number */
function requireSafeNumbers({ resource }: ResourceLayout, row: StoredRow): StoredRow {
  if (Number.isSafeInteger(row.id) && Number.isSafeInteger(row.visible)) return row;
  throw new DamagedRecord(`${resource.name} ${row.key}`);
}
