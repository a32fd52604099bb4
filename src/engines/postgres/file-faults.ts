/** Checks the physical structure of a store on a server: that indexes are intact and complete. */
import { storedTables } from '../../compile/layout/tables.ts';
import { type StoreModel, storedLayouts } from '../../compile/model.ts';
import type { FileFault } from '../../store/check/checks.ts';
import { inTransaction } from '../../store/session.ts';
import { extendTimeLimit, type ServerSession, SNAPSHOT } from './connection/session.ts';
import { OWN_INDEXES } from './tables/create.ts';
import { readCatalog, recordIndexes } from './tables/tables.ts';

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
      await extendTimeLimit(session, LARGE);
      return await indexFaults(session, model);
    },
    SNAPSHOT,
  );

async function indexFaults(session: ServerSession, model: StoreModel): Promise<FileFault[]> {
  const invalid = await session.rows(INVALID);
  const columns = await readCatalog(session);
  const lacking = (names: Iterable<string>, kind: FileFault['kind']): FileFault[] =>
    [...names]
      .filter((each) => !columns.has(each))
      .map((each) => ({ what: `there is no index ${each}`, kind }));
  const faults = [
    ...invalid.map(
      ({ name }): FileFault => ({ what: `the index ${String(name)} is not valid`, kind: 'structure' }),
    ),
    // Without these indexes, a repair cannot write.
    ...lacking(OWN_INDEXES.keys(), 'tables'),
    ...lacking(await recordIndexes(session, model), 'structure'),
  ];
  for (const { name: table } of recordTables(model)) {
    if (columns.get(table)?.has('_key') !== true) continue;
    const count = async (way: string): Promise<number> => {
      await session.run(way);
      const [row] = await session.rows(`SELECT count(*) AS n FROM "${table}" WHERE _key >= ''`);
      return Number(row?.n);
    };
    const [rows, indexed] = [await count(BY_ROWS), await count(BY_INDEX)];
    const what = `the indexes of ${table} lead to ${indexed} of ${rows} rows`;
    if (rows !== indexed) faults.push({ what, kind: 'structure' });
  }
  return faults;
}

const recordTables = (model: StoreModel) => storedLayouts(model).flatMap((layout) => storedTables(layout));

/** A table, or its partitions: the index of a partitioned table cannot be rebuilt in a transaction. */
const LEAVES = `SELECT coalesce(t.relid, c.oid)::regclass::text AS name FROM pg_class c
  LEFT JOIN pg_partition_tree(c.oid::regclass) t ON t.isleaf WHERE c.oid = $1::regclass`;

/** The steps that rebuild the indexes of all records. */
export const reindexings = (model: StoreModel) =>
  recordTables(model).map((table) => async ({ rows, run }: ServerSession) => {
    for (const { name } of await rows(LEAVES, [table.name])) await run(`REINDEX TABLE ${name}`);
  });
