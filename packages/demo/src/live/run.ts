import type { Change } from './live-market.ts';

/** What a live market needs of the world. */
interface LiveRun {
  /** Changes the market, or learns again what it holds. */
  readonly market: {
    learn(): Promise<void>;
    change(count: number, now: number): Promise<readonly Change[]>;
  };
  readonly clock: {
    /** Milliseconds since 1970. */
    readonly now: () => number;
    readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  };
  readonly perMinute: number;
  readonly signal: AbortSignal;
  /** Learns what was changed. */
  readonly onChanges: (changes: readonly Change[]) => void;
  /** Learns why changes were not stored; they are tried again in some seconds. */
  readonly onFailure: (error: unknown) => void;
}

const MINUTE = 60_000;
/** Changes that are due within this time are stored together. */
const TOGETHER = 1000;
/** After a pause of the machine, or of the store, no more than this is made up for; milliseconds. */
const MADE_UP = 10_000;
/** Milliseconds until what failed is tried again. */
const AFTER_FAILURE = 5000;

/** Changes a market at a rate until it is told to end. What is being stored then is stored to its end. */
export async function runLive(run: LiveRun): Promise<void> {
  const { market, clock, perMinute, signal } = run;
  const pause = Math.max(TOGETHER, MINUTE / perMinute);
  let learned = false;
  let due = 0;
  let last = clock.now();
  while (!signal.aborted) {
    try {
      if (!learned) await market.learn();
      learned = true;
      await clock.sleep(pause, signal);
      if (signal.aborted) return;
      const now = clock.now();
      const passed = Math.min(Math.max(0, now - last), Math.max(MADE_UP, pause));
      last = now;
      due += (passed * perMinute) / MINUTE;
      const count = Math.floor(due + 1e-6);
      due -= count;
      if (count > 0) run.onChanges(await market.change(count, now));
    } catch (error) {
      run.onFailure(error);
      learned = false; // what was drawn last may not have been stored
      await clock.sleep(AFTER_FAILURE, signal);
    }
  }
}
