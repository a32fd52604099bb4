/** Stores and deletes rows of one resource, each as a whole under its number: every column and text is written here. */
import { boundValueOf, decodeOrUndefined, encode, textOrNull } from '../../compile/column-value.ts';
import type { Dialect } from '../../compile/dialect.ts';
import { type BoundValue, bind, integer, join, name, type Sql, sql } from '../../compile/fragment.ts';
import { isOneTable, type ResourceLayout, typedFields } from '../../compile/layout/index.ts';
import { dormantFields } from '../../compile/model.ts';
import { rankAndFile, textColumns, valuesReader } from '../../compile/text/text-columns.ts';
import {
  countedFields,
  countReplaced,
  countValues,
  type StoredCountedRow,
} from '../../compile/values-in-use.ts';
import type { Field, FieldValue } from '../../dictionary/index.ts';
import { type RowToPut, type StoredRow, valueToStore } from '../../records/rows.ts';
import type { RecordTexts, Row } from '../session.ts';
import { removeTombstones } from './tombstones.ts';
import { updateChildVisibility, type Visibility, visibilityEvaluator } from './visibility.ts';
import type { WriteContext } from './write-context.ts';

/** A stored row that is replaced or deleted. */
interface ReplacedRow extends StoredCountedRow {
  /** Values of columns whose fields are no longer declared. They stay with the row until it is deleted. */
  readonly dormant: readonly BoundValue[];
}

/** A row that is about to be inserted. */
interface PreparedRow {
  readonly row: RowToPut;
  /** Its values in the order of the fields of the layout. */
  readonly values: readonly (FieldValue | undefined)[];
  /** The values of its typed columns, from which its words and its search row are also made. */
  readonly cells: readonly BoundValue[];
  readonly id: number;
  readonly visibility: Visibility;
  /** The row that it replaces. */
  readonly before: ReplacedRow | undefined;
}

export type RowPutter = ReturnType<typeof rowPutter>;

export function rowPutter(context: WriteContext, layout: ResourceLayout) {
  const { session, counters, changes, model } = context;
  const { columnsTable, textsTable, search, resource } = layout;
  const { dialect } = session;
  const one = isOneTable(layout);
  const child = resource.parent !== undefined;
  const typed = typedFields(layout);
  const valuesOf = valuesReader(layout);
  const places = new Map(layout.fields.map((field, place) => [field, place]));
  /** Fields with their places among the values of a record. */
  const withPlaces = (fields: readonly Field[]) =>
    fields.flatMap((field) => {
      const place = places.get(field);
      return place === undefined ? [] : [{ field, place }];
    });
  const typedValues = withPlaces(typed);
  const dormant = dormantFields(model, resource);
  const nothingDormant = dormant.map(() => null);
  const links = layout.links.map(({ field }) => field);
  const texts = textColumns(model, layout);
  const evaluate = visibilityEvaluator(context, layout);
  const columns = [
    ...(child ? ['_key', '_parent', '_parent_resource'] : ['_key']),
    ...['_id', '_system', '_visible', '_shown', '_kind', '_rank', '_file', '_hash', '_audience', '_source'],
    ...typed.map((field) => field.name),
    ...dormant,
    ...(one ? texts.columns : []),
  ];
  const counted = countedFields(model, layout).map(({ field }) => field);
  const countedValues = withPlaces(counted);
  const comparedColumns = join(
    ['_key', '_visible', '_shown', '_system', ...dormant, ...counted.map((field) => field.name)].map(name),
    ', ',
  );
  const searched = [...typed.keys()].filter((index) => typed[index]?.type.kind === 'string');
  const indexes = new Map(typed.map(({ name }, index) => [name, index]));
  const inSearch = search?.fields.map(({ name }) => indexes.get(name) ?? -1) ?? [];

  return { put, remove };

  /** @param renews whether fields with stored values may have come back into use, whose words are then not indexed yet */
  async function put(rows: readonly RowToPut[], renews = false): Promise<void> {
    if (rows.length === 0) return;
    const placed = await place(rows);
    changes.touchParents(rows);
    changes.touchParents(rows.flatMap(({ stored }) => stored ?? []));
    const moved: string[] = [];
    for (const { row, values, visibility, before } of placed) {
      const { visible } = visibility;
      changes.put(resource.name, row.key, before ?? row.stored, { visible, system: row.system });
      const toCount = countedValues.map(({ place }) => values[place]);
      const read = (_: Field, index: number) => toCount[index];
      const counted = { ...visibility, system: row.system, read };
      if (before === undefined) countValues(model, layout, counted, counters, 1);
      else countReplaced(model, layout, before, counted, counters);
      if (before?.visible === visible && before.system === row.system) continue;
      moved.push(row.key);
      if (before !== undefined) counters.add(resource.name, before.visible, before.system, -1);
      counters.add(resource.name, visible, row.system, 1);
    }
    await session.indexWords?.(layout, searchedTexts(placed, renews));
    const stored = { by: '_key', keys: storedKeys(rows) } as const;
    await session.replace(columnsTable, stored, columns, columnRows(placed));
    if (!one) {
      const others = ['_key', '_id', '_system', '_visible', '_shown', ...links, ...texts.columns];
      // Texts under the key of a new record may be left from columns that were lost through damage.
      const keys = rows.map(({ key }) => key);
      await session.replace(textsTable, { by: '_key', keys }, others, textRows(placed));
    }
    if (search !== undefined) {
      const ids = placed.map(({ id }) => id);
      await session.replace(search.table, { by: '_id', ids }, [...search.columns], searchRows(placed));
    }
    const fresh = rows.filter(({ stored }) => stored === undefined).map(({ key }) => key);
    await removeTombstones(session, resource.name, fresh);
    await updateChildVisibility(context, resource.name, moved);
    await counters.flush();
  }

  async function place(rows: readonly RowToPut[]): Promise<PreparedRow[]> {
    const visibility = await evaluate(rows);
    const settled = await resolveTorn(rows.flatMap((row) => row.stored ?? []));
    const before = await readReplaced(storedKeys(rows));
    // The parent may be part of the primary key.
    const moved = rows.filter(({ stored, parent }) => stored !== undefined && stored.parent !== parent);
    await deleteRows(columnsTable, storedKeys(moved));
    const idOf = (row: RowToPut): number | undefined =>
      row.stored?.isTorn === true ? settled.ids.get(row.key) : row.stored?.id;
    const nextId = await takeIds(rows.filter((row) => idOf(row) === undefined).length);
    return rows.map((row, index) => {
      const values = valuesOf(row);
      return {
        row,
        values,
        cells: typedValues.map(({ field, place }) => encode(field, values[place])),
        id: idOf(row) ?? nextId(),
        visibility: visibility[index] ?? { visible: 0, shown: 0 },
        before: before.get(row.key),
      };
    });
  }

  function* columnRows(placed: readonly PreparedRow[]): Iterable<BoundValue[]> {
    for (const { row, values: content, cells, id, visibility, before } of placed) {
      const { rank, file } = rankAndFile(row);
      const source = context.source ?? row.stored?.source ?? null;
      const values: BoundValue[] = child ? [row.key, row.parent ?? '', row.parentResource ?? ''] : [row.key];
      values.push(id, row.system, visibility.visible, visibility.shown, row.kind, rank, file, row.hash);
      values.push(row.audience ?? null, source);
      values.push(...cells, ...(before?.dormant ?? nothingDormant));
      if (one) values.push(...texts.values(row, content));
      yield values;
    }
  }

  /** The texts of listings have a table of their own, which also carries the links to their agents. */
  function* textRows(placed: readonly PreparedRow[]): Iterable<BoundValue[]> {
    for (const { row, values, id, visibility } of placed) {
      const linked = links.map((link) => textOrNull(valueToStore(row, link)));
      yield [
        row.key,
        id,
        row.system,
        visibility.visible,
        visibility.shown,
        ...linked,
        ...texts.values(row, values),
      ];
    }
  }

  function* searchRows(placed: readonly PreparedRow[]): Iterable<BoundValue[]> {
    for (const { row, cells, id, visibility } of placed) {
      const values = inSearch.map((index) => cells[index] ?? null);
      yield [id, row.key, row.system, visibility.visible, visibility.shown, ...values];
    }
  }

  function* searchedTexts(placed: readonly PreparedRow[], renews: boolean): Iterable<RecordTexts> {
    for (const { row, cells, id } of placed) {
      const found = searched.map((index) => cells[index]);
      const isStored = row.stored !== undefined && row.stored.isTorn !== true && !renews;
      yield { id, texts: [row.key, ...found.filter((text) => typeof text === 'string')], isStored };
    }
  }

  async function remove(rows: readonly StoredRow[]): Promise<ReadonlyMap<string, ReplacedRow>> {
    await resolveTorn(rows);
    const keys = rows.map(({ key }) => key);
    changes.touchParents(rows);
    const gone = await readReplaced(keys);
    for (const row of rows) changes.remove(resource.name, row.key, gone.get(row.key) ?? row);
    for (const row of gone.values()) countValues(model, layout, row, counters, -1);
    await deleteRows(columnsTable, keys);
    if (!one) await deleteRows(textsTable, keys);
    if (search !== undefined) await deleteRows(search.table, keys);
    return gone;
  }

  /** Deletes texts that would conflict with inconsistent rows. */
  async function resolveTorn(rows: readonly StoredRow[]): Promise<ResolvedIds> {
    const torn = rows.filter(({ isTorn }) => isTorn === true);
    if (torn.length === 0) return NOTHING_TO_RESOLVE;
    const settled = resolveIds(torn, await session.rows(selectConflictingTexts(dialect, layout, torn)));
    await deleteRows(textsTable, settled.gone);
    // An inconsistent row may get another number.
    if (search !== undefined) {
      await deleteRows(
        search.table,
        torn.map(({ key }) => key),
      );
    }
    return settled;
  }

  /** Reads how stored rows are currently counted; a change of a parent may have moved them since they were found. */
  async function readReplaced(keys: readonly string[]): Promise<ReadonlyMap<string, ReplacedRow>> {
    if (keys.length === 0) return new Map();
    const rows = await session.rows(
      sql`SELECT ${comparedColumns} FROM ${name(columnsTable)} WHERE ${dialect.oneOf(sql`_key`, keys)}`,
    );
    const standingOf = (row: Row): ReplacedRow => ({
      visible: Number(row._visible),
      shown: Number(row._shown),
      system: textOrNull(row._system),
      read: (field) => decodeOrUndefined(field, row[field.name]),
      cell: (field) => row[field.name],
      dormant: dormant.map((column) => boundValueOf(row[column])),
    });
    return new Map(rows.map((row) => [String(row._key), standingOf(row)]));
  }

  async function deleteRows(table: string, keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    await session.run(sql`DELETE FROM ${name(table)} WHERE ${dialect.oneOf(sql`_key`, keys)}`);
  }

  async function takeIds(count: number): Promise<() => number> {
    if (count === 0) return () => 0;
    const [row] = await session.rows(sql`INSERT INTO plat_sequence (resource, next)
      VALUES (${bind(resource.name)}, 1 + ${bind(count)})
      ON CONFLICT (resource) DO UPDATE SET next = plat_sequence.next + ${bind(count)} RETURNING next`);
    let next = Number(row?.next ?? 1) - count;
    return () => next++;
  }
}

const storedKeys = (rows: readonly RowToPut[]): string[] => rows.flatMap(({ stored }) => stored?.key ?? []);

/** How inconsistent rows are rewritten. */
interface ResolvedIds {
  /** The id of each row by key; a row that gets a new id is absent. */
  readonly ids: ReadonlyMap<string, number>;
  /** Keys of texts that must be deleted first. */
  readonly gone: readonly string[];
}

const NOTHING_TO_RESOLVE: ResolvedIds = { ids: new Map(), gone: [] };

/** Selects texts with keys or ids of inconsistent rows, and whether they lack columns. The row without a key has the next id. */
function selectConflictingTexts(
  dialect: Pick<Dialect, 'members'>,
  { columnsTable, textsTable, resource }: ResourceLayout,
  torn: readonly StoredRow[],
): Sql {
  const keys = bind(JSON.stringify(torn.map(({ key }) => key)));
  const ids = torn.map(({ id }) => id).filter(Number.isSafeInteger);
  const found = [
    sql`t._key IN (SELECT k.value FROM ${dialect.members(keys, 'k')})`,
    ...(ids.length === 0 ? [] : [sql`t._id IN (${join(ids.map(integer), ', ')})`]),
  ];
  const isBare = sql`NOT EXISTS (SELECT 1 FROM ${name(columnsTable)} r WHERE r._key = t._key)`;
  return sql`SELECT NULL AS key, next AS id, 0 AS bare FROM plat_sequence WHERE resource = ${bind(resource.name)}
    UNION ALL SELECT t._key, t._id, CASE WHEN ${isBare} THEN 1 ELSE 0 END FROM ${name(textsTable)} t WHERE ${join(found, ' OR ')}`;
}

/** @param found the rows of `selectConflictingTexts` */
function resolveIds(
  torn: readonly StoredRow[],
  found: readonly Readonly<Record<string, unknown>>[],
): ResolvedIds {
  const own = new Set(torn.map(({ key }) => key));
  const ofKey = new Map<string, number>();
  const taken = new Set<number>();
  const gone: string[] = [];
  let next = 1;
  for (const { key, id, bare } of found) {
    if (typeof key !== 'string') {
      next = Number(id);
      continue;
    }
    if (own.has(key)) ofKey.set(key, Number(id));
    // The id belongs to another record.
    else if (Number(bare) === 0) taken.add(Number(id));
    if (own.has(key) || Number(bare) === 1) gone.push(key);
  }
  const ids = new Map<string, number>();
  const keyOf = new Map([...ofKey].map(([key, id]) => [id, key]));
  const isGiven = (id: number): boolean => Number.isSafeInteger(id) && id >= 1 && id < next;
  for (const { key, id } of torn) {
    const isFree = (each: number): boolean =>
      isGiven(each) && !taken.has(each) && (keyOf.get(each) ?? key) === key;
    const free = [id, ofKey.get(key) ?? 0].find(isFree);
    if (free === undefined) continue;
    ids.set(key, free);
    taken.add(free);
  }
  return { ids, gone };
}
