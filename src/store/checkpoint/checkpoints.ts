/** A replica's checkpoint: what is stored of each source, pending, or rejected, and which process works on it. */
import type { ParsedRecord } from '../../records/parsed-record.ts';
import type { RecordName } from '../../records/record-name.ts';
import type { WriteReport } from '../write/report.ts';

/** A record that could not be stored, kept as received. */
export interface QuarantineEntry extends RecordName {
  readonly reason: string;
  /** JSON as the source sent it, or whatever the source sent instead. */
  readonly payload: string;
}

export interface Quarantined extends QuarantineEntry {
  readonly source: string;
  readonly firstAt: string;
  readonly lastAt: string;
  readonly attempts: number;
}

export interface Keys {
  readonly resource: string;
  readonly keys: readonly string[];
}

/** Why a record has to be requested again: `record`, or the name of one of its collections. */
type PendingReason = string;

/** The process that works on a source. Only one does: a process that lost its lease can no longer store anything. */
export interface Lease {
  readonly holder: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly until: number;
}

export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/**
 * A transaction of several changes took too long, or contained a record that the engine cannot store: none of the changes is stored.
 * Each can be stored in a transaction of its own.
 */
export class ChangesRolledBack extends Error {
  override readonly name = 'ChangesRolledBack';
  /** The number of changes, of which there may be one. */
  readonly changes: number;

  constructor(changes: number) {
    super(`A transaction of ${changes} changes was rolled back`);
    this.changes = changes;
  }
}

/** The changes of one transaction (of the last one, if the records need several). */
export interface CheckpointChange {
  /** The lease that the process must still have, and that is renewed; without it, nothing is stored. */
  readonly lease?: Lease;
  /** Ignores stored hashes: rewrites rows that are inconsistent or that differ from the records. */
  readonly ignoresHashes?: boolean;
  readonly records?: readonly { readonly resource: string; readonly records: readonly ParsedRecord[] }[];
  readonly remove?: readonly Keys[];
  /** Entries of the source's state by name; null removes one. */
  readonly state?: Readonly<Record<string, unknown>>;
  /** Keys that the source has, as a sweep or an update saw them. */
  readonly seen?: readonly (Keys & { readonly sweep: number })[];
  readonly want?: readonly (Keys & { readonly why: PendingReason })[];
  readonly got?: readonly (Keys & { readonly why: PendingReason })[];
  readonly quarantine?: readonly QuarantineEntry[];
  /** Quarantined records that were stored after all, or that the source no longer has. */
  readonly release?: readonly Keys[];
}

/** Whether a transaction has room for records. */
export type Fits = (records: CheckpointChange['records']) => boolean;

/** Changes for one transaction. The caller keeps no change once it is written, so that a transaction may be larger than its memory. */
export interface ChangeSource {
  /**
   * Returns another change; undefined: the transaction is committed. The first call is before the transaction, and the others under
   * the write lock, while the transaction has room.
   * @param fits whether a transaction can store records: they fit into its limits, and bring no fields into use
   * @param awaited resolves when another write of this process waits, which ends any wait for a change
   */
  next(fits: Fits, awaited: Promise<void>): Promise<JoinableChange | undefined>;
  /** Receives the report on the last change, before the commit. */
  written(report: WriteReport): void;
}

/** A change that deletes no records can follow others in their transaction. */
export type JoinableChange = Omit<CheckpointChange, 'remove' | 'lease'>;

/** The part of a change other than the records. */
type CheckpointEntries = Omit<CheckpointChange, 'records' | 'remove' | 'lease' | 'ignoresHashes'>;

export interface Checkpoints {
  /** Names of the sources that this store was replicated from. */
  sources(): Promise<readonly string[]>;
  state(source: string): Promise<Readonly<Record<string, unknown>>>;
  /** @throws LeaseLost when another process has taken over */
  commit(source: string, change: CheckpointChange): Promise<WriteReport>;
  /**
   * Commits changes in one transaction.
   * @throws LeaseLost
   * @throws ChangesRolledBack
   */
  commitTogether(source: string, lease: Lease | undefined, changes: ChangeSource): Promise<WriteReport>;
  /** Reads, changes and stores one entry of the state, atomically. */
  exchange(source: string, name: string, change: (current: unknown) => unknown): Promise<void>;

  /** Returns those of the given keys that are not stored from this source. */
  missing(source: string, resource: string, keys: readonly string[]): Promise<readonly string[]>;
  /** Timestamps of stored records, by key, which determine the collections that have to be fetched. */
  timestamps(
    resource: string,
    keys: readonly string[],
  ): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>>;
  stored(source: string, resource: string): Promise<number>;
  /** Keys of stored records of the source without a mark of this sweep or a later one, in order after a key. */
  unseen(
    source: string,
    resource: string,
    sweep: number,
    after: string,
    limit: number,
  ): Promise<readonly string[]>;
  /** Returns those of the given keys, stored or not, that have a mark of this sweep or a later one. */
  marked(
    source: string,
    resource: string,
    sweep: number,
    keys: readonly string[],
  ): Promise<readonly string[]>;
  unseenCount(source: string, resource: string, sweep: number): Promise<number>;
  /** Deletes a limited number of marks of earlier sweeps. @returns how many */
  deleteMarks(source: string, resource: string, sweep: number): Promise<number>;
  /** Keys that still have to be requested, in order after a key. */
  pending(
    source: string,
    resource: string,
    why: PendingReason,
    after: string,
    limit: number,
  ): Promise<readonly string[]>;
  pendingCount(source: string, resource: string, why: PendingReason): Promise<number>;
  /** Stored keys of the source in order, for comparing both sides. */
  storedKeys(source: string, resource: string, after: string, limit: number): Promise<readonly string[]>;

  /** Ordered by source, resource and key. @param part absent: all of them */
  quarantined(
    source?: string,
    part?: { readonly skip: number; readonly limit: number },
  ): Promise<readonly Quarantined[]>;
  quarantinedCount(source?: string): Promise<number>;

  /** Takes the lease of a source; every commit renews it. False if another process has it. */
  lease(source: string, lease: Lease): Promise<boolean>;
  releaseLease(source: string, holder: string): Promise<void>;
  leaseHolder(source: string): Promise<{ readonly holder: string; readonly expires: number } | undefined>;
}

/** The part of a write transaction that updates the checkpoint. */
export interface CheckpointWriter {
  /** As in `Checkpoints`. */
  sources(): Promise<ReadonlySet<string>>;
  /** @throws LeaseLost */
  renewLease(source: string, lease: Lease): Promise<void>;
  apply(source: string, change: CheckpointEntries, at: string): Promise<void>;
}
