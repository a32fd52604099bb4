/**
 * What a statement puts in the place of a record that is known to be damaged: something that no JSON holds, so that no
 * body with it leaves the store (whole/whole-bodies.ts). Nothing is put anywhere while no damage is known.
 */
import type { Field } from '../dictionary/index.ts';
import type { ContextSource } from './context.ts';
import { markOf } from './damaged-records.ts';
import { bind, column, concat, constantText, type Sql, sql } from './fragment.ts';
import type { ResourceLayout } from './layout/index.ts';

type Marker = Pick<ContextSource, 'damaged' | 'dialect'>;

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
