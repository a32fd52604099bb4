import type { MarketStore } from './market-store.ts';
import type { Measurement } from './measure.ts';

export interface BenchContext extends MarketStore {
  readonly listings: number;
}

/** One file of the benchmark. Add it to the list in main.ts. */
export interface Subject {
  readonly title: string;
  run(context: BenchContext): Promise<readonly Measurement[]>;
}
