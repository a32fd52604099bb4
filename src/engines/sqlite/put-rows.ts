import { decode, encode } from '../../compile/column-value.ts';
import { render } from '../../compile/fragment.ts';
import { isOneTable, type ResourceLayout, typedFields } from '../../compile/layout/index.ts';
import { placeOf, textColumns } from '../../compile/text/text-columns.ts';
import { type CountedRow, countedFields, countValues, type Standing } from '../../compile/values-in-use.ts';
import type { Field } from '../../dictionary/index.ts';
import type { RowToPut, StoredRow } from '../../records/rows.ts';
import { NOTHING_TORN, type Settled, settle, textsInTheWay } from '../../store/write/settle-rows.ts';
import { anyRows, bindable, bindings } from './connection.ts';
import { sqliteDialect } from './dialect.ts';
import { type Bits, type Court, judgeChildren, rowJudge } from './judge.ts';
import type { Tombstones } from './tombstones.ts';
import { wordWriter } from './word-index.ts';

/** Puts rows of one resource in, and takes them out. */
export interface RowPutter {
  put(rows: readonly RowToPut[]): void;
  /** @returns the visibility and system that each was counted under */
  take(rows: readonly StoredRow[]): ReadonlyMap<string, Pick<Standing, 'visible' | 'system'>>;
}

/** The columns by which a row is found. The parent is part of a child's primary key. */
export const isThisRow = ({ resource }: ResourceLayout): string =>
  resource.parent === undefined ? '_key = ?' : '_parent = ? AND _key = ?';

/** The values of these columns. */
export const placeInTable = (
  { resource }: ResourceLayout,
  { parent, key }: Pick<StoredRow, 'parent' | 'key'>,
): (string | null)[] => (resource.parent === undefined ? [key] : [parent, key]);

export function rowPutter(court: Court, layout: ResourceLayout, graves: Tombstones): RowPutter {
  const { connection, counters, model } = court;
  const { columnsTable, textsTable, resource } = layout;
  const one = isOneTable(layout);
  const child = resource.parent !== undefined;
  const typed = typedFields(layout);
  const counted = countedFields(model, layout).map(({ field }) => `, "${field.name}"`);
  const standing = `SELECT _visible, _shown, _system${counted.join('')} FROM "${columnsTable}" WHERE ${isThisRow(layout)}`;
  let putRow: ((row: RowToPut, id: number) => Bits) | undefined;

  return {
    put(rows) {
      if (rows.length === 0) return;
      const settled = settleTorn(rows.flatMap(({ stored }) => stored ?? []));
      const idOf = ({ stored }: RowToPut): number | undefined =>
        stored?.isTorn === true ? settled.ids.get(stored.key) : stored?.id;
      const ids = takeIds(rows.filter((row) => idOf(row) === undefined).length);
      putRow ??= makePutRow();
      const seenOtherwise: string[] = [];
      for (const row of rows) {
        const { stored } = row;
        const before = stored === undefined ? undefined : standingOf(stored);
        if (stored !== undefined && child && stored.parent !== row.parent) deleteRow(stored);
        if (stored === undefined) graves.unbury(row.key);
        const { visible, shown } = putRow(row, idOf(row) ?? ids.next());
        if (before !== undefined) countValues(model, layout, before, counters, -1);
        const read = ({ name }: Field) => row.values[name];
        countValues(model, layout, { visible, shown, system: row.system, read }, counters, 1);
        if (before?.visible === visible && before.system === row.system) continue;
        seenOtherwise.push(row.key);
        if (before !== undefined) counters.add(resource.name, before.visible, before.system, -1);
        counters.add(resource.name, visible, row.system, 1);
      }
      judgeChildren(court, resource.name, seenOtherwise);
      counters.flush();
    },
    take(rows) {
      settleTorn(rows);
      const standing = new Map(
        rows.map((row) => {
          const found = standingOf(row);
          if (found !== undefined) countValues(model, layout, found, counters, -1);
          return [row.key, found ?? row];
        }),
      );
      rows.forEach(deleteRow);
      return standing;
    },
  };

  /** Makes way for torn rows. */
  function settleTorn(rows: readonly StoredRow[]): Settled {
    const torn = rows.filter(({ isTorn }) => isTorn === true);
    if (torn.length === 0) return NOTHING_TORN;
    const found = render(textsInTheWay(sqliteDialect, layout, torn), sqliteDialect.placeholder);
    const settled = settle(torn, anyRows(connection, found.text, bindings(found)));
    const drop = connection.prepare(`DELETE FROM "${textsTable}" WHERE _key = ?`);
    for (const key of settled.gone) drop.run(key);
    return settled;
  }

  /** How a stored row is counted now: a change of its parent may have moved it since it was found. */
  function standingOf(row: StoredRow): CountedRow | undefined {
    const statement = connection.prepare(standing);
    // Without names, which take longer than the values of so many columns.
    statement.setReturnArrays(true);
    const found = statement.get(...placeInTable(layout, row));
    if (found === undefined) return undefined;
    return {
      visible: Number(found[0]),
      shown: Number(found[1]),
      system: textOf(found[2]),
      read: (field, index) => decode(field, found[index + 3]),
    };
  }

  function deleteRow(row: StoredRow): void {
    for (const table of one ? [columnsTable] : [columnsTable, textsTable]) {
      connection
        .prepare(`DELETE FROM "${table}" WHERE ${isThisRow(layout)}`)
        .run(...placeInTable(layout, row));
    }
  }

  /** Writes a record, judged on the way by the rule of every role. */
  function makePutRow(): (row: RowToPut, id: number) => Bits {
    const judge = rowJudge(court, layout);
    const texts = textColumns(court.model, layout);
    const insert = insertOf([
      ...(child ? ['_key', '_parent', '_parent_resource'] : ['_key']),
      ...['_id', '_system', '_visible', '_shown', '_kind', '_rank', '_file', '_hash', '_audience', '_source'],
      ...typed.map((field) => field.name),
      ...(one ? texts.columns : []),
    ]);
    const insertTexts = one ? undefined : textsInsert(texts.columns);
    const insertWords = wordWriter(connection, layout, typed);
    return (row, id) => {
      const bits = judge(row);
      const { rank, file } = placeOf(row);
      const place = child ? [row.key, row.parent ?? '', row.parentResource ?? ''] : [row.key];
      const source = court.source ?? row.stored?.source ?? null;
      const own = [row.kind, rank, file, row.hash, row.audience ?? null, source];
      const columns = typed.map((field) => bindable(encode(field, row.values[field.name])));
      const ready = texts.values(row);
      const seen = [id, row.system, bits.visible, bits.shown];
      insert.run(...place, ...seen, ...own, ...columns, ...(one ? ready : []));
      insertTexts?.(row, id, bits, ready);
      insertWords?.(id, row.key, columns);
      return bits;
    };
  }

  function insertOf(columns: readonly string[]) {
    const updates = columns.filter((name) => !['_key', '_parent'].includes(name));
    return connection.prepare(
      `INSERT INTO "${columnsTable}" (${columns.map((name) => `"${name}"`).join(', ')})
       VALUES (${columns.map(() => '?').join(', ')}) ON CONFLICT ${child ? '(_parent, _key)' : '(_key)'}
       DO UPDATE SET ${updates.map((name) => `"${name}" = excluded."${name}"`).join(', ')}`,
    );
  }

  /** The texts of listings have a table of their own, which carries the links to their agents, too. */
  function textsInsert(columns: readonly string[]) {
    const links = layout.links.map(({ field }) => field);
    const names = ['_key', '_id', '_system', '_visible', '_shown', ...links, ...columns];
    const updates = names.slice(1).map((name) => `"${name}" = excluded."${name}"`);
    // Those of another record that have the same number are in the way, and not replaced.
    const statement = connection.prepare(
      `INSERT INTO "${textsTable}" (${names.map((name) => `"${name}"`).join(', ')}) VALUES (${names.map(() => '?').join(', ')})
       ON CONFLICT (_key) DO UPDATE SET ${updates.join(', ')}`,
    );
    return (
      row: RowToPut,
      id: number,
      { visible, shown }: Bits,
      ready: readonly (string | number | null)[],
    ) => {
      const linked = links.map((link) => textOf(row.values[link]));
      statement.run(row.key, id, row.system, visible, shown, ...linked, ...ready);
    };
  }

  function takeIds(count: number): { next: () => number } {
    const row = connection
      .prepare(
        'INSERT INTO plat_sequence VALUES (?1, 1 + ?2) ON CONFLICT DO UPDATE SET next = next + ?2 RETURNING next',
      )
      .get(resource.name, count);
    let next = Number(row?.next ?? 1) - count;
    return { next: () => next++ };
  }
}

const textOf = (raw: unknown): string | null => (typeof raw === 'string' ? raw : null);
