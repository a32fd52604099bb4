/**
 * Follows the sequence of changes (rows/change-log.ts): what has changed since a position, as the reader's own snapshot
 * sees it. Whatever keeps something that it has read asks this before it uses it again. It knows no engine, and nothing of
 * what is kept.
 */
import { integer, type Sql, sql } from '../compile/fragment.ts';
import { COMMIT, EVERYTHING } from './rows/change-entry.ts';
import type { Row } from './session.ts';

/** A position, and the name of the commit that it is the end of; empty: it is the end of none. */
export interface Place {
  readonly position: number;
  readonly commit: string;
}

/** What a snapshot sees beyond a position. */
export type Changes =
  /** The records that have changed, and the position that they lead to; none: nothing has. */
  | {
      readonly kind: 'records';
      readonly position: number;
      readonly keys: ReadonlyMap<string, ReadonlySet<string>>;
      /** Resources of which any record may have changed. */
      readonly resources: ReadonlySet<string>;
      /** The names of the commits at the position where it begins and since, by the positions of their ends. */
      readonly commits: ReadonlyMap<number, string>;
    }
  /** What has changed is no longer known, or is more than it is worth to follow. */
  | { readonly kind: 'everything'; readonly position: number; readonly commits: ReadonlyMap<number, string> }
  /** The snapshot is of a time before the position, on a server that is behind. */
  | { readonly kind: 'behind' };

/** The position before the first change. */
export const BEFORE_ALL = 0;

/** The position of a follower that has nothing yet to be told of: it begins with the last change. */
export const FROM_NOW = Number.MAX_SAFE_INTEGER;

/** Where changes lead to. */
export const endOf = ({ position, commits }: Exclude<Changes, { kind: 'behind' }>): Place => {
  return { position, commit: commits.get(position) ?? '' };
};

/**
 * Whether a snapshot has the commit that a follower knows under a position. Otherwise it is of a store that was brought back,
 * and nothing that the follower has kept is of use.
 * @param commits of the changes since that position, or an earlier one
 */
export const isThere = (
  { position, commit }: Place,
  { commits }: Exclude<Changes, { kind: 'behind' }>,
): boolean => (commits.get(position) ?? '') === commit;

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
    return position === BEFORE_ALL || position === FROM_NOW
      ? nothingSince(BEFORE_ALL, new Map())
      : { kind: 'behind' };
  }
  const begins = Number(first.seq);
  const ends = rows.filter(({ resource }) => resource === COMMIT);
  const commits = new Map(ends.map(({ seq, key }) => [Number(seq), String(key)]));
  if (position === FROM_NOW) return nothingSince(begins, commits);
  if (begins < position) return { kind: 'behind' };
  const last = Number(rows.at(-1)?.seq);
  const isUnbroken = begins === position || (position === BEFORE_ALL && begins === 1);
  if (!isUnbroken || rows.length > FOLLOWED) return { kind: 'everything', position: last, commits };
  const keys = new Map<string, Set<string>>();
  const resources = new Set<string>();
  for (const { seq, resource, key } of rows) {
    const named = String(resource);
    if (Number(seq) === position || named === COMMIT) continue;
    if (named === EVERYTHING) return { kind: 'everything', position: last, commits };
    if (key === EVERYTHING) resources.add(named);
    else keys.set(named, (keys.get(named) ?? new Set()).add(String(key)));
  }
  return { kind: 'records', position: last, keys, resources, commits };
}

const nothingSince = (position: number, commits: ReadonlyMap<number, string>): Changes => ({
  kind: 'records',
  position,
  keys: new Map(),
  resources: new Set(),
  commits,
});
