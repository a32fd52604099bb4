/**
 * Compiles the visibility rules of a resource to the bits that a store keeps for each row: which roles see the row, and
 * which withheld fields it shows. Writes evaluate the same rules; reads use the stored bits.
 */
import type { RowScope } from '../access/index.ts';
import type { Field, FieldValue } from '../dictionary/index.ts';
import { ownFieldsOf } from '../query/fields-of.ts';
import { type RowToPut, valueToStore } from '../records/rows.ts';
import {
  type Context,
  makeContext,
  type Planner,
  samePartition,
  sameRow,
  type TodaysRules,
  visibleRows,
} from './context.ts';
import { compileCondition } from './expression.ts';
import {
  all,
  bind,
  column,
  constantText,
  integer,
  join,
  joinConditions,
  name,
  type Sql,
  sql,
} from './fragment.ts';
import { ownColumn, PUBLISHED_RESOURCES, type ResourceLayout } from './layout/index.ts';

/** Visibility rules see all rows and all values, because they decide what others see. */
const ALL_ROWS: RowScope = { bit: -1, withholds: false, onlyFloorPlans: false };

function contextOf({ dialect, model }: Planner, layout: ResourceLayout, alias: string): Context {
  const source = { dialect, model, rows: ALL_ROWS, now: startOfDay(model.day) };
  return makeContext(source, alias, layout.resource.name);
}

/** The first moment of a UTC day. */
export const startOfDay = (day: string): string => `${day}T00:00:00Z`;

/** The bits of the roles whose own rule admits a row of `alias`. */
export function ownVisibleBits(planner: Planner, layout: ResourceLayout, alias: string): Sql {
  const context = contextOf(planner, layout, alias);
  const terms = layout.rowRules.map(({ bit, filter }) =>
    filter === undefined
      ? integer(bit)
      : sql`CASE WHEN ${compileCondition(context, filter, false)} THEN ${integer(bit)} ELSE 0 END`,
  );
  return terms.length === 0 ? sql`0` : sql`(${join(terms, ' + ')})`;
}

/**
 * The bits of the roles that see a stored row of `alias` (a columns table). A role sees a child if its rule admits
 * the child and it sees the parent.
 */
export function visibleBits(planner: Planner, layout: ResourceLayout, alias: string): Sql {
  const rules = ownVisibleBits(planner, layout, alias);
  const audience = column(alias, '_audience');
  const own = PUBLISHED_RESOURCES.has(layout.resource.name) ? sql`(${rules} & ${audience})` : rules;
  const parent = parentColumn(planner, layout, alias, '_visible');
  return parent === undefined ? own : sql`(${own} & coalesce(${parent}, 0))`;
}

/** The bits of the conditions under which a row shows withheld values. */
export function shownBits(planner: Planner, layout: ResourceLayout, alias: string): Sql {
  const context = contextOf(planner, layout, alias);
  const terms = layout.withheldRules.map(
    ({ bit, shownWhen }) =>
      sql`CASE WHEN ${compileCondition(context, shownWhen, false)} THEN ${integer(bit)} ELSE 0 END`,
  );
  return terms.length === 0 ? sql`0` : join(terms, ' + ');
}

/** A column of the row's parent; undefined for resources without a parent. */
export function parentColumn(
  { model }: Planner,
  layout: ResourceLayout,
  alias: string,
  columnName: string,
): Sql | undefined {
  const { parent, name: resource } = layout.resource;
  if (parent === undefined) return undefined;
  const of = (owner: string): Sql => {
    const table = model.layout(owner).columnsTable;
    return sql`(SELECT ${column('p', columnName)} FROM ${name(table)} p WHERE ${column('p', '_key')} = ${column(alias, '_parent')})`;
  };
  if (parent.kind === 'fixed') return of(parent.resource);
  const owners = ownersOf(model, resource);
  const branches = owners.map((owner) => sql`WHEN ${constantText(owner)} THEN ${of(owner)}`);
  return sql`CASE ${column(alias, '_parent_resource')} ${join(branches, ' ')} END`;
}

/** The stored resources that have a collection of `resource`. */
function ownersOf(model: Planner['model'], resource: string): string[] {
  return [...model.dictionary.resources.values()]
    .filter((owner) => model.stores(owner.name))
    .filter((owner) =>
      [...owner.navigations.values()].some((each) => each.collection && each.target === resource),
    )
    .map((owner) => owner.name);
}

/** Whether the rules of a resource, or of the resources that its records belong to, depend on the date. */
export function movesWithDay(
  model: Planner['model'],
  resource: string,
  visited: ReadonlySet<string> = new Set(),
): boolean {
  if (model.rules.movesWithDay.has(resource)) return true;
  if (visited.has(resource)) return false;
  const known = new Set(visited).add(resource);
  return parentsOf(model, resource).some((parent) => movesWithDay(model, parent, known));
}

function parentsOf(model: Planner['model'], resource: string): string[] {
  const { parent } = model.resource(resource);
  if (parent === undefined) return [];
  return parent.kind === 'fixed' ? [parent.resource] : ownersOf(model, resource);
}

/** The rules that reads use from midnight UTC until the stored visibility has been evaluated for the new day. */
export const todaysRules = (planner: Planner): TodaysRules => ({
  visible: (layout, alias, bit) => {
    if (!movesWithDay(planner.model, layout.resource.name)) return undefined;
    return columnsOf(planner, layout, alias, (row) => visibleToday(planner, layout, row, bit));
  },
  shown: (layout, alias, bits) => {
    if (!planner.model.rules.movesWithDay.has(layout.resource.name)) return undefined;
    const rules = layout.withheldRules.filter((rule) => (rule.bit & bits) !== 0);
    return columnsOf(planner, layout, alias, (row) => {
      const context = contextOf(planner, layout, row);
      return all(rules.map(({ shownWhen }) => compileCondition(context, shownWhen, false)));
    });
  },
});

/** A condition on the columns of the row of `alias`, which may be a row of texts. */
function columnsOf(
  { dialect }: Planner,
  layout: ResourceLayout,
  alias: string,
  conditionOn: (row: string) => Sql,
): Sql {
  const row = `${alias}_today`; // no other table of a statement has this alias
  const where = all([sameRow(dialect, layout, row, alias), conditionOn(row)]);
  return sql`EXISTS (SELECT 1 FROM ${name(layout.columnsTable)} ${name(row)} WHERE ${where})`;
}

/** Whether today's rules let one of the roles see a row of `alias` (a columns table). */
function visibleToday(planner: Planner, layout: ResourceLayout, alias: string, bits: number): Sql {
  const context = contextOf(planner, layout, alias);
  const seen = layout.rowRules
    .filter(({ bit }) => (bit & bits) !== 0)
    .map(({ bit, filter }) => {
      const conditions = filter === undefined ? [] : [compileCondition(context, filter, false)];
      if (PUBLISHED_RESOURCES.has(layout.resource.name)) {
        conditions.push(sql`(${column(alias, '_audience')} & ${integer(bit)}) <> 0`);
      }
      if (layout.resource.parent !== undefined) conditions.push(parentToday(planner, layout, alias, bit));
      return all(conditions);
    });
  return seen.length === 0 ? sql`FALSE` : joinConditions(seen, ' OR ');
}

/** Whether a role sees the parent of the row of `alias`. */
function parentToday(planner: Planner, layout: ResourceLayout, alias: string, bit: number): Sql {
  const { dialect, model } = planner;
  const isNamed = layout.resource.parent?.kind === 'named';
  const seen = parentsOf(model, layout.resource.name).map((owner) => {
    const parent = model.layout(owner);
    const row = `${alias}_p`; // a row has only one parent, so no other table has this alias
    const visible = movesWithDay(model, owner)
      ? visibleToday(planner, parent, row, bit)
      : all(visibleRows({ rows: { ...ALL_ROWS, bit } }, parent, row));
    const where = all([
      sql`${column(row, '_key')} = ${column(alias, '_parent')}`,
      ...samePartition(dialect, parent, row, alias),
      visible,
    ]);
    const found = sql`EXISTS (SELECT 1 FROM ${name(parent.columnsTable)} ${name(row)} WHERE ${where})`;
    return isNamed ? sql`(${column(alias, '_parent_resource')} = ${bind(owner)} AND ${found})` : found;
  });
  return seen.length === 0 ? sql`FALSE` : joinConditions(seen, ' OR ');
}

/**
 * The fields in use that the rules of a resource refer to. Rules refer to the record's own fields only. Fields that
 * are not in use are null in every row.
 */
export function ruleFields(layout: ResourceLayout): Field[] {
  const inUse = new Set(layout.fields);
  const filters = [
    ...layout.rowRules.map(({ filter }) => filter),
    ...layout.withheldRules.map(({ shownWhen }) => shownWhen),
  ];
  const fields = filters.flatMap((filter) => [...((filter && ownFieldsOf(filter)) ?? [])]);
  return [...new Set(fields)].filter((field) => inUse.has(field));
}

/** The column that rules read a field from. */
export const ruleColumn = ({ resource }: ResourceLayout, field: Field): string =>
  ownColumn(resource, field) ?? field.name;

/** The value that a row to be written has in a column that rules read. */
export function ruleValue(
  { resource }: ResourceLayout,
  field: Field,
  row: RowToPut,
): FieldValue | null | undefined {
  switch (ownColumn(resource, field)) {
    case '_key':
      return row.key;
    case '_parent':
      return row.parent;
    case '_parent_resource':
      return row.parentResource;
    case undefined:
      return valueToStore(row, field.name);
  }
}
