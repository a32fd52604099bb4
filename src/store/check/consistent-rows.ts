/**
 * Determines in SQL which rows are consistent, so that a check need not read them: `row-faults.ts` would find nothing in such a
 * row. The condition may reject a consistent row, which is then read, but it never accepts a damaged one.
 */
import { type Planner, samePartition } from '../../compile/context.ts';
import {
  all,
  column,
  compact,
  constantText,
  integer,
  join,
  joinConditions,
  name,
  type Sql,
  sql,
  name as tableName,
} from '../../compile/fragment.ts';
import { isOneTable, PUBLISHED_RESOURCES, type ResourceLayout } from '../../compile/layout/index.ts';
import { sameSearchRow } from '../../compile/layout/search-table.ts';
import { dormantFields, type StoreModel } from '../../compile/model.ts';
import {
  type CheckedRow,
  columnNamed,
  columnOf,
  expectedHash,
  expectedKind,
  expectedTexts,
  isExpectedFile,
} from '../../compile/text/expected-texts.ts';
import { parentColumn, shownBits, visibleBits } from '../../compile/visibility.ts';
import { MEDIA_KINDS } from '../../dictionary/index.ts';
import { formerHashLength } from '../../records/content-hash.ts';
import {
  COUNTED_RESOURCE,
  COUNTING_RESOURCE,
  countFieldOf,
  PERMISSION,
  PUBLIC_PERMISSION,
} from '../../records/media.ts';
import { memoizePerObject } from '../../shared/memoize.ts';
import { derivedCounts } from '../write/prepare.ts';

/** The fault of a listing whose counts are not the numbers of its media. */
export const WRONG_COUNTS = 'its counts of media';

/** The fault of a medium that names another originating system than that of its listing, as earlier versions of plat stored it. */
export const FOREIGN_SYSTEM = 'the originating system of its listing';

/** plat's own columns that both tables of a record have. */
const SHARED = ['_id', '_system', '_visible', '_shown'];

/** Compiled conditions by model and resource: compiling one takes longer than checking a few rows. */
const compiledFor = memoizePerObject((_: StoreModel) => new Map<string, Sql>());

/** A condition on a row of the columns table, alias `r`, with its texts under `t` if they have a table of their own. */
export const isSound = (planner: Planner, layout: ResourceLayout): Sql =>
  compiledFor(planner.model).getOrInsertComputed(layout.resource.name, () =>
    compact(all(conditions(planner, layout))),
  );

function conditions(planner: Planner, layout: ResourceLayout): Sql[] {
  const { dialect, model } = planner;
  const { resource } = layout;
  const texts = isOneTable(layout) ? 'r' : 't';
  const version = column(texts, '_profile');
  const row: CheckedRow = { dialect, model, layout, alias: 'r', version };
  const placing = resource.parent === undefined ? [] : ['_parent', '_parent_resource'];
  return [
    sql`${version} BETWEEN 1 AND ${integer(Number.MAX_SAFE_INTEGER)}`,
    ...placing.map((each) => sql`${column('r', each)} <> ''`),
    ...dormantFields(model, resource).map((field) => sql`${column('r', field)} IS NULL`),
    ...laterFieldsAreNull(row),
    same(column('r', '_kind'), expectedKind(row)),
    same(column('r', '_rank'), columnNamed(row, 'Order')),
    isExpectedFile(row),
    ...columnAgreements(planner, layout).map(({ holds }) => holds),
    ...expectedTexts(row).map(([name, written]) => sql`${column(texts, name)} = ${written}`),
    sql`${column('r', '_hash')} = ${expectedHash(row, parentColumns(planner, layout))}`,
  ];
}

/** A row whose texts are from an older version of the profile has no value in a field that came into use later. */
function laterFieldsAreNull(row: CheckedRow): Sql[] {
  const { layout, version } = row;
  const later = Map.groupBy(
    layout.fields.filter((field) => layout.since(field) > 1),
    (field) => layout.since(field),
  );
  return [...later].map(([since, fields]) => {
    const bare = fields.map((field) => sql`${columnOf(row, field)} IS NULL`);
    return sql`(${version} >= ${integer(since)} OR ${all(bare)})`;
  });
}

/** A column, and the condition under which it agrees with the rest of its row. */
interface Agreement {
  readonly what: string;
  readonly holds: Sql;
}

/** The agreements that SQL can decide exactly, under the aliases of `isSound`. */
export function columnAgreements(planner: Planner, layout: ResourceLayout): Agreement[] {
  const { resource } = layout;
  const own = (name: string): Sql => column('r', name);
  const isPublished = PUBLISHED_RESOURCES.has(resource.name);
  const parent = parentColumns(planner, layout);
  const row = { ...planner, layout, alias: 'r', version: sql`0` };
  const system =
    parent === undefined
      ? same(own('_system'), columnNamed(row, 'OriginatingSystemID'))
      : sql`CASE WHEN ${parent.key} IS NULL THEN TRUE ELSE ${same(own('_system'), parent.system)} END`;
  const found: [string, Sql][] = [
    ['_visible', sql`${own('_visible')} = ${visibleBits(planner, layout, 'r')}`],
    ['_shown', sql`${own('_shown')} = ${shownBits(planner, layout, 'r')}`],
    ['_system', system],
  ];
  // Only the published Field and Lookup rows name, row by row, the roles that see them; their hash covers this.
  if (!isPublished) found.push(['_audience', sql`${own('_audience')} IS NULL`]);
  if (resource.parent?.kind === 'fixed') {
    found.push([
      '_parent_resource',
      sql`${own('_parent_resource')} = ${constantText(resource.parent.resource)}`,
    ]);
  }
  // Every record of a replica came from a source.
  if (planner.model.settings.owner === 'replica' && !isPublished) {
    found.push(['_source', sql`${own('_source')} IN (SELECT s.source FROM plat_ledger_state s)`]);
  }
  if (!isOneTable(layout)) {
    for (const name of SHARED) found.push([name, same(column('t', name), own(name))]);
    for (const { field } of layout.links) {
      found.push([`text of ${field}`, same(column('t', field), columnNamed(row, field))]);
    }
  }
  const names = columnNamed(row, 'OriginatingSystemResourceRecordSystemID');
  if (
    resource.name === COUNTED_RESOURCE &&
    planner.model.settings.owner === 'authority' &&
    parent !== undefined
  ) {
    const says = sql`${parent.key} IS NOT NULL AND ${own('_system')} IS NOT NULL`;
    const isOfListing = sql`${own('_parent_resource')} = ${constantText(COUNTING_RESOURCE)}`;
    const isForeign = sql`${names} IS DISTINCT FROM ${own('_system')} AND ${isOfListing} AND ${says}`;
    found.push([FOREIGN_SYSTEM, sql`NOT (${isForeign})`]);
  }
  const areCounted = areCountsSound(planner, layout);
  if (areCounted !== undefined) found.push([WRONG_COUNTS, areCounted]);
  const { search } = layout;
  if (search !== undefined) {
    const isItsRow = all([sameSearchRow(search), ...samePartition(planner.dialect, layout, 's', 'r')]);
    found.push([
      'its search row',
      sql`EXISTS (SELECT 1 FROM ${tableName(search.table)} s WHERE ${isItsRow})`,
    ]);
  }
  return found.map(([what, holds]) => ({ what, holds }));
}

const same = (one: Sql, other: Sql): Sql => sql`${one} IS NOT DISTINCT FROM ${other}`;

/** The key and the originating system of a row's stored parent; undefined for resources without a parent. */
export function parentColumns(
  planner: Planner,
  layout: ResourceLayout,
): { readonly key: Sql; readonly system: Sql } | undefined {
  const key = parentColumn(planner, layout, 'r', '_key');
  const system = parentColumn(planner, layout, 'r', '_system');
  return key === undefined || system === undefined ? undefined : { key, system };
}

/** Whether the counts of the row of `r` are right; undefined if the store derives none. */
function areCountsSound(planner: Planner, { resource }: ResourceLayout): Sql | undefined {
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
