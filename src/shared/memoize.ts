/** Values that are computed once per object and cached for its lifetime. This module knows nothing of the objects. */

export function memoizePerObject<K extends WeakKey, V>(make: (object: K) => V): (object: K) => V {
  const made = new WeakMap<K, V>();
  return (object) => made.getOrInsertComputed(object, make);
}

let last = 0;

/** A number that identifies an object during its lifetime, for keys of caches. */
export const objectId: (object: object) => number = memoizePerObject(() => ++last);
