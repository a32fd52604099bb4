import type { Field, FieldValue, FieldValues } from '../../dictionary/index.ts';
import { isOneTable, ownColumn, type ResourceLayout, typedFields } from '../layout/index.ts';
import { MEDIA_KINDS, type MediaKind } from '../record/media.ts';
import { isStamp, STAMPED_FIELDS } from '../record/stamps.ts';
import { newestStampField, placeOf, stampTextColumns, textColumns } from '../text/text-columns.ts';
import type { RowToPut, RowToRestamp, StoredRow } from '../write/transaction.ts';
import { decode, encode } from './codec.ts';
import type { Raw } from './connection.ts';
import { type Bits, type Court, judgeChildren, rowJudge } from './judge.ts';
import { wordWriter } from './word-index.ts';

type RawRow = Record<string, Raw>;

/** Profiles count from 1. */
const FIRST_VERSION = 1;

/** What a transaction does to the records of one resource. */
export interface TableWriter {
  find(keys: readonly string[]): Map<string, StoredRow>;
  all(): StoredRow[];
  children(parentResource: string, parents: readonly string[]): Map<string, StoredRow[]>;
  load(rows: readonly StoredRow[]): Map<string, FieldValues>;
  put(rows: readonly RowToPut[]): void;
  restamp(rows: readonly RowToRestamp[]): void;
  remove(rows: readonly StoredRow[]): void;
  /** Writes the texts of every record anew, after a change of what stands in them. */
  renew(): void;
}

/** @param stamp of the transaction, for tombstones */
export function tableWriter(court: Court, layout: ResourceLayout, stamp: string): TableWriter {
  const { connection, counters } = court;
  const { columnsTable, textsTable, resource } = layout;
  const child = resource.parent !== undefined;
  const typed = typedFields(layout);
  // Fields that a write compares, so that it need not read the whole record.
  const watched = typed.filter(
    (field) => field.class === 'open' || isStamp(field) || STAMPED_FIELDS.includes(field.name),
  );
  const isThis = child ? '_parent = ? AND _key = ?' : '_key = ?';
  const placeIn = ({ parent, key }: Pick<StoredRow, 'parent' | 'key'>) => (child ? [parent, key] : [key]);
  const tables = isOneTable(layout) ? [columnsTable] : [columnsTable, textsTable];
  let putRow: ((row: RowToPut, id: number) => Bits) | undefined;
  let hasGraves: boolean | undefined;

  return { find, all, children, load, put, restamp, remove, renew };

  function find(keys: readonly string[]): Map<string, StoredRow> {
    const rows = select('r._key IN (SELECT value FROM json_each(?))', keys);
    return new Map(rows.map((row) => [row.key, row]));
  }

  function all(): StoredRow[] {
    return select('? IS NOT NULL', []);
  }

  function children(parentResource: string, parents: readonly string[]): Map<string, StoredRow[]> {
    if (parents.length === 0) return new Map();
    const rows = select('r._parent IN (SELECT value FROM json_each(?))', parents);
    const own = rows.filter((row) => row.parentResource === parentResource);
    return Map.groupBy(own, (row) => row.parent ?? '');
  }

  function select(where: string, list: readonly string[]): StoredRow[] {
    const place = child ? 'r._parent, r._parent_resource,' : '';
    const others = watched.map((field) => `, r."${field.name}"`).join('');
    const text = `SELECT r._key, ${place} r._id, r._system, r._kind, r._hash, r._source, r._visible${others} FROM "${columnsTable}" r WHERE ${where}`;
    return connection.prepare(text).all(JSON.stringify(list)).map(storedRow);
  }

  function storedRow(row: RawRow): StoredRow {
    return {
      key: String(row._key),
      id: Number(row._id),
      parent: textOf(row._parent),
      parentResource: textOf(row._parent_resource),
      system: textOf(row._system),
      kind: kindOf(row._kind),
      hash: String(row._hash),
      source: textOf(row._source),
      visible: Number(row._visible),
      values: valuesOf(layout, watched, row),
    };
  }

  function load(rows: readonly StoredRow[]): Map<string, FieldValues> {
    const place = child ? ', r._parent, r._parent_resource' : '';
    const columns = typed.map((field) => `, r."${field.name}"`).join('');
    const text = `SELECT r._key${place}${columns} FROM "${columnsTable}" r WHERE r._key IN (SELECT value FROM json_each(?))`;
    const found = connection.prepare(text).all(JSON.stringify(rows.map(({ key }) => key)));
    return new Map(found.map((row) => [String(row._key), valuesOf(layout, typed, row)]));
  }

  function put(rows: readonly RowToPut[]): void {
    if (rows.length === 0) return;
    const ids = takeIds(rows.filter(({ stored }) => stored === undefined).length);
    putRow ??= rowPutter();
    const seenOtherwise: string[] = [];
    for (const row of rows) {
      const { stored } = row;
      const before = stored === undefined ? undefined : standingOf(stored);
      // The parent is part of the primary key.
      if (stored !== undefined && child && stored.parent !== row.parent) deleteRows([stored]);
      if (stored === undefined) unbury(row.key);
      const { visible } = putRow(row, stored?.id ?? ids.next());
      if (before?.visible === visible && before.system === row.system) continue;
      seenOtherwise.push(row.key);
      if (before !== undefined) counters.add(resource.name, before.visible, before.system, -1);
      counters.add(resource.name, visible, row.system, 1);
    }
    judgeChildren(court, resource.name, seenOtherwise);
    counters.flush();
  }

  /** How a stored row is counted now: a change of its parent may have moved it since it was found. */
  function standingOf(row: StoredRow): { visible: number; system: string | null } | undefined {
    const found = connection
      .prepare(`SELECT _visible, _system FROM "${columnsTable}" WHERE ${isThis}`)
      .get(...placeIn(row));
    return found === undefined
      ? undefined
      : { visible: Number(found._visible), system: textOf(found._system) };
  }

  /** A record that comes again leaves its tombstone. */
  function unbury(key: string): void {
    hasGraves ??=
      connection.prepare('SELECT 1 FROM plat_tombstones WHERE resource = ?').get(resource.name) !== undefined;
    if (!hasGraves) return;
    connection.prepare('DELETE FROM plat_tombstones WHERE resource = ? AND key = ?').run(resource.name, key);
  }

  /** Writes a record, judged on the way by the rule of every role. */
  function rowPutter(): (row: RowToPut, id: number) => Bits {
    const judge = rowJudge(court, layout);
    const texts = textColumns(court.model, layout);
    const one = isOneTable(layout);
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
      const columns = typed.map((field) => encode(field, row.values[field.name]));
      const ready = texts.values(row);
      insert.run(
        ...place,
        id,
        row.system,
        bits.visible,
        bits.shown,
        ...own,
        ...columns,
        ...(one ? ready : []),
      );
      insertTexts?.(row, id, bits, ready);
      insertWords?.(id, row.key, columns);
      return bits;
    };
  }

  function insertOf(columns: readonly string[]) {
    const updates = columns.filter((name) => !['_key', '_parent', '_id'].includes(name));
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
    const statement = connection.prepare(
      `INSERT OR REPLACE INTO "${textsTable}" (${names.map((name) => `"${name}"`).join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
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

  function restamp(rows: readonly RowToRestamp[]): void {
    const outdated = rows.filter(({ stored }) => isOutdated(stored));
    rewrite(outdated);
    restampTexts(outdated.length === 0 ? rows : rows.filter((row) => !outdated.includes(row)));
  }

  /** Whether the texts were written before the newest of the fields beside the stamps came into use. */
  function isOutdated(stored: StoredRow): boolean {
    const newest = newestStampField(layout);
    if (newest <= FIRST_VERSION) return false;
    const row = connection
      .prepare(`SELECT _profile FROM "${textsTable}" WHERE ${isThis}`)
      .get(...placeIn(stored));
    return Number(row?._profile) < newest;
  }

  function renew(): void {
    const next = "r._key > json_extract(?, '$[0]') ORDER BY r._key LIMIT 1000";
    for (let rows = select(next, ['']); rows.length > 0; rows = select(next, [rows.at(-1)?.key ?? ''])) {
      rewrite(rows.map((stored) => ({ stored, values: stored.values })));
    }
  }

  function rewrite(rows: readonly RowToRestamp[]): void {
    if (rows.length === 0) return;
    const contents = load(rows.map(({ stored }) => stored));
    put(
      rows.map(({ stored, values }) => ({
        ...stored,
        stored,
        values: { ...contents.get(stored.key), ...values },
      })),
    );
  }

  function restampTexts(rows: readonly RowToRestamp[]): void {
    if (rows.length === 0) return;
    const stamps = watched.filter(isStamp);
    const texts = stampTextColumns(layout);
    const set = (names: readonly string[]): string => names.map((name) => `"${name}" = ?`).join(', ');
    const stampNames = stamps.map(({ name }) => name);
    const one = isOneTable(layout);
    const update = connection.prepare(
      `UPDATE "${columnsTable}" SET ${set(one ? [...stampNames, ...texts.columns] : stampNames)} WHERE ${isThis}`,
    );
    const updateTexts = one
      ? undefined
      : connection.prepare(`UPDATE "${textsTable}" SET ${set(texts.columns)} WHERE ${isThis}`);
    for (const { stored, values } of rows) {
      const columns = stamps.map((field) => encode(field, values[field.name]));
      const ready = texts.values(values);
      update.run(...columns, ...(one ? ready : []), ...placeIn(stored));
      updateTexts?.run(...ready, ...placeIn(stored));
    }
  }

  function remove(rows: readonly StoredRow[]): void {
    if (rows.length === 0) return;
    hasGraves = true;
    const standing = rows.map((row) => ({ key: row.key, ...(standingOf(row) ?? row) }));
    deleteRows(rows);
    const bury = connection.prepare(
      'INSERT INTO plat_tombstones VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET system = excluded.system, deleted_at = excluded.deleted_at',
    );
    for (const { key, system, visible } of standing) {
      bury.run(resource.name, key, system, stamp);
      counters.add(resource.name, visible, system, -1);
    }
    counters.flush();
  }

  function deleteRows(rows: readonly StoredRow[]): void {
    for (const table of tables) {
      const statement = connection.prepare(`DELETE FROM "${table}" WHERE ${isThis}`);
      for (const row of rows) statement.run(...placeIn(row));
    }
  }
}

function valuesOf({ resource }: ResourceLayout, fields: readonly Field[], row: RawRow): FieldValues {
  const values: Record<string, FieldValue> = {};
  for (const field of resource.fields.values()) {
    const column = ownColumn(resource, field);
    const value = column === undefined ? null : textOf(row[column]);
    if (value !== null && value !== '') values[field.name] = value;
  }
  for (const field of fields) {
    const value = decode(field, row[field.name]);
    if (value !== null) values[field.name] = value;
  }
  return values;
}

const textOf = (raw: unknown): string | null => (typeof raw === 'string' ? raw : null);

function kindOf(raw: Raw | undefined): MediaKind | null {
  return MEDIA_KINDS.find((kind) => kind === raw) ?? null;
}
