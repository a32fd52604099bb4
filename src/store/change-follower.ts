/**
 * Follows the sequence of changes (rows/change-log.ts): what has changed since a position, as the reader's own snapshot
 * sees it. Whatever keeps something that it has read asks this before it uses it again. It knows no engine, and nothing of
 * what is kept.
 */
import { integer, type Sql, sql } from '../compile/fragment.ts';
import { EVERYTHING } from './rows/change-log.ts';
import type { Row } from './session.ts';

/** What a snapshot sees beyond a position. */
export type Changes =
  /** The records that have changed, and the position that they lead to; none: nothing has. */
  | {
      readonly kind: 'records';
      readonly position: number;
      readonly keys: ReadonlyMap<string, ReadonlySet<string>>;
      /** Resources of which any record may have changed. */
      readonly resources: ReadonlySet<string>;
    }
  /** What has changed is no longer known, or is more than it is worth to follow. */
  | { readonly kind: 'everything'; readonly position: number }
  /** The snapshot is of a time before the position, on a server that is behind. */
  | { readonly kind: 'behind' };

/** The position before the first change. */
export const BEFORE_ALL = 0;

/** The position of a follower that has nothing yet to be told of: it begins with the last change. */
export const FROM_NOW = Number.MAX_SAFE_INTEGER;

/** Changes that are followed by key. */
const FOLLOWED = 20_000;

/**
 * The statement that finds what has changed. The last entry is never removed from the log, so the entry at the position
 * itself shows that nothing between is missing.
 * @param position an integer: an engine does not look a number of another type up in the index
 */
export const changesSince = (position: Sql): Sql => {
  const last = sql`(SELECT coalesce(max(seq), 0) FROM plat_changes)`;
  return sql`SELECT seq, resource, key FROM plat_changes
    WHERE seq >= CASE WHEN ${last} < ${position} THEN ${last} ELSE ${position} END
    ORDER BY seq LIMIT ${integer(FOLLOWED + 1)}`;
};

/** @param rows of the statement for this position */
export function changesIn(position: number, rows: readonly Row[]): Changes {
  const [first] = rows;
  if (first === undefined) {
    return position === BEFORE_ALL || position === FROM_NOW ? nothingSince(BEFORE_ALL) : { kind: 'behind' };
  }
  const begins = Number(first.seq);
  if (position === FROM_NOW) return nothingSince(begins);
  if (begins < position) return { kind: 'behind' };
  const last = Number(rows.at(-1)?.seq);
  const isUnbroken = begins === position || (position === BEFORE_ALL && begins === 1);
  if (!isUnbroken || rows.length > FOLLOWED) return { kind: 'everything', position: last };
  const keys = new Map<string, Set<string>>();
  const resources = new Set<string>();
  for (const { seq, resource, key } of rows) {
    if (Number(seq) === position) continue;
    const named = String(resource);
    if (named === EVERYTHING) return { kind: 'everything', position: last };
    if (key === EVERYTHING) resources.add(named);
    else keys.set(named, (keys.get(named) ?? new Set()).add(String(key)));
  }
  return { kind: 'records', position: last, keys, resources };
}

const nothingSince = (position: number): Changes => ({
  kind: 'records',
  position,
  keys: new Map(),
  resources: new Set(),
});
