/**
 * Finds inconsistent rows: columns, ready texts of both interfaces, the links and flags stored with them, the
 * assignment to the parent, and the visibility for each role. The columns are the reference: what a writer would derive
 * from them is compared with what is stored. It does not know where a record came from.
 */
import { decode, textOrNull } from '../../compile/column-value.ts';
import type { Planner } from '../../compile/context.ts';
import {
  all,
  bind,
  column,
  concat,
  constantText,
  integer,
  join,
  name,
  type Sql,
  sql,
} from '../../compile/fragment.ts';
import {
  isOneTable,
  ownColumn,
  PUBLISHED_RESOURCES,
  type ResourceLayout,
  typedFields,
} from '../../compile/layout/index.ts';
import { dormantFields, type StoreModel } from '../../compile/model.ts';
import { rankAndFile, textColumns, valuesReader } from '../../compile/text/text-columns.ts';
import type { Field, FieldValue, FieldValues } from '../../dictionary/index.ts';
import { contentHash, hashOfStoredContent } from '../../records/content-hash.ts';
import { mediaKind } from '../../records/media.ts';
import type { RowToPut } from '../../records/rows.ts';
import type { Row } from '../session.ts';
import type { CheckedRows, CheckSession, FaultPage, RowFaults, RowPlace } from './checks.ts';
import { columnAgreements, isSound, parentColumns } from './consistent-rows.ts';

/** Checks rows of one resource. */
export async function findRowFaults(
  session: CheckSession,
  layout: ResourceLayout,
  which: CheckedRows,
): Promise<FaultPage> {
  switch (which.kind) {
    case 'keys': {
      const rows = await session.rows(
        selectCheckedRows(session, layout, hasOneOfKeys(session, 'r', which.keys)),
      );
      // A caller that names keys needs certainty, so a hash that cannot be computed is a fault.
      return { rows: rows.length, read: rows.length, faults: faultsOfRows(session, layout, rows, true) };
    }
    case 'after': {
      const next = await endOfPage(session, layout, which.place, which.limit);
      const page = await faultsWithin(session, layout, which.place, next);
      return next === undefined ? page : { ...page, next };
    }
    case 'range':
      return faultsWithin(session, layout, which.after, which.upTo);
  }
}

/** The place of the last of the next `limit` rows; undefined if fewer rows are left. */
export async function endOfPage(
  session: CheckSession,
  layout: ResourceLayout,
  after: RowPlace | undefined,
  limit: number,
): Promise<RowPlace | undefined> {
  const order = rowOrder(layout);
  const [last] = await session.rows(
    sql`SELECT ${order} FROM ${name(layout.columnsTable)} r WHERE ${inRange(layout, after, undefined)}
      ORDER BY ${order} LIMIT 1 OFFSET ${integer(limit - 1)}`,
  );
  return last && { parent: textOrNull(last._parent) ?? '', key: String(last._key) };
}

/** Reads only the rows that SQL alone cannot confirm as consistent. */
async function faultsWithin(
  session: CheckSession,
  layout: ResourceLayout,
  after: RowPlace | undefined,
  upTo: RowPlace | undefined,
): Promise<FaultPage> {
  const range = inRange(layout, after, upTo);
  const unsound = sql`${range} AND (${isSound(session, layout)}) IS NOT TRUE`;
  const rows = await session.rows(selectCheckedRows(session, layout, unsound)).catch((error: unknown) => {
    if (!session.mayFail) throw error;
    // A value that no writer stores may make the condition fail. If the file is damaged, this statement fails as well.
    return session.rows(selectCheckedRows(session, layout, range));
  });
  const faults = faultsOfRows(session, layout, rows, false);
  const [count] = await session.rows(
    sql`SELECT count(*) AS n FROM ${name(layout.columnsTable)} r WHERE ${range}`,
  );
  return { rows: Number(count?.n ?? 0), read: rows.length, faults };
}

function inRange(layout: ResourceLayout, after: RowPlace | undefined, upTo: RowPlace | undefined): Sql {
  const compared = (comparison: string, { parent, key }: RowPlace): Sql =>
    layout.resource.parent === undefined
      ? join([sql`r._key`, bind(key)], comparison)
      : join([sql`(r._parent, r._key)`, sql`(${bind(parent)}, ${bind(key)})`], comparison);
  return all([
    ...(after === undefined ? [] : [compared(' > ', after)]),
    ...(upTo === undefined ? [] : [compared(' <= ', upTo)]),
  ]);
}

function faultsOfRows(
  session: CheckSession,
  layout: ResourceLayout,
  rows: readonly Row[],
  isStrict: boolean,
): RowFaults[] {
  const faultsOf = makeRowCheck(session, layout, isStrict);
  return rows.flatMap((raw) => {
    const what = faultsOf(raw);
    if (what.length === 0) return [];
    const key = String(raw._key);
    if (layout.resource.parent === undefined) return [{ key, what }];
    const parent = { resource: textOrNull(raw._parent_resource) ?? '', key: textOrNull(raw._parent) ?? '' };
    return [{ key, parent, what }];
  });
}

/** Compares rows with what a writer would derive from their columns. */
function makeRowCheck(
  { model }: CheckSession,
  layout: ResourceLayout,
  isStrict: boolean,
): (raw: Row) => string[] {
  const typed = typedFields(layout);
  const writers = new Map<number, TextsOf>();
  const writerAt = (version: number): TextsOf =>
    writers.getOrInsertComputed(version, () => textsAt(model, layout, version));
  return (raw) => {
    if (raw.text__id === null) return ['its texts are missing'];
    const { values, broken } = readValues(layout, raw);
    const version = Number(raw._profile);
    const row = rowToPutOf(layout, raw, values);
    const { rank, file } = rankAndFile(row);
    const expected = [...Object.entries({ _kind: row.kind, _rank: rank, _file: file })];
    const hash = recomputeHash(model, layout, values, raw);
    const isHashWrong = hash === undefined ? isStrict : raw._hash !== hash;
    const differing = (columns: Iterable<readonly [string, string | number | null]>): string[] =>
      [...columns].flatMap(([column, value]) => (toComparable(raw[column]) === value ? [] : [column]));
    return [
      ...new Set([
        ...broken,
        ...typed
          .filter((field) => layout.since(field) > version && !isEmpty(values[field.name]))
          .map((field) => field.name),
        ...differing(expected),
        ...String(raw.disagreeing).split(',').slice(1),
        ...differing(writerAt(version)(row)),
        ...(isHashWrong ? ['_hash'] : []),
      ]),
    ];
  };
}

/** A value of one of plat's own columns, whichever way the driver represents numbers. */
const toComparable = (raw: unknown): string | number | null =>
  typeof raw === 'string' || typeof raw === 'number' ? raw : typeof raw === 'bigint' ? Number(raw) : null;

/**
 * Selects rows with their columns and texts. `disagreeing` names the columns that SQL finds wrong, each after a comma;
 * `text__id` is the number in the table of texts, if there is one.
 */
export function selectCheckedRows(planner: Planner, layout: ResourceLayout, where: Sql): Sql {
  const { columnsTable, textsTable, resource } = layout;
  const one = isOneTable(layout);
  const own = [
    ...['_key', ...(resource.parent === undefined ? [] : ['_parent', '_parent_resource'])],
    ...['_id', '_system', '_visible', '_kind', '_rank', '_file', '_source', '_hash', '_audience'],
    ...typedFields(layout).map((field) => field.name),
  ];
  const texts = textColumns(planner.model, layout).columns;
  const parent = parentColumns(planner, layout);
  const dormant = dormantFields(planner.model, resource).map((each) => sql`${column('r', each)} IS NOT NULL`);
  const wrong = columnAgreements(planner, layout).map(
    ({ what, holds }) => sql`CASE WHEN ${holds} THEN '' ELSE ${constantText(`,${what}`)} END`,
  );
  const columns = [
    ...own.map((each) => column('r', each)),
    ...texts.map((each) => column(one ? 'r' : 't', each)),
    ...(one ? [] : [sql`t._id AS text__id`]),
    sql`${concat(wrong)} AS disagreeing`,
    dormant.length === 0
      ? sql`0 AS dormant`
      : sql`CASE WHEN ${join(dormant, ' OR ')} THEN 1 ELSE 0 END AS dormant`,
    ...(parent === undefined
      ? []
      : [sql`${parent.system} AS parent_system`, sql`${parent.key} AS parent_key`]),
  ];
  const beside = one ? sql`` : sql` LEFT JOIN ${name(textsTable)} t ON t._key = r._key`;
  return sql`SELECT ${join(columns, ', ')} FROM ${name(columnsTable)} r${beside} WHERE ${where} ORDER BY ${rowOrder(layout)}`;
}

/** The order of rows in their table. */
const rowOrder = ({ resource }: ResourceLayout): Sql =>
  resource.parent === undefined ? sql`r._key` : sql`r._parent, r._key`;

/** The condition that a row of the table with this alias has one of these keys. */
export const hasOneOfKeys = ({ dialect }: Planner, table: string, keys: readonly string[]): Sql =>
  sql`${column(table, '_key')} IN (SELECT k.value FROM ${dialect.members(bind(JSON.stringify(keys)), 'k')})`;

/** The values in a row's columns, and the fields whose columns contain no value of their type. */
export interface ReadValues {
  readonly values: FieldValues;
  readonly broken: readonly string[];
}

export function readValues(layout: ResourceLayout, raw: Row): ReadValues {
  const values: Record<string, FieldValue> = {};
  const broken: string[] = [];
  for (const field of layout.fields) {
    const own = ownColumn(layout.resource, field);
    try {
      const value = own === undefined ? decode(field, raw[field.name]) : textOrNull(raw[own]);
      if (!isEmpty(value) && !(own !== undefined && value === '')) values[field.name] = value;
    } catch {
      broken.push(field.name);
    }
  }
  return { values, broken };
}

const isEmpty = (value: FieldValue | undefined): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

/** A row as a writer takes it, without the row that it replaces. */
export function rowToPutOf({ resource }: ResourceLayout, raw: Row, values: FieldValues): RowToPut {
  return {
    key: String(raw._key),
    stored: undefined,
    parent: textOrNull(raw._parent),
    parentResource:
      resource.parent?.kind === 'fixed' ? resource.parent.resource : textOrNull(raw._parent_resource),
    system: textOrNull(raw._system),
    kind: resource.name === 'Media' ? mediaKind(values) : null,
    hash: '',
    values,
  };
}

/** Computes the texts that a writer stores for a row, by column. */
type TextsOf = (row: RowToPut) => ReadonlyMap<string, string>;

/** Makes a function that computes the texts of rows that were written at a version of the profile. */
export function textsAt(model: StoreModel, layout: ResourceLayout, version: number): TextsOf {
  const isKnown = (field: Field): boolean => layout.since(field) <= version;
  const { columns, values } = textColumns(model, {
    ...layout,
    pieces: layout.pieces.map((piece) => ({ ...piece, fields: piece.fields.filter(isKnown) })),
    joinPieces: layout.joinPieces.map((piece) => ({
      ...piece,
      fields: piece.fields.filter(({ field }) => isKnown(field)),
    })),
  });
  const valuesOf = valuesReader(layout);
  return (row) => {
    const texts = values(row, valuesOf(row));
    // The first column is the version itself.
    return new Map(columns.slice(1).map((each, at) => [each, String(texts[at + 1] ?? '')]));
  };
}

/**
 * The hash of some values, as the writer of the row would compute it.
 * @returns undefined if the hash also covers fields that are no longer declared
 */
export function recomputeHash(
  { settings }: StoreModel,
  { resource }: ResourceLayout,
  values: FieldValues,
  raw: Row,
): string | undefined {
  if (Number(raw.dormant) === 1) return undefined;
  if (PUBLISHED_RESOURCES.has(resource.name)) {
    const { ModificationTimestamp: _, ...published } = values;
    return `${contentHash(resource, published, 'authority')}.${Number(raw._audience)}`;
  }
  // The system of a parent that is not stored is unknown.
  const system = typeof raw.parent_key === 'string' ? textOrNull(raw.parent_system) : undefined;
  return hashOfStoredContent(resource, values, settings, system, String(raw._hash));
}
