import type { Field, FieldValue, FieldValues } from '../../dictionary/index.ts';
import { isOneTable, ownColumn, type ResourceLayout, typedFields } from '../layout/index.ts';
import { MEDIA_KINDS, type MediaKind } from '../record/media.ts';
import { isStamp, STAMPED_FIELDS } from '../record/stamps.ts';
import { newestStampField, placeOf, stampTextColumns, textColumns } from '../text/text-columns.ts';
import type { RowToPut, RowToRestamp, StoredRow } from '../write/transaction.ts';
import { decode, encode } from './codec.ts';
import { type Cell, cellOf, copyIn, copyLine } from './copy-in.ts';
import { type Court, judgeChildren, rowsJudge } from './judge.ts';
import type { Bindable, Row } from './session.ts';

/** Profiles count from 1. */
const FIRST_VERSION = 1;

/** Records whose texts are written anew at once. */
const RENEWED_AT_ONCE = 1000;

/** What a transaction does to the records of one resource. */
export interface TableWriter {
  find(keys: readonly string[]): Promise<Map<string, StoredRow>>;
  all(): Promise<StoredRow[]>;
  children(parentResource: string, parents: readonly string[]): Promise<Map<string, StoredRow[]>>;
  load(rows: readonly StoredRow[]): Promise<Map<string, FieldValues>>;
  put(rows: readonly RowToPut[]): Promise<void>;
  restamp(rows: readonly RowToRestamp[]): Promise<void>;
  remove(rows: readonly StoredRow[]): Promise<void>;
  /** Writes the texts of every record anew, after a change of what stands in them. */
  renew(): Promise<void>;
}

/** What a row that is replaced leaves behind. */
interface Taken {
  readonly visible: number;
  readonly system: string | null;
  /** Values of columns that belong to no declared field. */
  readonly dormant: readonly Cell[];
}

/** @param stamp of the transaction, for tombstones */
export function tableWriter(court: Court, layout: ResourceLayout, stamp: string): TableWriter {
  const { session, counters } = court;
  const { columnsTable, textsTable, resource } = layout;
  const child = resource.parent !== undefined;
  const typed = typedFields(layout);
  // Fields that a write compares, so that it need not read the whole record.
  const watched = typed.filter(
    (field) => field.class === 'open' || isStamp(field) || STAMPED_FIELDS.includes(field.name),
  );
  // Fields that were in use and are not declared any more: their values stay, should they come back.
  const dormant = [...(court.model.profile.since.get(resource.name)?.keys() ?? [])].filter(
    (name) => !resource.fields.has(name),
  );
  let judge: ReturnType<typeof rowsJudge> | undefined;

  return { find, all, children, load, put, restamp, remove, renew };

  async function find(keys: readonly string[]): Promise<Map<string, StoredRow>> {
    if (keys.length === 0) return new Map();
    const rows = await select('r._key = ANY($1::text[])', [keys]);
    return new Map(rows.map((row) => [row.key, row]));
  }

  function all(): Promise<StoredRow[]> {
    return select('TRUE', []);
  }

  async function children(
    parentResource: string,
    parents: readonly string[],
  ): Promise<Map<string, StoredRow[]>> {
    if (parents.length === 0) return new Map();
    const rows = await select('r._parent = ANY($1::text[]) AND r._parent_resource = $2', [
      parents,
      parentResource,
    ]);
    return Map.groupBy(rows, (row) => row.parent ?? '');
  }

  async function select(where: string, values: readonly Bindable[]): Promise<StoredRow[]> {
    const place = child ? 'r._parent, r._parent_resource,' : '';
    const others = watched.map((field) => `, r."${field.name}"`).join('');
    const text = `SELECT r._key, ${place} r._id, r._system, r._kind, r._hash, r._source, r._visible${others} FROM "${columnsTable}" r WHERE ${where}`;
    return (await session.rows(text, values)).map(storedRow);
  }

  function storedRow(row: Row): StoredRow {
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

  async function load(rows: readonly StoredRow[]): Promise<Map<string, FieldValues>> {
    const place = child ? ', r._parent, r._parent_resource' : '';
    const columns = typed.map((field) => `, r."${field.name}"`).join('');
    const text = `SELECT r._key${place}${columns} FROM "${columnsTable}" r WHERE r._key = ANY($1::text[])`;
    const found = await session.rows(text, [rows.map(({ key }) => key)]);
    return new Map(found.map((row) => [String(row._key), valuesOf(layout, typed, row)]));
  }

  /** Rows are replaced as a whole: those that are stored go, and all come in by COPY. */
  async function put(rows: readonly RowToPut[]): Promise<void> {
    if (rows.length === 0) return;
    judge ??= rowsJudge(court, layout);
    const bits = await judge(rows);
    const standing = await take(rows.map(({ key }) => key));
    const next = await takeIds(rows.filter(({ stored }) => stored === undefined).length);
    const texts = textColumns(court.model, layout);
    const one = isOneTable(layout);
    const links = layout.links.map(({ field }) => field);
    const fresh: string[] = [];
    const seenOtherwise: string[] = [];
    let lines = '';
    let textLines = '';
    for (const [index, row] of rows.entries()) {
      const { visible, shown } = bits[index] ?? { visible: 0, shown: 0 };
      const id = row.stored?.id ?? next();
      if (row.stored === undefined) fresh.push(row.key);
      const before = standing.get(row.key);
      if (before?.visible !== visible || before.system !== row.system) {
        seenOtherwise.push(row.key);
        if (before !== undefined) counters.add(resource.name, before.visible, before.system, -1);
        counters.add(resource.name, visible, row.system, 1);
      }
      const { rank, file } = placeOf(row);
      const source = court.source ?? row.stored?.source ?? null;
      const ready = texts.values(row);
      lines += copyLine([
        ...[row.key, ...(child ? [row.parent ?? '', row.parentResource ?? ''] : [])],
        ...[id, row.system, visible, shown, row.kind, rank, file, row.hash, row.audience ?? null, source],
        ...typed.map((field) => encode(field, row.values[field.name])),
        ...(before?.dormant ?? dormant.map(() => null)),
        ...(one ? ready : []),
      ]);
      if (one) continue;
      const linked = links.map((link) => textOf(row.values[link]));
      textLines += copyLine([row.key, id, row.system, visible, shown, ...linked, ...ready]);
    }
    const place = child ? ['_key', '_parent', '_parent_resource'] : ['_key'];
    const seen = ['_id', '_system', '_visible', '_shown'];
    const own = ['_kind', '_rank', '_file', '_hash', '_audience', '_source'];
    const columns = [
      ...place,
      ...seen,
      ...own,
      ...typed.map(({ name }) => name),
      ...dormant,
      ...(one ? texts.columns : []),
    ];
    await copyIn(session, columnsTable, columns, lines);
    if (!one) await copyIn(session, textsTable, ['_key', ...seen, ...links, ...texts.columns], textLines);
    await unbury(fresh);
    await judgeChildren(court, resource.name, seenOtherwise);
    await counters.flush();
  }

  /** Takes rows out. @returns what is needed of them */
  async function take(keys: readonly string[]): Promise<Map<string, Taken>> {
    const own = ['_key', '_visible', '_system', ...dormant].map((column) => `"${column}"`).join(', ');
    const rows = await session.rows(
      `DELETE FROM "${columnsTable}" WHERE _key = ANY($1::text[]) RETURNING ${own}`,
      [keys],
    );
    if (!isOneTable(layout)) {
      await session.run(`DELETE FROM "${textsTable}" WHERE _key = ANY($1::text[])`, [keys]);
    }
    return new Map(
      rows.map((row) => [
        String(row._key),
        {
          visible: Number(row._visible),
          system: textOf(row._system),
          dormant: dormant.map((name) => cellOf(row[name])),
        },
      ]),
    );
  }

  /** A record that comes again leaves its tombstone. */
  async function unbury(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    await session.run('DELETE FROM plat_tombstones WHERE resource = $1 AND key = ANY($2::text[])', [
      resource.name,
      keys,
    ]);
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

  async function restamp(rows: readonly RowToRestamp[]): Promise<void> {
    if (rows.length === 0) return;
    const outdated = await outdatedKeys(rows.map(({ stored }) => stored.key));
    await rewrite(rows.filter(({ stored }) => outdated.has(stored.key)));
    await restampTexts(rows.filter(({ stored }) => !outdated.has(stored.key)));
  }

  /** Records whose texts were written before the newest of the fields beside the stamps came into use. */
  async function outdatedKeys(keys: readonly string[]): Promise<ReadonlySet<string>> {
    const newest = newestStampField(layout);
    if (newest <= FIRST_VERSION) return new Set();
    const rows = await session.rows(
      `SELECT _key FROM "${textsTable}" WHERE _key = ANY($1::text[]) AND _profile < $2::integer`,
      [keys, newest],
    );
    return new Set(rows.map((row) => String(row._key)));
  }

  async function renew(): Promise<void> {
    const next = `r._key > $1 ORDER BY r._key LIMIT ${RENEWED_AT_ONCE}`;
    for (let last = ''; ; ) {
      const rows = await select(next, [last]);
      const [end] = rows.slice(-1);
      if (end === undefined) return;
      await rewrite(rows.map((stored) => ({ stored, values: stored.values })));
      last = end.key;
    }
  }

  async function rewrite(rows: readonly RowToRestamp[]): Promise<void> {
    if (rows.length === 0) return;
    const contents = await load(rows.map(({ stored }) => stored));
    await put(
      rows.map(({ stored, values }) => ({
        ...stored,
        stored,
        values: { ...contents.get(stored.key), ...values },
      })),
    );
  }

  async function restampTexts(rows: readonly RowToRestamp[]): Promise<void> {
    if (rows.length === 0) return;
    const stamps = watched.filter(isStamp);
    const texts = stampTextColumns(layout);
    const one = isOneTable(layout);
    const given = rows.map(({ stored, values }) => {
      const ready = texts.values(values);
      return Object.fromEntries([
        ['_key', stored.key],
        ...stamps.map((field) => [field.name, encode(field, values[field.name])] as const),
        ...texts.columns.map((column, index) => [column, ready[index] ?? ''] as const),
      ]);
    });
    const list = JSON.stringify(given);
    const stampNames = stamps.map(({ name }) => name);
    await update(columnsTable, one ? [...stampNames, ...texts.columns] : stampNames, list);
    if (!one) await update(textsTable, texts.columns, list);
  }

  /** @param list JSON objects with a key, and a text for each of the columns */
  async function update(table: string, columns: readonly string[], list: string): Promise<void> {
    if (columns.length === 0) return;
    const set = columns.map((name) => `"${name}" = v."${name}"`).join(', ');
    const given = ['_key', ...columns].map((name) => `"${name}" text`).join(', ');
    await session.run(
      `UPDATE "${table}" t SET ${set} FROM json_to_recordset($1) AS v(${given}) WHERE t._key = v._key`,
      [list],
    );
  }

  async function remove(rows: readonly StoredRow[]): Promise<void> {
    if (rows.length === 0) return;
    const taken = await take(rows.map(({ key }) => key));
    const graves = rows.map((row) => ({ key: row.key, ...(taken.get(row.key) ?? row) }));
    for (const { visible, system } of graves) counters.add(resource.name, visible, system, -1);
    await session.run(
      `INSERT INTO plat_tombstones SELECT $1, key, system, $2 FROM json_to_recordset($3) AS v(key text, system text)
       ON CONFLICT (resource, key) DO UPDATE SET system = excluded.system, deleted_at = excluded.deleted_at`,
      [resource.name, stamp, JSON.stringify(graves.map(({ key, system }) => ({ key, system })))],
    );
    await counters.flush();
  }
}

function valuesOf({ resource }: ResourceLayout, fields: readonly Field[], row: Row): FieldValues {
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

function kindOf(raw: unknown): MediaKind | null {
  return MEDIA_KINDS.find((kind) => kind === raw) ?? null;
}
