import type { FieldValues } from '../../dictionary/index.ts';
import type { ResourceLayout } from '../layout/index.ts';
import type { StoreModel } from '../model.ts';
import { nativeHead, nativePartTexts } from '../text/native-parts.ts';
import { pieceWriter } from '../text/pieces.ts';
import { servedFile } from '../text/served-files.ts';
import type { RowToPut, StoredRow } from '../write/transaction.ts';
import type { Connection } from './connection.ts';
import type { Bits } from './judge.ts';

/** Writes the texts of one resource's records. */
export interface TextWriter {
  put(row: RowToPut, id: number, bits: Bits): void;
  /** Whether a text was written before the newest of the fields that stand beside its stamps came into use. */
  isOutdated(stored: StoredRow): boolean;
  /** Writes again what carries stamps; the rest of the texts stays. */
  restamp(stored: StoredRow, values: FieldValues): void;
}

/** Where a record stands among its parent's, and the file that this service serves for it. */
export function placeOf({ values }: Pick<RowToPut, 'values'>): { rank: number | null; file: string | null } {
  return {
    rank: typeof values.Order === 'number' ? values.Order : null,
    file: servedFile(values.MediaURL) ?? null,
  };
}

/** Profiles count from 1. */
const FIRST_VERSION = 1;

export function textWriter(connection: Connection, model: StoreModel, layout: ResourceLayout): TextWriter {
  const { resource, textsTable, pieces, joinPieces, links } = layout;
  const child = resource.parent !== undefined;
  const listing = resource.name === 'Property';
  const pieceColumns = [...pieces, ...joinPieces].flatMap((piece) => [piece.valuesColumn, piece.nullsColumn]);
  const write = pieceWriter(layout);
  const columns = [
    '_key',
    ...(child ? ['_parent', '_parent_resource'] : []),
    ...['_id', '_system', '_visible', '_shown', '_kind', '_rank', '_file', '_profile'],
    ...links.map(({ field }) => field),
    ...(listing ? ['native_head'] : []),
    ...(child ? ['native_text', 'native_plan_text'] : []),
    ...pieceColumns,
  ];
  const names = columns.map((column) => `"${column}"`).join(', ');
  const marks = columns.map(() => '?').join(', ');
  const put = `INSERT OR REPLACE INTO "${textsTable}" (${names}) VALUES (${marks})`;

  const stampPieces = pieces.filter((piece) => piece.class === 'open');
  const writeStamps = pieceWriter(layout, new Set(['open']));
  const stampColumns = stampPieces.flatMap((piece) => [piece.valuesColumn, piece.nullsColumn]);
  const sets = stampColumns.map((column) => `"${column}" = ?`).join(', ');
  const where = child ? '_parent = ? AND _key = ?' : '_key = ?';
  const placeIn = ({ parent, key }: StoredRow) => (child ? [parent, key] : [key]);
  const newest = Math.max(0, ...stampPieces.flatMap((piece) => piece.fields.map(layout.since)));
  const restamp = `UPDATE "${textsTable}" SET ${sets} WHERE ${where}`;

  return {
    put(row, id, { visible, shown }) {
      const { rank, file } = placeOf(row);
      const texts = write(row.values);
      const part = nativePartTexts({
        resource: resource.name,
        key: row.key,
        parent: row.parent ?? '',
        kind: row.kind ?? undefined,
        values: row.values,
        timeZone: model.settings.timeZone,
      });
      connection
        .prepare(put)
        .run(
          row.key,
          ...(child ? [row.parent ?? '', row.parentResource ?? ''] : []),
          id,
          row.system,
          visible,
          shown,
          row.kind,
          rank,
          file,
          model.profile.version,
          ...links.map(({ field }) => textOf(row.values[field])),
          ...(listing ? [nativeHead(row.key)] : []),
          ...(child ? [part.native, part.nativePlan] : []),
          ...pieceColumns.map((column) => texts[column] ?? ''),
        );
    },
    isOutdated(stored) {
      if (newest <= FIRST_VERSION) return false;
      const row = connection
        .prepare(`SELECT _profile FROM "${textsTable}" WHERE ${where}`)
        .get(...placeIn(stored));
      return Number(row?._profile) < newest;
    },
    restamp(stored, values) {
      const texts = writeStamps(values);
      connection
        .prepare(restamp)
        .run(...stampColumns.map((column) => texts[column] ?? ''), ...placeIn(stored));
    },
  };
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
