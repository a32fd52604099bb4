/**
 * Follows the sequence of changes (rows/change-log.ts): returns the changes since a position, as the reader's own snapshot sees
 * them. Every cache of stored data calls this before it uses its data again. It knows neither engines nor what is cached.
 */
import { integer, type Sql, sql } from '../../compile/fragment.ts';
import { COMMIT, EVERYTHING } from '../rows/change-log.ts';
import type { Row } from '../session.ts';

/** A position, and the id of the commit that ends there; the id is empty if no commit ends there. */
export interface Place {
  readonly position: number;
  readonly commit: string;
}

/** The changes that a snapshot sees after a position. */
export type Changes =
  /** The changed records, and the position after them; empty if nothing has changed. */
  | {
      readonly kind: 'records';
      readonly position: number;
      readonly keys: ReadonlyMap<string, ReadonlySet<string>>;
      /** Resources of which any record may have changed. */
      readonly resources: ReadonlySet<string>;
      /** The ids of the commits that end at the starting position and after it, by position. */
      readonly commits: ReadonlyMap<number, string>;
    }
  /** The changes are no longer known, or are too many to follow. */
  | { readonly kind: 'everything'; readonly position: number; readonly commits: ReadonlyMap<number, string> }
  /** The snapshot is older than the position: its server lags behind. */
  | { readonly kind: 'behind' };

/** The position before the first change. */
export const BEFORE_ALL = 0;

/** The position of a follower that has nothing cached yet: it begins with the last change. */
export const FROM_NOW = Number.MAX_SAFE_INTEGER;

/** The position after the changes. */
export const placeAfterChanges = ({ position, commits }: Exclude<Changes, { kind: 'behind' }>): Place => {
  return { position, commit: commits.get(position) ?? '' };
};

/**
 * Whether a snapshot contains the commit that a follower knows at a position. If it does not, the store was restored, and nothing
 * that the follower has cached is valid.
 * @param commits the commits of the changes since that position, or since an earlier one
 */
export const containsCommit = (
  { position, commit }: Place,
  { commits }: Exclude<Changes, { kind: 'behind' }>,
): boolean => (commits.get(position) ?? '') === commit;

/** The maximum number of changes that are followed by key. */
const MAX_FOLLOWED = 20_000;

/**
 * The statement that selects the changes. The last entry is never removed from the log, so finding the entry at the
 * position itself proves that nothing in between is missing.
 * @param position an integer, because an engine does not use the index for a number of another type
 */
export const selectChangesSince = (position: Sql): Sql => {
  const last = sql`(SELECT coalesce(max(seq), 0) FROM plat_changes)`;
  return sql`SELECT seq, resource, key FROM plat_changes
    WHERE seq >= CASE WHEN ${last} < ${position} THEN ${last} ELSE ${position} END
    ORDER BY seq LIMIT ${integer(MAX_FOLLOWED + 1)}`;
};

/** @param rows the result of `selectChangesSince` for this position */
export function readChanges(position: number, rows: readonly Row[]): Changes {
  const [first] = rows;
  if (first === undefined) {
    return position === BEFORE_ALL || position === FROM_NOW
      ? noChanges(BEFORE_ALL, new Map())
      : { kind: 'behind' };
  }
  const begins = Number(first.seq);
  const ends = rows.filter(({ resource }) => resource === COMMIT);
  const commits = new Map(ends.map(({ seq, key }) => [Number(seq), String(key)]));
  if (position === FROM_NOW) return noChanges(begins, commits);
  if (begins < position) return { kind: 'behind' };
  const last = Number(rows.at(-1)?.seq);
  const isUnbroken = begins === position || (position === BEFORE_ALL && begins === 1);
  if (!isUnbroken || rows.length > MAX_FOLLOWED) return { kind: 'everything', position: last, commits };
  const keys = new Map<string, Set<string>>();
  const resources = new Set<string>();
  for (const { seq, resource, key } of rows) {
    const named = String(resource);
    if (Number(seq) === position || named === COMMIT) continue;
    if (named === EVERYTHING) return { kind: 'everything', position: last, commits };
    if (key === EVERYTHING) resources.add(named);
    else keys.getOrInsertComputed(named, () => new Set()).add(String(key));
  }
  return { kind: 'records', position: last, keys, resources, commits };
}

const noChanges = (position: number, commits: ReadonlyMap<number, string>): Changes => ({
  kind: 'records',
  position,
  keys: new Map(),
  resources: new Set(),
  commits,
});
