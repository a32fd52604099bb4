/**
 * The counters of values in use (values-in-use.ts), computed from the rows in SQL, to check the stored counters and to rebuild
 * them.
 */

import type { Planner } from './context.ts';
import { tolerateDamage } from './dialect.ts';
import { all, bind, column, integer, join, name, type Sql, sql } from './fragment.ts';
import type { ResourceLayout } from './layout/index.ts';
import type { StoreModel } from './model.ts';
import {
  ANY_SYSTEM,
  type CountedField,
  countedColumn,
  countedFields,
  LONGEST_VALUE,
  VALUE_COUNTER_END,
  VALUE_COUNTER_PREFIX,
  valueCounterName,
} from './values-in-use.ts';

/** The columns of counted fields, to append to a SELECT of a row `r` of the columns table. */
export const countedColumns = (model: StoreModel, layout: ResourceLayout): Sql =>
  join(
    countedFields(model, layout).map(
      ({ field }, index) => sql`, ${column('r', field.name)} AS ${name(countedColumn(index))}`,
    ),
    '',
  );

/** The stored counters that are not zero. */
const storedCounters = sql`SELECT resource, visible, system, rows AS n FROM plat_counters
  WHERE resource > ${bind(VALUE_COUNTER_PREFIX)} AND resource < ${bind(VALUE_COUNTER_END)} AND rows <> 0`;

/** The counters that the rows imply; undefined if the store cannot contain any. */
function expectedCounters(planner: Planner): Sql | undefined {
  const { model } = planner;
  const each = [...model.dictionary.resources.keys()]
    .filter(model.stores)
    .map(model.layout)
    .flatMap((layout) => countedFields(model, layout).map((field) => countValues(planner, layout, field)));
  if (each.length === 0) return undefined;
  return sql`SELECT v.resource, v.visible, v.system, sum(v.n) AS n FROM (${join(each, ' UNION ALL ')}) v
    GROUP BY v.resource, v.visible, v.system`;
}

/** Counts how often a field has each value, under the names of the counters. */
function countValues(
  planner: Planner,
  layout: ResourceLayout,
  { field, lookup, listed, audience, withheld, unhindered }: CountedField,
): Sql {
  const dialect = tolerateDamage(planner.dialect);
  const own = column('r', field.name);
  const from = field.collection
    ? sql`(SELECT DISTINCT m._key, m._visible, m._shown, m._system, l.value AS value FROM ${name(layout.columnsTable)} m, ${dialect.lateral}${dialect.members(column('m', field.name), 'l')} WHERE ${column('m', field.name)} IS NOT NULL)`
    : name(layout.columnsTable);
  const value = field.collection ? sql`r.value` : own;
  const shown =
    withheld === 0
      ? sql`${integer(audience)}`
      : sql`CASE WHEN (r._shown & ${integer(withheld)}) = ${integer(withheld)} THEN ${integer(audience)} ELSE ${integer(audience & unhindered)} END`;
  const system = layout.systemSource === 'none' ? bind(ANY_SYSTEM) : sql`coalesce(r._system, '')`;
  const list = bind(JSON.stringify([...listed]));
  const isListed = sql`${value} IN (SELECT k.value FROM ${dialect.members(list, 'k')})`;
  const rows = sql`SELECT ${value} AS value, (r._visible & ${shown}) AS visible, ${system} AS system FROM ${from} r
    WHERE ${all([
      sql`${value} IS NOT NULL`,
      sql`${value} <> ''`,
      ...(listed.size === 0 ? [] : [sql`NOT ${isListed}`]),
      sql`length(${value}) <= ${integer(LONGEST_VALUE)}`,
    ])}`;
  return sql`SELECT concat(${bind(valueCounterName(lookup, ''))}, c.value) AS resource, c.visible, c.system, count(*) AS n
    FROM (${rows}) c WHERE c.visible <> 0 GROUP BY c.value, c.visible, c.system`;
}

/** Statements that find out whether the stored counters differ from the rows, and correct them. */
export function valueCounterRepair(planner: Planner): { readonly find: Sql; readonly mend: readonly Sql[] } {
  const expected =
    expectedCounters(planner) ??
    sql`SELECT resource, visible, system, rows AS n FROM plat_counters WHERE FALSE`;
  return {
    find: sql`EXISTS (${expected} EXCEPT ${storedCounters}) OR EXISTS (${storedCounters} EXCEPT ${expected})`,
    mend: [
      sql`DELETE FROM plat_counters WHERE resource > ${bind(VALUE_COUNTER_PREFIX)} AND resource < ${bind(VALUE_COUNTER_END)}`,
      sql`INSERT INTO plat_counters (resource, visible, system, rows) SELECT c.resource, c.visible, c.system, c.n FROM (${expected}) c`,
    ],
  };
}
