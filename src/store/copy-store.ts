import { platError } from '../errors/index.ts';
import type { RawRow, RawTable, RawTables } from './raw-tables.ts';

/** What a copy came to. */
export interface CopyReport {
  readonly tables: number;
  readonly rows: number;
  /** Rows that were written; fewer than all where an earlier copy had come far. */
  readonly written: number;
  readonly removed: number;
}

/** Rows that are compared at once. */
const ROWS = 500;

/** Passes over a source that is written to meanwhile. */
const PASSES = 5;

/**
 * Makes the store at `to` the same as the one at `from`, table by table in the order of the keys: what is missing or
 * differs there is written, what is too much is removed. So a copy that was broken off goes on where it was; and the
 * last pass, which has nothing to change, proves both to be the same.
 * @param told after each step, with the rows that were compared
 * @throws PlatError `storeMissing`; `usage` when another store lies at `to`, `failed` when the source does not come to rest
 */
export async function copyStore(
  from: RawTables,
  to: RawTables,
  told: (table: string, rows: number) => void,
): Promise<CopyReport> {
  if (!from.whole) throw platError('storeMissing', { store: from.name });
  if (to.whole) throw platError('usage', { reason: `There is a store at ${to.name} already.` });
  let written = 0;
  let removed = 0;
  for (let pass = 1; pass <= PASSES; pass++) {
    const position = await from.position();
    const model = await from.model();
    const tables = await from.tables();
    await to.prepare(model, tables);
    let rows = 0;
    let differences = 0;
    for (const table of tables) {
      for await (const step of alignTable(from, to, table)) {
        rows += step.rows;
        written += step.written;
        removed += step.removed;
        differences += step.written + step.removed;
        told(table.name, rows);
      }
    }
    if (differences === 0 && (await from.position()) === position) {
      await to.finish(model);
      return { tables: tables.length, rows, written, removed };
    }
  }
  throw platError('failed', {
    reason: `${from.name} is written to while it is copied. End what writes to it, and copy again: it goes on from here.`,
  });
}

interface Step {
  readonly rows: number;
  readonly written: number;
  readonly removed: number;
}

/** Walks both sides of a table in the order of its keys, and changes the second side. */
async function* alignTable(from: RawTables, to: RawTables, table: RawTable): AsyncIterable<Step> {
  const keyLength = table.key.length;
  const keyOf = (row: RawRow): string => JSON.stringify(row.slice(0, keyLength));
  let after: RawRow | undefined;
  for (;;) {
    const source = await from.rows(table, after, ROWS);
    const last = source.at(-1);
    // The other side up to the same key; what lies beyond the last one is too much.
    const target = await rowsUpTo(to, table, after, last);
    const wanted = new Map(source.map((row) => [keyOf(row), JSON.stringify(row)]));
    const found = new Map(target.map((row) => [keyOf(row), JSON.stringify(row)]));
    const put = source.filter((row) => found.get(keyOf(row)) !== wanted.get(keyOf(row)));
    const gone = target.filter((row) => !wanted.has(keyOf(row)));
    const keys = (rows: readonly RawRow[]): RawRow[] => rows.map((row) => row.slice(0, keyLength));
    const replaced = put.filter((row) => found.has(keyOf(row)));
    if (put.length > 0 || gone.length > 0) await to.change(table, keys([...gone, ...replaced]), put);
    yield { rows: source.length, written: put.length, removed: gone.length };
    if (last === undefined) return;
    after = last.slice(0, keyLength);
  }
}

/** All rows after a key up to and including another one; without that, all that follow. */
async function rowsUpTo(
  side: RawTables,
  table: RawTable,
  after: RawRow | undefined,
  last: RawRow | undefined,
): Promise<RawRow[]> {
  const found: RawRow[] = [];
  for (let start = after; ; ) {
    const rows = await side.rows(table, start, ROWS);
    const end = rows.at(-1);
    const inside = last === undefined ? rows : rows.filter((row) => !isBeyond(row, last, table.key.length));
    found.push(...inside);
    if (end === undefined || inside.length < rows.length || rows.length < ROWS) return found;
    start = end.slice(0, table.key.length);
  }
}

/** Whether a row stands after another one in the order of their keys, as both engines have it. */
function isBeyond(row: RawRow, last: RawRow, keyLength: number): boolean {
  for (let index = 0; index < keyLength; index++) {
    const [left, right] = [row[index] ?? null, last[index] ?? null];
    if (left === right) continue;
    if (typeof left === 'number' && typeof right === 'number') return left > right;
    return Buffer.compare(Buffer.from(String(left)), Buffer.from(String(right))) > 0;
  }
  return false;
}
