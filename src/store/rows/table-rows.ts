/** What the tables of a resource store of each record: their columns, and the values in them. This module runs no statements. */
import { encode, textOrNull } from '../../compile/column-value.ts';
import type { BoundValue } from '../../compile/fragment.ts';
import { isOneTable, type ResourceLayout, typedFields } from '../../compile/layout/index.ts';
import { dormantFields, type StoreModel } from '../../compile/model.ts';
import { rankAndFile, textColumns, valuesReader } from '../../compile/text/text-columns.ts';
import { countedFields, type StoredCountedRow } from '../../compile/values-in-use.ts';
import type { Field, FieldValue } from '../../dictionary/index.ts';
import { type RowToPut, valueToStore } from '../../records/rows.ts';
import type { RecordTexts } from '../session.ts';
import type { Visibility } from './visibility.ts';

export interface ReplacedRow extends StoredCountedRow {
  /** Values of columns whose fields are no longer declared. They stay with the row until it is deleted. */
  readonly dormant: readonly BoundValue[];
}

/** The values of a record. */
interface RowContent {
  /** In the order of the fields of the layout. */
  readonly values: readonly (FieldValue | undefined)[];
  /** Those of the typed columns, from which the words and the search row are also made. */
  readonly cells: readonly BoundValue[];
  /** Those of the counted fields. */
  readonly counted: readonly (FieldValue | undefined)[];
}

/** A row that is about to be inserted. */
export interface PreparedRow extends RowContent {
  readonly row: RowToPut;
  readonly id: number;
  readonly visibility: Visibility;
  /** The row that it replaces. */
  readonly before: ReplacedRow | undefined;
}

export type TableRows = ReturnType<typeof tableRows>;

/** The rows of the tables of a resource. @param source the source of the records; null in an authority */
export function tableRows(model: StoreModel, layout: ResourceLayout, source: string | null) {
  const { resource, search } = layout;
  const isChild = resource.parent !== undefined;
  const isOne = isOneTable(layout);
  const typed = typedFields(layout);
  const texts = textColumns(model, layout);
  const valuesOf = valuesReader(layout);
  const places = new Map(layout.fields.map((field, place) => [field, place]));
  /** Fields with their places among the values of a record. */
  const withPlaces = (fields: readonly Field[]) =>
    fields.flatMap((field) => {
      const place = places.get(field);
      return place === undefined ? [] : [{ field, place }];
    });
  const typedPlaces = withPlaces(typed);
  const countedPlaces = withPlaces(countedFields(model, layout).map(({ field }) => field));
  const dormant = dormantFields(model, resource);
  const nothingDormant = dormant.map(() => null);
  const links = layout.links.map(({ field }) => field);
  const searched = [...typed.keys()].filter((index) => typed[index]?.type.kind === 'string');
  const indexes = new Map(typed.map(({ name }, index) => [name, index]));
  const inSearch = search?.fields.map(({ name }) => indexes.get(name) ?? -1) ?? [];
  return {
    columns: [
      ...(isChild ? ['_key', '_parent', '_parent_resource'] : ['_key']),
      ...['_id', '_system', '_visible', '_shown', '_kind', '_rank', '_file', '_hash', '_audience', '_source'],
      ...typed.map((field) => field.name),
      ...dormant,
      ...(isOne ? texts.columns : []),
    ],
    textsColumns: ['_key', '_id', '_system', '_visible', '_shown', ...links, ...texts.columns],

    contentOf(row: RowToPut): RowContent {
      const values = valuesOf(row);
      return {
        values,
        cells: typedPlaces.map(({ field, place }) => encode(field, values[place])),
        counted: countedPlaces.map(({ place }) => values[place]),
      };
    },
    *columnRows(rows: readonly PreparedRow[]): Iterable<BoundValue[]> {
      for (const { row, values: content, cells, id, visibility, before } of rows) {
        const { rank, file } = rankAndFile(row);
        const values: BoundValue[] = isChild
          ? [row.key, row.parent ?? '', row.parentResource ?? '']
          : [row.key];
        values.push(id, row.system, visibility.visible, visibility.shown, row.kind, rank, file, row.hash);
        values.push(row.audience ?? null, source ?? row.stored?.source ?? null);
        values.push(...cells, ...(before?.dormant ?? nothingDormant));
        if (isOne) values.push(...texts.values(row, content));
        yield values;
      }
    },
    /** The texts of listings have a table of their own, which also carries the links to their agents. */
    *textRows(rows: readonly PreparedRow[]): Iterable<BoundValue[]> {
      for (const { row, values, id, visibility } of rows) {
        const { visible, shown } = visibility;
        const linked = links.map((link) => textOrNull(valueToStore(row, link)));
        yield [row.key, id, row.system, visible, shown, ...linked, ...texts.values(row, values)];
      }
    },
    *searchRows(rows: readonly PreparedRow[]): Iterable<BoundValue[]> {
      for (const { row, cells, id, visibility } of rows) {
        const values = inSearch.map((index) => cells[index] ?? null);
        yield [id, row.key, row.system, visibility.visible, visibility.shown, ...values];
      }
    },
    /** @param renews as in `RowPutter.put` */
    *searchedTexts(rows: readonly PreparedRow[], renews: boolean): Iterable<RecordTexts> {
      for (const { row, cells, id } of rows) {
        const found = searched.map((index) => cells[index]);
        const isStored = row.stored !== undefined && row.stored.isTorn !== true && !renews;
        yield { id, texts: [row.key, ...found.filter((text) => typeof text === 'string')], isStored };
      }
    },
  };
}
