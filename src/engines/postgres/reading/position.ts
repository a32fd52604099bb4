import type { ResourceLayout } from '../../../compile/layout/index.ts';
import type { ServerSession } from '../connection/session.ts';

/** Places of a list that are looked up at once. */
const PROBES = 256;

/**
 * How many ids of a list in key order are of keys up to and including `key`. Some ids of the list, evenly apart, are
 * looked up, then those between two of them; ids whose rows are gone are stepped over.
 */
export async function positionAfter(
  rows: ServerSession['rows'],
  { textsTable }: ResourceLayout,
  ids: Uint32Array,
  key: string,
): Promise<number> {
  /** The last of some places whose key is not beyond, and the first whose key is. */
  const look = async (places: readonly number[]): Promise<{ last: number; first: number }> => {
    const [row] = await rows(
      `SELECT max(p.place) FILTER (WHERE t._key <= $1) AS last, min(p.place) FILTER (WHERE t._key > $1) AS first
       FROM unnest($2::bigint[], $3::bigint[]) p(id, place) JOIN "${textsTable}" t ON t._id = p.id`,
      [key, places.map((place) => ids[place] ?? 0), places],
    );
    return { last: Number(row?.last ?? -1), first: Number(row?.first ?? Number.POSITIVE_INFINITY) };
  };
  let low = 0;
  let high = ids.length;
  while (high - low > PROBES) {
    const step = (high - low) / PROBES;
    const from = low;
    const { last, first } = await look(
      Array.from({ length: PROBES }, (_, index) => Math.floor(from + index * step)),
    );
    const [before, width] = [low, high - low];
    low = Math.max(low, last + 1);
    high = Math.min(high, first);
    // Where all of them are gone, the beginning is looked through.
    if (low === before && high - low === width) {
      const start = await look(Array.from({ length: PROBES }, (_, index) => before + index));
      if (start.first < Number.POSITIVE_INFINITY) return Math.max(before, start.last + 1);
      low = before + PROBES;
    }
  }
  const { last } = await look(Array.from({ length: high - low }, (_, index) => low + index));
  return Math.max(low, last + 1);
}
