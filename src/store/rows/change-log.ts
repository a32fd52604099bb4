/**
 * The sequence of changes: one entry for each record that a transaction writes, deletes, restamps or makes visible to
 * other roles, written in the transaction itself. One writer at a time has the lock of the store, and numbers are
 * assigned under it, so the numbers are in commit order: a reader that has seen a number never finds a smaller one
 * later. An entry records which roles saw the record before the transaction and which see it after, so that each role
 * can be shown what the change means to it. The last entry of a commit contains its id, by which a follower detects
 * that the store was restored without plat and has different changes under the numbers that it knows. It knows no
 * engine.
 */
import { randomBytes } from 'node:crypto';
import { MOST_BITS } from '../../access/index.ts';
import { columnKinds } from '../../compile/column-value.ts';
import { bind, integer, name, type Sql, sql } from '../../compile/fragment.ts';
import type { ResourceLayout } from '../../compile/layout/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import type { Resource } from '../../dictionary/index.ts';
import type { Session } from '../session.ts';
import { readMeta, writeMeta } from '../state/meta.ts';
import { type ChangeKind, COMMIT, EVERYTHING, SEQUENCE } from './change-entry.ts';
import { selectMissingEntries } from './unlogged.ts';

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
