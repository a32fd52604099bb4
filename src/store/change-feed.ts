/**
 * The sequence of changes as it is given to readers: which records were created, changed and deleted, as the role of the
 * reader sees it, page by page. A position is a number of the sequence together with the last commit before it, so that a
 * reader who knows a store that was brought back since is told. It knows no engine, and no interface.
 */

import type { View } from '../access/index.ts';
import { type EntryScope, isOneOf, visibleEntries } from '../compile/change-entries.ts';
import { all, integer, type Sql, sql } from '../compile/fragment.ts';
import type { StoreModel } from '../compile/model.ts';
import { timestampFrom } from '../dictionary/index.ts';
import { COMMIT } from './rows/change-entry.ts';
import type { Row } from './session.ts';

/** A place in the sequence: behind the entry with this number. 0: before the first. */
export interface FeedPosition {
  readonly sequence: number;
  /** The last commit up to there that the reader has passed. */
  readonly commit?: { readonly sequence: number; readonly name: string } | undefined;
}

/** What a change is to a reader. A record that comes into view is changed; one that leaves it is deleted. */
export interface RecordChange {
  readonly sequence: number;
  readonly resource: string;
  readonly key: string;
  readonly kind: 'created' | 'changed' | 'deleted';
  /** The moment of the commit. Canonical. */
  readonly at: string;
}

export interface FeedRequest {
  /** `end`: nothing is read, and the page's position is the end of the sequence. */
  readonly since: FeedPosition | 'end';
  /** Absent: the operator, who sees everything. */
  readonly scope?: EntryScope | undefined;
  /** Absent: all. */
  readonly resources?: readonly string[] | undefined;
  /** Resources of which the reader is given all changes: of records whose values it is shown in those that it sees. */
  readonly shown?: readonly string[] | undefined;
  /** Entries at the most. */
  readonly limit: number;
}

export type FeedPage =
  | {
      readonly kind: 'changes';
      readonly changes: readonly RecordChange[];
      /** Where the next page begins; beyond the last change where others are of no concern to the reader. */
      readonly position: FeedPosition;
      /** Whether this was the end of the sequence. */
      readonly isLevel: boolean;
      /** Whether the position lies behind a whole commit. */
      readonly isWhole: boolean;
    }
  /** What has changed since is no longer known: a full download is due, and the feed goes on from this position. */
  | { readonly kind: 'gone'; readonly position: FeedPosition };

/** Which changes a program that has the store wants (follow-changes.ts). */
export interface ChangesWish {
  /**
   * Behind which entry they begin: its number, a position that a change has given, `start` or `end`. Absent: at the start,
   * where every record that exists has an entry.
   */
  readonly since?: number | string | undefined;
  /** Goes on with what is committed from now on. Absent: ends with the last entry. */
  readonly follow?: boolean | undefined;
  /** Gives each record with its changes, in the form of the RESO interface, as it is when the change is read. */
  readonly records?: boolean | undefined;
  /** Absent: all. */
  readonly resources?: readonly string[] | undefined;
  /** As whom to read. Absent: the operator, who is told of everything. */
  readonly role?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Change extends RecordChange {
  /** The record; absent if it was deleted, if it is not there or not seen any more, or if no records are wanted. */
  readonly record?: Readonly<Record<string, unknown>>;
  /** A position behind which nothing is missing that this change or one before it was: where to go on after it. */
  readonly position: string;
}

export const START: FeedPosition = { sequence: 0 };

/** Resources that every store makes of what it holds: only readers who name them are told of them. */
const OWN_RESOURCES: ReadonlySet<string> = new Set(['Field', 'Lookup']);

/** The resources of which a reader is told that names none. */
export const toldBy = (view: View, { dictionary }: StoreModel): string[] =>
  [...dictionary.resources.values()]
    .filter((resource) => view.publishes(resource) && !OWN_RESOURCES.has(resource.name))
    .map(({ name }) => name);

/** A position as readers get it: opaque to them, of letters, digits, `.`, `-` and `_`. */
export function positionText({ sequence, commit }: FeedPosition): string {
  if (commit === undefined) return String(sequence);
  const place = commit.sequence === sequence ? '' : `.${commit.sequence}`;
  return `${sequence}.${commit.name}${place}`;
}

const POSITION = /^(\d{1,16})(?:\.([\w-]{1,32})(?:\.(\d{1,16}))?)?$/;

/** @returns undefined for a text that is no position */
export function positionIn(text: string): FeedPosition | undefined {
  const [, sequence = '', name, at] = POSITION.exec(text) ?? [];
  if (sequence === '' || !Number.isSafeInteger(Number(sequence))) return undefined;
  if (name === undefined) return { sequence: Number(sequence) };
  return { sequence: Number(sequence), commit: { sequence: Number(at ?? sequence), name } };
}

/** Entries that one page looks at, at the least: few of them may concern the reader. */
const LOOKED_AT = 5000;

/** Rows of a page, of which the names of commits are some: many of them may be behind entries that do not concern the reader. */
const rowsFor = (limit: number): number => 2 * Math.max(limit, 250);

/** The statement for a page, with what tells whether the position is one of this sequence. */
export function feedStatement(
  model: StoreModel,
  { since, scope, resources, shown, limit }: FeedRequest,
): Sql {
  const { sequence, commit } = since === 'end' ? { sequence: Number.MAX_SAFE_INTEGER } : since;
  const after = integer(sequence);
  const seen = all([
    ...visibleEntries(model, scope),
    ...(resources === undefined ? [] : [isOneOf(sql`c.resource`, resources)]),
  ]);
  const given =
    shown === undefined ? seen : sql`(${seen}) OR (${isOneOf(sql`c.resource`, shown)} AND c.kind <> 'all')`;
  const window = sql`SELECT seq FROM plat_changes WHERE seq > ${after} ORDER BY seq
    LIMIT ${integer(Math.max(LOOKED_AT, 2 * limit))}`;
  const commitName = (of: Sql): Sql => sql`(SELECT key FROM plat_changes WHERE seq = ${of})`;
  return sql`SELECT h.horizon, h.last, h.last_name, h.name, h.looked, c.seq, c.resource, c.key, c.kind, c.at, c.was, c.visible
    FROM (SELECT (SELECT value FROM plat_meta WHERE name = 'changes_horizon') AS horizon,
      (SELECT max(seq) FROM plat_changes) AS last,
      ${commitName(sql`(SELECT max(seq) FROM plat_changes)`)} AS last_name,
      ${commitName(integer(commit?.sequence ?? 0))} AS name,
      (SELECT max(w.seq) FROM (${window}) w) AS looked) h
    LEFT JOIN (SELECT c.* FROM plat_changes c
      WHERE c.seq > ${after} AND c.seq <= (SELECT max(w.seq) FROM (${window}) w) AND (c.kind = 'commit' OR (${given}))
      ORDER BY c.seq LIMIT ${integer(rowsFor(limit))}) c ON TRUE ORDER BY c.seq`;
}

/** Gives the last entry that may have been compacted, and the last one of all. */
export const KNOWN = sql`SELECT (SELECT value FROM plat_meta WHERE name = 'changes_horizon') AS horizon,
  (SELECT max(seq) FROM plat_changes) AS last`;

/**
 * @param rows of that statement
 * @param mayLag whether the statement may have been answered by a server that is behind
 */
export function feedPage(request: FeedRequest, rows: readonly Row[], mayLag: boolean): FeedPage {
  const [head] = rows;
  const last = Number(head?.last ?? 0);
  const end: FeedPosition =
    last === 0 ? START : { sequence: last, commit: { sequence: last, name: String(head?.last_name) } };
  const { since, limit } = request;
  if (since === 'end') return { kind: 'changes', changes: [], position: end, isLevel: true, isWhole: true };
  const horizon = Number(head?.horizon ?? 0);
  const { sequence, commit } = since;
  if (sequence > last) {
    if (!mayLag) return { kind: 'gone', position: end };
    return { kind: 'changes', changes: [], position: since, isLevel: true, isWhole: true };
  }
  // Of a horizon that was damaged, nothing is known to lie behind it.
  if (sequence > 0 && !(sequence >= horizon)) return { kind: 'gone', position: end };
  // The name of a commit before the horizon may have gone.
  const isOther = commit !== undefined && commit.sequence > horizon && commit.name !== head?.name;
  if (isOther) return { kind: 'gone', position: end };

  const changes: RecordChange[] = [];
  let passed = commit;
  let at = sequence;
  let isWhole = true;
  for (const row of rows) {
    if (row.seq === null || row.seq === undefined) continue;
    if (changes.length === limit && row.resource !== COMMIT) {
      return {
        kind: 'changes',
        changes,
        position: { sequence: at, commit: passed },
        isLevel: false,
        isWhole,
      };
    }
    at = Number(row.seq);
    isWhole = row.resource === COMMIT;
    if (isWhole) passed = { sequence: at, name: String(row.key) };
    else changes.push(changeIn(row, request.scope));
  }
  const looked = Number(head?.looked ?? 0);
  // Everything up to there was looked at, unless the page is full of entries and names.
  if (rows.length < rowsFor(limit) && looked > at) {
    at = looked;
    isWhole = false;
  }
  return {
    kind: 'changes',
    changes,
    position: { sequence: at, commit: passed },
    isLevel: at >= last,
    isWhole,
  };
}

function changeIn(
  { seq, resource, key, kind, at, was, visible }: Row,
  scope: EntryScope | undefined,
): RecordChange {
  return {
    sequence: Number(seq),
    resource: String(resource),
    key: String(key),
    kind: scope === undefined ? kindIn(kind) : kindTo(scope, String(kind), Number(was), Number(visible)),
    at: timestampFrom(Number(at)),
  };
}

const kindIn = (kind: unknown): RecordChange['kind'] =>
  kind === 'created' || kind === 'deleted' ? kind : 'changed';

/** A record that comes into view is new to the reader only if it is to everybody. */
function kindTo({ bit }: EntryScope, kind: string, was: number, visible: number): RecordChange['kind'] {
  if ((visible & bit) === 0) return 'deleted';
  return kind === 'created' && (was & bit) === 0 ? 'created' : 'changed';
}
