/**
 * Moves timestamps that are ahead of the clock back, in order, after a clock was wrong for a while. First a new epoch
 * begins, in which promises ahead of the clock no longer count. Then records and tombstones get current timestamps, as
 * if they had been changed, in ordinary write transactions. The store is read and written in the meantime. The next run
 * continues an interrupted one.
 */

import { PUBLISHED_RESOURCES } from '../../compile/layout/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import {
  type Field,
  type FieldValues,
  microsecondsOf,
  REPLICA_TIMESTAMP,
  timestampFrom,
} from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import type { Tombstone } from '../../records/rows.ts';
import { returnsOwnTimestamps } from '../../records/settings.ts';
import { isAssignedTimestamp } from '../../records/timestamps.ts';
import { durationText } from '../../shared/clock.ts';
import type { NewEpoch } from '../time/epoch.ts';
import type { StoreClock } from '../time/store-clock.ts';
import type { BatchWriter } from './batches.ts';
import { mustNotHaveJumped } from './commit-timestamps.ts';
import type { WriteTransaction } from './transaction.ts';

/** The time state of a store. */
export interface RestampState {
  /** The clock that sets timestamps, in milliseconds since 1970. */
  readonly now: number;
  /** The newest moment that was assigned to a record or promised to a reader. */
  readonly newest: number;
  /** Whether restamping is in progress, or a run was interrupted. */
  readonly isRestamping: boolean;
  /** Milliseconds by which the clock was set ahead or back, as far as that can be detected. */
  readonly jump: number;
  readonly setBack: number;
}

/** Makes the time state from the stored state of a store that was just read, and its clock, which that read has updated. */
export const restampStateOf = (
  { raw, setBack }: StoreClock,
  { newest, restamping, jump }: Pick<RestampState, 'newest' | 'jump'> & { readonly restamping: boolean },
): RestampState => ({ now: raw(), newest, isRestamping: restamping, jump, setBack: setBack() });

/** By how much the newest timestamp of a store is ahead of its clock. */
export interface Ahead {
  readonly milliseconds: number;
  /** A canonical timestamp. */
  readonly newest: string;
  readonly isRestamping: boolean;
  /** Milliseconds by which the clock was set back since the last write; absent if unknown. */
  readonly setBack?: number;
}

/** Clocks are occasionally set back by seconds, for which the store waits without a message. */
const TOLERANCE = 60_000;

/** Compares the newest timestamp with the clock; undefined if no timestamp is ahead. */
export function aheadOf({
  now,
  newest,
  isRestamping,
  setBack,
}: Omit<RestampState, 'jump'>): Ahead | undefined {
  const milliseconds = newest - now;
  if (milliseconds <= TOLERANCE && !isRestamping) return undefined;
  return {
    ...{ milliseconds: Math.max(0, milliseconds), newest: timestampFrom(newest), isRestamping },
    ...(setBack > 0 ? { setBack } : {}),
  };
}

/** Describes this in a message. */
export function aheadText({ milliseconds, newest, isRestamping, setBack }: Ahead): string {
  if (isRestamping) return 'timestamps are being restamped; "plat restamp" resumes an interrupted run';
  if (setBack !== undefined)
    return `the last timestamp, ${newest}, is ${durationText(milliseconds)} ahead of the clock, which was set back by ${durationText(setBack)} since the store was last written to: windows up to it stay empty; set the clock right, or, if it was ahead before and is right now, "plat restamp" brings the timestamp back`;
  return `the last timestamp, ${newest}, is ${durationText(milliseconds)} ahead of the clock: windows up to it stay empty; "plat restamp" brings it back`;
}

/** What restamping needs from a writer. */
export interface RestampWriter extends BatchWriter {
  restampState(): Promise<RestampState>;
  beginEpoch(begin: NewEpoch): Promise<StoreModel>;
  endRestamp(): Promise<void>;
}

export interface RestampReport {
  /** The number of records with a new timestamp, by resource. */
  readonly records: Readonly<Record<string, number>>;
  readonly tombstones: number;
  /** The moment after which no timestamp remains, as a canonical timestamp; absent if `epoch` is. */
  readonly notAfter?: string;
  /** Absent if nothing was ahead of the clock, so that the epoch continues. */
  readonly epoch?: string;
}

/** No record has a timestamp before this one. */
const FIRST_MOMENT = '0001-01-01T00:00:00Z';

/** The maximum number of records in one transaction. */
const LARGEST_BATCH = 1000;
/** The maximum number of different timestamps in one transaction; its commit waits for those ahead of the clock. */
const MAX_TIMESTAMPS = 2000;

export async function moveBackTimestamps(
  writer: RestampWriter,
  current: StoreModel,
): Promise<{ readonly report: RestampReport; readonly model: StoreModel }> {
  const state = await writer.restampState();
  mustNotHaveJumped(state.now, state.jump);
  if (aheadOf(state) === undefined) return { report: { records: {}, tombstones: 0 }, model: current };
  let model = current;
  if (state.setBack > 0 && (await hasEarlierTimestamps(state.now))) {
    throw platError('clockSetBack', { clock: timestampFrom(state.now), behind: durationText(state.setBack) });
  }
  if (state.newest - state.now > TOLERANCE) model = await writer.beginEpoch({ notAfter: state.now });
  const records: Record<string, number> = {};
  for (const [resource, field] of resourcesWithTimestamps(model)) {
    const moved = await inBatches((transaction, limit) => moveRecords(transaction, resource, field, limit));
    if (moved > 0) records[resource] = moved;
  }
  const tombstones = await inBatches(moveTombstones);
  await writer.endRestamp();
  const notAfter = timestampFrom(state.now);
  return { report: { records, tombstones, notAfter, epoch: model.epoch }, model };

  /**
   * Whether records have timestamps before a moment. If so, the store was in use until its last timestamp, and the
   * clock may be wrong now. A store whose timestamps are all ahead was created under a wrong clock.
   */
  async function hasEarlierTimestamps(moment: number): Promise<boolean> {
    let oldest = Number.POSITIVE_INFINITY;
    for (const [resource, field] of resourcesWithTimestamps(model)) {
      if (PUBLISHED_RESOURCES.has(resource)) continue;
      await inBatches(async (transaction) => {
        const [first] = await transaction.withTimestampAfter(resource, field, FIRST_MOMENT, 1);
        const stamp = first?.values[field];
        if (typeof stamp === 'string') oldest = Math.min(oldest, Date.parse(stamp));
        return 0;
      });
    }
    return oldest < moment;
  }

  /** @param move returns how many items it moved; 0 when there are no more */
  async function inBatches(
    move: (transaction: WriteTransaction, limit: number) => Promise<number>,
  ): Promise<number> {
    const { usual } = writer.limits;
    let moved = 0;
    for (let limit = LARGEST_BATCH; ; ) {
      const attempt = await writer.attempt(model, (transaction) => move(transaction, limit), null, {
        ahead: 0,
        longest: usual,
      });
      switch (attempt.kind) {
        case 'done':
          if (attempt.result === 0) return moved;
          moved += attempt.result;
          break;
        case 'outdated':
          model = await writer.readModel();
          break;
        case 'too-long':
          limit = Math.max(1, limit >> 1);
          break;
      }
    }
  }
}

/** Children come before their parents, so that no listing gets a timestamp before that of a changed child. */
function resourcesWithTimestamps(model: StoreModel): (readonly [resource: string, field: string])[] {
  const own =
    model.settings.owner === 'authority' || returnsOwnTimestamps(model.settings)
      ? 'ModificationTimestamp'
      : REPLICA_TIMESTAMP;
  const stamped = [...model.dictionary.resources.values()].filter(
    ({ name }) => model.stores(name) && model.layout(name).fields.some((field) => field.name === own),
  );
  const order = ['named', 'fixed', undefined];
  return stamped
    .toSorted((left, right) => order.indexOf(left.parent?.kind) - order.indexOf(right.parent?.kind))
    .map(({ name }) => [name, own]);
}

/** The fields of the timestamps that this store assigns itself. */
function ownTimestampFields({ model }: WriteTransaction, resource: string, field: string): Field[] {
  const stamps = model.layout(resource).fields.filter(isAssignedTimestamp);
  return model.settings.owner === 'authority' ? stamps : stamps.filter(({ name }) => name === field);
}

/**
 * Gives each record a new timestamp in its field, in the order of the old ones. Its other timestamps that are ahead get
 * earlier ones, in order, that no other record has.
 */
async function moveRecords(
  transaction: WriteTransaction,
  resource: string,
  field: string,
  limit: number,
): Promise<number> {
  const { timestamps } = transaction;
  const names = ownTimestampFields(transaction, resource, field).map(({ name }) => name);
  const found = await transaction.withTimestampAfter(resource, field, timestamps.moment, limit);
  const taken = takeUpToLimit(found, ({ values }) => timestampsAhead(values, names, timestamps.moment));
  const moments = timestamps.next(
    resource,
    taken.reduce((sum, { moments: { length } }) => sum + length, 0),
  );
  let given = 0;
  const rows = taken.map(({ item: stored, moments: own }) => {
    const back = new Map(own.map((moment) => [moment, moments[given++]]));
    const moved = names.flatMap((name) => {
      const to = back.get(String(stored.values[name]));
      return to === undefined ? [] : [[name, to] as const];
    });
    return { stored, derived: Object.fromEntries(moved) };
  });
  await transaction.restamp(resource, rows);
  return rows.length;
}

/** The distinct timestamps of a record after a moment, in order. */
function timestampsAhead(values: FieldValues, names: readonly string[], moment: string): string[] {
  const later = names.flatMap((name) => {
    const value = values[name];
    return typeof value === 'string' && isLater(value, moment) ? [value] : [];
  });
  return [...new Set(later)].toSorted(order);
}

async function moveTombstones(transaction: WriteTransaction, limit: number): Promise<number> {
  const { timestamps } = transaction;
  const found = await transaction.tombstonesAfter(timestamps.moment, limit);
  const later = found.filter(({ deletedAt }) => isLater(deletedAt, timestamps.moment));
  const taken = later.toSorted((left, right) => order(left.deletedAt, right.deletedAt));
  const moved = [...Map.groupBy(taken, ({ resource }) => resource)].flatMap(([resource, group]) => {
    const moments = timestamps.next(resource, group.length);
    return group.map((each, index): Tombstone => {
      return { ...each, deletedAt: moments[index] ?? timestamps.moment };
    });
  });
  await transaction.restampTombstones(moved);
  return moved.length;
}

const order = (left: string, right: string): number => microsecondsOf(left) - microsecondsOf(right);

const isLater = (left: string, right: string): boolean => order(left, right) > 0;

/** The first records whose timestamps together are no more than one transaction assigns. */
function takeUpToLimit<T>(
  found: readonly T[],
  momentsOf: (item: T) => readonly string[],
): { readonly item: T; readonly moments: readonly string[] }[] {
  const taken: { item: T; moments: readonly string[] }[] = [];
  let count = 0;
  for (const item of found) {
    const moments = momentsOf(item);
    count += moments.length;
    if (taken.length > 0 && count > MAX_TIMESTAMPS) break;
    taken.push({ item, moments });
  }
  return taken;
}
