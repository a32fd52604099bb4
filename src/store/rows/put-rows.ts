/** Stores and deletes rows of one resource, each as a whole under its number: every column and text is written here. */
import { boundValueOf, decodeOrUndefined, textOrNull } from '../../compile/column-value.ts';
import { bind, join, name, type Sql, sql } from '../../compile/fragment.ts';
import { isOneTable, type ResourceLayout } from '../../compile/layout/index.ts';
import { dormantFields } from '../../compile/model.ts';
import { countedFields, countReplaced, countValues } from '../../compile/values-in-use.ts';
import type { Field } from '../../dictionary/index.ts';
import type { RowToPut, StoredRow } from '../../records/rows.ts';
import type { Row } from '../session.ts';
import { type PreparedRow, type ReplacedRow, type TableRows, tableRows } from './table-rows.ts';
import { removeTombstones } from './tombstones.ts';
import { type ResolvedIds, resolveIds } from './torn-rows.ts';
import { updateChildVisibility, type Visibility, visibilityEvaluator } from './visibility.ts';
import type { WriteContext } from './write-context.ts';

/** Puts and removes rows within one transaction. */
export class RowPutter {
  readonly #context: WriteContext;
  readonly #layout: ResourceLayout;
  readonly #tables: TableRows;
  readonly #dormant: readonly string[];
  /** The columns that show how a stored row is counted. */
  readonly #comparedColumns: Sql;
  readonly #evaluate: (rows: readonly RowToPut[]) => Promise<readonly Visibility[]>;

  constructor(context: WriteContext, layout: ResourceLayout) {
    const { model, source } = context;
    this.#context = context;
    this.#layout = layout;
    this.#tables = tableRows(model, layout, source);
    this.#dormant = dormantFields(model, layout.resource);
    const counted = countedFields(model, layout).map(({ field }) => field.name);
    const columns = ['_key', '_visible', '_shown', '_system', ...this.#dormant, ...counted];
    this.#comparedColumns = join(columns.map(name), ', ');
    this.#evaluate = visibilityEvaluator(context, layout);
  }

  /** @param renews whether fields with stored values may have come back into use, whose words are then not indexed yet */
  async put(rows: readonly RowToPut[], renews = false): Promise<void> {
    if (rows.length === 0) return;
    const { changes, counters, session } = this.#context;
    const { columnsTable, resource, search, textsTable } = this.#layout;
    const tables = this.#tables;
    const placed = await this.#place(rows);
    changes.touchParents(rows);
    changes.touchParents(rows.flatMap(({ stored }) => stored ?? []));
    const moved = this.#countChanges(placed);
    await session.indexWords?.(this.#layout, tables.searchedTexts(placed, renews));
    const stored = { by: '_key', keys: storedKeys(rows) } as const;
    await session.replace(columnsTable, stored, tables.columns, tables.columnRows(placed));
    if (!isOneTable(this.#layout)) {
      // Texts under the key of a new record may be left from columns that were lost through damage.
      const keys = rows.map(({ key }) => key);
      await session.replace(textsTable, { by: '_key', keys }, tables.textsColumns, tables.textRows(placed));
    }
    if (search !== undefined) {
      const ids = placed.map(({ id }) => id);
      await session.replace(search.table, { by: '_id', ids }, [...search.columns], tables.searchRows(placed));
    }
    const fresh = rows.filter(({ stored }) => stored === undefined).map(({ key }) => key);
    await removeTombstones(session, resource.name, fresh);
    await updateChildVisibility(this.#context, resource.name, moved);
    await counters.flush();
  }

  /** Counts rows and their values. @returns the keys of the rows that other roles see than before */
  #countChanges(placed: readonly PreparedRow[]): string[] {
    const { resource } = this.#layout;
    const { changes, counters, model } = this.#context;
    const moved: string[] = [];
    for (const { row, counted: toCount, visibility, before } of placed) {
      const { visible } = visibility;
      changes.put(resource.name, row.key, before ?? row.stored, { visible, system: row.system });
      const read = (_: Field, index: number) => toCount[index];
      const counted = { ...visibility, system: row.system, read };
      if (before === undefined) countValues(model, this.#layout, counted, counters, 1);
      else countReplaced(model, this.#layout, before, counted, counters);
      if (before?.visible === visible && before.system === row.system) continue;
      moved.push(row.key);
      if (before !== undefined) counters.add(resource.name, before.visible, before.system, -1);
      counters.add(resource.name, visible, row.system, 1);
    }
    return moved;
  }

  async #place(rows: readonly RowToPut[]): Promise<PreparedRow[]> {
    const visibility = await this.#evaluate(rows);
    const resolved = await this.#resolveTorn(rows.flatMap((row) => row.stored ?? []));
    const before = await this.#readReplaced(storedKeys(rows));
    // The parent may be part of the primary key.
    const moved = rows.filter(({ stored, parent }) => stored !== undefined && stored.parent !== parent);
    await this.#deleteRows(this.#layout.columnsTable, storedKeys(moved));
    const idOf = (row: RowToPut): number | undefined =>
      row.stored?.isTorn === true ? resolved.ids.get(row.key) : row.stored?.id;
    const nextId = await this.#takeIds(rows.filter((row) => idOf(row) === undefined).length);
    return rows.map((row, index) => ({
      ...this.#tables.contentOf(row),
      row,
      id: idOf(row) ?? nextId(),
      visibility: visibility[index] ?? { visible: 0, shown: 0 },
      before: before.get(row.key),
    }));
  }

  async remove(rows: readonly StoredRow[]): Promise<ReadonlyMap<string, ReplacedRow>> {
    const { columnsTable, resource, search, textsTable } = this.#layout;
    const { changes, counters, model } = this.#context;
    await this.#resolveTorn(rows);
    const keys = rows.map(({ key }) => key);
    changes.touchParents(rows);
    const gone = await this.#readReplaced(keys);
    for (const row of rows) changes.remove(resource.name, row.key, gone.get(row.key) ?? row);
    for (const row of gone.values()) countValues(model, this.#layout, row, counters, -1);
    await this.#deleteRows(columnsTable, keys);
    if (!isOneTable(this.#layout)) await this.#deleteRows(textsTable, keys);
    if (search !== undefined) await this.#deleteRows(search.table, keys);
    return gone;
  }

  /** Deletes texts that would conflict with inconsistent rows. */
  async #resolveTorn(rows: readonly StoredRow[]): Promise<ResolvedIds> {
    const { search, textsTable } = this.#layout;
    const torn = rows.filter(({ isTorn }) => isTorn === true);
    const resolved = await resolveIds(this.#context.session, this.#layout, torn);
    await this.#deleteRows(textsTable, resolved.gone);
    const keys = torn.map(({ key }) => key);
    // An inconsistent row may get another number.
    if (search !== undefined) await this.#deleteRows(search.table, keys);
    return resolved;
  }

  /** Reads how stored rows are currently counted; a change of a parent may have moved them since they were found. */
  async #readReplaced(keys: readonly string[]): Promise<ReadonlyMap<string, ReplacedRow>> {
    if (keys.length === 0) return new Map();
    const { session } = this.#context;
    const rows = await session.rows(
      sql`SELECT ${this.#comparedColumns} FROM ${name(this.#layout.columnsTable)} WHERE ${session.dialect.oneOf(sql`_key`, keys)}`,
    );
    const standingOf = (row: Row): ReplacedRow => ({
      visible: Number(row._visible),
      shown: Number(row._shown),
      system: textOrNull(row._system),
      read: (field) => decodeOrUndefined(field, row[field.name]),
      cell: (field) => row[field.name],
      dormant: this.#dormant.map((column) => boundValueOf(row[column])),
    });
    return new Map(rows.map((row) => [String(row._key), standingOf(row)]));
  }

  async #deleteRows(table: string, keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    const { session } = this.#context;
    await session.run(sql`DELETE FROM ${name(table)} WHERE ${session.dialect.oneOf(sql`_key`, keys)}`);
  }

  async #takeIds(count: number): Promise<() => number> {
    if (count === 0) return () => 0;
    const [row] = await this.#context.session.rows(sql`INSERT INTO plat_sequence (resource, next)
      VALUES (${bind(this.#layout.resource.name)}, 1 + ${bind(count)})
      ON CONFLICT (resource) DO UPDATE SET next = plat_sequence.next + ${bind(count)} RETURNING next`);
    let next = Number(row?.next ?? 1) - count;
    return () => next++;
  }
}

const storedKeys = (rows: readonly RowToPut[]): string[] => rows.flatMap(({ stored }) => stored?.key ?? []);
