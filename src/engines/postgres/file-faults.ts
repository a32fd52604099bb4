/**
 * Checks the physical structure of a store on a server: that tables and columns exist, and that indexes are intact and complete.
 */

import { name, sql } from '../../compile/fragment.ts';
import { type StoreModel, storedLayouts } from '../../compile/model.ts';
import type { FileFault } from '../../store/check/checks.ts';
import { findModelFaults } from '../../store/check/table-faults.ts';
import { OWN_TABLES } from '../../store/own-tables.ts';
import type { Columns } from '../../store/raw-tables.ts';
import type { Session } from '../../store/session.ts';
import { allow, inTransaction, type ServerSession, SNAPSHOT } from './connection/session.ts';
import { readCatalog, tablesOf as wantedTables } from './tables/tables.ts';

const INVALID = `SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  WHERE NOT i.indisvalid AND c.relnamespace = current_schema()::regnamespace AND c.relkind = 'i' ORDER BY 1`;

const BY_ROWS =
  'SET LOCAL enable_seqscan = on; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off';
const BY_INDEX =
  'SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = on; SET LOCAL enable_indexonlyscan = on';

/** The time limit of statements that scan whole tables, in milliseconds. */
const LARGE = 600_000;

/** Finds faults, on one snapshot. */
export const findFileFaults = (session: ServerSession, model: StoreModel): Promise<FileFault[]> =>
  inTransaction(
    session,
    async () => {
      await allow(session, LARGE);
      return await faultsIn(session, model);
    },
    SNAPSHOT,
  );

async function faultsIn(session: ServerSession, model: StoreModel): Promise<FileFault[]> {
  const columns = await readCatalog(session);
  const faults = findModelFaults(model, (table) => columns.get(table)?.keys() ?? []);
  const add = (what: string): void => void faults.push({ what, kind: 'structure' });
  findMissing(model, columns).forEach(add);
  for (const { name } of await session.rows(INVALID)) add(`the index ${String(name)} is not valid`);
  for (const { name: table } of recordTables(model)) {
    if (columns.get(table)?.has('_key') !== true) continue;
    const count = async (way: string): Promise<number> => {
      await session.run(way);
      const [row] = await session.rows(`SELECT count(*) AS n FROM "${table}" WHERE _key >= ''`);
      return Number(row?.n);
    };
    const [rows, indexed] = [await count(BY_ROWS), await count(BY_INDEX)];
    if (rows !== indexed) add(`the indexes of ${table} lead to ${indexed} of ${rows} rows`);
  }
  return faults;
}

/** Tables and columns that the model requires but the store lacks. */
function findMissing(model: StoreModel, found: ReadonlyMap<string, Columns>): string[] {
  const wanted = new Map<string, readonly string[]>(OWN_TABLES.map(({ name, key }) => [name, key]));
  for (const { name, columns } of recordTables(model)) wanted.set(name, [...columns.keys()]);
  return [...wanted].flatMap(([table, names]) => {
    const there = found.get(table);
    if (there === undefined) return [`there is no table ${table}`];
    return names.filter((each) => !there.has(each)).map((each) => `there is no column ${table}.${each}`);
  });
}

// Partitioned tables have the same columns.
const recordTables = (model: StoreModel) =>
  storedLayouts(model).flatMap((layout) => wantedTables(layout, false));

/** The steps that make the indexes of all records anew. */
export const reindexings = (model: StoreModel) =>
  recordTables(model).map(
    (table) => (session: Session) => session.run(sql`REINDEX TABLE ${name(table.name)}`),
  );
