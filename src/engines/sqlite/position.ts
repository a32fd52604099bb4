import type { ResourceLayout } from '../../compile/layout/index.ts';
import type { Connection } from './connection.ts';

/**
 * How many ids of a list in key order are of keys up to and including `key`. A binary search that asks for the key
 * of an id; ids whose rows are gone are stepped over.
 */
export function positionAfter(
  connection: Connection,
  { textsTable }: ResourceLayout,
  ids: Uint32Array,
  key: string,
): number {
  const statement = connection.prepare(`SELECT _key FROM "${textsTable}" WHERE _id = ?`);
  const keyAt = (index: number): string | undefined => {
    const row = statement.get(ids[index] ?? 0);
    return row === undefined ? undefined : String(row._key);
  };
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    let probe = middle;
    let found = keyAt(probe);
    while (found === undefined && probe < high - 1) found = keyAt(++probe);
    if (found === undefined) high = middle;
    else if (compareBytes(found, key) <= 0) low = probe + 1;
    else high = middle;
  }
  return low;
}

/** The order of the store: by bytes of UTF-8, which for texts of the same planes is not that of JavaScript. */
export function compareBytes(left: string, right: string): number {
  return left === right ? 0 : Buffer.compare(Buffer.from(left), Buffer.from(right));
}
