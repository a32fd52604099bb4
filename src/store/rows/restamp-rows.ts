/** Writes new timestamps, and the texts that contain them, for records whose content stays. */

import { encode } from '../../compile/column-value.ts';
import { bind, integer, join, name, sql } from '../../compile/fragment.ts';
import { isOneTable, type ResourceLayout, typedFields } from '../../compile/layout/index.ts';
import {
  hasOtherTextsWithStamps,
  newestStampField,
  stampTextColumns,
} from '../../compile/text/text-columns.ts';
import type { Field, FieldValues } from '../../dictionary/index.ts';
import { storedHash } from '../../records/content-hash.ts';
import type { RowToRestamp, StoredRow } from '../../records/rows.ts';
import { isStamp } from '../../records/stamps.ts';
import type { RowPutter } from './put-rows.ts';
import type { StoredRows } from './stored-rows.ts';
import type { WriteContext } from './write-context.ts';

/** Profiles count from 1. */
const FIRST_VERSION = 1;
/** Records whose texts are written at once. */
const RENEWED_AT_ONCE = 1000;

export interface Restamper {
  restamp(rows: readonly RowToRestamp[]): Promise<void>;
  /**
   * Writes the texts of every record anew, after a change of what they contain.
   * @param returned fields that are declared again: a record that was written meanwhile has kept its value in one, which
   *   its hash does not cover yet
   */
  renew(returned: readonly Field[]): Promise<void>;
}

export function restamper(
  { session: { dialect, rows: query, run }, model, changes }: WriteContext,
  layout: ResourceLayout,
  stored: StoredRows,
  { put }: RowPutter,
): Restamper {
  const { columnsTable, textsTable } = layout;
  const isWhole = hasOtherTextsWithStamps(layout);
  return {
    async restamp(rows) {
      if (rows.length === 0) return;
      changes.add(
        layout.resource.name,
        rows.map(({ stored: row }) => row.key),
      );
      const outdated = await outdatedKeys(rows.map((row) => row.stored.key));
      const mustRewrite = ({ stored: row }: RowToRestamp): boolean => isWhole(row) || outdated.has(row.key);
      await rewrite(rows.filter(mustRewrite));
      await restampTexts(rows.filter((row) => !mustRewrite(row)));
    },
    async renew(returned) {
      const hashOf = hashWith(returned);
      for (let last = ''; ; ) {
        const rows = await stored.after(last, RENEWED_AT_ONCE);
        const [end] = rows.slice(-1);
        if (end === undefined) return;
        await rewrite(
          rows.map((row) => ({ stored: row, values: row.values })),
          hashOf,
        );
        last = end.key;
      }
    },
  };

  /** Records whose texts were written before the newest of the fields beside the timestamps came into use. */
  async function outdatedKeys(keys: readonly string[]): Promise<ReadonlySet<string>> {
    const newest = newestStampField(layout);
    if (newest <= FIRST_VERSION) return new Set();
    const rows = await query(sql`SELECT _key FROM ${name(textsTable)}
      WHERE ${dialect.oneOf(sql`_key`, keys)} AND _profile < ${integer(newest)}`);
    return new Set(rows.map((row) => String(row._key)));
  }

  async function rewrite(
    rows: readonly RowToRestamp[],
    hashOf: (row: StoredRow, content: FieldValues) => string = ({ hash }) => hash,
  ): Promise<void> {
    if (rows.length === 0) return;
    const contents = await stored.load(rows.map((row) => row.stored));
    await put(
      rows.map(({ stored: row, values }) => {
        const content = { ...contents.get(row.key), ...values };
        return { ...row, stored: row, hash: hashOf(row, content), values: content };
      }),
    );
  }

  /** A hash that covers all but the values of these fields covers them from now on; any other stays as it is. */
  function hashWith(returned: readonly Field[]): (row: StoredRow, content: FieldValues) => string {
    const names = new Set(returned.map((field) => field.name));
    return (row, content) => {
      const others = Object.entries(content).filter(([each]) => !names.has(each));
      if (others.length === Object.keys(content).length) return row.hash;
      const before = Object.fromEntries(others);
      const hashUnder = (values: FieldValues, system: string | null | undefined): string =>
        storedHash(layout.resource, values, model.settings, system);
      // A child whose parent was not stored was hashed without a system.
      const known = [row.system, undefined].find((system) => hashUnder(before, system) === row.hash);
      return hashUnder(before, known) === row.hash ? hashUnder(content, known) : row.hash;
    };
  }

  async function restampTexts(rows: readonly RowToRestamp[]): Promise<void> {
    if (rows.length === 0) return;
    const stamps = typedFields(layout).filter(isStamp);
    const texts = stampTextColumns(layout);
    const one = isOneTable(layout);
    const given = rows.map((row) => {
      const ready = texts.values(row.values);
      return Object.fromEntries([
        ['_key', row.stored.key],
        ...stamps.map((field) => [field.name, encode(field, row.values[field.name])] as const),
        ...texts.columns.map((column, index) => [column, ready[index] ?? ''] as const),
      ]);
    });
    const stampNames = stamps.map((field) => field.name);
    await update(columnsTable, one ? [...stampNames, ...texts.columns] : stampNames, given);
    if (!one) await update(textsTable, texts.columns, given);
  }

  /** @param given objects with a key, and a text for each of the columns */
  async function update(table: string, columns: readonly string[], given: readonly object[]): Promise<void> {
    if (columns.length === 0) return;
    const kinds = new Map(['_key', ...columns].map((each) => [each, 'text'] as const));
    const set = columns.map((each) => sql`${name(each)} = v.${name(each)}`);
    await run(sql`UPDATE ${name(table)} AS t SET ${join(set, ', ')}
      FROM ${dialect.rowsOf(bind(JSON.stringify(given)), 'v', kinds)} WHERE t._key = v._key`);
  }
}
