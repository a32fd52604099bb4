/** The number of records that are requested per page. This module does not know the content of records. */
import type { Listener } from '../events.ts';

const SMALLEST_SIZE = 10;
/** The minimum size if the consumer itself considers the pages too large. */
const SMALLEST_SIZE_IF_LARGE = 2;
/** The number of records on the first page, when their size is not known yet. */
const FIRST = 50;
/**
 * The number of characters of a response above which pages are made smaller, so that they take little memory. Several pages are
 * committed together, so a commit does not depend on it.
 */
const HEAVY_RESPONSE = 2_000_000;
/** Consecutive pages that must succeed before the size grows again. */
const GOOD_PAGES = 10;

/** The number of records to request: as many as permitted and practical, halved if they are too many, then slowly growing back. */
export class PageSize {
  #allowed: number;
  readonly #report: Listener;
  #largest: number;
  #size: number;
  #good = 0;
  #isFirst = true;
  /** The largest size at which a page succeeded. */
  #proven = 0;
  /** The size at which a page was rejected, while smaller ones are tried. */
  #rejected: number | undefined;

  constructor(allowed: number, report: Listener) {
    this.#allowed = allowed;
    this.#largest = allowed;
    this.#size = Math.min(allowed, FIRST);
    this.#report = report;
  }

  get current(): number {
    return this.#size;
  }

  /** Halves the size. @returns false if it has reached its minimum */
  shrink(reason: 'slow' | 'large'): boolean {
    const floor = Math.min(this.#allowed, reason === 'large' ? SMALLEST_SIZE_IF_LARGE : SMALLEST_SIZE);
    if (this.#size <= floor) return false;
    this.#isFirst = false;
    this.#set(Math.max(floor, this.#size >> 1));
    return true;
  }

  /**
   * Halves the size after a page was rejected. Unless a page of this size has succeeded before, the page may have been too large.
   * The size of the first page of a walk is halved in any case, since the source may have lowered its limit.
   * @returns false if the size is not the reason
   */
  shrinkAfterRejection(isFirstPage: boolean): boolean {
    const floor = Math.max(Math.min(this.#allowed, SMALLEST_SIZE), isFirstPage ? 0 : this.#proven);
    if (this.#size <= floor) return false;
    this.#rejected ??= this.#size;
    this.#isFirst = false;
    this.#set(Math.max(floor, this.#size >> 1));
    return true;
  }

  /** The page was not rejected for its size: restores the previous size. */
  restore(): void {
    this.#size = this.#rejected ?? this.#size;
    this.#rejected = undefined;
  }

  /** Records that a page was read. @param weight characters of the response @param rows records in it */
  recordSuccess(weight: number, rows: number): void {
    this.#proven = Math.max(this.#proven, this.#size);
    if (this.#rejected !== undefined) {
      // The source accepts this size after it rejected a larger one, so a larger one is not requested again.
      this.#allowed = this.#size;
      this.#proven = this.#size;
      this.#largest = Math.min(this.#largest, this.#size);
      this.#rejected = undefined;
    }
    if (rows > 0) {
      const comfortable = Math.max(SMALLEST_SIZE, Math.floor((rows * HEAVY_RESPONSE) / weight));
      this.#largest = Math.min(this.#allowed, comfortable);
    }
    const hasGrown = this.#isFirst || ++this.#good >= GOOD_PAGES;
    this.#isFirst = false;
    if (this.#size > this.#largest) this.#set(this.#largest);
    else if (hasGrown && this.#size < this.#largest) this.#set(Math.min(this.#largest, this.#next()));
  }

  /** The first page shows how large the others may be; afterwards, the size grows back by doubling. */
  #next(): number {
    return this.#good === 0 ? this.#largest : this.#size * 2;
  }

  #set(size: number): void {
    const before = this.#size;
    this.#size = size;
    this.#good = 0;
    // Pages of the same size differ in weight, so small reductions and increases are not reported.
    if (size * 4 < before * 3) this.#report({ kind: 'page-size', size });
  }
}
