import type { ResourceLayout } from '../layout/index.ts';
import type { StoreModel } from '../model.ts';
import { bind, column, name, render, type Sql, sql } from '../sql/fragment.ts';
import { shownBits, visibleBits } from '../sql/visibility.ts';
import { bindings, type Connection } from './connection.ts';
import { sqliteDialect } from './dialect.ts';

/** Which roles see a row, and which withheld values it shows. */
export interface Bits {
  readonly visible: number;
  readonly shown: number;
  /** Whether it was otherwise before. */
  readonly changed: boolean;
}

interface JudgedRow extends Bits {
  readonly key: string;
  readonly parent: string | null;
}

/** Rows of a columns table under alias `r`, judged by every role's rule; the outcome is stored beside them. */
function judgeWhere(
  connection: Connection,
  model: StoreModel,
  layout: ResourceLayout,
  where: Sql,
): JudgedRow[] {
  const planner = { dialect: sqliteDialect, model };
  const child = layout.resource.parent !== undefined;
  const place = child ? column('r', '_parent') : sql`NULL`;
  const statement = render(
    sql`SELECT r._key AS key, ${place} AS parent, r._visible AS was_visible, r._shown AS was_shown,
      ${visibleBits(planner, layout, 'r')} AS visible, ${shownBits(planner, layout, 'r')} AS shown
      FROM ${name(layout.columnsTable)} r WHERE ${where}`,
    sqliteDialect.placeholder,
  );
  const rows = connection.prepare(statement.text).all(...bindings(statement));
  const judged = rows.map((row) => ({
    key: String(row.key),
    parent: row.parent === null ? null : String(row.parent),
    visible: Number(row.visible),
    shown: Number(row.shown),
    changed: row.visible !== row.was_visible || row.shown !== row.was_shown,
  }));
  storeBits(connection, layout, layout.columnsTable, judged);
  return judged;
}

function storeBits(
  connection: Connection,
  layout: ResourceLayout,
  table: string,
  judged: readonly JudgedRow[],
): void {
  const child = layout.resource.parent !== undefined;
  const where = child ? '_parent = ? AND _key = ?' : '_key = ?';
  const update = connection.prepare(`UPDATE "${table}" SET _visible = ?, _shown = ? WHERE ${where}`);
  for (const { key, parent, visible, shown, changed } of judged) {
    if (changed) update.run(visible, shown, ...(child ? [parent, key] : [key]));
  }
}

/** Judges rows whose texts are about to be written. */
export function judgeRows(
  connection: Connection,
  model: StoreModel,
  layout: ResourceLayout,
  keys: readonly string[],
): Map<string, Bits> {
  const listed = sql`r._key IN (SELECT value FROM json_each(${bind(JSON.stringify(keys))}))`;
  return new Map(judgeWhere(connection, model, layout, listed).map((row) => [row.key, row]));
}

/** Children follow their parents: their visibility and originating system are brought up to date. */
export function judgeChildren(
  connection: Connection,
  model: StoreModel,
  parentResource: string,
  parents: readonly string[],
): void {
  if (parents.length === 0) return;
  const list = bind(JSON.stringify(parents));
  for (const layout of childLayouts(model, parentResource)) {
    const under = sql`r._parent IN (SELECT value FROM json_each(${list})) AND r._parent_resource = ${bind(parentResource)}`;
    inheritSystem(connection, model, layout, parentResource, under);
    const judged = judgeWhere(connection, model, layout, under);
    storeBits(connection, layout, layout.textsTable, judged);
    const changed = judged.filter((row) => row.changed).map((row) => row.key);
    judgeChildren(connection, model, layout.resource.name, changed);
  }
}

function inheritSystem(
  connection: Connection,
  model: StoreModel,
  layout: ResourceLayout,
  parentResource: string,
  under: Sql,
): void {
  const owner = name(model.layout(parentResource).columnsTable);
  const system = sql`(SELECT p._system FROM ${owner} p WHERE p._key = r._parent)`;
  for (const table of [layout.columnsTable, layout.textsTable]) {
    const statement = render(
      sql`UPDATE ${name(table)} AS r SET _system = ${system} WHERE ${under} AND r._system IS NOT ${system}`,
      sqliteDialect.placeholder,
    );
    connection.prepare(statement.text).run(...bindings(statement));
  }
}

/** Layouts of the resources whose records can be part of one of `resource`. */
export function childLayouts(model: StoreModel, resource: string): ResourceLayout[] {
  const targets = [...model.resource(resource).navigations.values()]
    .filter(({ collection, target }) => collection && model.resource(target).parent !== undefined)
    .map(({ target }) => target);
  return [...new Set(targets)].map((target) => model.layout(target));
}

/** Judges every row of the store again, after a change of rules or of the day. */
export function judgeAll(connection: Connection, model: StoreModel): void {
  for (const resource of model.dictionary.resources.values()) {
    if (resource.parent !== undefined) continue;
    const layout = model.layout(resource.name);
    const judged = judgeWhere(connection, model, layout, sql`TRUE`);
    storeBits(connection, layout, layout.textsTable, judged);
    const changed = judged.filter((row) => row.changed).map((row) => row.key);
    judgeChildren(connection, model, resource.name, changed);
  }
}
