/** Known damage: which records of a store are damaged, and how a body reveals that it contains one. */
import type { Field } from '../dictionary/index.ts';
import type { Dialect } from './dialect.ts';
import { bind, column, concat, constantText, type Sql, sql } from './fragment.ts';
import type { ResourceLayout } from './layout/index.ts';

/** By resource, the keys of damaged records; `all` if there are too many to remember each. */
export type DamagedRecords = ReadonlyMap<string, readonly string[] | 'all'>;

/** Delimits the marker of a damaged record. No JSON text contains this character. */
const MARK = '\u0006';

export const markOf = (resource: string): { readonly before: string; readonly behind: string } => ({
  before: `${MARK}${resource} `,
  behind: MARK,
});

/** The resource and key of the first damaged record in a body; undefined if there is none. */
export function findDamagedRecord(body: Buffer): string | undefined {
  const marked = body.indexOf(MARK);
  const end = body.indexOf(MARK, marked + 1);
  return marked < 0 || end < 0 ? undefined : body.toString('utf8', marked + 1, end);
}

interface Marker {
  readonly damaged?: DamagedRecords | undefined;
  readonly dialect: Dialect;
}

/**
 * Selects a marker in front of a record that is known to be damaged. Since the marker is not valid JSON, no body with a marker
 * leaves the store (store/whole/validate-body.ts). While no damage is known, nothing is added to statements.
 * @param key the key of the record; null if there is none
 */
export function markIfDamaged({ damaged, dialect }: Marker, resource: string, key: Sql): Sql[] {
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

/**
 * Selects markers for the agents and offices whose values a record includes.
 * @param fields the fields that are returned; absent: all
 */
export function markDamagedLinks(
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
    .flatMap(({ field, resource }) => markIfDamaged(source, resource, column(alias, field)));
}
