import { isOneTable, type ResourceLayout } from '../layout/index.ts';
import type { StoreModel } from '../model.ts';
import { bind, column, join, name, render, type Sql, sql } from '../sql/fragment.ts';
import { shownBits, visibleBits } from '../sql/visibility.ts';
import { bindings, type Connection } from './connection.ts';
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
}

/** A statement whose first values are the columns of a row; those of the rules follow. */
export interface JudgingInsert {
  readonly text: string;
  readonly ruleValues: readonly (string | number | null)[];
}

/**
 * An insert of one row that also judges it by the rule of every role: the columns in `given` are bound; visibility
 * and what is shown follow from them, and are returned.
 */
export function judgingInsert(
  model: StoreModel,
  layout: ResourceLayout,
  given: readonly string[],
): JudgingInsert {
  const planner = { dialect: sqliteDialect, model };
  const values = join(
    given.map((each) => sql`${bind(null)} AS ${name(each)}`),
    ', ',
  );
  const columns = join(given.map(name), ', ');
  const kept = new Set(['_key', '_parent', '_id']);
  const updates = [...given.filter((each) => !kept.has(each)), '_visible', '_shown'].map(
    (each) => sql`${name(each)} = excluded.${name(each)}`,
  );
  const primary = layout.resource.parent === undefined ? sql`(_key)` : sql`(_parent, _key)`;
  const insert = sql`WITH r AS (SELECT ${values})
    INSERT INTO ${name(layout.columnsTable)} (${columns}, _visible, _shown)
    SELECT r.*, ${visibleBits(planner, layout, 'r')}, ${shownBits(planner, layout, 'r')} FROM r WHERE TRUE
    ON CONFLICT ${primary} DO UPDATE SET ${join(updates, ', ')} RETURNING _visible, _shown`;
  const statement = render(insert, sqliteDialect.placeholder);
  return { text: statement.text, ruleValues: bindings(statement).slice(given.length) };
}

/**
 * Judges stored rows again, and stores the outcome where it changed.
 * @param where on the columns table under alias `r`
 * @param system what the originating system of a row should be; absent: as it is
 * @returns the keys of the rows that changed
 */
function rejudge(
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
    ${system ?? sql`r._system`} AS system FROM ${name(layout.columnsTable)} r WHERE ${where}`;
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

/** Judges every row of the store again, after a change of rules or of the day. */
export function judgeAll(court: Court): void {
  for (const resource of court.model.dictionary.resources.values()) {
    if (resource.parent !== undefined || !court.model.stores(resource.name)) continue;
    const changed = rejudge(court, court.model.layout(resource.name), sql`TRUE`);
    judgeChildren(court, resource.name, changed);
  }
}
