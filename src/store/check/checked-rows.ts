/**
 * Reads the rows that SQL alone cannot confirm as consistent, and computes what a writer would store for them: texts
 * and hash. It knows neither engines nor what a check concludes from the comparison.
 */
import { decode, textOrNull } from '../../compile/column-value.ts';
import type { Planner } from '../../compile/context.ts';
import { bind, column, concat, constantText, join, name, type Sql, sql } from '../../compile/fragment.ts';
import {
  isOneTable,
  ownColumn,
  PUBLISHED_RESOURCES,
  type ResourceLayout,
  typedFields,
} from '../../compile/layout/index.ts';
import { dormantFields, type StoreModel } from '../../compile/model.ts';
import { textColumns, valuesReader } from '../../compile/text/text-columns.ts';
import type { Field, FieldValue, FieldValues } from '../../dictionary/index.ts';
import { contentHash, hashOfStoredContent } from '../../records/content-hash.ts';
import { mediaKind } from '../../records/media.ts';
import type { RowToPut } from '../../records/rows.ts';
import type { Row } from '../session.ts';
import { columnAgreements, parentColumns } from './sound-rows.ts';

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
export const rowOrder = ({ resource }: ResourceLayout): Sql =>
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

export const isEmpty = (value: FieldValue | undefined): boolean =>
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
export type TextsOf = (row: RowToPut) => ReadonlyMap<string, string>;

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
