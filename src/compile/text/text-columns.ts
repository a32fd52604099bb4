import type { FieldValues } from '../../dictionary/index.ts';
import type { RowToPut, StoredRow } from '../../records/rows.ts';
import { isStamp } from '../../records/stamps.ts';
import type { ResourceLayout } from '../layout/index.ts';
import type { StoreModel } from '../model.ts';
import { pieceWriter, servedFile } from './members.ts';
import { nativeHead, nativePartTexts, partTells } from './native-parts.ts';

type Bindable = string | number | null;

/** Some columns, and what they hold of a record. */
export interface ColumnWriter<T> {
  readonly columns: readonly string[];
  readonly values: (from: T) => Bindable[];
}

/** Where a record stands among its parent's, and the file that this service serves for it. */
export function placeOf({ values }: Pick<RowToPut, 'values'>): { rank: number | null; file: string | null } {
  return {
    rank: typeof values.Order === 'number' ? values.Order : null,
    file: servedFile(values.MediaURL) ?? null,
  };
}

/** All ready texts of a record, and the version of the profile that they were written with. */
export function textColumns(model: StoreModel, layout: ResourceLayout): ColumnWriter<RowToPut> {
  const { pieces, joinPieces } = layout;
  const pieceColumns = [...pieces, ...joinPieces].flatMap((piece) => [piece.valuesColumn, piece.nullsColumn]);
  const write = pieceWriter(layout);
  const native = nativeColumns(model, layout);
  const { version } = model.profile;
  return {
    columns: ['_profile', ...native.columns, ...pieceColumns],
    values: (row) => {
      const texts = write(row.values);
      return [version, ...native.values(row), ...pieceColumns.map((column) => texts[column] ?? '')];
    },
  };
}

/** A listing's head, or a sub-resource's whole form, in the native interface. */
function nativeColumns({ settings }: StoreModel, { resource }: ResourceLayout): ColumnWriter<RowToPut> {
  if (resource.name === 'Property')
    return { columns: ['native_head'], values: ({ key }) => [nativeHead(key)] };
  if (resource.parent === undefined) return { columns: [], values: () => [] };
  const { timeZone } = settings;
  return {
    columns: ['native_text', 'native_plan_text'],
    values: ({ key, parent, kind, values }) => {
      const place = { resource: resource.name, key, parent: parent ?? '', kind: kind ?? undefined };
      const { native, nativePlan } = nativePartTexts({ ...place, values, timeZone });
      return [native, nativePlan];
    },
  };
}

/** The texts that carry stamps in every record of a resource, alone. */
export function stampTextColumns(layout: ResourceLayout): ColumnWriter<FieldValues> {
  const pieces = layout.pieces.filter((piece) => piece.class === 'open');
  const columns = pieces.flatMap((piece) => [piece.valuesColumn, piece.nullsColumn]);
  const write = pieceWriter(layout, new Set(['open']));
  return {
    columns,
    values: (values) => {
      const texts = write(values);
      return columns.map((column) => texts[column] ?? '');
    },
  };
}

/** Tells the records of a resource with stamps in further texts, which follow from their whole content. */
export function tellsStampsElsewhere({
  resource,
}: ResourceLayout): (row: Pick<StoredRow, 'kind'>) => boolean {
  const stamps = new Set([...resource.fields.values()].filter(isStamp).map(({ name }) => name));
  return ({ kind }) => partTells({ resource: resource.name, kind: kind ?? undefined }, stamps);
}

/** The newest version at which one of the fields beside the stamps came into use. */
export function newestStampField(layout: ResourceLayout): number {
  const fields = layout.pieces.filter((piece) => piece.class === 'open').flatMap((piece) => piece.fields);
  return Math.max(0, ...fields.map(layout.since));
}
