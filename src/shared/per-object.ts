/** What is computed once for each object, and kept for as long as the object exists. This module knows nothing of the objects. */

export function perObject<K extends WeakKey, V>(make: (object: K) => V): (object: K) => V {
  const made = new WeakMap<K, V>();
  return (object) => made.getOrInsertComputed(object, make);
}

let last = 0;

/** A number that identifies an object during its lifetime, for keys of caches. */
export const numberOf: (object: object) => number = perObject(() => ++last);
