import type { MarketStore } from './market-store.ts';
import type { Measurement } from './measure.ts';

/** One file of the benchmark. Add it to the list in main.ts. */
export interface Subject {
  readonly title: string;
  /** The measurements, its own or those of the first subject, that all of its own are compared to. */
  readonly floors: readonly string[];
  run(context: MarketStore): Promise<readonly Measurement[]>;
}
