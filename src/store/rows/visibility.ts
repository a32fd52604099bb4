/**
 * Which roles see a row, and which of its withheld values are shown. The rule of every role is evaluated when a row is
 * written, and again for stored rows when rules, the day or a parent change. The engine evaluates the rules, since a
 * role's rule is a filter like any other.
 */
import { type ColumnKind, columnKind, columnKinds, encode, textOrNull } from '../../compile/column-value.ts';
import { tolerateDamage } from '../../compile/dialect.ts';
import { bind, column, integer, name, type Sql, sql } from '../../compile/fragment.ts';
import type { ResourceLayout } from '../../compile/layout/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import { countedColumns } from '../../compile/value-counts.ts';
import { countVisibilityChange } from '../../compile/values-in-use.ts';
import {
  ownVisibleBits,
  ruleColumn,
  ruleFields,
  ruleValue,
  shownBits,
  visibleBits,
} from '../../compile/visibility.ts';
import type { RowToPut } from '../../records/rows.ts';
import { chunked } from '../../shared/chunked.ts';
import { memoizePerObject } from '../../shared/memoize.ts';
import type { Row } from '../session.ts';
import type { WriteContext } from './write-context.ts';

/** Which roles see a row, and which withheld values it shows. */
export interface Visibility {
  readonly visible: number;
  readonly shown: number;
}

/** Combinations of values whose visibility is remembered for a resource. */
const MAX_REMEMBERED = 20_000;

/** Visibility depends only on the rules of a model, so transactions with the same model share their results, by resource. */
const rememberedVisibility = memoizePerObject((_: StoreModel) => new Map<string, Map<string, Visibility>>());

/**
 * Evaluates the visibility of rows that are about to be written. The rules of a resource depend on few fields (a
 * status, a date, a permission), so few rows differ in them: the engine evaluates each combination of their values
 * once, together for the whole batch.
 */
export function visibilityEvaluator(
  context: WriteContext,
  layout: ResourceLayout,
  most = MAX_REMEMBERED,
): (rows: readonly RowToPut[]) => Promise<Visibility[]> {
  const fields = ruleFields(layout);
  const remembered = rememberedVisibility(context.model).getOrInsertComputed(
    layout.resource.name,
    () => new Map(),
  );
  return async (rows) => {
    if (remembered.size > most) remembered.clear();
    const fresh = new Map<string, Row>();
    const ids = rows.map((row) => {
      const values = fields.map((field) => encode(field, ruleValue(layout, field, row)));
      const id = JSON.stringify(values);
      if (!remembered.has(id) && !fresh.has(id)) {
        const named = fields.map((field, index) => [ruleColumn(layout, field), values[index]]);
        fresh.set(id, { ...Object.fromEntries(named), _place: fresh.size });
      }
      return id;
    });
    const evaluated = await evaluate(context, layout, [...fresh.values()]);
    for (const [index, id] of [...fresh.keys()].entries())
      remembered.set(id, requireEvaluated(evaluated[index]));
    const parents = await parentVisibility(context, layout, rows);
    return rows.map((row, index) => {
      const { visible, shown } = requireEvaluated(remembered.get(ids[index] ?? ''));
      return { visible: visible & (row.audience ?? -1) & parents(row), shown };
    });
  };
}

/** @throws Error instead of hiding a row whose visibility was not evaluated */
function requireEvaluated(visibility: Visibility | undefined): Visibility {
  if (visibility === undefined) throw new Error('The visibility of a row was not evaluated');
  return visibility;
}

/** @param values combinations of the values of the rules' columns, with their positions */
async function evaluate(
  { session, model }: WriteContext,
  layout: ResourceLayout,
  values: readonly Row[],
): Promise<Visibility[]> {
  if (values.length === 0) return [];
  const { dialect } = session;
  const planner = { dialect, model };
  const columns = new Map<string, ColumnKind>([
    ...ruleFields(layout).map((field) => [ruleColumn(layout, field), columnKind(field)] as const),
    ['_place', 'number'],
  ]);
  const rows =
    await session.rows(sql`SELECT r._place AS place, ${ownVisibleBits(planner, layout, 'r')} AS visible,
    ${shownBits(planner, layout, 'r')} AS shown FROM ${dialect.objectTable(bind(JSON.stringify(values)), 'r', columns)}`);
  const evaluated: Visibility[] = [];
  for (const { place, visible, shown } of rows) {
    evaluated[Number(place)] = { visible: Number(visible), shown: Number(shown) };
  }
  return evaluated;
}

/** The bits of the roles that see a row's parent; all bits for rows without a parent. */
async function parentVisibility(
  { session, model }: WriteContext,
  layout: ResourceLayout,
  rows: readonly RowToPut[],
): Promise<(row: RowToPut) => number> {
  if (layout.resource.parent === undefined) return () => -1;
  const found = new Map<string, number>();
  const idOf = (resource: string | null, key: unknown): string => `${resource}\u0000${key}`;
  for (const [resource, group] of Map.groupBy(rows, (row) => row.parentResource)) {
    if (resource === null || !model.dictionary.resources.has(resource) || !model.stores(resource)) continue;
    const keys = [...new Set(group.map(({ parent }) => parent ?? ''))];
    const parents =
      await session.rows(sql`SELECT _key, _visible FROM ${name(model.layout(resource).columnsTable)}
      WHERE ${session.dialect.oneOf(sql`_key`, keys)}`);
    for (const row of parents) found.set(idOf(resource, row._key), Number(row._visible));
  }
  return ({ parentResource, parent }) => found.get(idOf(parentResource, parent)) ?? 0;
}

/** Rows whose visibility one statement changes. */
const CHANGED_AT_ONCE = 5000;

const CHANGED = columnKinds({ key: 'text', visible: 'number', shown: 'number', system: 'text' });

/**
 * Evaluates the visibility of stored rows again, and stores it where it changed.
 * @param where a condition on the columns table under alias `r`
 * @param system the originating system that a row should have; absent: its current one
 * @param newBits as in `updateAllVisibility`
 * @returns the keys of the rows that changed
 */
async function updateStoredVisibility(
  { session, model, counters, changes }: WriteContext,
  layout: ResourceLayout,
  where: Sql,
  { system = sql`r._system`, newBits = 0 }: { readonly system?: Sql; readonly newBits?: number } = {},
): Promise<string[]> {
  const planner = { dialect: tolerateDamage(session.dialect), model };
  const evaluated = sql`SELECT r._key AS key, r._visible AS was_visible, r._shown AS was_shown, r._system AS was_system,
    ${visibleBits(planner, layout, 'r')} AS visible, ${shownBits(planner, layout, 'r')} AS shown,
    ${system} AS system${countedColumns(model, layout)} FROM ${name(layout.columnsTable)} r WHERE ${where}`;
  const changed = await session.rows(sql`SELECT * FROM (${evaluated}) e
    WHERE visible <> was_visible OR shown <> was_shown OR system IS DISTINCT FROM was_system OR (visible & ${integer(newBits)}) <> 0`);
  const { columnsTable, textsTable, search } = layout;
  const tables = new Set([columnsTable, textsTable, ...(search === undefined ? [] : [search.table])]);
  for (const some of chunked(changed, CHANGED_AT_ONCE)) {
    const list = some.map((row) => ({
      key: row.key,
      visible: row.visible,
      shown: row.shown,
      system: row.system,
    }));
    const rows = session.dialect.objectTable(bind(JSON.stringify(list)), 'c', CHANGED);
    for (const table of tables) {
      await session.run(sql`UPDATE ${name(table)} AS t SET _visible = c.visible, _shown = c.shown, _system = c.system
        FROM ${rows} WHERE t._key = c.key`);
    }
  }
  const resource = layout.resource.name;
  for (const row of changed) {
    const before = { visible: Number(row.was_visible), system: textOrNull(row.was_system) };
    const after = { visible: Number(row.visible), system: textOrNull(row.system) };
    counters.add(resource, before.visible, before.system, -1);
    counters.add(resource, after.visible, after.system, 1);
    countVisibilityChange(model, layout, row, counters);
    changes.put(resource, String(row.key), before, after);
  }
  return changed.map((row) => String(row.key));
}

/** Updates the visibility and originating system of children to match their parents. */
export async function updateChildVisibility(
  context: WriteContext,
  parentResource: string,
  parents: readonly string[],
): Promise<void> {
  if (parents.length === 0) return;
  const { session, model } = context;
  const owner = name(model.layout(parentResource).columnsTable);
  const system = sql`(SELECT p._system FROM ${owner} p WHERE p._key = r._parent)`;
  for (const layout of childLayouts(model, parentResource)) {
    const isUnder = sql`${session.dialect.oneOf(column('r', '_parent'), parents)} AND r._parent_resource = ${bind(parentResource)}`;
    if (!(await hasRows(context, layout, isUnder))) continue;
    await updateChildVisibility(
      context,
      layout.resource.name,
      await updateStoredVisibility(context, layout, isUnder, { system }),
    );
  }
}

/** In a partitioned table, searching for rows to change is expensive, so plat first checks whether there are any. */
async function hasRows({ session }: WriteContext, layout: ResourceLayout, where: Sql): Promise<boolean> {
  if (session.dialect.sameSystem === undefined) return true;
  const found = await session.rows(sql`SELECT 1 FROM ${name(layout.columnsTable)} r WHERE ${where} LIMIT 1`);
  return found.length > 0;
}

/** Layouts of the resources whose records can be part of one of `resource`. */
function childLayouts(model: StoreModel, resource: string): ResourceLayout[] {
  const targets = [...model.resource(resource).navigations.values()]
    .filter(({ collection }) => collection)
    .map(({ target }) => target)
    .filter((target) => model.stores(target) && model.resource(target).parent !== undefined);
  return [...new Set(targets)].map((target) => model.layout(target));
}

/** The resources of a store: those without a parent, then their parts, then the parts of these parts. */
function* resourcesInOrder({ dictionary, stores }: StoreModel): Iterable<string> {
  const resources = [...dictionary.resources.values()].filter(({ name }) => stores(name));
  for (const kind of [undefined, 'fixed', 'named'] as const) {
    for (const { name, parent } of resources) if (parent?.kind === kind) yield name;
  }
}

/** The number of parents whose children are updated at once. */
const PARENTS_AT_ONCE = 1000;

/** Gives children the originating system of their parents, for rows copied from a store in which they differed. */
export async function alignSystems(context: WriteContext): Promise<void> {
  const { session, model, counters, changes } = context;
  for (const resource of resourcesInOrder(model)) {
    for (const { columnsTable } of childLayouts(model, resource)) {
      const rows = await session.rows(sql`SELECT DISTINCT p._key AS key FROM ${name(columnsTable)} c
        JOIN ${name(model.layout(resource).columnsTable)} p ON p._key = c._parent
        WHERE c._parent_resource = ${bind(resource)} AND c._system IS DISTINCT FROM p._system`);
      const keys = rows.map(({ key }) => String(key));
      for (const some of chunked(keys, PARENTS_AT_ONCE)) await updateChildVisibility(context, resource, some);
    }
  }
  await counters.flush();
  await changes.flush();
}

/**
 * Evaluates the visibility of all rows of some resources again, and updates their children: of all resources after a change of
 * rules, of those whose rules look at the calendar on a new day.
 * @param newBits bits that belonged to other roles before: the records that the new roles see are new to them, though the rows are
 * unchanged
 */
export async function updateAllVisibility(
  context: WriteContext,
  concerns: (resource: string) => boolean,
  newBits: number,
): Promise<void> {
  for (const resource of resourcesInOrder(context.model)) {
    if (!concerns(resource)) continue;
    const changed = await updateStoredVisibility(context, context.model.layout(resource), sql`TRUE`, {
      newBits,
    });
    await updateChildVisibility(context, resource, changed);
  }
}
