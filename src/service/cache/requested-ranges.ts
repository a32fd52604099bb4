/**
 * The ranges of keys that pages have covered since the start. A page that begins within one of them is requested again, even if
 * earlier pages had other limits, or began elsewhere because records have been added and removed since. This module does not know
 * what is done with such pages.
 */
import { compareKeys } from '../../shared/compare-keys.ts';

/** The keys after one key, up to another one or to the end. */
interface KeyRange {
  readonly after: string;
  readonly upTo: string | undefined;
}

/** The maximum number of ranges. A walk has one; more of them come from requests without an order, and say little. */
const MOST_RANGES = 100;

export class RequestedRanges {
  /** No two of them touch. */
  #ranges: readonly KeyRange[] = [];

  /** Whether a page that begins after a key begins within a range. */
  covers(key: string): boolean {
    return this.#ranges.some(({ after, upTo }) => compareKeys(after, key) <= 0 && isBefore(key, upTo));
  }

  /** Adds the range of a page. */
  add(after: string, upTo: string | undefined): void {
    let added: KeyRange = { after, upTo };
    const others = this.#ranges.filter((range) => {
      const touches = !isBefore(range.upTo, added.after) && !isBefore(added.upTo, range.after);
      if (touches) added = union(range, added);
      return !touches;
    });
    this.#ranges = others.length < MOST_RANGES ? [...others, added] : [added];
  }
}

const union = (one: KeyRange, other: KeyRange): KeyRange => ({
  after: compareKeys(one.after, other.after) <= 0 ? one.after : other.after,
  upTo: isBefore(one.upTo, other.upTo) ? other.upTo : one.upTo,
});

/** Whether an end is before another one; absent: the end of all keys. */
const isBefore = (end: string | undefined, other: string | undefined): boolean =>
  end !== undefined && (other === undefined || compareKeys(end, other) < 0);
