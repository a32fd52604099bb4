/** Suggestions for unknown names: the known name with the fewest edits. This module knows no particular names. */

/** The number of edits (insert, delete, replace, swap of neighbors) between two names, up to a limit. */
function editDistance(left: string, right: string, cap: number): number {
  if (Math.abs(left.length - right.length) > cap) return cap + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    let best = row;
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (
        row > 1 &&
        column > 1 &&
        left[row - 1] === right[column - 2] &&
        left[row - 2] === right[column - 1]
      ) {
        cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(cost);
      best = Math.min(best, cost);
    }
    if (best > cap) return cap + 1;
    beforeLast = last;
    last = current;
  }
  return last[right.length] ?? cap + 1;
}

/** The known name that a mistyped one most likely means; undefined if none is similar. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  const lower = name.slice(0, 64).toLowerCase();
  const limit = Math.max(1, Math.min(4, Math.floor(lower.length / 3)));
  let nearest: string | undefined;
  let least = limit + 1;
  for (const candidate of known) {
    const edits = editDistance(lower, candidate.toLowerCase(), limit);
    if (edits < least) {
      nearest = candidate;
      least = edits;
    }
  }
  return nearest;
}

/**
 * The name that a request most likely means, among the names of its own interface and of the other one. A name of the other
 * interface suggests its counterpart in this one, however different the two are.
 * @param others names of the other interface, each with its counterpart in this one
 */
export function nearestOfEither(
  name: string,
  known: Iterable<string>,
  others: Iterable<readonly [other: string, here: string]>,
): string | undefined {
  const counterparts = new Map(others);
  const own = new Set(known);
  const nearest = nearestName(name, [...own, ...counterparts.keys()]);
  return nearest === undefined || own.has(nearest) ? nearest : counterparts.get(nearest);
}
