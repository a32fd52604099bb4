/**
 * Whether a stored row says one thing everywhere: its columns, its ready texts in both interfaces, the links and flags
 * beside them, its place under its parent and what every role sees of it. The columns are the measure: what a writer
 * would make of them is compared with what is there. It knows nothing of where a record came from.
 */

import type { Planner } from '../../compile/context.ts';
import { all, bind, column, integer, join, name, render, type Sql, sql } from '../../compile/fragment.ts';
import {
  isOneTable,
  ownColumn,
  PUBLISHED,
  type ResourceLayout,
  typedFields,
} from '../../compile/layout/index.ts';
import { dormantFields, type StoreModel } from '../../compile/model.ts';
import { rankAndFile, textColumns } from '../../compile/text/text-columns.ts';
import { parentColumn, shownBits, visibleBits } from '../../compile/visibility.ts';
import type { FieldValue, FieldValues } from '../../dictionary/index.ts';
import { mediaKind } from '../../records/media.ts';
import type { RowToPut } from '../../records/rows.ts';
import type { Asker } from './asker.ts';
import { hashOf } from './row-content.ts';
import { isSound, SHARED } from './sound-rows.ts';

/** What is wrong with one row. */
export interface RowFaults {
  readonly key: string;
  /** The record that it is part of. */
  readonly parent?: { readonly resource: string; readonly key: string };
  /** What does not agree with the rest: columns of the row, or words for what is missing. */
  readonly what: readonly string[];
}

/** Where a check of a table goes on: rows come in the order in which they lie. */
export interface RowPlace {
  readonly parent: string;
  readonly key: string;
}

export interface FaultPage {
  readonly rows: number;
  /** Those of them that were read, since the engine did not find them sound by itself. */
  readonly read: number;
  readonly faults: readonly RowFaults[];
  /** Absent: there are no more rows. */
  readonly next?: RowPlace;
}

/** Which rows are looked at: those of some keys, a number of them in their order, or a range of that order. */
export type CheckedRows =
  | { readonly kind: 'keys'; readonly keys: readonly string[] }
  | { readonly kind: 'after'; readonly place: RowPlace | undefined; readonly limit: number }
  | ({ readonly kind: 'range' } & RowRange);

/** The rows after a place, up to another one with it; without them from the first row, or to the last. */
export interface RowRange {
  readonly after: RowPlace | undefined;
  readonly upTo: RowPlace | undefined;
}

type Raw<T> = Readonly<Record<string, T>>;

/** Checks rows of one resource. */
export function findRowFaults<T>(
  asker: Asker<T>,
  layout: ResourceLayout,
  wanted: CheckedRows,
): Promise<FaultPage> {
  switch (wanted.kind) {
    case 'keys':
      return faultsOfKeys(asker, layout, wanted.keys);
    case 'after':
      return faultsAfter(asker, layout, wanted);
    case 'range':
      return faultsWithin(asker, layout, wanted);
  }
}

/** The place of the last of a number of rows; undefined where there are not so many. */
export async function placeAfter<T>(
  { planner, rows }: Asker<T>,
  layout: ResourceLayout,
  after: RowPlace | undefined,
  limit: number,
): Promise<RowPlace | undefined> {
  const [last] = await rows(render(lastStatement(layout, after, limit), planner.dialect.placeholder));
  return last === undefined ? undefined : { parent: text(last._parent) ?? '', key: String(last._key) };
}

async function faultsOfKeys<T>(
  asker: Asker<T>,
  layout: ResourceLayout,
  keys: readonly string[],
): Promise<FaultPage> {
  const { planner } = asker;
  const statement = rowsStatement(planner, layout, isAmong(planner, 'r', keys));
  const rows = await asker.rows(render(statement, planner.dialect.placeholder));
  // Who asks for some keys wants to be sure of them.
  return { rows: rows.length, read: rows.length, faults: faultsAmong(asker, layout, rows, true) };
}

async function faultsAfter<T>(
  asker: Asker<T>,
  layout: ResourceLayout,
  { place, limit }: CheckedRows & { kind: 'after' },
): Promise<FaultPage> {
  const next = await placeAfter(asker, layout, place, limit);
  const page = await faultsWithin(asker, layout, { after: place, upTo: next });
  return next === undefined ? page : { ...page, next };
}

/** Those rows that the engine finds sound by itself are not read. */
async function faultsWithin<T>(
  asker: Asker<T>,
  layout: ResourceLayout,
  { after, upTo }: RowRange,
): Promise<FaultPage> {
  const { planner } = asker;
  const { placeholder } = planner.dialect;
  const range = all([
    ...(after === undefined ? [] : [isAfter(layout, after)]),
    ...(upTo === undefined ? [] : [isUpTo(layout, upTo)]),
  ]);
  const unsound = sql`${range} AND (${isSound(planner, layout)}) IS NOT TRUE`;
  const rows =
    (await asker.sound(render(rowsStatement(planner, layout, unsound), placeholder))) ??
    (await asker.rows(render(rowsStatement(planner, layout, range), placeholder)));
  const faults = faultsAmong(asker, layout, rows, false);
  const counted = sql`SELECT count(*) AS n FROM ${name(layout.columnsTable)} r WHERE ${range}`;
  const [count] = await asker.rows(render(counted, placeholder));
  return { rows: Number(count?.n ?? 0), read: rows.length, faults };
}

function faultsAmong<T>(
  asker: Asker<T>,
  layout: ResourceLayout,
  rows: readonly Raw<T>[],
  isStrict: boolean,
): RowFaults[] {
  const check = rowCheck(asker, layout, isStrict);
  return rows.flatMap((row) => {
    const what = check(row);
    return what.length === 0 ? [] : [{ ...placeIn(layout, row), what }];
  });
}

function placeIn<T>({ resource }: ResourceLayout, row: Raw<T>): Pick<RowFaults, 'key' | 'parent'> {
  const key = String(row._key);
  if (resource.parent === undefined) return { key };
  return { key, parent: { resource: text(row._parent_resource) ?? '', key: text(row._parent) ?? '' } };
}

/** Rows with their columns and texts, and what they should be as far as the engine can tell. */
export function rowsStatement(planner: Planner, layout: ResourceLayout, where: Sql): Sql {
  const { columnsTable, textsTable, resource } = layout;
  const one = isOneTable(layout);
  const isChild = resource.parent !== undefined;
  const own = [
    ...(isChild ? ['_key', '_parent', '_parent_resource'] : ['_key']),
    ...SHARED,
    ...['_kind', '_rank', '_file', '_source', '_hash', '_audience'],
    ...typedFields(layout).map((field) => field.name),
  ];
  const beside = one ? [] : [...SHARED, ...layout.links.map(({ field }) => field)];
  const texts = textColumns(planner.model, layout).columns;
  const parentSystem = parentColumn(planner, layout, 'r', '_system');
  const dormant = dormantFields(planner.model, resource).map((each) => sql`${column('r', each)} IS NOT NULL`);
  const columns = [
    ...own.map((each) => column('r', each)),
    ...beside.map((each) => sql`${column('t', each)} AS ${name(`text_${each}`)}`),
    ...texts.map((each) => column(one ? 'r' : 't', each)),
    sql`${visibleBits(planner, layout, 'r')} AS judged_visible`,
    sql`${shownBits(planner, layout, 'r')} AS judged_shown`,
    dormant.length === 0
      ? sql`0 AS dormant`
      : sql`CASE WHEN ${join(dormant, ' OR ')} THEN 1 ELSE 0 END AS dormant`,
    sql`CASE WHEN EXISTS (SELECT 1 FROM plat_ledger_state s WHERE s.source = r._source) THEN 1 ELSE 0 END AS known_source`,
    ...(parentSystem === undefined
      ? []
      : [
          sql`${parentSystem} AS parent_system`,
          sql`${parentColumn(planner, layout, 'r', '_key') ?? sql`NULL`} AS parent_key`,
        ]),
  ];
  const tables = one
    ? sql`${name(columnsTable)} r`
    : sql`${name(columnsTable)} r LEFT JOIN ${name(textsTable)} t ON t._key = r._key`;
  return sql`SELECT ${join(columns, ', ')} FROM ${tables} WHERE ${where} ORDER BY ${orderOf(layout)}`;
}

/** The last of a number of rows, if there are so many. */
function lastStatement(layout: ResourceLayout, after: RowPlace | undefined, limit: number): Sql {
  const begin = after === undefined ? [] : [isAfter(layout, after)];
  const columns = layout.resource.parent === undefined ? sql`r._key` : sql`r._parent, r._key`;
  return sql`SELECT ${columns} FROM ${name(layout.columnsTable)} r WHERE ${all(begin)} ORDER BY ${orderOf(layout)} LIMIT 1 OFFSET ${integer(limit - 1)}`;
}

/** The order in which rows lie. */
const orderOf = ({ resource }: ResourceLayout): Sql =>
  resource.parent === undefined ? sql`r._key` : sql`r._parent, r._key`;

/** The texts under some keys or numbers that have no columns any more, in a layout where both have a table. */
export function bareTextsStatement(
  planner: Planner,
  layout: ResourceLayout,
  keys: readonly string[],
  ids: readonly number[],
): Sql {
  const found = [
    isAmong(planner, 't', keys),
    ...(ids.length === 0 ? [] : [sql`t._id IN (${join(ids.map(integer), ', ')})`]),
  ];
  const columns = ['_key', '_id', '_visible', ...textColumns(planner.model, layout).columns];
  return sql`SELECT ${join(
    columns.map((each) => column('t', each)),
    ', ',
  )} FROM ${name(layout.textsTable)} t WHERE (${join(found, ' OR ')}) AND NOT EXISTS (SELECT 1 FROM ${name(layout.columnsTable)} r WHERE r._key = t._key) ORDER BY t._key`;
}

/** The rows of some numbers that have no texts under their key. Nothing leads to them but a look at all. */
export const isWithoutTexts = ({ textsTable }: ResourceLayout, ids: readonly number[]): Sql =>
  sql`r._id IN (${join(ids.map(integer), ', ')}) AND NOT EXISTS (SELECT 1 FROM ${name(textsTable)} n WHERE n._key = r._key)`;

export const isAmong = ({ dialect }: Planner, table: string, keys: readonly string[]): Sql =>
  sql`${column(table, '_key')} IN (SELECT k.value FROM ${dialect.members(bind(JSON.stringify(keys)), 'k')})`;

/** The columns by which rows are in their order, and a place in it. */
const placed = ({ resource }: ResourceLayout, { parent, key }: RowPlace): [Sql, Sql] =>
  resource.parent === undefined
    ? [sql`r._key`, bind(key)]
    : [sql`(r._parent, r._key)`, sql`(${bind(parent)}, ${bind(key)})`];

const isAfter = (layout: ResourceLayout, place: RowPlace): Sql => sql`${join(placed(layout, place), ' > ')}`;
const isUpTo = (layout: ResourceLayout, place: RowPlace): Sql => sql`${join(placed(layout, place), ' <= ')}`;

/** What a writer of one version of the profile makes of a row. */
type TextsOf = (row: RowToPut) => ReadonlyMap<string, string>;

/** Compares a row with what its columns come to. */
function rowCheck<T>(
  { planner: { model }, decode }: Asker<T>,
  layout: ResourceLayout,
  isStrict: boolean,
): (row: Raw<T>) => string[] {
  const { resource } = layout;
  const typed = typedFields(layout);
  const one = isOneTable(layout);
  const isReplica = model.settings.owner === 'replica' && !PUBLISHED.has(resource.name);
  const writers = new Map<number, TextsOf>();
  const writerAt = (version: number): TextsOf => {
    const known = writers.get(version);
    if (known !== undefined) return known;
    const made = textsAt(model, layout, version);
    writers.set(version, made);
    return made;
  };
  return (raw) => {
    const what: string[] = [];
    const read = readValues(layout, raw, decode);
    if (!one && raw.text__id === null) return ['its texts are missing'];
    what.push(...read.broken);
    const version = Number(raw._profile);
    for (const field of typed) {
      if (layout.since(field) > version && !isEmpty(read.values[field.name])) what.push(field.name);
    }
    const row = rowOf(layout, raw, read.values);
    const { rank, file } = rankAndFile(row);
    const kind = resource.name === 'Media' ? mediaKind(read.values) : null;
    compare('_kind', raw._kind, kind);
    compare('_rank', raw._rank, rank);
    compare('_file', raw._file, file);
    if (Number(raw._visible) !== Number(raw.judged_visible)) what.push('_visible');
    if (Number(raw._shown) !== Number(raw.judged_shown)) what.push('_shown');
    if (resource.parent === undefined) compare('_system', raw._system, text(read.values.OriginatingSystemID));
    else if (text(raw.parent_key) !== null) compare('_system', raw._system, text(raw.parent_system));
    // Only what the store publishes of itself names the roles that see it row by row; its hash has them.
    if (!PUBLISHED.has(resource.name)) compare('_audience', raw._audience, null);
    if (resource.parent?.kind === 'fixed') {
      compare('_parent_resource', raw._parent_resource, resource.parent.resource);
    }
    // What a replica holds came from a source.
    if (isReplica && Number(raw.known_source) === 0) what.push('_source');
    if (!one) {
      for (const shared of SHARED) compare(shared, raw[`text_${shared}`], plain(raw[shared]));
      for (const { field } of layout.links) {
        compare(`text of ${field}`, raw[`text_${field}`], text(read.values[field]));
      }
    }
    for (const [column, expected] of writerAt(version)(row)) compare(column, raw[column], expected);
    const hash = hashOf(model, layout, read.values, raw);
    if (hash !== undefined) compare('_hash', raw._hash, hash);
    else if (isStrict) what.push('_hash');
    return [...new Set(what)];

    function compare(column: string, found: unknown, expected: string | number | null): void {
      if (plain(found) !== expected) what.push(column);
    }
  };
}

/** The texts of a row that was written when the profile had a version; by column. */
export function textsAt(model: StoreModel, layout: ResourceLayout, version: number): TextsOf {
  const since = layout.since;
  const isKnown = (field: Parameters<typeof since>[0]): boolean => since(field) <= version;
  const { columns, values } = textColumns(model, {
    ...layout,
    pieces: layout.pieces.map((piece) => ({ ...piece, fields: piece.fields.filter(isKnown) })),
    joinPieces: layout.joinPieces.map((piece) => ({
      ...piece,
      fields: piece.fields.filter(({ field }) => isKnown(field)),
    })),
  });
  return (row) => {
    const texts = values(row);
    // The first column is the version itself.
    return new Map(columns.slice(1).map((column, at) => [column, String(texts[at + 1] ?? '')]));
  };
}

/** A row as a writer takes it, but for what it replaces. */
export function rowOf<T>({ resource }: ResourceLayout, raw: Raw<T>, values: FieldValues): RowToPut {
  return {
    key: String(raw._key),
    stored: undefined,
    parent: text(raw._parent),
    parentResource: resource.parent?.kind === 'fixed' ? resource.parent.resource : text(raw._parent_resource),
    system: text(raw._system),
    kind: resource.name === 'Media' ? mediaKind(values) : null,
    hash: '',
    values,
  };
}

/** The values of a row's columns, and the columns that hold none of their field. */
export function readValues<T>(
  layout: ResourceLayout,
  raw: Raw<T>,
  decode: Asker<T>['decode'],
): { readonly values: FieldValues; readonly broken: readonly string[] } {
  const values: Record<string, FieldValue> = {};
  const broken: string[] = [];
  for (const field of layout.fields) {
    const column = ownColumn(layout.resource, field);
    try {
      const value = column === undefined ? decode(field, raw[field.name]) : text(raw[column]);
      if (!isEmpty(value) && !(column !== undefined && value === '')) values[field.name] = value;
    } catch {
      broken.push(field.name);
    }
  }
  return { values, broken };
}

const isEmpty = (value: FieldValue | undefined): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

const text = (raw: unknown): string | null => (typeof raw === 'string' ? raw : null);

/** A value of one of plat's own columns, whichever way the driver gives numbers. */
const plain = (raw: unknown): string | number | null =>
  typeof raw === 'string' || typeof raw === 'number' ? raw : typeof raw === 'bigint' ? Number(raw) : null;
