import type { Store } from '../../src/store/store.ts';
import type { TestClock } from '../../test/support/clock.ts';

/** An engine that is measured, with the place where its stores lie. */
export interface BenchEngine {
  readonly name: string;
  /** The address of a store that is not there yet. */
  newStore(name: string): Promise<string>;
  /** Opens a store for calls from within this process. */
  open(address: string, clock: TestClock): Promise<Store>;
  /** Brings a store that was just filled to the state that it is usually read in. */
  settle(address: string): Promise<void>;
  /** Bytes that a store takes. */
  size(address: string): Promise<number>;
  /** Milliseconds of a processor that were used so far outside of plat's processes. */
  used(): number;
  /** The floor of imports: stores lines as they are, by their keys, in transactions of `batch`; milliseconds. */
  storeLines(lines: readonly string[], batch: number): Promise<number>;
  dispose(): Promise<void>;
}

export const keyOf = (line: string): string => {
  const { ListingKey }: { ListingKey: string } = JSON.parse(line);
  return ListingKey;
};

export function batchesOf<T>(all: readonly T[], size: number): T[][] {
  const count = Math.ceil(all.length / size);
  return Array.from({ length: count }, (_, index) => all.slice(index * size, (index + 1) * size));
}
