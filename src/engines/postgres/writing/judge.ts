import { columnKind, encode } from '../../../compile/column-value.ts';
import { bind, join, name, render, type Sql, sql } from '../../../compile/fragment.ts';
import { isOneTable, type ResourceLayout } from '../../../compile/layout/index.ts';
import type { StoreModel } from '../../../compile/model.ts';
import { countedColumns } from '../../../compile/value-counts.ts';
import { countMoved } from '../../../compile/values-in-use.ts';
import {
  ownVisibleBits,
  ruleColumn,
  ruleFields,
  ruleValue,
  shownBits,
  visibleBits,
} from '../../../compile/visibility.ts';
import type { RowToPut } from '../../../records/rows.ts';
import { COLUMN_TYPES } from '../column-types.ts';
import { bindings, type ServerSession } from '../connection/session.ts';
import { postgresDialect } from '../dialect.ts';
import type { Counters } from './counters.ts';

/** Which roles see a row, and which withheld values it shows. */
export interface Bits {
  readonly visible: number;
  readonly shown: number;
}

/** Where rows are judged. */
export interface Court {
  readonly session: ServerSession;
  readonly model: StoreModel;
  readonly counters: Counters;
  /** The source of the records that are written; null in an authority. */
  readonly source: string | null;
  /** Whether tables have many parts, so that it is dear to look for something to change in them. */
  readonly isPartitioned?: boolean;
}

/** Outcomes that a transaction remembers, by the values that decide. */
const REMEMBERED = 20_000;

const text = (value: string): Sql => ({ parts: [value] });

/**
 * Judges rows that are about to be written by the rule of every role. What the rules of a resource look at is
 * little (a status, a date, a permission), so few rows differ in it: each difference is put to the server once,
 * those of a batch together.
 */
export function rowsJudge(
  court: Court,
  layout: ResourceLayout,
): (rows: readonly RowToPut[]) => Promise<Bits[]> {
  const fields = ruleFields(layout);
  const remembered = new Map<string, Bits>();
  const idOf = (row: RowToPut): string =>
    JSON.stringify(fields.map((field) => encode(field, ruleValue(layout, field, row))));
  return async (rows) => {
    const ids = rows.map(idOf);
    const fresh = [...new Set(ids)].filter((id) => !remembered.has(id));
    if (remembered.size + fresh.length > REMEMBERED) remembered.clear();
    const asked = fresh.length === 0 || remembered.size > 0 ? fresh : [...new Set(ids)];
    for (const [id, bits] of await judgeValues(court, layout, asked)) remembered.set(id, bits);
    const parents = await parentBits(court, layout, rows);
    return rows.map((row, index) => {
      const own = remembered.get(ids[index] ?? '') ?? { visible: 0, shown: 0 };
      return { visible: own.visible & (row.audience ?? -1) & parents(row), shown: own.shown };
    });
  };
}

/** @param given JSON lists of the values of the rules' fields */
async function judgeValues(
  { session, model }: Court,
  layout: ResourceLayout,
  given: readonly string[],
): Promise<(readonly [string, Bits])[]> {
  if (given.length === 0) return [];
  const planner = { dialect: postgresDialect, model };
  const fields = ruleFields(layout);
  const columns = fields.map(
    (field, index) =>
      sql`(v.value ->> ${text(String(index))})::${text(COLUMN_TYPES[columnKind(field)])} AS ${name(ruleColumn(layout, field))}`,
  );
  const list = bind(`[${given.join()}]`);
  const values = sql`(SELECT ${join([sql`v.place AS _place`, ...columns], ', ')} FROM json_array_elements(${list}::json) WITH ORDINALITY v(value, place)) r`;
  const { text: statement, values: bound } = render(
    sql`SELECT r._place AS place, ${ownVisibleBits(planner, layout, 'r')} AS visible, ${shownBits(planner, layout, 'r')} AS shown FROM ${values}`,
    postgresDialect.placeholder,
  );
  const rows = await session.rows(statement, bindings({ text: statement, values: bound }));
  return rows.map((row) => [
    given[Number(row.place) - 1] ?? '',
    { visible: Number(row.visible), shown: Number(row.shown) },
  ]);
}

/** The bits of the roles that see a row's parent; all for rows that stand alone. */
async function parentBits(
  { session, model }: Court,
  layout: ResourceLayout,
  rows: readonly RowToPut[],
): Promise<(row: RowToPut) => number> {
  if (layout.resource.parent === undefined) return () => -1;
  const found = new Map<string, number>();
  const idOf = (resource: string | null, key: unknown): string => `${resource}\u0000${key}`;
  for (const [resource, group] of Map.groupBy(rows, (row) => row.parentResource)) {
    if (resource === null || !model.dictionary.resources.has(resource) || !model.stores(resource)) continue;
    const keys = [...new Set(group.map(({ parent }) => parent))];
    const table = model.layout(resource).columnsTable;
    const parents = await session.rows(`SELECT _key, _visible FROM "${table}" WHERE _key = ANY($1::text[])`, [
      keys,
    ]);
    for (const row of parents) found.set(idOf(resource, row._key), Number(row._visible));
  }
  return ({ parentResource, parent }) => found.get(idOf(parentResource, parent)) ?? 0;
}

/**
 * Judges stored rows again, and stores the outcome where it changed.
 * @param where on the columns table under alias `r`
 * @param system what the originating system of a row should be; absent: as it is
 * @returns the keys of the rows that changed
 */
async function rejudge(
  { session, model, counters }: Court,
  layout: ResourceLayout,
  where: Sql,
  system?: Sql,
): Promise<string[]> {
  const planner = { dialect: postgresDialect, model };
  const judged = sql`SELECT r._key AS key, r._visible AS was_visible, r._shown AS was_shown, r._system AS was_system,
    ${visibleBits(planner, layout, 'r')} AS visible, ${shownBits(planner, layout, 'r')} AS shown,
    ${system ?? sql`r._system`} AS system${countedColumns(model, layout)} FROM ${name(layout.columnsTable)} r WHERE ${where}`;
  const changed = sql`SELECT * FROM judged WHERE visible <> was_visible OR shown <> was_shown OR system IS DISTINCT FROM was_system`;
  const tables = isOneTable(layout) ? [layout.columnsTable] : [layout.columnsTable, layout.textsTable];
  const updates = tables.map(
    (table, index) => sql`, ${name(`u${index}`)} AS (UPDATE ${name(table)} t
      SET _visible = c.visible, _shown = c.shown, _system = c.system FROM changed c WHERE t._key = c.key)`,
  );
  const statement = render(
    sql`WITH judged AS (${judged}), changed AS MATERIALIZED (${changed})${join(updates, '')} SELECT * FROM changed`,
    postgresDialect.placeholder,
  );
  const rows = await session.rows(statement.text, bindings(statement));
  for (const row of rows) {
    counters.add(layout.resource.name, Number(row.was_visible), textOf(row.was_system), -1);
    counters.add(layout.resource.name, Number(row.visible), textOf(row.system), 1);
    countMoved(model, layout, row, counters);
  }
  return rows.map((row) => String(row.key));
}

const textOf = (raw: unknown): string | null => (typeof raw === 'string' ? raw : null);

/** Children follow their parents: their visibility and originating system are brought up to date. */
export async function judgeChildren(
  court: Court,
  parentResource: string,
  parents: readonly string[],
): Promise<void> {
  if (parents.length === 0) return;
  const list = listed(parents);
  const owner = name(court.model.layout(parentResource).columnsTable);
  const system = sql`(SELECT p._system FROM ${owner} p WHERE p._key = r._parent)`;
  for (const layout of childLayouts(court.model, parentResource)) {
    const under = sql`r._parent IN (${list}) AND r._parent_resource = ${bind(parentResource)}`;
    if (court.isPartitioned === true && !(await hasRows(court, layout, under))) continue;
    await judgeChildren(court, layout.resource.name, await rejudge(court, layout, under, system));
  }
}

async function hasRows({ session }: Court, { columnsTable }: ResourceLayout, where: Sql): Promise<boolean> {
  const statement = render(
    sql`SELECT 1 FROM ${name(columnsTable)} r WHERE ${where} LIMIT 1`,
    postgresDialect.placeholder,
  );
  return (await session.rows(statement.text, bindings(statement))).length > 0;
}

/** Texts as the rows of a subquery. */
const listed = (values: readonly string[]): Sql =>
  sql`SELECT value COLLATE "C" FROM json_array_elements_text(${bind(JSON.stringify(values))}::json)`;

/** Layouts of the resources whose records can be part of one of `resource`. */
export function childLayouts(model: StoreModel, resource: string): ResourceLayout[] {
  const targets = [...model.resource(resource).navigations.values()]
    .filter(({ collection }) => collection)
    .map(({ target }) => target)
    .filter((target) => model.stores(target) && model.resource(target).parent !== undefined);
  return [...new Set(targets)].map((target) => model.layout(target));
}

/**
 * Judges the rows of some resources again, and what follows from those that changed: all of them after a change of
 * rules, those whose rules look at the calendar on a new day.
 */
export async function judgeAll(court: Court, concerns: (resource: string) => boolean): Promise<void> {
  const { dictionary, stores, layout } = court.model;
  const resources = [...dictionary.resources.values()].filter(({ name }) => stores(name) && concerns(name));
  // What stands alone first, then its parts, then what can be part of those, such as the media of an open house.
  for (const kind of [undefined, 'fixed', 'named'] as const) {
    for (const { name: resource } of resources.filter(({ parent }) => parent?.kind === kind)) {
      await judgeChildren(court, resource, await rejudge(court, layout(resource), sql`TRUE`));
    }
  }
}
