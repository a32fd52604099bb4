import { encode } from '../../compile/column-value.ts';
import { isOneTable, type ResourceLayout, typedFields } from '../../compile/layout/index.ts';
import { newestStampField, stampTextColumns, tellsStampsElsewhere } from '../../compile/text/text-columns.ts';
import type { RowToRestamp, StoredRow } from '../../records/rows.ts';
import { isStamp } from '../../records/stamps.ts';
import { bindable, type Connection } from './connection.ts';
import { isThisRow, placeInTable, type RowPutter } from './put-rows.ts';
import type { StoredRows } from './stored-rows.ts';

/** Profiles count from 1. */
const FIRST_VERSION = 1;

/** Records whose texts are written anew at once. */
const RENEWED_AT_ONCE = 1000;

/** Writes stamps, and texts, of records whose content stays. */
export interface Restamper {
  restamp(rows: readonly RowToRestamp[]): void;
  /** Writes the texts of every record anew, after a change of what stands in them. */
  renew(): void;
}

export function restamper(
  connection: Connection,
  layout: ResourceLayout,
  stored: StoredRows,
  { put }: RowPutter,
): Restamper {
  const { columnsTable, textsTable } = layout;
  const isWhole = tellsStampsElsewhere(layout);

  return {
    restamp(rows) {
      const outdated = new Set(rows.filter(({ stored: row }) => isWhole(row) || isOutdated(row)));
      rewrite([...outdated]);
      restampTexts(outdated.size === 0 ? rows : rows.filter((row) => !outdated.has(row)));
    },
    renew() {
      for (let last = ''; ; ) {
        const rows = stored.after(last, RENEWED_AT_ONCE);
        const [end] = rows.slice(-1);
        if (end === undefined) return;
        rewrite(rows.map((row) => ({ stored: row, values: row.values })));
        last = end.key;
      }
    },
  };

  /** Whether the texts were written before the newest of the fields beside the stamps came into use. */
  function isOutdated(row: StoredRow): boolean {
    const newest = newestStampField(layout);
    if (newest <= FIRST_VERSION) return false;
    const found = connection
      .prepare(`SELECT _profile FROM "${textsTable}" WHERE ${isThisRow(layout)}`)
      .get(...placeInTable(layout, row));
    return Number(found?._profile) < newest;
  }

  function rewrite(rows: readonly RowToRestamp[]): void {
    if (rows.length === 0) return;
    const contents = stored.load(rows.map((row) => row.stored));
    put(
      rows.map((row) => ({
        ...row.stored,
        stored: row.stored,
        values: { ...contents.get(row.stored.key), ...row.values },
      })),
    );
  }

  function restampTexts(rows: readonly RowToRestamp[]): void {
    if (rows.length === 0) return;
    const stamps = typedFields(layout).filter(isStamp);
    const texts = stampTextColumns(layout);
    const set = (names: readonly string[]): string => names.map((name) => `"${name}" = ?`).join(', ');
    const stampNames = stamps.map(({ name }) => name);
    const one = isOneTable(layout);
    const update = connection.prepare(
      `UPDATE "${columnsTable}" SET ${set(one ? [...stampNames, ...texts.columns] : stampNames)} WHERE ${isThisRow(layout)}`,
    );
    const updateTexts = one
      ? undefined
      : connection.prepare(`UPDATE "${textsTable}" SET ${set(texts.columns)} WHERE ${isThisRow(layout)}`);
    for (const { stored: row, values } of rows) {
      const columns = stamps.map((field) => bindable(encode(field, values[field.name])));
      const ready = texts.values(values);
      const place = placeInTable(layout, row);
      update.run(...columns, ...(one ? ready : []), ...place);
      updateTexts?.run(...ready, ...place);
    }
  }
}
