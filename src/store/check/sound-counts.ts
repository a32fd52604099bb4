/**
 * Determines in SQL whether the counts of a listing are the numbers of its stored media, which an authority's content
 * hash does not cover. It states in SQL what `countChildren` decides (records/media.ts).
 */
import { type Planner, samePartition } from '../../compile/context.ts';
import {
  all,
  column,
  constantText,
  integer,
  join,
  joinConditions,
  name,
  type Sql,
  sql,
} from '../../compile/fragment.ts';
import type { ResourceLayout } from '../../compile/layout/index.ts';
import { MEDIA_KINDS } from '../../dictionary/index.ts';
import { formerHashLength } from '../../records/content-hash.ts';
import { COUNTED_RESOURCE, countFieldOf, PERMISSION, PUBLIC_PERMISSION } from '../../records/media.ts';
import { derivedCounts } from '../write/prepare.ts';

/** Whether the counts of the row of `r` are right; undefined if the store derives none. */
export function areCountsSound(planner: Planner, { resource }: ResourceLayout): Sql | undefined {
  const { dialect, model } = planner;
  const fields = derivedCounts(model, resource.name);
  if (fields.length === 0 || !model.stores(COUNTED_RESOURCE)) return undefined;
  const media = model.layout(COUNTED_RESOURCE);
  const counted = fields.map((field) => {
    const kinds = MEDIA_KINDS.filter((kind) => countFieldOf(kind) === field).map(constantText);
    return sql`count(CASE WHEN m._kind IN (${join(kinds, ', ')}) THEN 1 END) = coalesce(${column('r', field)}, 0)`;
  });
  const ofRow = [
    sql`m._parent = r._key`,
    ...samePartition(dialect, media, 'm', 'r'),
    sql`m._parent_resource = ${constantText(resource.name)}`,
    ...isPublicMedium(planner, media),
  ];
  const areRight = sql`(SELECT ${all(counted)} FROM ${name(media.columnsTable)} m WHERE ${all(ofRow)})`;
  const former = formerHashLength(resource, model.settings.owner);
  // A hash that an earlier version of plat computed also covers the counts, which may have come from an import.
  return former === undefined
    ? areRight
    : joinConditions([sql`length(r._hash) = ${integer(former)}`, areRight], ' OR ');
}

/** The condition that everyone may see a medium of `m`; no condition if no medium has a Permission. */
function isPublicMedium({ dialect }: Planner, media: ResourceLayout): readonly Sql[] {
  if (!media.fields.some((field) => field.name === PERMISSION)) return [];
  const permission = column('m', PERMISSION);
  const named = sql`SELECT p.value FROM ${dialect.members(permission, 'p')}`;
  return [sql`(${permission} IS NULL OR ${constantText(PUBLIC_PERMISSION)} IN (${named}))`];
}
