/**
 * The sequence of changes: one entry for each record that a transaction writes, deletes, restamps or makes visible to other
 * roles, written in the transaction itself. One writer at a time has the lock of the store, and numbers are assigned under it, so
 * the numbers are in commit order: a reader that has seen a number never finds a smaller one later. An entry records which roles
 * saw the record before the transaction and which see it after, so that each role can be shown what the change means to it. The
 * last entry of a commit contains its id, by which a follower detects that the store was restored without plat and has different
 * changes under the numbers that it knows. It knows no engine.
 */
import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MOST_BITS } from '../../access/index.ts';
import { columnKinds } from '../../compile/column-value.ts';
import { bind, integer, name, type Sql, sql } from '../../compile/fragment.ts';
import type { ResourceLayout } from '../../compile/layout/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import type { Resource } from '../../dictionary/index.ts';
import type { OwnTables, Row, Session } from '../session.ts';
import { readMeta, writeMeta } from '../state/meta.ts';

const makeCommitId = (): string => randomBytes(9).toString('base64url');

/**
 * The number of sequence numbers that a new epoch, or the first write after a failover, skips: followers know numbers of the
 * abandoned timeline, none of which may recur. Steps of a thousand million leave room for nine million restores before the numbers
 * exceed 2^53.
 */
const SEQUENCE_STEP = 1_000_000_000;

/** The maximum number of entries that are collected before they are written, and that one statement writes. */
const WRITTEN_AT_ONCE = 20_000;

const ENTRIES = columnKinds({
  ...{ seq: 'number', resource: 'text', key: 'text', kind: 'text', was: 'number', visible: 'number' },
  system: 'text',
});

/** The readers that see a record: the bits of the roles, and its originating system. */
interface Audience {
  readonly visible: number;
  readonly system: string | null;
}

interface AudienceChange {
  /** Before the transaction; undefined if the record was not stored. */
  readonly before: Audience | undefined;
  /** After the transaction; undefined if the record is no longer stored. */
  readonly after: Audience | undefined;
}

/** An entry without its number and time. */
interface Entry {
  readonly resource: string;
  readonly key: string;
  readonly kind: ChangeKind;
  readonly was: number;
  readonly visible: number;
  readonly system: string | null;
}

/** The changes of one transaction that are not yet written. */
export class ChangeLog {
  readonly #session: Session;
  readonly #model: StoreModel;
  readonly #at: number;
  #noted = new Map<string, Map<string, AudienceChange>>();
  #touched = new Map<string, Set<string>>();

  /** @param at the moment of the commit, in milliseconds since 1970 */
  constructor(session: Session, model: StoreModel, at: number) {
    this.#session = session;
    this.#model = model;
    this.#at = at;
  }

  /** @param before undefined for a new record */
  put(resource: string, key: string, before: Audience | undefined, after: Audience): void {
    this.#note(resource, key, before, after);
  }

  remove(resource: string, key: string, before: Audience): void {
    this.#note(resource, key, before, undefined);
  }

  /** A change of a part of another record is also a change of that record. */
  touchParents(
    parts: Iterable<{ readonly parentResource: string | null; readonly parent: string | null }>,
  ): void {
    for (const { parentResource, parent } of parts) {
      if (parentResource === null || parent === null || parent === '') continue;
      this.#touched.getOrInsertComputed(parentResource, () => new Set()).add(parent);
    }
  }

  /** Writes the collected changes, each record once. */
  async flush(): Promise<void> {
    await this.#readTouched();
    const entries = [...this.#entries()];
    this.#noted = new Map();
    await appendEntries(this.#session, entries, this.#at);
  }

  #note(resource: string, key: string, before: Audience | undefined, after: Audience | undefined): void {
    const noted = this.#noted.getOrInsertComputed(resource, () => new Map());
    const first = noted.get(key);
    noted.set(key, {
      before: first === undefined ? audienceOf(before) : first.before,
      after: audienceOf(after),
    });
  }

  /** Adds the records whose parts have changed and that have not changed themselves. */
  async #readTouched(): Promise<void> {
    const { dialect, rows } = this.#session;
    for (const [resource, keys] of this.#touched) {
      const noted = this.#noted.get(resource);
      const others = [...keys].filter((key) => noted?.has(key) !== true);
      if (others.length === 0 || !this.#model.dictionary.resources.has(resource)) continue;
      if (!this.#model.stores(resource)) continue;
      const found = await rows(sql`SELECT _key, _visible, _system
        FROM ${name(this.#model.layout(resource).columnsTable)} WHERE ${dialect.oneOf(sql`_key`, others)}`);
      for (const { _key, _visible, _system } of found) {
        const audience = { visible: Number(_visible), system: typeof _system === 'string' ? _system : null };
        this.put(resource, String(_key), audience, audience);
      }
    }
    this.#touched = new Map();
  }

  /**
   * Parts are deleted, and leave the view of a role, before the records that contain them, and are written after them.
   * Otherwise names and keys determine the order, so that it does not depend on the order in which an engine returns rows.
   */
  *#entries(): Iterable<Entry> {
    const { resources } = this.#model.dictionary;
    const depth = (resource: string): number => depthOf(resources.get(resource));
    // Keys in an array of their own are sorted without calling a function for each comparison.
    const inOrder = [...this.#noted]
      .toSorted((one, other) => depth(one[0]) - depth(other[0]) || byName(one, other))
      .map(([resource, noted]) => ({ resource, noted, keys: [...noted.keys()].sort() }));
    for (const { resource, noted, keys } of inOrder.toReversed()) {
      for (const key of keys) {
        const { before, after } = noted.get(key) ?? NO_CHANGE;
        const { visible: was, system } = before ?? NO_AUDIENCE;
        if (after === undefined) {
          yield { resource, key, kind: 'deleted', was, visible: 0, system };
          continue;
        }
        if (system !== null && system !== after.system) {
          const kept = was & after.visible;
          if (kept !== 0) yield { resource, key, kind: 'left', was: kept, visible: 0, system };
        }
        if ((was & ~after.visible) !== 0) {
          const left = onlyLeftView(before, after)
            ? { was, visible: after.visible }
            : { was: was & ~after.visible, visible: 0 };
          yield { resource, key, kind: 'changed', ...left, system };
        }
      }
    }
    for (const { resource, noted, keys } of inOrder) {
      for (const key of keys) {
        const { before, after } = noted.get(key) ?? NO_CHANGE;
        if (after === undefined || onlyLeftView(before, after)) continue;
        const { visible, system } = after;
        const kind = before === undefined ? 'created' : 'changed';
        yield {
          resource,
          key,
          kind,
          was: (before?.visible ?? 0) & visible,
          visible,
          system,
        };
      }
    }
  }
}

const NO_CHANGE: AudienceChange = { before: undefined, after: undefined };

const NO_AUDIENCE: Audience = { visible: 0, system: null };

/** Whether a record has left the view of some roles, and has not entered that of any other. */
const onlyLeftView = (before: Audience | undefined, after: Audience): boolean =>
  before?.system === after.system &&
  (before.visible & ~after.visible) !== 0 &&
  (after.visible & ~before.visible) === 0;

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1;

/** The depth of a resource below those without a parent. */
function depthOf(resource: Resource | undefined): number {
  switch (resource?.parent?.kind) {
    case undefined:
      return 0;
    case 'fixed':
      return 1;
    case 'named':
      return 2;
  }
}

const audienceOf = (seen: Audience | undefined): Audience | undefined =>
  seen === undefined ? undefined : { visible: seen.visible, system: seen.system };

/**
 * Records that everything, or every record of a resource, may have changed, in ways that are not known by key.
 * @param at in milliseconds since 1970
 * @returns the number of the entry, before which no reader can continue
 */
export async function logEverything(
  session: Session,
  at: number,
  resource: string = EVERYTHING,
): Promise<number> {
  const entry = { resource, key: EVERYTHING, kind: 'all', was: 0, visible: 0, system: null } as const;
  // A reader of the sequence by key cannot continue from a position before this entry.
  const changesHorizon = await appendEntries(session, [entry], at);
  const { changes } = await readMeta(session, 'changes');
  await writeMeta(session, { changesHorizon, changes: changes + 1 });
  return changesHorizon;
}

/**
 * Withdraws bits from the roles that had them, so that the roles that get them do not receive records that they never saw.
 * @param since the number of the first entry whose `visible` uses the new roles; in earlier entries, no role with such a bit has
 * seen anything
 */
export async function withdrawBits({ run }: Session, bits: number, since: number): Promise<void> {
  const others = integer(2 ** MOST_BITS - 1 - bits);
  await run(sql`UPDATE plat_changes SET was = was & ${others},
    visible = CASE WHEN seq < ${integer(since)} THEN visible & ${others} ELSE visible END
    WHERE ((was | visible) & ${integer(bits)}) <> 0`);
}

/** Appends every record as a new one, in a store that was written before changes were recorded. */
export async function logStored(session: Session, model: StoreModel): Promise<void> {
  const at = Date.parse((await readMeta(session, 'lastStamp')).lastStamp);
  const stored = [...model.dictionary.resources.values()].filter((resource) => model.stores(resource.name));
  for (const { name: resource } of stored.toSorted((one, other) => depthOf(one) - depthOf(other))) {
    const table = name(model.layout(resource).columnsTable);
    const created = sql`SELECT r._key AS key, 'created' AS kind, ${integer(0)} AS was, r._visible AS visible, r._system AS system
      FROM ${table} r`;
    await appendRows(session, resource, created, at);
  }
  await insertEntries(session, await allocateNumbers(session, 1), [commitEntry()], at);
}

/** Appends missing entries for the last changes of records. @param at in milliseconds since 1970 */
export async function logMissing(session: Session, layout: ResourceLayout, at: number): Promise<void> {
  const appended = await appendRows(session, layout.resource.name, selectMissingEntries(layout), at);
  if (appended > 0) await insertEntries(session, await allocateNumbers(session, 1), [commitEntry()], at);
}

/**
 * Appends one entry for each row of a statement, in the order of the keys. The engine copies them from table to table, so that this
 * process needs no memory for them, however many they are.
 * @param entries a statement with the columns `key`, `kind`, `was`, `visible` and `system`
 * @param at in milliseconds since 1970
 * @returns their number
 */
async function appendRows(session: Session, resource: string, entries: Sql, at: number): Promise<number> {
  const [counted] = await session.rows(sql`SELECT count(*) AS n FROM (${entries}) e`);
  const count = Number(counted?.n);
  if (count === 0) return 0;
  const first = await allocateNumbers(session, count);
  return session.run(sql`INSERT INTO plat_changes (seq, resource, key, kind, at, was, visible, system)
    SELECT ${integer(first - 1)} + row_number() OVER (ORDER BY e.key), ${bind(resource)}, e.key, e.kind, ${integer(at)},
      e.was, e.visible, e.system FROM (${entries}) e`);
}

/** Begins the numbers of a new epoch. @param at in milliseconds since 1970 */
export async function beginSequence(session: Session, at: number): Promise<void> {
  await skipNumbers(session);
  await logEverything(session, at);
}

/** Skips all numbers that an abandoned timeline may have used. */
export const skipNumbers = (session: Session): Promise<number> => allocateNumbers(session, SEQUENCE_STEP);

/** @returns the number of the last entry, which contains the id of the commit; 0 if there is none */
async function appendEntries(session: Session, changed: readonly Entry[], at: number): Promise<number> {
  if (changed.length === 0) return 0;
  const entries = [...changed, commitEntry()];
  const first = await allocateNumbers(session, entries.length);
  for (let start = 0; start < entries.length; start += WRITTEN_AT_ONCE) {
    await insertEntries(session, first + start, entries.slice(start, start + WRITTEN_AT_ONCE), at);
  }
  return first + changed.length;
}

const commitEntry = (): Entry => ({
  resource: COMMIT,
  key: makeCommitId(),
  kind: 'commit',
  was: 0,
  visible: 0,
  system: null,
});

/** @param first the number of the first entry */
async function insertEntries(
  { dialect, run }: Session,
  first: number,
  entries: readonly Entry[],
  at: number,
): Promise<void> {
  const rows = JSON.stringify(entries.map((entry, index) => ({ seq: first + index, ...entry })));
  await run(sql`INSERT INTO plat_changes (seq, resource, key, kind, at, was, visible, system)
    SELECT v.seq, v.resource, v.key, v.kind, CAST(${bind(at)} AS BIGINT), v.was, v.visible, v.system
    FROM ${dialect.objectTable(bind(rows), 'v', ENTRIES)}`);
}

/**
 * Never assigns a number that an entry already has, whatever the store recorded as the next one.
 * @returns the first of the numbers
 */
async function allocateNumbers({ dialect, rows }: Session, count: number): Promise<number> {
  const returned = dialect.announcement === undefined ? sql`next` : sql`next, ${dialect.announcement}`;
  const least = sql`1 + coalesce((SELECT max(seq) FROM plat_changes), 0) + ${bind(count)}`;
  const [row] = await rows(sql`INSERT INTO plat_sequence (resource, next) VALUES (${bind(SEQUENCE)}, ${least})
    ON CONFLICT (resource) DO UPDATE SET next = CASE WHEN plat_sequence.next + ${bind(count)} > excluded.next
      THEN plat_sequence.next + ${bind(count)} ELSE excluded.next END RETURNING ${returned}`);
  return Number(row?.next) - count;
}

/**
 * What a transaction did to a record. `left`: the record left its originating system, so it is deleted for readers who are
 * restricted to systems, and only for them. `all`: any record may have changed, and the keys are unknown.
 */
type ChangeKind = 'created' | 'changed' | 'deleted' | 'left' | 'all' | 'commit';

/** The name of the sequence in `plat_sequence`, in the column for names of resources. */
export const SEQUENCE = 'changes';

/** As a key: all records of the resource; as a resource: all resources. */
export const EVERYTHING = '';
/** As a resource: the key is the id of the commit, which is unique. */
export const COMMIT = '.';

/**
 * Selects the missing last entries of records, without which a follower has another state of them, or does not know them: rows with
 * `key`, `kind`, `was`, `visible` and `system`. The last entry of a stored record must say who sees it, and in which originating
 * system it is; the last entry of any other record must say that it was deleted. A record of which only the texts are left is not
 * deleted: a repair writes it anew.
 */
export function selectMissingEntries({ resource, columnsTable, textsTable }: ResourceLayout): Sql {
  const last = sql`(SELECT c.key, c.kind, c.visible, c.system FROM plat_changes c WHERE c.seq IN
    (SELECT max(seq) FROM plat_changes WHERE resource = ${bind(resource.name)} AND key <> ${bind(EVERYTHING)} GROUP BY key))`;
  const isKnown = sql`l.key IS NOT NULL AND l.kind <> 'deleted'`;
  return sql`SELECT r._key AS key, CASE WHEN ${isKnown} THEN 'changed' ELSE 'created' END AS kind,
      CASE WHEN ${isKnown} AND l.system IS NOT DISTINCT FROM r._system THEN l.visible ELSE ${integer(0)} END AS was,
      r._visible AS visible, r._system AS system
    FROM ${name(columnsTable)} r LEFT JOIN ${last} l ON l.key = r._key
    WHERE NOT (${isKnown}) OR l.visible <> r._visible OR l.system IS DISTINCT FROM r._system
    UNION ALL SELECT l.key, 'deleted', l.visible, ${integer(0)}, l.system FROM ${last} l
    WHERE l.kind <> 'deleted' AND NOT EXISTS (SELECT 1 FROM ${name(columnsTable)} r WHERE r._key = l.key)
      AND NOT EXISTS (SELECT 1 FROM ${name(textsTable)} t WHERE t._key = l.key)`;
}

/** Which entries are kept unchanged. */
interface Retention {
  /** Entries from this time on. Milliseconds since 1970. */
  readonly since: number;
  /** The maximum number of the newest entries. */
  readonly entries: number;
}

/** The number of entries by which a step advances the position; it also examines the entries that remain before it. */
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
 * Runs one step of a compaction: of the entries up to a position, only the last one of each record remains, and it includes the
 * roles that saw the record in the removed ones. It reads without the write lock, a few entries at a time, and acquires the lock
 * only to remove entries, so that nobody waits for millions of entries.
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
