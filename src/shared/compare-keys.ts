/** The order of keys: that of their UTF-8 bytes (I1), in which both engines compare them. */

const SURROGATE = /[\ud800-\udfff]/;

/** Negative if `left` comes first, positive if `right` does. Without surrogates JavaScript's own order is the same. */
export function compareKeys(left: string, right: string): number {
  if (left === right) return 0;
  if (SURROGATE.test(left) || SURROGATE.test(right)) {
    return Buffer.compare(Buffer.from(left), Buffer.from(right));
  }
  return left < right ? -1 : 1;
}
