/**
 * What an engine brings to a store. Everything else of `store.ts` is written once above it (engine-store.ts). An engine
 * knows how to run statements, to hold the lock and to tell the time; it knows no rule of what is stored or shown.
 */

import type { Planner } from '../compile/context.ts';
import type { Dialect } from '../compile/dialect.ts';
import type { Sql } from '../compile/fragment.ts';
import type { ResourceLayout } from '../compile/layout/index.ts';
import type { StoreModel } from '../compile/model.ts';
import type { Profile } from '../records/profile.ts';
import type { StoreSettings } from '../records/settings.ts';
import type { CacheUse } from '../shared/bounded-cache.ts';
import type { Checks, FileFault, RowFaults } from './check/checks.ts';
import type { Lane } from './lanes.ts';
import type { LiveModel, ModelSource } from './live-model.ts';
import type { ReadResult, ReadTask } from './read-task.ts';
import type { Row, Session } from './session.ts';
import type { Shared } from './shared.ts';
import type { Horizon, ReadOptions, ReadStoreState, StoreStatus } from './store.ts';
import type { RestampWriter, StampState } from './write/bring-back.ts';

/** The write side of an engine. */
export interface EngineWriter extends RestampWriter {
  /** Changes settings or profile, and everything that follows from them. */
  reconfigure(
    change: (current: StoreModel) => { readonly settings: StoreSettings; readonly profile: Profile },
  ): Promise<StoreModel>;
  /** Evaluates visibility by the rules of today. @param patience how long to wait for the lock, in milliseconds */
  startDay(patience: number): Promise<StoreModel>;
  /** Counts the values in use of a store that knows none yet, or counted them by other rules. */
  countValues(): Promise<void>;
  /** Runs `work` under the write lock, and commits. */
  locked<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Inside a transaction: publishes the dictionary as the model and the counters of values have it. */
  publish(session: Session, model: StoreModel): Promise<void>;
}

/** Told of the rows of a resource that were read, after each step. */
export type Told = (resource: string, rows: number) => void;

export interface Engine extends Omit<ModelSource, 'startDay'> {
  /** Of the store, for messages; without passwords. */
  readonly name: string;
  readonly secret: string;
  readonly dialect: Dialect;
  readonly writer: EngineWriter;
  readonly shared?: Shared;
  /** Runs statements by themselves: small ones that every request asks beside its own, and those of commands. */
  readonly reading: Readonly<Record<'small' | 'searches', Session>>;
  readStores?(): readonly ReadStoreState[];
  caches?(): readonly CacheUse[];

  /**
   * Runs a task on one snapshot.
   * @param plan called when it is the task's turn: a task that waits takes no memory for its plan
   */
  run(
    live: LiveModel,
    lane: Lane,
    plan: (planner: Planner) => ReadTask,
    options: ReadOptions,
  ): Promise<ReadResult>;
  /** Works on one snapshot where the engine has one for several statements, by the model that it shows. */
  read<T>(
    live: LiveModel,
    lane: Lane,
    options: ReadOptions,
    work: (session: Session, planner: Planner) => Promise<T>,
  ): Promise<T>;
  /** The rows of a statement, all of one snapshot, on a connection of their own: others read what is written meanwhile. */
  stream(statement: Sql): AsyncIterable<Row>;

  horizon(): Promise<Horizon>;
  /** The clock that stamps and the last timestamp, as they are now. */
  stampState(): Promise<StampState>;
  confirmClock(other: number): Promise<void>;
  /** Notes that a timestamp was given by this process. */
  sawStamp?(milliseconds: number): void;

  /** @throws PlatError where nothing may be written any more */
  mustBeWritable?(): void;
  /** Runs `work` under the write lock, with the time that whole tables take. */
  mending<T>(work: (session: Session) => Promise<T>): Promise<T>;
  checks(live: LiveModel): Checks;
  viewFaults(model: StoreModel, layout: ResourceLayout): Promise<readonly RowFaults[]>;
  makeView(session: Session, model: StoreModel, layout: ResourceLayout): Promise<void>;
  fileFaults(model: StoreModel): Promise<readonly FileFault[]>;
  /** The steps of a repair of what lies beneath the records; each takes the lock. */
  mendFile(model: StoreModel): readonly (() => Promise<void>)[];

  /** What a status tells of the engine. */
  facts(session: Session): Promise<Pick<StoreStatus, 'engine' | 'layout' | 'bytes' | 'partitions'>>;
  backup(file: string, told: Told | undefined): Promise<void>;
  trouble(): string | undefined;
  /** An error as a user is told it. What only a damaged store answers makes it unfit from then on. */
  explain(error: unknown): unknown;
  close(): Promise<void>;
}
