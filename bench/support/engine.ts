import type { Store } from '../../src/store/store.ts';
import type { TestClock } from '../../test/support/clock.ts';

/** An engine that is measured, with the place of its stores. */
export interface BenchEngine {
  readonly name: string;
  /** The address of a store that does not exist yet. */
  newStore(name: string): Promise<string>;
  /** Opens a store for calls within this process. */
  open(address: string, clock: TestClock): Promise<Store>;
  /** Brings a store that has just been filled into the state in which it is usually read. */
  settle(address: string): Promise<void>;
  /** The size of a store in bytes. */
  size(address: string): Promise<number>;
  /** Milliseconds of CPU time so far, outside of plat's processes. */
  used(): number;
  /** The floor of imports: stores lines unchanged, by their keys, in transactions of `batch` lines. @returns milliseconds */
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
