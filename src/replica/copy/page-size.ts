import type { Listener } from '../events.ts';

const FLOOR = 10;
/** A page that is too large whatever its records are may have to be smaller still. */
const LEAST = 2;
/** Records of the first page: what they weigh is not known yet. */
const FIRST = 50;
/** Characters of an answer above which pages are made smaller, so that what waits in memory stays small. */
const HEAVY = 1_000_000;
/** Pages in a row that have to go well before the size grows again. */
const GOOD_PAGES = 10;

/**
 * How many records are asked for at once: as many as are allowed and as are no burden, halved when that was too much
 * for the source, grown back slowly.
 */
export class PageSize {
  readonly #allowed: number;
  readonly #tell: Listener;
  #largest: number;
  #size: number;
  #good = 0;
  #isFirst = true;

  constructor(allowed: number, tell: Listener) {
    this.#allowed = allowed;
    this.#largest = allowed;
    this.#size = Math.min(allowed, FIRST);
    this.#tell = tell;
  }

  get now(): number {
    return this.#size;
  }

  /** Halves the size. @returns false when it cannot be smaller */
  shrink(reason: 'slow' | 'large'): boolean {
    const floor = Math.min(this.#allowed, reason === 'large' ? LEAST : FLOOR);
    if (this.#size <= floor) return false;
    this.#isFirst = false;
    this.#set(Math.max(floor, this.#size >> 1));
    return true;
  }

  /** A page came well. @param weight characters of the answer @param rows records in it */
  praise(weight: number, rows: number): void {
    if (rows > 0) {
      const comfortable = Math.max(FLOOR, Math.floor((rows * HEAVY) / weight));
      this.#largest = Math.min(this.#allowed, comfortable);
    }
    const hasGrown = this.#isFirst || ++this.#good >= GOOD_PAGES;
    this.#isFirst = false;
    if (this.#size > this.#largest) this.#set(this.#largest);
    else if (hasGrown && this.#size < this.#largest) this.#set(Math.min(this.#largest, this.#next()));
  }

  /** The first page tells what the others may be; afterwards the size comes back by doubling. */
  #next(): number {
    return this.#good === 0 ? this.#largest : this.#size * 2;
  }

  #set(size: number): void {
    const before = this.#size;
    this.#size = size;
    this.#good = 0;
    // Every page has its own weight: small steps, and steps back up, are not worth telling.
    if (size * 4 < before * 3) this.#tell({ kind: 'page-size', size });
  }
}
