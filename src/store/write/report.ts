/** The report of a write, in numbers; nothing is omitted without a trace (I7). */
import type { RecordName } from '../../records/record-name.ts';

export interface WriteReport {
  readonly inserted: number;
  readonly changed: number;
  readonly unchanged: number;
  /** Records whose timestamps moved only because their children changed. */
  readonly restamped: number;
  readonly deleted: number;
  readonly children: { readonly stored: number; readonly unchanged: number; readonly deleted: number };
  /** Children whose parent is not stored: they are kept, and become visible once the parent is stored. */
  readonly orphans: number;
  readonly rejected: readonly Rejection[];
  /** In an authority: children that another record lost, although it was not written without them (ownership.ts). */
  readonly taken: readonly TakenChild[];
  /** The newest timestamp of the changes. */
  readonly stamp: string;
}

/** A record that was not stored, or a child that was not stored under a record that contains it. */
export interface Rejection extends RecordName {
  readonly reason: string;
  /** The JSON of the rejected record, if it is not the record that was written. */
  readonly payload?: string;
}

/** A child that two records contain. */
export interface TakenChild extends Rejection {
  /** The record that lacks it. */
  readonly from: RecordName;
  /** The record that has it. */
  readonly by: RecordName;
  /** The record that took the child from the other one. */
  readonly taker: RecordName;
  /** Whether the child was stored under the other one before. */
  readonly wasStored: boolean;
}

/** A report in progress. */
export type Tally = {
  -readonly [K in keyof WriteReport]: WriteReport[K] extends readonly (infer Entry)[]
    ? Entry[]
    : WriteReport[K] extends number
      ? number
      : WriteReport[K] extends string
        ? string
        : { stored: number; unchanged: number; deleted: number };
};

export function emptyTally(stamp: string): Tally {
  return {
    inserted: 0,
    changed: 0,
    unchanged: 0,
    restamped: 0,
    deleted: 0,
    children: { stored: 0, unchanged: 0, deleted: 0 },
    orphans: 0,
    rejected: [],
    taken: [],
    stamp,
  };
}

/** Adds up two reports. */
export function addReports(left: WriteReport, right: WriteReport): WriteReport {
  return {
    inserted: left.inserted + right.inserted,
    changed: left.changed + right.changed,
    unchanged: left.unchanged + right.unchanged,
    restamped: left.restamped + right.restamped,
    deleted: left.deleted + right.deleted,
    children: {
      stored: left.children.stored + right.children.stored,
      unchanged: left.children.unchanged + right.children.unchanged,
      deleted: left.children.deleted + right.children.deleted,
    },
    orphans: left.orphans + right.orphans,
    rejected: [...left.rejected, ...right.rejected],
    taken: [...left.taken, ...right.taken],
    stamp: right.stamp,
  };
}
