/** What a write did, counted; nothing is left out in silence (I7). */
export interface WriteReport {
  readonly inserted: number;
  readonly changed: number;
  readonly unchanged: number;
  /** Listings and others that only their children moved. */
  readonly restamped: number;
  readonly deleted: number;
  readonly children: { readonly stored: number; readonly unchanged: number; readonly deleted: number };
  /** Children whose parent is not stored: kept, and seen once it is. */
  readonly orphans: number;
  readonly rejected: readonly Rejection[];
  /** The stamp of what changed. */
  readonly stamp: string;
}

/** A record that was not stored. */
export interface Rejection {
  readonly resource: string;
  readonly key: string;
  readonly reason: string;
}

/** A report while it is being made. */
export type Tally = {
  -readonly [K in keyof WriteReport]: WriteReport[K] extends readonly Rejection[]
    ? Rejection[]
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
    stamp,
  };
}
