/**
 * Compacts the sequence of changes: of the entries up to a position, only the last one of each record remains, and it
 * includes the roles that saw the record in the removed ones. It runs in steps: each reads without the write lock, a
 * few entries at a time, and acquires the lock only to remove entries, so that nobody waits for millions of entries. It
 * knows no engine.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { columnKinds } from '../../compile/column-value.ts';
import { bind, integer, type Sql, sql } from '../../compile/fragment.ts';
import type { OwnTables, Row, Session } from '../session.ts';
import { readMeta, writeMeta } from '../state/meta.ts';

/** Which entries are kept unchanged. */
interface Retention {
  /** Entries from this time on. Milliseconds since 1970. */
  readonly since: number;
  /** The maximum number of the newest entries. */
  readonly entries: number;
}

/**
 * The number of entries by which the position advances in one step, which also examines the entries that remain before
 * it.
 */
const STEP = 50_000;
/** The number of entries that one statement reads. */
const READ_AT_ONCE = 5000;

/** The entries of a record up to a position. */
interface Entries {
  last: number;
  /** The bits of the roles that saw the record in any of them. */
  saw: number;
  readonly before: number[];
}

const COLUMNS = columnKinds({ seq: 'number', saw: 'number' });

/**
 * Runs one step.
 * @returns whether more steps are needed
 */
export async function compactChanges({ reading, locked }: OwnTables, kept: Retention): Promise<boolean> {
  const { changesHorizon: before } = await readMeta(reading, 'changesHorizon');
  const end = await findCompactionEnd(reading, kept, before);
  if (end <= before) return false;
  const found = new Map<string, Entries>();
  let horizon = before;
  let count = 0;
  for await (const row of readEntries(reading, before, end)) {
    if (count === STEP) break;
    count++;
    horizon = Number(row.seq);
    add(found, row);
  }
  // The position also passes numbers without an entry.
  if (count < STEP) horizon = end;
  const earlier = new Map<string, Entries>();
  for await (const row of readEntries(reading, 0, before)) if (found.has(idOf(row))) add(earlier, row);
  const compacted = mergeEntries(found, earlier);
  await locked(async (session) => {
    const { changesHorizon: now } = await readMeta(session, 'changesHorizon');
    // Another process may have compacted the same entries in the meantime.
    if (now === before) await remove(session, compacted, before, horizon);
  });
  return horizon < end;
}

async function* readEntries({ rows }: Session, after: number, end: number): AsyncGenerator<Row> {
  for (let at = after; at < end; ) {
    const some = await rows(sql`SELECT seq, resource, key, system, was, visible, kind FROM plat_changes
      WHERE seq > ${integer(at)} AND seq <= ${integer(end)} ORDER BY seq LIMIT ${integer(READ_AT_ONCE)}`);
    yield* some;
    if (some.length < READ_AT_ONCE) return;
    at = Number(some.at(-1)?.seq);
    await nextTurn();
  }
}

const idOf = ({ resource, key, system }: Row): string => JSON.stringify([resource, key, system ?? '']);

function add(found: Map<string, Entries>, row: Row): void {
  if (row.kind === 'commit') return;
  const id = idOf(row);
  const seq = Number(row.seq);
  const saw = Number(row.was) | Number(row.visible);
  const known = found.get(id);
  if (known === undefined) {
    found.set(id, { last: seq, saw, before: [] });
    return;
  }
  known.before.push(known.last);
  known.last = seq;
  known.saw |= saw;
}

/** The records whose entries are removed. */
function mergeEntries(found: ReadonlyMap<string, Entries>, earlier: ReadonlyMap<string, Entries>): Entries[] {
  const all: Entries[] = [];
  for (const [id, { last, saw, before }] of found) {
    const first = earlier.get(id);
    const gone = first === undefined ? before : [...first.before, first.last, ...before];
    if (gone.length > 0) all.push({ last, saw: saw | (first?.saw ?? 0), before: gone });
  }
  return all;
}

async function remove(
  session: Session,
  compacted: readonly Entries[],
  before: number,
  horizon: number,
): Promise<void> {
  const { dialect, run } = session;
  const listed = (rows: readonly object[]): Sql =>
    dialect.objectTable(bind(JSON.stringify(rows)), 'v', COLUMNS);
  const last = listed(compacted.map(({ last: seq, saw }) => ({ seq, saw })));
  await run(sql`UPDATE plat_changes AS t SET was = t.was | l.saw
    FROM (SELECT CAST(v.seq AS BIGINT) AS seq, CAST(v.saw AS INTEGER) AS saw FROM ${last}) l WHERE t.seq = l.seq`);
  const gone = listed(compacted.flatMap((each) => each.before.map((seq) => ({ seq, saw: 0 }))));
  await run(sql`DELETE FROM plat_changes WHERE seq IN (SELECT CAST(v.seq AS BIGINT) FROM ${gone})`);
  await run(sql`DELETE FROM plat_changes WHERE seq > ${integer(before)} AND seq <= ${integer(horizon)} AND kind = 'commit'
    AND seq < (SELECT max(seq) FROM plat_changes)`);
  await writeMeta(session, { changesHorizon: horizon });
}

/** Finds the last entry that need not be kept. @param before the result of the previous call */
async function findCompactionEnd(
  { rows }: Session,
  { since, entries }: Retention,
  before: number,
): Promise<number> {
  const one = async (statement: Sql): Promise<number> => Number((await rows(statement))[0]?.seq ?? 0);
  const last = await one(sql`SELECT max(seq) AS seq FROM plat_changes`);
  const young = await one(sql`SELECT seq FROM plat_changes
    WHERE seq > ${integer(before)} AND at >= ${integer(since)} ORDER BY seq LIMIT 1`);
  return Math.max((young === 0 ? last + 1 : young) - 1, last - entries, 0);
}
