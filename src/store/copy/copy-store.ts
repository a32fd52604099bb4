import { platError } from '../../errors/index.ts';
import {
  type RawRow,
  type RawSource,
  type RawTable,
  type RawTables,
  type RawTarget,
  storeExistsError,
} from './raw-tables.ts';

/** The outcome of a copy. */
interface CopyReport {
  readonly tables: number;
  readonly rows: number;
  /** The number of written rows; fewer than all if an earlier copy was interrupted. */
  readonly written: number;
  readonly removed: number;
  /** Webhooks that send nothing from the copy until an operator resumes them. */
  readonly paused: number;
}

/** The number of rows that are compared at once. */
const ROWS = 500;

/**
 * The first pass makes both sides equal, and the second one proves it. If the third one still finds a difference, the copy fails.
 */
const PASSES = 3;

/**
 * Makes the store at `to` equal to the one at `from`, table by table in key order: writes the rows that are missing or
 * different, and removes extra rows. An interrupted copy therefore continues where it stopped, and the last pass, which
 * has nothing to change, proves that both are equal. The source is read on one snapshot, and may be served and written
 * to in the meantime.
 * @param onProgress called after each step with the rows that were compared
 * @param once one pass is enough, because the copy is checked as a whole afterwards
 * @throws PlatError `storeMissing`; `usage` if another store is at `to`; `failed` if rows do not stay as written
 */
export async function copyStore(
  from: RawTables,
  to: RawTables,
  onProgress: (table: string, rows: number) => void,
  once = false,
): Promise<CopyReport> {
  if (!from.whole) throw platError('storeMissing', { store: from.name });
  if (to.whole) throw storeExistsError(to.name);
  return from.read((source) =>
    to.fill((target) => copyTables(source, target, { name: to.name, onProgress, once })),
  );
}

interface CopyOptions {
  readonly name: string;
  readonly onProgress: (table: string, rows: number) => void;
  readonly once: boolean;
}

async function copyTables(
  source: RawSource,
  target: RawTarget,
  { name, onProgress, once }: CopyOptions,
): Promise<CopyReport> {
  const { model, tables } = source;
  await target.prepare(model, tables);
  let written = 0;
  let removed = 0;
  for (let pass = 1; pass <= PASSES; pass++) {
    let rows = 0;
    let differences = 0;
    for (const table of tables) {
      for await (const step of copyTable(source, target, table)) {
        rows += step.rows;
        written += step.written;
        removed += step.removed;
        differences += step.written + step.removed;
        onProgress(table.name, rows);
      }
    }
    if (differences > 0 && !once) continue;
    const paused = await pauseWebhooks(target, tables);
    await target.finish(model);
    return { tables: tables.length, rows, written, removed, paused };
  }
  throw platError('failed', { reason: `Data written to ${name} does not stay unchanged.` });
}

const COPY_PAUSE_REASON =
  'the store is a copy: resume it when no process of the original store sends any more';

/** Two stores with the same webhooks would send the same events twice, and later different ones. @returns how many it paused */
async function pauseWebhooks(target: RawTarget, tables: readonly RawTable[]): Promise<number> {
  const table = tables.find(({ name }) => name === 'plat_webhooks');
  if (table === undefined) return 0;
  const { columns, key } = table;
  const changed = (column: string | undefined, cell: RawRow[number]): RawRow[number] => {
    if (column === 'paused') return COPY_PAUSE_REASON;
    return column === 'holder' || column === 'held_until' ? null : cell;
  };
  const sending = (await rowsUpTo(target, table, undefined, undefined)).filter(
    (row) => (row[columns.indexOf('paused')] ?? null) === null,
  );
  const paused = sending.map((row) => row.map((cell, at) => changed(columns[at], cell)));
  await target.change(
    table,
    sending.map((row) => row.slice(0, key.length)),
    paused,
  );
  return paused.length;
}

interface Step {
  readonly rows: number;
  readonly written: number;
  readonly removed: number;
}

/** Walks both sides of a table in key order, and changes the second one. */
async function* copyTable(from: RawSource, to: RawTarget, table: RawTable): AsyncIterable<Step> {
  const keyLength = table.key.length;
  const keyOf = (row: RawRow): string => JSON.stringify(row.slice(0, keyLength));
  let after: RawRow | undefined;
  for (;;) {
    const source = await from.rows(table, after, ROWS);
    const last = source.at(-1);
    // The other side up to the same key; rows after the last key are extra.
    const target = await rowsUpTo(to, table, after, last);
    const expected = new Map(source.map((row) => [keyOf(row), JSON.stringify(row)]));
    const found = new Map(target.map((row) => [keyOf(row), JSON.stringify(row)]));
    const put = source.filter((row) => found.get(keyOf(row)) !== expected.get(keyOf(row)));
    const gone = target.filter((row) => !expected.has(keyOf(row)));
    const keys = (rows: readonly RawRow[]): RawRow[] => rows.map((row) => row.slice(0, keyLength));
    const replaced = put.filter((row) => found.has(keyOf(row)));
    if (put.length > 0 || gone.length > 0) await to.change(table, keys([...gone, ...replaced]), put);
    yield { rows: source.length, written: put.length, removed: gone.length };
    if (last === undefined) return;
    after = last.slice(0, keyLength);
  }
}

/** All rows after a key up to and including another one, or to the end. */
async function rowsUpTo(
  side: RawTarget,
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

/** Whether a row comes after another one in key order, which is the same in both engines. */
function isBeyond(row: RawRow, last: RawRow, keyLength: number): boolean {
  for (let index = 0; index < keyLength; index++) {
    const [left, right] = [row[index] ?? null, last[index] ?? null];
    if (left === right) continue;
    if (typeof left === 'number' && typeof right === 'number') return left > right;
    return Buffer.compare(Buffer.from(String(left)), Buffer.from(String(right))) > 0;
  }
  return false;
}
