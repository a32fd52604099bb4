import { decode, encode } from '../../../compile/column-value.ts';
import { render } from '../../../compile/fragment.ts';
import { isOneTable, type ResourceLayout, typedFields } from '../../../compile/layout/index.ts';
import { dormantFields } from '../../../compile/model.ts';
import { placeOf, textColumns } from '../../../compile/text/text-columns.ts';
import { type CountedRow, countedFields, countValues } from '../../../compile/values-in-use.ts';
import type { Field } from '../../../dictionary/index.ts';
import type { RowToPut, StoredRow } from '../../../records/rows.ts';
import { NOTHING_TORN, type Settled, settle, textsInTheWay } from '../../../store/write/settle-rows.ts';
import { bindings } from '../connection/session.ts';
import { postgresDialect } from '../dialect.ts';
import { type Cell, cellOf, copyIn } from './copy-in.ts';
import { type Bits, type Court, judgeChildren, rowsJudge } from './judge.ts';
import type { Tombstones } from './tombstones.ts';

/** What a row that is taken out leaves behind. */
interface Taken extends CountedRow {
  /** Values of columns that belong to no declared field. */
  readonly dormant: readonly Cell[];
}

/** A row with what the engine gives it. */
interface Placed {
  readonly row: RowToPut;
  readonly id: number;
  readonly bits: Bits;
  /** What stood in its place. */
  readonly before: Taken | undefined;
}

/** Puts rows of one resource in, and takes them out. */
export interface RowPutter {
  put(rows: readonly RowToPut[]): Promise<void>;
  take(rows: readonly StoredRow[]): Promise<ReadonlyMap<string, Taken>>;
}

export function rowPutter(court: Court, layout: ResourceLayout, graves: Tombstones): RowPutter {
  const { session, counters, model } = court;
  const { columnsTable, textsTable, resource } = layout;
  const one = isOneTable(layout);
  const child = resource.parent !== undefined;
  const typed = typedFields(layout);
  const dormant = dormantFields(model, resource);
  const nothingDormant = dormant.map(() => null);
  const links = layout.links.map(({ field }) => field);
  const texts = textColumns(model, layout);
  const judge = rowsJudge(court, layout);
  const columns = [
    ...(child ? ['_key', '_parent', '_parent_resource'] : ['_key']),
    ...['_id', '_system', '_visible', '_shown', '_kind', '_rank', '_file', '_hash', '_audience', '_source'],
    ...typed.map(({ name }) => name),
    ...dormant,
    ...(one ? texts.columns : []),
  ];

  return { put, take };

  /** Rows are replaced as a whole: those that are stored go, and all come in by COPY. */
  async function put(rows: readonly RowToPut[]): Promise<void> {
    if (rows.length === 0) return;
    const placed = await place(rows);
    const seenOtherwise = placed.filter(
      ({ row, bits, before }) => before?.visible !== bits.visible || before.system !== row.system,
    );
    for (const { row, bits, before } of placed) {
      if (before !== undefined) countValues(model, layout, before, counters, -1);
      const read = ({ name }: Field) => row.values[name];
      countValues(model, layout, { ...bits, system: row.system, read }, counters, 1);
    }
    for (const { row, bits, before } of seenOtherwise) {
      if (before !== undefined) counters.add(resource.name, before.visible, before.system, -1);
      counters.add(resource.name, bits.visible, row.system, 1);
    }
    await copyIn(session, columnsTable, columns, columnCells(placed));
    if (!one) {
      const others = ['_key', '_id', '_system', '_visible', '_shown', ...links, ...texts.columns];
      await copyIn(session, textsTable, others, textCells(placed));
    }
    await graves.unbury(rows.filter(({ stored }) => stored === undefined).map(({ key }) => key));
    await judgeChildren(
      court,
      resource.name,
      seenOtherwise.map(({ row }) => row.key),
    );
    await counters.flush();
  }

  async function place(rows: readonly RowToPut[]): Promise<Placed[]> {
    const bits = await judge(rows);
    const stored = rows.filter((row) => row.stored !== undefined);
    const settled = await settleTorn(rows.flatMap((row) => row.stored ?? []));
    const standing = await takeRows(stored.map(({ key }) => key));
    const added = rows.filter((row) => row.stored === undefined);
    // Texts whose columns a damage took would stand in the way.
    if (!one) await takeTexts(added.map(({ key }) => key));
    const idOf = (row: RowToPut): number | undefined =>
      row.stored?.isTorn === true ? settled.ids.get(row.key) : row.stored?.id;
    const nextId = await takeIds(rows.filter((row) => idOf(row) === undefined).length);
    return rows.map((row, index) => ({
      row,
      id: idOf(row) ?? nextId(),
      bits: bits[index] ?? { visible: 0, shown: 0 },
      before: standing.get(row.key),
    }));
  }

  function* columnCells(placed: readonly Placed[]): Iterable<Cell[]> {
    for (const { row, id, bits, before } of placed) {
      const { rank, file } = placeOf(row);
      const source = court.source ?? row.stored?.source ?? null;
      const cells: Cell[] = child ? [row.key, row.parent ?? '', row.parentResource ?? ''] : [row.key];
      cells.push(id, row.system, bits.visible, bits.shown, row.kind, rank, file, row.hash);
      cells.push(row.audience ?? null, source);
      for (const field of typed) cells.push(encode(field, row.values[field.name]));
      cells.push(...(before?.dormant ?? nothingDormant));
      if (one) cells.push(...texts.values(row));
      yield cells;
    }
  }

  /** The texts of listings have a table of their own, which carries the links to their agents, too. */
  function* textCells(placed: readonly Placed[]): Iterable<Cell[]> {
    for (const { row, id, bits } of placed) {
      const linked = links.map((link) => textOf(row.values[link]));
      yield [row.key, id, row.system, bits.visible, bits.shown, ...linked, ...texts.values(row)];
    }
  }

  async function take(rows: readonly StoredRow[]): Promise<ReadonlyMap<string, Taken>> {
    await settleTorn(rows);
    const taken = await takeRows(rows.map(({ key }) => key));
    for (const row of taken.values()) countValues(model, layout, row, counters, -1);
    return taken;
  }

  /** Makes way for torn rows. */
  async function settleTorn(rows: readonly StoredRow[]): Promise<Settled> {
    const torn = rows.filter(({ isTorn }) => isTorn === true);
    if (torn.length === 0) return NOTHING_TORN;
    const found = render(textsInTheWay(postgresDialect, layout, torn), postgresDialect.placeholder);
    const settled = settle(torn, await session.rows(found.text, bindings(found)));
    await takeTexts(settled.gone);
    return settled;
  }

  async function takeRows(keys: readonly string[]): Promise<ReadonlyMap<string, Taken>> {
    if (keys.length === 0) return new Map();
    const listed = countedFields(model, layout).map(({ field }) => field.name);
    const own = ['_key', '_visible', '_shown', '_system', ...dormant, ...listed]
      .map((column) => `"${column}"`)
      .join(', ');
    const rows = await session.rows(
      `DELETE FROM "${columnsTable}" WHERE _key = ANY($1::text[]) RETURNING ${own}`,
      [keys],
    );
    if (!one) await takeTexts(keys);
    const taken = (row: (typeof rows)[number]): Taken => ({
      visible: Number(row._visible),
      shown: Number(row._shown),
      system: textOf(row._system),
      read: (field) => decode(field, row[field.name]),
      dormant: dormant.map((name) => cellOf(row[name])),
    });
    return new Map(rows.map((row) => [String(row._key), taken(row)]));
  }

  async function takeTexts(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    await session.run(`DELETE FROM "${textsTable}" WHERE _key = ANY($1::text[])`, [keys]);
  }

  async function takeIds(count: number): Promise<() => number> {
    if (count === 0) return () => 0;
    const [row] = await session.rows(
      `INSERT INTO plat_sequence VALUES ($1, 1 + $2::bigint)
       ON CONFLICT (resource) DO UPDATE SET next = plat_sequence.next + $2::bigint RETURNING next`,
      [resource.name, count],
    );
    let next = Number(row?.next ?? 1) - count;
    return () => next++;
  }
}

const textOf = (raw: unknown): string | null => (typeof raw === 'string' ? raw : null);
