import { encode } from '../../compile/column-value.ts';
import { bind, column, name, render, type Sql, sql } from '../../compile/fragment.ts';
import { isOneTable, type ResourceLayout } from '../../compile/layout/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import { countedColumns } from '../../compile/value-counts.ts';
import { countMoved } from '../../compile/values-in-use.ts';
import {
  ownVisibleBits,
  ruleColumn,
  ruleFields,
  ruleValue,
  shownBits,
  visibleBits,
} from '../../compile/visibility.ts';
import type { RowToPut } from '../../records/rows.ts';
import { bindable, bindings, type Connection } from './connection.ts';
import type { Counters } from './counters.ts';
import { sqliteDialect } from './dialect.ts';

/** Which roles see a row, and which withheld values it shows. */
export interface Bits {
  readonly visible: number;
  readonly shown: number;
}

/** Where rows are judged. */
export interface Court {
  readonly connection: Connection;
  readonly model: StoreModel;
  readonly counters: Counters;
  /** The source of the records that are written; null in an authority. */
  readonly source: string | null;
}

/** Outcomes that a transaction remembers, by the values that decide. */
const REMEMBERED = 20_000;

/**
 * Judges rows that are about to be written by the rule of every role. What the rules of a resource look at is
 * little (a status, a date, a permission), so few rows differ in it: each difference is put to the engine once.
 */
export function rowJudge(court: Court, layout: ResourceLayout): (row: RowToPut) => Bits {
  const { connection, model } = court;
  const fields = ruleFields(layout);
  const planner = { dialect: sqliteDialect, model };
  const values = [
    ...fields.map((field) => sql`${bind(null)} AS ${name(ruleColumn(layout, field))}`),
    sql`1 AS _one`,
  ];
  const statement = render(
    sql`WITH r AS (SELECT ${{ parts: values.flatMap(({ parts }, index) => (index === 0 ? parts : [', ', ...parts])) }})
      SELECT ${ownVisibleBits(planner, layout, 'r')} AS visible, ${shownBits(planner, layout, 'r')} AS shown FROM r`,
    sqliteDialect.placeholder,
  );
  const ruleValues = bindings(statement).slice(fields.length);
  const prepared = connection.prepare(statement.text);
  const remembered = new Map<string, Bits>();
  const parentBits = parentVisibility(court, layout);
  return (row) => {
    const given = fields.map((field) => bindable(encode(field, ruleValue(layout, field, row))));
    const id = JSON.stringify(given);
    let own = remembered.get(id);
    if (own === undefined) {
      const judged = prepared.get(...given, ...ruleValues);
      own = { visible: Number(judged?.visible), shown: Number(judged?.shown) };
      if (remembered.size < REMEMBERED) remembered.set(id, own);
    }
    const audience = row.audience ?? -1;
    return { visible: own.visible & audience & parentBits(row), shown: own.shown };
  };
}

/** The bits of the roles that see a row's parent; all for rows that stand alone. */
function parentVisibility({ connection, model }: Court, layout: ResourceLayout): (row: RowToPut) => number {
  if (layout.resource.parent === undefined) return () => -1;
  let last = { id: '', bits: 0 };
  return ({ parent, parentResource }) => {
    const id = `${parentResource}\u0000${parent}`;
    if (last.id === id) return last.bits; // children come parent by parent
    last = { id, bits: find(parentResource, parent) };
    return last.bits;
  };

  function find(resource: string | null, key: string | null): number {
    if (resource === null || key === null) return 0;
    if (!model.dictionary.resources.has(resource) || !model.stores(resource)) return 0;
    const table = model.layout(resource).columnsTable;
    const row = connection.prepare(`SELECT _visible FROM "${table}" WHERE _key = ?`).get(key);
    return row === undefined ? 0 : Number(row._visible);
  }
}

/**
 * Judges stored rows again, and stores the outcome where it changed.
 * @param where on the columns table under alias `r`
 * @param system what the originating system of a row should be; absent: as it is
 * @returns the keys of the rows that changed
 */
export function rejudge(
  { connection, model, counters }: Court,
  layout: ResourceLayout,
  where: Sql,
  system?: Sql,
): string[] {
  const planner = { dialect: sqliteDialect, model };
  const child = layout.resource.parent !== undefined;
  const judged = sql`SELECT r._key AS key, ${child ? column('r', '_parent') : sql`NULL`} AS parent,
    r._visible AS was_visible, r._shown AS was_shown, r._system AS was_system,
    ${visibleBits(planner, layout, 'r')} AS visible, ${shownBits(planner, layout, 'r')} AS shown,
    ${system ?? sql`r._system`} AS system${countedColumns(model, layout)} FROM ${name(layout.columnsTable)} r WHERE ${where}`;
  const statement = render(
    sql`SELECT * FROM (${judged}) WHERE visible <> was_visible OR shown <> was_shown OR system IS NOT was_system`,
    sqliteDialect.placeholder,
  );
  const changed = connection.prepare(statement.text).all(...bindings(statement));
  const tables = isOneTable(layout) ? [layout.columnsTable] : [layout.columnsTable, layout.textsTable];
  const place = child ? '_parent = ? AND _key = ?' : '_key = ?';
  for (const table of tables) {
    const update = connection.prepare(
      `UPDATE "${table}" SET _visible = ?, _shown = ?, _system = ? WHERE ${place}`,
    );
    for (const { key, parent, visible, shown, system: owner } of changed) {
      update.run(
        visible ?? 0,
        shown ?? 0,
        owner ?? null,
        ...(child ? [parent ?? '', key ?? ''] : [key ?? '']),
      );
    }
  }
  for (const row of changed) {
    counters.add(layout.resource.name, Number(row.was_visible), textOf(row.was_system), -1);
    counters.add(layout.resource.name, Number(row.visible), textOf(row.system), 1);
    countMoved(model, layout, row, counters);
  }
  return changed.map((row) => String(row.key));
}

const textOf = (raw: unknown): string | null => (typeof raw === 'string' ? raw : null);

/** Children follow their parents: their visibility and originating system are brought up to date. */
export function judgeChildren(court: Court, parentResource: string, parents: readonly string[]): void {
  if (parents.length === 0) return;
  const list = bind(JSON.stringify(parents));
  const owner = name(court.model.layout(parentResource).columnsTable);
  const system = sql`(SELECT p._system FROM ${owner} p WHERE p._key = r._parent)`;
  for (const layout of childLayouts(court.model, parentResource)) {
    const under = sql`r._parent IN (SELECT value FROM json_each(${list})) AND r._parent_resource = ${bind(parentResource)}`;
    judgeChildren(court, layout.resource.name, rejudge(court, layout, under, system));
  }
}

/** Layouts of the resources whose records can be part of one of `resource`. */
function childLayouts(model: StoreModel, resource: string): ResourceLayout[] {
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
export function judgeAll(court: Court, concerns: (resource: string) => boolean): void {
  const { dictionary, stores, layout } = court.model;
  const resources = [...dictionary.resources.values()].filter(({ name }) => stores(name) && concerns(name));
  // What stands alone first, then its parts, then what can be part of those, such as the media of an open house.
  for (const kind of [undefined, 'fixed', 'named'] as const) {
    for (const { name: resource } of resources.filter(({ parent }) => parent?.kind === kind)) {
      judgeChildren(court, resource, rejudge(court, layout(resource), sql`TRUE`));
    }
  }
}
