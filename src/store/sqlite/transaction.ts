import type { Field, FieldValue, FieldValues } from '../../dictionary/index.ts';
import type { ResourceLayout } from '../layout/index.ts';
import type { StoreModel } from '../model.ts';
import { MEDIA_KINDS, type MediaKind } from '../record/media.ts';
import { isStamp, STAMPED_FIELDS } from '../record/stamps.ts';
import type { RowToPut, RowToRestamp, StoredRow, WriteTransaction } from '../write/transaction.ts';
import { decode, encode } from './codec.ts';
import type { Connection, Raw } from './connection.ts';
import { childLayouts, judgeChildren, judgeRows } from './judge.ts';
import { typedFields } from './tables.ts';
import { placeOf, type TextWriter, textWriter } from './text-rows.ts';

/** A write transaction on a connection that holds the write lock. */
export function sqliteTransaction(
  connection: Connection,
  model: StoreModel,
  stamp: string,
): WriteTransaction {
  const tables = new Map<string, TableWriter>();
  const table = (resource: string): TableWriter => {
    const known = tables.get(resource);
    if (known !== undefined) return known;
    const made = new TableWriter(connection, model, model.layout(resource), stamp);
    tables.set(resource, made);
    return made;
  };
  return {
    model,
    stamp,
    find: async (resource, keys) => table(resource).find(keys),
    all: async (resource) => table(resource).all(),
    children: async (resource, parentResource, parents) => table(resource).children(parentResource, parents),
    load: async (resource, rows) => table(resource).load(rows),
    put: async (resource, rows) => table(resource).put(rows),
    restamp: async (resource, rows) => table(resource).restamp(rows),
    remove: async (resource, rows) => table(resource).remove(rows),
  };
}

const UNSEEN = { visible: 0, shown: 0, changed: false };

type RawRow = Record<string, Raw>;

/** What a batch does to the two tables of one resource. */
class TableWriter {
  readonly #connection: Connection;
  readonly #model: StoreModel;
  readonly #layout: ResourceLayout;
  readonly #stamp: string;
  readonly #texts: TextWriter;
  readonly #typed: readonly Field[];
  /** Fields that a write compares, without reading the whole record. */
  readonly #watched: readonly Field[];

  constructor(connection: Connection, model: StoreModel, layout: ResourceLayout, stamp: string) {
    this.#connection = connection;
    this.#model = model;
    this.#layout = layout;
    this.#stamp = stamp;
    this.#texts = textWriter(connection, model, layout);
    this.#typed = typedFields(layout);
    this.#watched = this.#typed.filter(
      (field) => field.class === 'open' || isStamp(field) || STAMPED_FIELDS.includes(field.name),
    );
  }

  get #isChild(): boolean {
    return this.#layout.resource.parent !== undefined;
  }

  find(keys: readonly string[]): Map<string, StoredRow> {
    const rows = this.#select('r._key IN (SELECT value FROM json_each(?))', keys);
    return new Map(rows.map((row) => [row.key, row]));
  }

  all(): StoredRow[] {
    return this.#select('? IS NOT NULL', []);
  }

  children(parentResource: string, parents: readonly string[]): Map<string, StoredRow[]> {
    if (parents.length === 0) return new Map();
    const rows = this.#select('r._parent IN (SELECT value FROM json_each(?))', parents);
    return Map.groupBy(
      rows.filter((row) => row.parentResource === parentResource),
      (row) => row.parent ?? '',
    );
  }

  #select(where: string, list: readonly string[]): StoredRow[] {
    const place = this.#isChild ? 'r._parent, r._parent_resource,' : '';
    const watched = this.#watched.map((field) => `, r."${field.name}"`).join('');
    const text = `SELECT r._key, ${place} r._id, r._system, r._kind, r._hash${watched} FROM "${this.#layout.columnsTable}" r WHERE ${where}`;
    const rows = this.#connection.prepare(text).all(JSON.stringify(list));
    return rows.map((row) => this.#stored(row));
  }

  #stored(row: RawRow): StoredRow {
    return {
      key: String(row._key),
      id: Number(row._id),
      parent: textOf(row._parent),
      parentResource: textOf(row._parent_resource),
      system: textOf(row._system),
      kind: kindOf(row._kind),
      hash: String(row._hash),
      values: valuesOf(this.#layout, this.#watched, row),
    };
  }

  load(rows: readonly StoredRow[]): Map<string, FieldValues> {
    const columns = this.#typed.map((field) => `, r."${field.name}"`).join('');
    const text = `SELECT r._key${columns} FROM "${this.#layout.columnsTable}" r WHERE r._key IN (SELECT value FROM json_each(?))`;
    const found = this.#connection.prepare(text).all(JSON.stringify(rows.map(({ key }) => key)));
    return new Map(found.map((row) => [String(row._key), valuesOf(this.#layout, this.#typed, row)]));
  }

  put(rows: readonly RowToPut[]): void {
    if (rows.length === 0) return;
    const ids = this.#takeIds(rows.filter(({ stored }) => stored === undefined).length);
    const columns = this.#putColumns();
    const placed = rows.map((row) => {
      const id = row.stored?.id ?? ids.next();
      if (row.stored !== undefined && this.#isChild && row.stored.parent !== row.parent) {
        this.#deleteRows([row.stored]); // the parent is part of the primary key
      }
      columns(row, id);
      return { row, id };
    });
    const { resource } = this.#layout;
    const bits = judgeRows(
      this.#connection,
      this.#model,
      this.#layout,
      rows.map(({ key }) => key),
    );
    for (const { row, id } of placed) this.#texts.put(row, id, bits.get(row.key) ?? UNSEEN);
    if (childLayouts(this.#model, resource.name).length === 0) return;
    const changed = rows.filter(({ key, stored, system }) => {
      return stored === undefined || stored.system !== system || bits.get(key)?.changed === true;
    });
    judgeChildren(
      this.#connection,
      this.#model,
      resource.name,
      changed.map(({ key }) => key),
    );
  }

  #putColumns(): (row: RowToPut, id: number) => void {
    const child = this.#isChild;
    const names = [
      '_key',
      ...(child ? ['_parent', '_parent_resource'] : []),
      ...['_id', '_system', '_kind', '_rank', '_file', '_hash', '_audience', '_visible', '_shown'],
      ...this.#typed.map((field) => field.name),
    ];
    const marks = names.map(() => '?').join(', ');
    const list = names.map((name) => `"${name}"`).join(', ');
    const kept = new Set(['_key', '_parent', '_id', '_visible', '_shown']);
    const updates = names.filter((name) => !kept.has(name)).map((name) => `"${name}" = excluded."${name}"`);
    const conflict = child ? '(_parent, _key)' : '(_key)';
    const statement = this.#connection.prepare(
      `INSERT INTO "${this.#layout.columnsTable}" (${list}) VALUES (${marks}) ON CONFLICT ${conflict} DO UPDATE SET ${updates.join(', ')}`,
    );
    return (row, id) => {
      const place = child ? [row.parent ?? '', row.parentResource ?? ''] : [];
      const { rank, file } = placeOf(row);
      statement.run(
        row.key,
        ...place,
        id,
        row.system,
        row.kind,
        rank,
        file,
        row.hash,
        row.audience ?? null,
        0,
        0,
        ...this.#typed.map((field) => encode(field, row.values[field.name])),
      );
    };
  }

  #takeIds(count: number): { next: () => number } {
    const { name } = this.#layout.resource;
    const row = this.#connection
      .prepare(
        'INSERT INTO plat_sequence VALUES (?1, 1 + ?2) ON CONFLICT DO UPDATE SET next = next + ?2 RETURNING next',
      )
      .get(name, count);
    let next = Number(row?.next ?? 1) - count;
    return { next: () => next++ };
  }

  restamp(rows: readonly RowToRestamp[]): void {
    const outdated = rows.filter(({ stored }) => this.#texts.isOutdated(stored));
    this.#rewrite(outdated);
    this.#restampCurrent(rows.filter((row) => !outdated.includes(row)));
  }

  /** Texts that lack a newer field beside the stamps are written anew as a whole. */
  #rewrite(rows: readonly RowToRestamp[]): void {
    const contents = this.load(rows.map(({ stored }) => stored));
    this.put(
      rows.map(({ stored, values }) => {
        return { ...stored, stored, values: { ...contents.get(stored.key), ...values } };
      }),
    );
  }

  #restampCurrent(rows: readonly RowToRestamp[]): void {
    if (rows.length === 0) return;
    const stamps = this.#watched.filter(isStamp);
    const sets = stamps.map((field) => `"${field.name}" = ?`).join(', ');
    const where = this.#isChild ? '_parent = ? AND _key = ?' : '_key = ?';
    const statement = this.#connection.prepare(
      `UPDATE "${this.#layout.columnsTable}" SET ${sets} WHERE ${where}`,
    );
    for (const { stored, values } of rows) {
      const place = this.#isChild ? [stored.parent, stored.key] : [stored.key];
      statement.run(...stamps.map((field) => encode(field, values[field.name])), ...place);
      this.#texts.restamp(stored, values);
    }
  }

  remove(rows: readonly StoredRow[]): void {
    if (rows.length === 0) return;
    this.#deleteRows(rows);
    const bury = this.#connection.prepare(
      'INSERT INTO plat_tombstones VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET system = excluded.system, deleted_at = excluded.deleted_at',
    );
    for (const { key, system } of rows) bury.run(this.#layout.resource.name, key, system, this.#stamp);
  }

  #deleteRows(rows: readonly StoredRow[]): void {
    const where = this.#isChild ? '_parent = ? AND _key = ?' : '_key = ?';
    for (const table of [this.#layout.columnsTable, this.#layout.textsTable]) {
      const statement = this.#connection.prepare(`DELETE FROM "${table}" WHERE ${where}`);
      for (const row of rows) statement.run(...(this.#isChild ? [row.parent, row.key] : [row.key]));
    }
  }
}

function valuesOf(layout: ResourceLayout, fields: readonly Field[], row: RawRow): FieldValues {
  const values: Record<string, FieldValue> = {};
  const { key, fields: known } = layout.resource;
  if (known.get(key)?.type.kind === 'string') values[key] = String(row._key);
  for (const field of fields) {
    const value = decode(field, row[field.name]);
    if (value !== null) values[field.name] = value;
  }
  return values;
}

const textOf = (raw: Raw | undefined): string | null => (typeof raw === 'string' ? raw : null);

function kindOf(raw: Raw | undefined): MediaKind | null {
  return MEDIA_KINDS.find((kind) => kind === raw) ?? null;
}
