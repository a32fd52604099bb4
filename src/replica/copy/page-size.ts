import type { Listener } from '../events.ts';

const FLOOR = 10;
/** A page that is too large whatever its records are may have to be smaller still. */
const LEAST = 2;
/** Characters of an answer above which pages are made smaller, so that what waits in memory stays small. */
const HEAVY = 8_000_000;
/** Pages in a row that have to go well before the size grows again. */
const GOOD_PAGES = 10;

/** How many records are asked for at once: halved when that was too much, grown back slowly. */
export class PageSize {
  #largest: number;
  readonly #tell: Listener;
  #size: number;
  #good = 0;

  constructor(largest: number, tell: Listener) {
    this.#largest = largest;
    this.#size = largest;
    this.#tell = tell;
  }

  get now(): number {
    return this.#size;
  }

  /** Halves the size. @returns false when it cannot be smaller */
  shrink(reason: 'slow' | 'large'): boolean {
    const floor = Math.min(this.#largest, reason === 'large' ? LEAST : FLOOR);
    if (this.#size <= floor) return false;
    this.#set(Math.max(floor, this.#size >> 1));
    return true;
  }

  /** A page came well. @param weight characters of the answer */
  praise(weight: number): void {
    if (weight > HEAVY) {
      this.#largest = Math.max(FLOOR, Math.floor((this.#size * HEAVY) / weight));
      if (this.#size > this.#largest) this.#set(this.#largest);
    }
    if (this.#size === this.#largest || ++this.#good < GOOD_PAGES) return;
    this.#set(Math.min(this.#largest, this.#size * 2));
  }

  #set(size: number): void {
    this.#size = size;
    this.#good = 0;
    this.#tell({ kind: 'page-size', size });
  }
}
