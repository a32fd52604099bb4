import type { StoreSettings } from '../../src/records/settings.ts';
import type { Clock } from '../../src/store/clock.ts';
import type { ClockTrust, Machine } from '../../src/store/clock-jump.ts';
import type { Store } from '../../src/store/store.ts';
import type { WriteLimits } from '../../src/store/write/in-time.ts';

/** Where something is cleaned up after a test; `node:test` passes one to each. */
export interface Scope {
  after(work: () => Promise<void> | void): void;
}

export interface OpenOptions {
  readonly settings: StoreSettings;
  readonly clock: Clock;
  readonly limits?: WriteLimits;
  /** What every process of the store is told of its machine; absent: nothing, so any clock is right. */
  readonly machine?: Machine;
}

/** One store, and ways to look at it from another process's place. */
export interface OpenedStore {
  readonly store: Store;
  /** The same store, opened once more beside the first, on its clock or another, which may be told to be right. */
  again(clock?: Clock, trust?: Pick<ClockTrust, 'allowClockJump'>): Promise<Store>;
  /** Takes the write lock, as another process does that migrates or imports, until the response is called. */
  hold(): Promise<() => Promise<void>>;
  /** Opens what `backup` wrote to a file. */
  copy(file: string): Promise<Store>;
  /** Runs statements behind the store's back, as whoever writes into its tables. */
  damage(...statements: readonly string[]): Promise<void>;
}

/** A kind of store. The suites in `test/store/contract` hold every engine to the same. */
export interface Engine {
  readonly name: string;
  /** The version of its tables. */
  readonly layout: number;
  /** Of the runs of a property, those that an engine takes whose stores are dear to make; all with `PLAT_FULL=1`. */
  readonly share?: number;
  /** An empty store, which is gone when the scope ends. */
  open(scope: Scope, options: OpenOptions): Promise<OpenedStore>;
}

/** Of the runs of a property of the contract, those that every engine takes in `npm test`. */
const USUAL = 0.1;

/** How often a property of the contract is tried on an engine; as often as it says with `PLAT_FULL=1`. */
export const contractRuns = ({ share = 1 }: Engine, runs: number): number =>
  process.env.PLAT_FULL === '1' ? runs : Math.ceil(runs * Math.min(share, USUAL));

/** How often something is tried on an engine. */
export const runsOn = ({ share = 1 }: Engine, runs: number): number =>
  process.env.PLAT_FULL === '1' ? runs : Math.ceil(runs * share);
