import type { Pool } from 'pg';
import { cellOf } from '../../../compile/column-value.ts';
import type { StoreModel } from '../../../compile/model.ts';
import { DUMPED_TABLES, type DumpedRows, type StoreDump } from '../../../store/dump.ts';
import { type Columns, OWN_META } from '../../../store/raw-tables.ts';
import { type ServerSession, withSession } from '../connection/session.ts';
import { readColumns } from '../making/columns.ts';
import { readModel } from '../meta.ts';

/** Rows that come at once. */
const ROWS = 500;

/** Gives the whole store, as it is at one moment, to somebody who writes it elsewhere. */
export function dumpStore(pool: Pool, write: (dump: StoreDump) => Promise<void>): Promise<void> {
  return withSession(pool, async (session) => {
    await session.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    try {
      const model = await readModel(session);
      await write({ model, rows: allRows(session, model) });
    } finally {
      await session.run('COMMIT');
    }
  });
}

async function* allRows(session: ServerSession, model: StoreModel): AsyncIterable<DumpedRows> {
  const layouts = [...model.dictionary.resources.keys()].filter(model.stores).map(model.layout);
  const tables = layouts.flatMap(({ columnsTable, textsTable }) => [columnsTable, textsTable]);
  const known = await readColumns(session);
  for (const table of new Set([...DUMPED_TABLES, ...tables])) {
    const columns: Columns = known.get(table) ?? new Map();
    const names = [...columns.keys()];
    await session.run(`DECLARE rows NO SCROLL CURSOR FOR SELECT * FROM "${table}"`);
    for (;;) {
      const rows = await session.rows(`FETCH ${ROWS} FROM rows`);
      if (rows.length === 0) break;
      const kept = table === 'plat_meta' ? rows.filter(({ name }) => !OWN_META.includes(String(name))) : rows;
      yield { table, columns, rows: kept.map((row) => names.map((name) => cellOf(row[name]))) };
    }
    await session.run('CLOSE rows');
  }
}
