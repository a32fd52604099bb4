/**
 * Writes new timestamps and counts, and the texts that contain them, for records whose content is otherwise unchanged.
 */

import { type ColumnKind, columnKind, encode } from '../../compile/column-value.ts';
import { type BoundValue, integer, name, sql } from '../../compile/fragment.ts';
import { isOneTable, type ResourceLayout, typedFields } from '../../compile/layout/index.ts';
import { classTextColumns, hasOtherTextsWithStamps, newestField } from '../../compile/text/text-columns.ts';
import { ruleFields } from '../../compile/visibility.ts';
import type { Field, FieldValues } from '../../dictionary/index.ts';
import { storedHash } from '../../records/content-hash.ts';
import { isChildCount } from '../../records/media.ts';
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
   * Rewrites the texts of every record, after a change of their content.
   * @param returned fields that are declared again: a record that was written in the meantime has kept its value in
   * such a field, which its hash does not cover yet
   */
  renew(returned: readonly Field[]): Promise<void>;
}

export function restamper(
  { session: { dialect, rows: query, update }, model, changes }: WriteContext,
  layout: ResourceLayout,
  stored: StoredRows,
  { put }: RowPutter,
): Restamper {
  const { columnsTable, textsTable, search } = layout;
  const isWhole = hasOtherTextsWithStamps(layout);
  const typed = typedFields(layout);
  const stamps = typed.filter(isStamp);
  const counts = typed.filter(isChildCount);
  // A rule that depends on a count may make the record visible to other roles.
  const isEvaluated = ruleFields(layout).some(isChildCount);
  return {
    async restamp(rows) {
      if (rows.length === 0) return;
      for (const { stored: row } of rows) changes.put(layout.resource.name, row.key, row, row);
      await restampAs(
        rows.filter((row) => !isRecounted(row)),
        stamps,
      );
      await restampAs(rows.filter(isRecounted), [...stamps, ...counts]);
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
          true,
        );
        last = end.key;
      }
    },
  };

  /** @param fields the timestamps, and the counts if they change */
  async function restampAs(rows: readonly RowToRestamp[], fields: readonly Field[]): Promise<void> {
    if (rows.length === 0) return;
    const classes = new Set(['open', ...fields.filter(isChildCount).map((field) => field.class)]);
    const keys = rows.map((row) => row.stored.key);
    const outdated = await outdatedKeys(keys, classes);
    const mustRewrite = (row: RowToRestamp): boolean =>
      isWhole(row.stored) ||
      outdated.has(row.stored.key) ||
      (isRecounted(row) && (isEvaluated || row.stored.isTorn === true));
    await rewrite(rows.filter(mustRewrite));
    await restampTexts(
      rows.filter((row) => !mustRewrite(row)),
      fields,
      classes,
    );
  }

  /** Records whose texts of these classes were written before the newest of their fields came into use. */
  async function outdatedKeys(
    keys: readonly string[],
    classes: ReadonlySet<string>,
  ): Promise<ReadonlySet<string>> {
    const newest = newestField(layout, classes);
    if (newest <= FIRST_VERSION) return new Set();
    const rows = await query(sql`SELECT _key FROM ${name(textsTable)}
      WHERE ${dialect.oneOf(sql`_key`, keys)} AND _profile < ${integer(newest)}`);
    return new Set(rows.map((row) => String(row._key)));
  }

  async function rewrite(
    rows: readonly RowToRestamp[],
    hashOf: (row: StoredRow, content: FieldValues) => string = (row) => row.hash,
    renews = false,
  ): Promise<void> {
    if (rows.length === 0) return;
    const unread = rows.filter((row) => !isRecounted(row));
    const contents = await stored.load(unread.map((row) => row.stored));
    await put(
      rows.map(({ stored: row, values, hash }) => {
        if (hash !== undefined) return { ...row, stored: row, hash, values };
        const content = { ...contents.get(row.key), ...values };
        return { ...row, stored: row, hash: hashOf(row, content), values: content };
      }),
      renews,
    );
  }

  /**
   * From now on, a hash that covers everything except the values of these fields covers them as well; any other hash
   * stays unchanged.
   */
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

  async function restampTexts(
    rows: readonly RowToRestamp[],
    fields: readonly Field[],
    classes: ReadonlySet<string>,
  ): Promise<void> {
    if (rows.length === 0) return;
    const texts = classTextColumns(layout, classes);
    const hasHashes = rows.some(isRecounted);
    const columns: (readonly [string, ColumnKind])[] = fields.map((field) => [field.name, columnKind(field)]);
    if (hasHashes) columns.push(['_hash', 'text']);
    const textKinds = texts.columns.map((column): readonly [string, ColumnKind] => [column, 'text']);
    const searched = fields.filter(({ name }) => search?.columns.has(name) === true);
    const searchKinds = new Map(searched.map((field) => [field.name, columnKind(field)]));
    const searchRows: BoundValue[][] = [];
    const columnRows: BoundValue[][] = [];
    const textRows: BoundValue[][] = [];
    for (const { stored: before, values, hash = before.hash } of rows) {
      const { key } = before;
      const row = [key, ...fields.map((field) => encode(field, values[field.name]))];
      if (hasHashes) row.push(hash);
      columnRows.push(row);
      searchRows.push([key, ...searched.map((field) => encode(field, values[field.name]))]);
      textRows.push([key, ...texts.values(values)]);
    }
    if (isOneTable(layout)) {
      const whole = columnRows.map((row, at) => row.concat((textRows[at] ?? []).slice(1)));
      await update(columnsTable, new Map([...columns, ...textKinds]), whole);
    } else {
      if (columns.length > 0) await update(columnsTable, new Map(columns), columnRows);
      await update(textsTable, new Map(textKinds), textRows);
    }
    if (search !== undefined && searched.length > 0) await update(search.table, searchKinds, searchRows);
  }
}

const isRecounted = ({ hash }: RowToRestamp): boolean => hash !== undefined;
