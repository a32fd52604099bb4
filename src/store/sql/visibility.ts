import type { RowScope } from '../../access/index.ts';
import type { ResourceLayout } from '../layout/index.ts';
import { condition } from './condition.ts';
import { type Context, makeContext } from './context.ts';
import { column, constantText, integer, join, name, type Sql, sql } from './fragment.ts';
import type { Planner } from './page-plan.ts';

/** Rules are judged over all rows and all values: they decide what others see. */
const EVERYTHING: RowScope = { bit: -1, withholds: false, onlyFloorPlans: false };

function contextOf({ dialect, model }: Planner, layout: ResourceLayout, alias: string): Context {
  const source = { dialect, model, rows: EVERYTHING, now: `${model.day}T00:00:00Z` };
  return makeContext(source, alias, layout.resource.name);
}

/** What the store publishes of itself, for the roles that it names row by row. */
const PUBLISHED = new Set(['Field', 'Lookup']);

/** The bits of the roles whose own rule lets them see a row of `alias`. */
export function ownVisibleBits(planner: Planner, layout: ResourceLayout, alias: string): Sql {
  const context = contextOf(planner, layout, alias);
  const terms = layout.rowRules.map(({ bit, filter }) =>
    filter === undefined
      ? integer(bit)
      : sql`CASE WHEN ${condition(context, filter, false)} THEN ${integer(bit)} ELSE 0 END`,
  );
  return terms.length === 0 ? sql`0` : sql`(${join(terms, ' + ')})`;
}

/**
 * The bits of the roles that see a stored row of `alias` (a columns table). A child is seen by those who see its
 * parent and whom its own rule lets.
 */
export function visibleBits(planner: Planner, layout: ResourceLayout, alias: string): Sql {
  const rules = ownVisibleBits(planner, layout, alias);
  const audience = column(alias, '_audience');
  const own = PUBLISHED.has(layout.resource.name) ? sql`(${rules} & ${audience})` : rules;
  const parent = parentColumn(planner, layout, alias, '_visible');
  return parent === undefined ? own : sql`(${own} & coalesce(${parent}, 0))`;
}

/** The bits of the conditions under which withheld values of a row are shown. */
export function shownBits(planner: Planner, layout: ResourceLayout, alias: string): Sql {
  const context = contextOf(planner, layout, alias);
  const terms = layout.withheldRules.map(
    ({ bit, shownWhen }) =>
      sql`CASE WHEN ${condition(context, shownWhen, false)} THEN ${integer(bit)} ELSE 0 END`,
  );
  return terms.length === 0 ? sql`0` : join(terms, ' + ');
}

/** A column of the row's parent; undefined for resources that stand alone. */
function parentColumn(
  { model }: Planner,
  layout: ResourceLayout,
  alias: string,
  wanted: string,
): Sql | undefined {
  const { parent, name: resource } = layout.resource;
  if (parent === undefined) return undefined;
  const of = (owner: string): Sql => {
    const table = model.layout(owner).columnsTable;
    return sql`(SELECT ${column('p', wanted)} FROM ${name(table)} p WHERE ${column('p', '_key')} = ${column(alias, '_parent')})`;
  };
  if (parent.kind === 'fixed') return of(parent.resource);
  const owners = ownersOf(model, resource);
  const branches = owners.map((owner) => sql`WHEN ${constantText(owner)} THEN ${of(owner)}`);
  return sql`CASE ${column(alias, '_parent_resource')} ${join(branches, ' ')} END`;
}

/** Stored resources from which a collection leads to `resource`. */
function ownersOf(model: Planner['model'], resource: string): string[] {
  return [...model.dictionary.resources.values()]
    .filter((owner) => model.stores(owner.name))
    .filter((owner) =>
      [...owner.navigations.values()].some((each) => each.collection && each.target === resource),
    )
    .map((owner) => owner.name);
}
