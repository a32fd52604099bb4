/**
 * Whether a row is sound, as far as the engine can tell by itself: then `row-faults.ts` finds nothing either, and the row
 * need not be read. A row that the engine does not find sound may still be; it is for `row-faults.ts` to judge.
 */

import type { Planner } from '../../compile/context.ts';
import { all, column, compact, constantText, integer, type Sql, sql } from '../../compile/fragment.ts';
import { isOneTable, PUBLISHED, type ResourceLayout } from '../../compile/layout/index.ts';
import { dormantFields, type StoreModel } from '../../compile/model.ts';
import {
  type CheckedRow,
  columnNamed,
  columnOf,
  isWrittenFile,
  writtenHash,
  writtenKind,
  writtenTexts,
} from '../../compile/text/written.ts';
import { parentColumn, shownBits, visibleBits } from '../../compile/visibility.ts';

/** Columns of plat's own that stand in both tables of a record. */
export const SHARED = ['_id', '_system', '_visible', '_shown'] as const;

/** A condition on a row of the columns table under alias `r`, with its texts under `t` where these have a table. */
export function isSound(planner: Planner, layout: ResourceLayout): Sql {
  const made = kept.get(planner.model) ?? new Map<string, Sql>();
  kept.set(planner.model, made);
  const { name } = layout.resource;
  const condition = made.get(name) ?? compact(all(conditions(planner, layout)));
  made.set(name, condition);
  return condition;
}

/** Composing one takes longer than a few rows do. */
const kept = new WeakMap<StoreModel, Map<string, Sql>>();

function conditions(planner: Planner, layout: ResourceLayout): Sql[] {
  const { dialect, model } = planner;
  const { resource } = layout;
  const texts = isOneTable(layout) ? 'r' : 't';
  const version = column(texts, '_profile');
  const row: CheckedRow = { dialect, model, layout, alias: 'r', version };
  const [key, system] = [
    parentColumn(planner, layout, 'r', '_key'),
    parentColumn(planner, layout, 'r', '_system'),
  ];
  const parent = key === undefined || system === undefined ? undefined : { key, system };
  const isReplica = model.settings.owner === 'replica' && !PUBLISHED.has(resource.name);
  return [
    sql`${version} BETWEEN 1 AND ${integer(Number.MAX_SAFE_INTEGER)}`,
    ...(resource.parent === undefined
      ? []
      : [
          sql`${column('r', '_parent')} <> ''`,
          resource.parent.kind === 'fixed'
            ? sql`${column('r', '_parent_resource')} = ${constantText(resource.parent.resource)}`
            : sql`${column('r', '_parent_resource')} <> ''`,
        ]),
    ...(PUBLISHED.has(resource.name) ? [] : [sql`${column('r', '_audience')} IS NULL`]),
    ...dormantFields(model, resource).map((field) => sql`${column('r', field)} IS NULL`),
    ...laterFields(row),
    same(column('r', '_kind'), writtenKind(row)),
    same(column('r', '_rank'), columnNamed(row, 'Order')),
    isWrittenFile(row),
    sql`${column('r', '_visible')} = ${visibleBits(planner, layout, 'r')}`,
    sql`${column('r', '_shown')} = ${shownBits(planner, layout, 'r')}`,
    parent === undefined
      ? same(column('r', '_system'), columnNamed(row, 'OriginatingSystemID'))
      : sql`CASE WHEN ${parent.key} IS NULL THEN TRUE ELSE ${same(column('r', '_system'), parent.system)} END`,
    ...(isReplica ? [sql`${column('r', '_source')} IN (SELECT s.source FROM plat_ledger_state s)`] : []),
    ...(isOneTable(layout) ? [] : agreeing(row)),
    ...writtenTexts(row).map(([name, written]) => sql`${column(texts, name)} = ${written}`),
    sql`${column('r', '_hash')} = ${writtenHash(row, parent)}`,
  ];
}

const same = (one: Sql, other: Sql): Sql => sql`${one} IS NOT DISTINCT FROM ${other}`;

/** What stands in both tables of a record. */
function agreeing(row: CheckedRow): Sql[] {
  const links = row.layout.links.map(({ field }) => same(column('t', field), columnNamed(row, field)));
  return [...SHARED.map((name) => same(column('t', name), column('r', name))), ...links];
}

/** A row whose texts are of an older version of the profile has no value in a field that came later. */
function laterFields(row: CheckedRow): Sql[] {
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
