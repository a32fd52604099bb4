import type { StoreSettings } from '../../src/records/settings.ts';
import type { Clock } from '../../src/shared/clock.ts';
import type { Store } from '../../src/store/store.ts';
import type { ClockTrust, Machine } from '../../src/store/time/store-clock.ts';
import type { WriteLimits } from '../../src/store/write/time-limits.ts';

/** Registers cleanup after a test; `node:test` passes a scope to each test. */
export interface Scope {
  after(work: () => Promise<void> | void): void;
}

export interface OpenOptions {
  readonly settings: StoreSettings;
  readonly clock: Clock;
  readonly limits?: WriteLimits;
  /** What every process of the store knows about its machine; absent: nothing, so that any clock is accepted. */
  readonly machine?: Machine;
  /**
   * Whether the fields of most tests are in use already, which saves the first writes from changing the tables. An engine where wider
   * tables take as long as this saves ignores it.
   */
  readonly hasUsualFields?: boolean;
}

/** A store, with helpers that act as another process would. */
export interface OpenedStore {
  readonly store: Store;
  /** The same store, opened once more next to the first, on the same clock or another one, which may be confirmed as correct. */
  again(clock?: Clock, trust?: Pick<ClockTrust, 'allowClockJump'>): Promise<Store>;
  /** Takes the write lock, as another process does that migrates or imports, until the returned function is called. */
  hold(): Promise<() => Promise<void>>;
  /** Opens a file that `backup` has written. */
  copy(file: string): Promise<Store>;
  /** Executes statements without the store's knowledge, as someone who writes to its tables directly. */
  damage(...statements: readonly string[]): Promise<void>;
  /** The tables, indexes, keys, triggers and views of the store that can be dropped, by name. */
  parts(): Promise<readonly StorePart[]>;
}

/** A table, index or the like. */
export interface StorePart {
  readonly name: string;
  readonly kind: 'table' | 'index' | 'trigger' | 'view';
  /** The statement that drops it, with what depends on it. */
  readonly drop: string;
}

/** An engine. The suites in `test/store/contract` test every engine in the same way. */
export interface Engine {
  readonly name: string;
  /** The version of its tables. */
  readonly layout: number;
  /** The share of the runs of a property for an engine whose stores are expensive to create; with `PLAT_FULL=1`, all of them. */
  readonly share?: number;
  /** An empty store, which is removed at the end of the scope. */
  open(scope: Scope, options: OpenOptions): Promise<OpenedStore>;
}

/** The same engine, whose new stores have the fields of most tests in use: for suites that do not test how fields come into use. */
export const withUsualFields = (engine: Engine): Engine => ({
  ...engine,
  open: (scope, options) => engine.open(scope, { ...options, hasUsualFields: true }),
});

/** The share of the runs of a property of the contract in `npm test`, for every engine. */
const USUAL = 0.1;

/** The number of runs of a property of the contract on an engine; with `PLAT_FULL=1`, all of them. */
export const contractRuns = ({ share = 1 }: Engine, runs: number): number =>
  process.env.PLAT_FULL === '1' ? runs : Math.ceil(runs * Math.min(share, USUAL));

/**
 * Skips a test of a rule above engines whose statements other tests cover on every engine: in `npm test` it runs on SQLite, and with
 * `PLAT_FULL=1` also on an engine whose stores are expensive to create.
 * @returns whether the test is skipped
 */
export function isLeftToSqlite({ share }: Engine, test: { skip(message: string): void }): boolean {
  if (process.env.PLAT_FULL === '1' || share === undefined) return false;
  test.skip('a rule above engines, shown on SQLite; npm run test:full');
  return true;
}

/** The number of runs of other tests on an engine. */
export const runsOn = ({ share = 1 }: Engine, runs: number): number =>
  process.env.PLAT_FULL === '1' ? runs : Math.ceil(runs * share);
