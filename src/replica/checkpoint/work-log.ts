/**
 * The log of the downloads, windows and purges of a copy in the last day. Each is written by the commit that begins or ends it, so
 * that any process with access to the store can show it. The log is bounded: entries that are no longer among the newest are
 * summarized, one for each ten minutes. This module does not know how notes are stored.
 */
import type { CheckpointChange } from '../../store/checkpoint/checkpoints.ts';
import type { LoadEvent, LoadState, SweepEvent, SweepState } from '../machine/states.ts';
import { listOf, number, object, oneOf, optional, type Shaped, text } from '../shape.ts';

/** Work on a collection. Times and durations are in milliseconds, on the consumer's clock. */
const WORK = object({
  work: oneOf('download', 'window', 'purge'),
  began: number,
  /** `lost`: it was abandoned and started over. */
  outcome: oneOf('open', 'done', 'lost', 'guarded', 'unsure'),
  /** Absent while it is running. */
  ended: optional(number),
  /** Received records, or keys of a purge. */
  rows: number,
  /** How often a walk had to start over, or was repeated to confirm its result. */
  again: number,
  /** Of a window: its bounds on the source's clock. */
  from: optional(text),
  to: optional(text),
  /** Of a purge: the number of records that it deleted, or would have deleted without the guard. */
  deleted: optional(number),
  /** The first few of the deleted records. */
  removed: optional(listOf(object({ resource: text, key: text }))),
  /** The number of downloads, windows or purges that this entry summarizes; absent for a single one. */
  times: optional(number),
  /** The total time that they took. */
  took: optional(number),
});
export type WorkEntry = Shaped<typeof WORK>;

export const WORK_LOG = listOf(WORK);
export type WorkLog = Shaped<typeof WORK_LOG>;

const DAY = 24 * 3_600_000;
/** The number of newest entries that are kept individually. */
const DETAILED = 60;
/** The length of the period that one summarizing entry covers, in milliseconds. */
const SLOT = 10 * 60_000;
/** Enough for a day of summarizing entries of each kind, and the newest entries. */
const MAX_ENTRIES = 500;
/** The number of removed records that are named. */
const NAMED = 20;

type Change = Partial<Omit<WorkEntry, 'work' | 'began'>>;

const isLoad = ({ work }: WorkEntry): boolean => work !== 'purge';
const isPurge = ({ work }: WorkEntry): boolean => work === 'purge';

/** The log with its open entry changed; the same log if none is open, as in a store of an earlier version. */
function changeOpenEntry(
  log: WorkLog,
  isWanted: (entry: WorkEntry) => boolean,
  change: (entry: WorkEntry) => Change,
): WorkLog {
  const at = log.findLastIndex((entry) => entry.outcome === 'open' && isWanted(entry));
  const entry = log[at];
  return entry === undefined ? log : log.with(at, { ...entry, ...change(entry) });
}

const newEntry = (work: WorkEntry['work'], began: number): WorkEntry => ({
  work,
  began,
  outcome: 'open',
  rows: 0,
  again: 0,
});

/** The log after an event of a load. @param now milliseconds since 1970 */
export function afterLoad(log: WorkLog, before: LoadState, event: LoadEvent, now: number): WorkLog {
  const rows = 'rows' in before ? before.rows : 0;
  switch (event.kind) {
    case 'begin':
      return compactLog([...log, newEntry('download', now)], now);
    case 'refresh': {
      const given = changeOpenEntry(log, isLoad, () => ({ outcome: 'lost', ended: now, rows }));
      return compactLog([...given, newEntry('download', now)], now);
    }
    case 'window': {
      const from = before.kind === 'current' ? { from: before.cursor } : {};
      return compactLog([...log, { ...newEntry('window', now), ...from, to: event.upper }], now);
    }
    case 'end': {
      const all = rows + (event.rows ?? 0);
      const isOver = !event.fills;
      return changeOpenEntry(log, isLoad, () => ({
        rows: all,
        ...(isOver ? { outcome: 'done', ended: now } : {}),
      }));
    }
    case 'filled':
      return changeOpenEntry(log, isLoad, () => ({ outcome: 'done', ended: now }));
    case 'short':
      return changeOpenEntry(log, isLoad, ({ again }) => ({ again: again + 1 }));
    case 'lost':
      return changeOpenEntry(log, isLoad, ({ work, again }) =>
        work === 'window' ? { outcome: 'lost', ended: now, rows } : { again: again + 1 },
      );
    case 'page':
    case 'nextPass':
    case 'reported':
      return log;
  }
}

/** The log after an event of a sweep. @param remove what is deleted with it */
export function afterSweep(
  log: WorkLog,
  before: SweepState,
  event: SweepEvent,
  { remove = [], now }: Pick<CheckpointChange, 'remove'> & { readonly now: number },
): WorkLog {
  const keys = 'keys' in before ? before.keys : 0;
  const closeEntry = (change: Change): WorkLog =>
    changeOpenEntry(log, isPurge, () => ({ ...change, ended: now }));
  switch (event.kind) {
    case 'begin':
      return compactLog([...log, newEntry('purge', now)], now);
    case 'end':
    case 'unsure':
      return changeOpenEntry(log, isPurge, () => ({ rows: keys + event.keys }));
    case 'agree':
    case 'lost':
      return changeOpenEntry(log, isPurge, ({ again }) => ({ again: again + 1 }));
    case 'guard':
      return closeEntry({ outcome: 'guarded', deleted: event.rows });
    case 'deleted':
      return changeOpenEntry(log, isPurge, ({ deleted = 0, removed = [] }) => {
        const more = remove.flatMap(({ resource, keys: gone }) => gone.map((key) => ({ resource, key })));
        return { deleted: deleted + event.rows, removed: [...removed, ...more].slice(0, NAMED) };
      });
    case 'done':
      return closeEntry({ outcome: before.kind === 'fetching' && before.unsure ? 'unsure' : 'done' });
    case 'page':
    case 'purged':
      return log;
  }
}

/** The last day of a log, in a bounded number of entries. */
function compactLog(log: WorkLog, now: number): WorkLog {
  const kept = log.filter(({ outcome, began, ended = began }) => outcome === 'open' || ended > now - DAY);
  const cut = Math.max(0, kept.length - DETAILED);
  const older = Map.groupBy(kept.slice(0, cut), ({ work, outcome, began }) =>
    outcome === 'done' ? `${work} ${Math.floor(began / SLOT)}` : `${work} ${outcome} ${began}`,
  );
  const summed = [...older.values()].map((group) => group.reduce(mergeEntries));
  return [...summed, ...kept.slice(cut)].slice(-MAX_ENTRIES);
}

const tookOf = ({ took, began, ended = began }: WorkEntry): number => took ?? ended - began;

/** Combines two entries of the same kind of work. */
function mergeEntries(one: WorkEntry, other: WorkEntry): WorkEntry {
  const { from = other.from } = one;
  const { to = one.to, ended = one.ended } = other;
  const removed = [...(one.removed ?? []), ...(other.removed ?? [])].slice(0, NAMED);
  const deletes = one.deleted !== undefined || other.deleted !== undefined;
  return {
    ...one,
    rows: one.rows + other.rows,
    again: one.again + other.again,
    times: (one.times ?? 1) + (other.times ?? 1),
    took: tookOf(one) + tookOf(other),
    ...(ended === undefined ? {} : { ended }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(deletes ? { deleted: (one.deleted ?? 0) + (other.deleted ?? 0) } : {}),
    ...(removed.length === 0 ? {} : { removed }),
  };
}
