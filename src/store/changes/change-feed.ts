/**
 * The sequence of changes as readers receive it: which records were created, changed and deleted, as the role of the
 * reader sees it, page by page. A position is a number of the sequence together with the last commit before it, so that
 * a reader whose position is from before a restore is detected. This module knows no engine and no interface.
 */
import type { View } from '../../access/index.ts';
import { type EntryScope, isOneOf, visibleEntries } from '../../compile/change-entries.ts';
import { all, integer, type Sql, sql } from '../../compile/fragment.ts';
import type { StoreModel } from '../../compile/model.ts';
import { timestampFrom } from '../../dictionary/index.ts';
import type { RecordName } from '../../records/record-name.ts';
import { COMMIT } from '../rows/change-log.ts';
import type { Row } from '../session.ts';

/** A position in the sequence: directly after the entry with this number, or before the first entry if it is 0. */
export interface FeedPosition {
  readonly sequence: number;
  /** The last commit at or before this position. */
  readonly commit?: { readonly sequence: number; readonly name: string } | undefined;
}

/** A change as one reader sees it: `changed` if the record becomes visible to it, `deleted` if it ceases to be. */
export interface RecordChange extends RecordName {
  readonly sequence: number;
  readonly kind: 'created' | 'changed' | 'deleted';
  /** The time of the commit, as a canonical timestamp. */
  readonly at: string;
}

export interface FeedRequest {
  /** `end`: reads nothing, and returns the end of the sequence as the position of the page. */
  readonly since: FeedPosition | 'end';
  /** Absent: the operator, who sees everything. */
  readonly scope?: EntryScope | undefined;
  /** Absent: all resources. */
  readonly resources?: readonly string[] | undefined;
  /** Resources of which the reader receives all changes of records, because the records that it sees contain their values. */
  readonly shown?: readonly string[] | undefined;
  /** The maximum number of entries. */
  readonly limit: number;
}

export type FeedPage =
  | {
      readonly kind: 'changes';
      readonly changes: readonly RecordChange[];
      /** Where the next page begins: beyond the last returned change if later ones do not concern the reader. */
      readonly position: FeedPosition;
      /** Whether the page reaches the end of the sequence. */
      readonly isLevel: boolean;
      /** Whether the position is the end of a commit. */
      readonly isWhole: boolean;
    }
  /** Later changes are no longer known: the reader needs a full download, and then continues from this position. */
  | { readonly kind: 'gone'; readonly position: FeedPosition };

/** The options with which a program that has direct access to the store requests changes (follow-changes.ts). */
export interface ChangesOptions {
  /**
   * The entry after which to begin: its number, a position that a change has returned, `start` or `end`. Absent: the
   * start, from which every existing record has an entry.
   */
  readonly since?: number | string | undefined;
  /** Continues with new commits. Absent: ends with the last entry. */
  readonly follow?: boolean | undefined;
  /** Returns each record with its changes, in the form of the RESO interface, as it is when the change is read. */
  readonly records?: boolean | undefined;
  /** Absent: all resources. */
  readonly resources?: readonly string[] | undefined;
  /** The role that reads. Absent: the operator, who sees every change. */
  readonly role?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Change extends RecordChange {
  /** The record; absent if it was deleted, does not exist or is no longer visible, or if records were not requested. */
  readonly record?: Readonly<Record<string, unknown>>;
  /** The position from which to continue after this change: no earlier change is missing. */
  readonly position: string;
}

export const SEQUENCE_START: FeedPosition = { sequence: 0 };

/** Resources that every store derives from its contents: only readers who name them receive their changes. */
const DERIVED_RESOURCES: ReadonlySet<string> = new Set(['Field', 'Lookup']);

/** The resources whose changes a reader receives if it names none. */
export const defaultResources = (view: View, { dictionary }: StoreModel): string[] =>
  [...dictionary.resources.values()]
    .filter((resource) => view.publishes(resource) && !DERIVED_RESOURCES.has(resource.name))
    .map(({ name }) => name);

/** A position as readers receive it: opaque to them, consisting of letters, digits, `.`, `-` and `_`. */
export function positionText({ sequence, commit }: FeedPosition): string {
  if (commit === undefined) return String(sequence);
  const place = commit.sequence === sequence ? '' : `.${commit.sequence}`;
  return `${sequence}.${commit.name}${place}`;
}

const POSITION = /^(\d{1,16})(?:\.([\w-]{1,32})(?:\.(\d{1,16}))?)?$/;

/** @returns undefined for a text that is not a position */
export function parsePosition(text: string): FeedPosition | undefined {
  const [, sequence = '', name, at] = POSITION.exec(text) ?? [];
  if (sequence === '' || !Number.isSafeInteger(Number(sequence))) return undefined;
  if (name === undefined) return { sequence: Number(sequence) };
  return { sequence: Number(sequence), commit: { sequence: Number(at ?? sequence), name } };
}

/** The minimum number of entries that one page examines: few of them may concern the reader. */
const MAX_EXAMINED = 5000;

/**
 * The number of rows to read for a page. Some of them are ids of commits, and many may belong to entries that do not concern the
 * reader.
 */
const rowsFor = (limit: number): number => 2 * Math.max(limit, 250);

/** Makes the statement for a page, which also returns what is needed to check that the position belongs to this sequence. */
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
    shown === undefined
      ? seen
      : sql`(${seen}) OR (${isOneOf(sql`c.resource`, shown)} AND c.kind NOT IN ('all', 'left'))`;
  const window = sql`SELECT seq FROM plat_changes WHERE seq > ${after} ORDER BY seq
    LIMIT ${integer(Math.max(MAX_EXAMINED, 2 * limit))}`;
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

/** Selects the last entry that may have been compacted, and the last entry of all. */
export const SELECT_RETAINED = sql`SELECT (SELECT value FROM plat_meta WHERE name = 'changes_horizon') AS horizon,
  (SELECT max(seq) FROM plat_changes) AS last`;

/** @param rows the result of `feedStatement`, executed on the server that accepts writes */
export function feedPage(request: FeedRequest, rows: readonly Row[]): FeedPage {
  const [head] = rows;
  const last = Number(head?.last ?? 0);
  const end: FeedPosition =
    last === 0
      ? SEQUENCE_START
      : { sequence: last, commit: { sequence: last, name: String(head?.last_name) } };
  const { since, limit } = request;
  if (since === 'end') return { kind: 'changes', changes: [], position: end, isLevel: true, isWhole: true };
  const horizon = Number(head?.horizon ?? 0);
  const { sequence, commit } = since;
  if (sequence > last) return { kind: 'gone', position: end };
  // If the horizon is damaged, nothing is known after it.
  if (sequence > 0 && !(sequence >= horizon)) return { kind: 'gone', position: end };
  // The id of a commit before the horizon may no longer exist.
  const isOther = commit !== undefined && commit.sequence > horizon && commit.name !== head?.name;
  if (isOther) return { kind: 'gone', position: end };

  const changes: RecordChange[] = [];
  let passed = commit;
  let at = sequence;
  let isWhole = true;
  const page = (isLevel: boolean): FeedPage => {
    return { kind: 'changes', changes, position: { sequence: at, commit: passed }, isLevel, isWhole };
  };
  for (const row of rows) {
    if (row.seq === null || row.seq === undefined) continue;
    if (changes.length === limit && row.resource !== COMMIT) return page(false);
    at = Number(row.seq);
    isWhole = row.resource === COMMIT;
    if (isWhole) passed = { sequence: at, name: String(row.key) };
    else changes.push(changeIn(row, request.scope));
  }
  const looked = Number(head?.looked ?? 0);
  // The statement has examined everything up to `looked`, unless the page is full of entries and ids.
  if (rows.length < rowsFor(limit) && looked > at) {
    at = looked;
    isWhole = false;
  }
  return page(at >= last);
}

function changeIn(
  { seq, resource, key, kind, at, was, visible }: Row,
  scope: EntryScope | undefined,
): RecordChange {
  return {
    sequence: Number(seq),
    resource: String(resource),
    key: String(key),
    kind: changeKindFor(scope?.bit, kind, Number(was), Number(visible)),
    at: timestampFrom(Number(at)),
  };
}

/**
 * A record that becomes visible is `created` for the reader only if it is new for everybody.
 * @param bit the bit of the role that reads; undefined for the operator
 */
function changeKindFor(
  bit: number | undefined,
  kind: unknown,
  was: number,
  visible: number,
): RecordChange['kind'] {
  if (bit === undefined) return kind === 'created' || kind === 'deleted' ? kind : 'changed';
  if ((visible & bit) === 0) return 'deleted';
  return kind === 'created' && (was & bit) === 0 ? 'created' : 'changed';
}
