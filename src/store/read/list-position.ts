/**
 * Finds the position of a key in a list of ids, which does not contain the keys.
 */
import { bind, name, sql } from '../../compile/fragment.ts';
import type { ResourceLayout } from '../../compile/layout/index.ts';
import type { Session } from '../session.ts';

/** The number of places of a list that are looked up at once. */
const PROBES = 64;

/**
 * Returns how many ids of a list in key order have keys up to and including `key`. It looks up some ids at even distances, then
 * some between two of them, and skips ids whose rows are deleted.
 */
export async function positionAfter(
  { rows, dialect }: Session,
  { textsTable }: ResourceLayout,
  ids: Uint32Array,
  key: string,
): Promise<number> {
  /** Returns the last of the given places whose key is not after `key`, and the first one whose key is. */
  const probePlaces = async (places: readonly number[]): Promise<{ last: number; first: number }> => {
    const list = dialect.integerTable(bind(JSON.stringify(places.map((place) => ids[place] ?? 0))), 'p');
    const [row] = await rows(sql`SELECT max(p.position) FILTER (WHERE t._key <= ${bind(key)}) AS last,
      min(p.position) FILTER (WHERE t._key > ${bind(key)}) AS first
      FROM ${list} CROSS JOIN ${name(textsTable)} t WHERE t._id = p.value`);
    const placeOf = (probe: unknown, none: number): number =>
      probe === undefined || probe === null ? none : (places[Number(probe) - 1] ?? none);
    return { last: placeOf(row?.last, -1), first: placeOf(row?.first, Number.POSITIVE_INFINITY) };
  };
  let low = 0;
  let high = ids.length;
  while (high - low > PROBES) {
    const step = (high - low) / PROBES;
    const from = low;
    const { last, first } = await probePlaces(
      Array.from({ length: PROBES }, (_, index) => Math.floor(from + index * step)),
    );
    const [before, width] = [low, high - low];
    low = Math.max(low, last + 1);
    high = Math.min(high, first);
    // If all of the rows are deleted, the start of the range is searched.
    if (low === before && high - low === width) {
      const start = await probePlaces(Array.from({ length: PROBES }, (_, index) => before + index));
      if (start.first < Number.POSITIVE_INFINITY) return Math.max(before, start.last + 1);
      low = before + PROBES;
    }
  }
  const { last } = await probePlaces(Array.from({ length: high - low }, (_, index) => low + index));
  return Math.max(low, last + 1);
}
