/** The order of keys, which is that of their bytes in UTF-8 (I1): as both engines compare them. */

const SURROGATE = /[\ud800-\udfff]/;

/** Negative if `left` comes first, positive if `right` does. Without surrogates JavaScript's own order is the same. */
export function compareKeys(left: string, right: string): number {
  if (left === right) return 0;
  if (SURROGATE.test(left) || SURROGATE.test(right)) {
    return Buffer.compare(Buffer.from(left), Buffer.from(right));
  }
  return left < right ? -1 : 1;
}
