import type { Field } from '../dictionary/index.ts';
import type { Dialect } from './dialect.ts';
import { bind, column, concat, constantText, type Sql, sql } from './fragment.ts';
import type { ResourceLayout } from './layout/index.ts';

/** Which records of a store are known to be damaged, and how a body says that it holds one. It knows no engines. */

/** By resource, the keys of damaged records; `all` where there are too many to know each. */
export type DamagedRecords = ReadonlyMap<string, readonly string[] | 'all'>;

/** Opens and ends what stands in the place of a damaged record: no JSON holds it. */
const MARK = '\u0006';

export const markOf = (resource: string): { readonly before: string; readonly behind: string } => ({
  before: `${MARK}${resource} `,
  behind: MARK,
});

/** Resource and key of the first damaged record in a body; undefined where there is none. */
export function markedIn(body: Buffer): string | undefined {
  const marked = body.indexOf(MARK);
  const end = body.indexOf(MARK, marked + 1);
  return marked < 0 || end < 0 ? undefined : body.toString('utf8', marked + 1, end);
}

/**
 * What a statement puts in the place of a record that is known to be damaged: something that no JSON holds, so that no
 * body with it leaves the store (whole/whole-bodies.ts). Nothing is put anywhere while no damage is known.
 */

interface Marker {
  readonly damaged?: DamagedRecords | undefined;
  readonly dialect: Dialect;
}

/** @param key of the record; null where there is none */
export function damagedMark({ damaged, dialect }: Marker, resource: string, key: Sql): Sql[] {
  const keys = damaged?.get(resource);
  if (keys === undefined) return [];
  const { before, behind } = markOf(resource);
  const mark = concat([constantText(before), key, constantText(behind)]);
  const isDamaged =
    keys === 'all'
      ? sql`${key} IS NOT NULL`
      : sql`${key} IN (SELECT d_known.value FROM ${dialect.members(bind(JSON.stringify(keys)), 'd_known')})`;
  return [sql`CASE WHEN ${isDamaged} THEN ${mark} ELSE '' END`];
}

/** The same for agents and offices whose values a record gives as its own. @param fields absent: all that it has */
export function linkedMarks(
  source: Marker,
  layout: ResourceLayout,
  alias: string,
  fields?: readonly Field[],
): Sql[] {
  if (source.damaged === undefined) return [];
  const isGiven = (link: string): boolean =>
    fields === undefined || fields.some(({ joined }) => joined?.link === link);
  return layout.links
    .filter(({ field }) => isGiven(field))
    .flatMap(({ field, resource }) => damagedMark(source, resource, column(alias, field)));
}
