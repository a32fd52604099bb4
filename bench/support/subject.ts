import type { MarketStore } from './market-store.ts';
import type { Measurement } from './measure.ts';

/** A subject of the benchmark. Add it to the list in main.ts. */
export interface Subject {
  readonly title: string;
  /** The measurements to which all others are compared: its own, or those of the first subject. */
  readonly floors: readonly string[];
  run(context: MarketStore): Promise<readonly Measurement[]>;
}
