/**
 * What an engine provides. Everything else in `store.ts` is written once above it (engine-store.ts). An engine runs
 * statements, acquires the lock and reads the time; it knows no rule about what is stored or shown.
 */

import type { Planner } from '../compile/context.ts';
import type { Dialect } from '../compile/dialect.ts';
import type { Sql } from '../compile/fragment.ts';
import type { ResourceLayout } from '../compile/layout/index.ts';
import type { StoreModel } from '../compile/model.ts';
import type { StoreSettings } from '../records/settings.ts';
import type { CacheSize } from '../shared/bounded-cache.ts';
import type { Clock } from '../shared/clock.ts';
import type { Listen } from './changes/commit-watch.ts';
import type { FileFault, OnProgress } from './check/checks.ts';
import type { ViewState } from './check/table-faults.ts';
import type { ColumnsOf } from './copy/copy-store.ts';
import type { Lane } from './read/lanes.ts';
import type { ReadResult, ReadTask } from './read/read-task.ts';
import type { Row, Session, WriteSession } from './session.ts';
import type { SharedState } from './shared.ts';
import type { LiveModel, ModelSource } from './state/live-model.ts';
import type { TimeState } from './state/meta.ts';
import type { AssumedLook, Horizon, Look, ReadOptions, ReadStoreState, StoreStatus } from './store.ts';
import type { CheckResult, CheckTask } from './threads/check-task.ts';
import { type ClockTrust, type StoreClock, thisMachine } from './time/store-clock.ts';
import type { WriteLimits } from './write/time-limits.ts';

/** How a store is opened with any engine. */
export interface EngineOptions extends ClockTrust {
  /** The settings of a new store; absent: the store must exist. */
  readonly create?: StoreSettings;
  /** Called after a store was created, with the names under which the log of an earlier file was kept. */
  readonly onCreate?: ((kept: readonly string[]) => void) | undefined;
  /** The clock that sets timestamps; absent: the server's own, or this machine's. */
  readonly clock?: Clock;
  /** The time limits of transactions; tests set shorter ones. */
  readonly limits?: WriteLimits;
}

/** How far the clock may be trusted: jumps are detected by the clocks of this machine, unless a clock was passed in. */
export const clockTrustOf = ({ clock, machine, allowClockJump }: EngineOptions): ClockTrust => ({
  allowClockJump,
  machine: machine ?? (clock === undefined ? thisMachine() : undefined),
});

export interface LockOptions {
  /** How long to wait for the lock, in milliseconds. */
  readonly patience?: number;
  /** Whether statements may take as long as work on whole tables. */
  readonly isLong?: boolean;
}

/** What the writer needs from an engine (write/writer.ts). */
export interface WriteEngine<S extends WriteSession> {
  /** The clock that sets timestamps. */
  readonly clock: StoreClock;
  /** The time limits of transactions; absent: the usual ones. */
  readonly limits?: WriteLimits | undefined;
  /** The maximum total weight of the records of a transaction; absent: the usual one. */
  readonly largestWeight?: number;
  /** Why the engine cannot store a record, if the error says so. */
  readonly refusal: (error: unknown) => string | undefined;
  /** Runs single statements, outside of the lock. */
  readonly reading: Session;
  /** Runs `work` under the write lock, and commits. An error rolls everything back. */
  underLock<T>(work: (session: S) => Promise<T>, options?: LockOptions): Promise<T>;
  /** Reads the current time of the store, and updates the clock with it. */
  timeState(session: Session): Promise<TimeState>;
  /** Updates tables and views to match the model; inside a transaction. */
  applyTables(session: S, model: StoreModel): Promise<void>;
  /** Called at the end of a transaction of records, with the last timestamp of the store. */
  beforeCommit?(session: S, lastStamp: string): Promise<void>;
  /** Removes the cause of a failed attempt. @returns false if it cannot, so that the error is final */
  recover?(error: unknown): Promise<boolean>;
}

/** What an engine returns for a `Look`. */
interface Seen extends Pick<Look, 'key' | 'now' | 'commit'> {
  readonly generation: number;
  /** The clock that sets timestamps; milliseconds since 1970. */
  readonly moment: number;
}

/** What a status reports about the engine. */
export type EngineFacts = Pick<StoreStatus, 'engine' | 'layout' | 'bytes' | 'partitions'>;

export interface Engine<S extends WriteSession = WriteSession> extends Pick<ModelSource, 'now' | 'ask'> {
  /** The store's name for messages; without a password. */
  readonly name: string;
  readonly secret: string;
  readonly dialect: Dialect;
  readonly writing: WriteEngine<S>;
  readonly shared?: SharedState;
  /** Sessions for single statements: the small ones that every request needs, and those of commands. */
  readonly reading: Readonly<Record<'small' | 'searches', Session>>;
  readStores?(): readonly ReadStoreState[];
  caches?(): readonly CacheSize[];

  /** Reads the store's current state, whoever changed it, in at most one round trip and without waiting for a lock. */
  look(tokenHash: string): Promise<Seen>;
  /** See `Store`. */
  assume?(live: LiveModel, tokenHash: string): AssumedLook | undefined;

  /** See `TaskRunner`. */
  run(
    live: LiveModel,
    lane: Lane,
    plan: (planner: Planner) => ReadTask,
    options: ReadOptions,
  ): Promise<ReadResult>;
  /** Runs on one snapshot, if the engine has snapshots of several statements, with the model of that snapshot. */
  read<T>(
    live: LiveModel,
    lane: Lane,
    options: ReadOptions,
    work: (session: Session, planner: Planner) => Promise<T>,
  ): Promise<T>;
  /** The rows of a statement on one snapshot, on a connection of its own, so that other work continues meanwhile. */
  stream(statement: Sql): AsyncIterable<Row>;

  horizon(needed?: number): Promise<Horizon>;
  /** Reads the current time of the store, and updates the clock with it; waits for no write. */
  timeState(): Promise<TimeState>;
  /** Listens for the commits of other processes; absent if the engine does not announce them. */
  readonly listen?: Listen;
  /** Records a timestamp that this process has set. */
  noteTimestamp?(milliseconds: number): void;

  /** @throws PlatError if writes are no longer permitted */
  mustBeWritable?(): void;
  /** Runs a check on a thread of its own; absent where the calling thread runs them all. */
  readonly checkOnThread?: ((task: CheckTask) => Promise<CheckResult>) | undefined;
  viewState(model: StoreModel, layout: ResourceLayout): Promise<ViewState>;
  makeView(session: Session, model: StoreModel, layout: ResourceLayout): Promise<void>;
  columns(): Promise<ColumnsOf>;
  /** Finds faults in pages, indexes and the like, other than missing tables and columns. */
  fileFaults(model: StoreModel): Promise<readonly FileFault[]>;
  /** The steps that repair pages, tables and indexes, and create missing ones; each step runs under the lock. */
  mendFile(model: StoreModel): readonly ((session: S) => Promise<unknown>)[];

  facts(session: Session): Promise<EngineFacts>;
  backup(file: string, onProgress: OnProgress | undefined): Promise<void>;
  /** Why this process can no longer use the store, other than damage; undefined if it can. */
  trouble?(): string | undefined;
  /** The damage that an error proves; undefined for any other error. */
  damageIn(error: unknown): string | undefined;
  /** Translates an error for the user. */
  explain(error: unknown): unknown;
  close(): Promise<void>;
}
