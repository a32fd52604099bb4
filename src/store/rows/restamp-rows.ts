/** Writes new timestamps and counts, and the texts that contain them, for records whose content is otherwise unchanged. */

import { type ColumnKind, columnKind, encode } from '../../compile/column-value.ts';
import { type BoundValue, join, name, sql } from '../../compile/fragment.ts';
import { isOneTable, type Piece, type ResourceLayout, typedFields } from '../../compile/layout/index.ts';
import { withNumbers } from '../../compile/text/members.ts';
import {
  hasOtherTextsWithTimestamps,
  newestTimestampVersion,
  timestampTextColumns,
} from '../../compile/text/text-columns.ts';
import { ruleFields } from '../../compile/visibility.ts';
import type { Field, FieldValue, FieldValues, Resource } from '../../dictionary/index.ts';
import { hashOfStoredContent } from '../../records/content-hash.ts';
import { isChildCount } from '../../records/media.ts';
import type { RowToRestamp, StoredRow } from '../../records/rows.ts';
import type { StoreSettings } from '../../records/settings.ts';
import { isAssignedTimestamp } from '../../records/timestamps.ts';
import { chunked } from '../../shared/chunked.ts';
import { memoizePerObject } from '../../shared/memoize.ts';
import type { Row, Session, WriteSession } from '../session.ts';
import type { RowPutter } from './put-rows.ts';
import type { StoredRows } from './stored-rows.ts';
import type { WriteContext } from './write-context.ts';

/** Profiles count from 1. */
const FIRST_VERSION = 1;
const REWRITTEN_AT_ONCE = 1000;
/**
 * The number of records whose content is in memory at once. A record of a hundred members takes 20 kB while it is read and written;
 * those of a whole batch would outlive several collections of the young generation, and fill the old generation with garbage.
 */
const READ_AT_ONCE = 100;

/** Restamps records of one resource within one transaction. */
export class Restamper {
  readonly #context: WriteContext;
  readonly #layout: ResourceLayout;
  readonly #stored: StoredRows;
  readonly #putter: RowPutter;
  readonly #timestamps: readonly Field[];
  readonly #counts: readonly Field[];
  readonly #countedPieces: readonly Piece[];
  /** Whether a row rule depends on a count, which may make the record visible to other roles. */
  readonly #isEvaluated: boolean;
  readonly #needsWholeRecord: (row: StoredRow) => boolean;

  constructor(context: WriteContext, layout: ResourceLayout, stored: StoredRows, putter: RowPutter) {
    const typed = typedFields(layout);
    this.#context = context;
    this.#layout = layout;
    this.#stored = stored;
    this.#putter = putter;
    this.#timestamps = typed.filter(isAssignedTimestamp);
    this.#counts = typed.filter(isChildCount);
    this.#countedPieces = layout.pieces.filter(({ fields }) => fields.some(isChildCount));
    this.#isEvaluated = ruleFields(layout).some(isChildCount);
    this.#needsWholeRecord = hasOtherTextsWithTimestamps(layout);
  }

  async restamp(rows: readonly RowToRestamp[]): Promise<void> {
    const { name } = this.#layout.resource;
    for (const { stored: row } of rows) this.#context.changes.put(name, row.key, row, row);
    const uncounted = rows.filter((row) => !isRecounted(row));
    const recounted = rows.filter(isRecounted);
    await this.#restampFields(uncounted, this.#timestamps, []);
    await this.#restampFields(recounted, [...this.#timestamps, ...this.#counts], this.#countedPieces);
  }

  /**
   * Rewrites the texts of every record, after a change of their content.
   * @param returned fields that are declared again: a record that was written in the meantime has kept its value in
   * such a field, which its hash does not cover yet
   */
  async rewriteTexts(returned: readonly Field[]): Promise<void> {
    const hashOf = hashWith(returned, this.#layout.resource, this.#context.model.settings);
    for (let last = ''; ; ) {
      const rows = await this.#stored.after(last, REWRITTEN_AT_ONCE);
      const [end] = rows.slice(-1);
      if (end === undefined) return;
      await this.#rewrite(
        rows.map((row) => ({ stored: row, derived: {} })),
        hashOf,
        true,
      );
      last = end.key;
    }
  }

  /**
   * @param fields the timestamps, and the counts if they change
   * @param counted the pieces that contain counts, if they change
   */
  async #restampFields(
    rows: readonly RowToRestamp[],
    fields: readonly Field[],
    counted: readonly Piece[],
  ): Promise<void> {
    const { session } = this.#context;
    const layout = this.#layout;
    const newest = newestTimestampVersion(layout);
    const isUncounted = ({ stored, derived }: RowToRestamp): boolean =>
      this.#counts.some(({ name }) => derived[name] !== undefined && stored.values[name] === undefined);
    for (const some of chunked(rows, READ_AT_ONCE)) {
      const texts =
        newest > FIRST_VERSION || counted.length > 0
          ? await textsOf(session, layout, some, counted)
          : NO_TEXTS;
      const mustRewrite = (row: RowToRestamp): boolean =>
        this.#needsWholeRecord(row.stored) ||
        // The texts with its timestamps were written before the newest of their fields came into use.
        Number(texts.get(row.stored.key)?._profile) < newest ||
        (isRecounted(row) && (this.#isEvaluated || row.stored.isTorn === true || isUncounted(row)));
      await this.#rewrite(some.filter(mustRewrite));
      const others = some.filter((row) => !mustRewrite(row));
      if (others.length > 0) await restampTexts(session, layout, others, fields, counted, texts);
    }
  }

  async #rewrite(
    rows: readonly RowToRestamp[],
    hashOf: (row: StoredRow, content: FieldValues) => string = (row) => row.hash,
    renews = false,
  ): Promise<void> {
    if (rows.length === 0) return;
    const contents = await this.#stored.load(rows.map((row) => row.stored));
    await this.#putter.put(
      rows.map(({ stored: row, derived, hash }) => {
        const content = Object.assign(contents.get(row.key) ?? {}, derived);
        return { ...row, stored: row, hash: hash ?? hashOf(row, content), values: content };
      }),
      renews,
    );
  }
}

/** If a hash covers all but the values of these fields, it covers them from now on; any other stays unchanged. */
function hashWith(
  returned: readonly Field[],
  resource: Resource,
  settings: StoreSettings,
): (row: StoredRow, content: FieldValues) => string {
  const names = new Set(returned.map((field) => field.name));
  return (row, content) => {
    const others = Object.entries(content).filter(([each]) => !names.has(each));
    if (others.length === Object.keys(content).length) return row.hash;
    const before = Object.fromEntries(others);
    const hashUnder = (values: FieldValues, system: string | null | undefined): string =>
      hashOfStoredContent(resource, values, settings, system, row.hash);
    // A child whose parent was not stored was hashed without a system.
    const known = [row.system, undefined].find((system) => hashUnder(before, system) === row.hash);
    return hashUnder(before, known) === row.hash ? hashUnder(content, known) : row.hash;
  };
}

/** Reads some texts of records, and the version of the profile with which they were written, by key. */
async function textsOf(
  { dialect, rows: query }: Session,
  { textsTable }: ResourceLayout,
  rows: readonly RowToRestamp[],
  pieces: readonly Piece[],
): Promise<StoredTexts> {
  const columns = join(['_key', '_profile', ...pieces.map((piece) => piece.valuesColumn)].map(name), ', ');
  const keys = rows.map((row) => row.stored.key);
  const found = await query(
    sql`SELECT ${columns} FROM ${name(textsTable)} WHERE ${dialect.oneOf(sql`_key`, keys)}`,
  );
  return new Map(found.map((row) => [String(row._key), row]));
}

/** Writes the columns and texts that contain the changed fields, without reading the rest of the records. */
async function restampTexts(
  { update }: WriteSession,
  layout: ResourceLayout,
  rows: readonly RowToRestamp[],
  of: readonly Field[],
  counted: readonly Piece[],
  before: StoredTexts,
): Promise<void> {
  const { columnsTable, textsTable, search } = layout;
  const texts = timestampTexts(layout);
  // A change of a medium moves two of ten timestamps.
  const moved = new Set(rows.flatMap(({ derived }) => Object.keys(derived)));
  const fields = of.filter(({ name }) => moved.has(name));
  const hasHashes = rows.some(({ stored, hash = stored.hash }) => hash !== stored.hash);
  const columns: (readonly [string, ColumnKind])[] = fields.map((field) => [field.name, columnKind(field)]);
  if (hasHashes) columns.push(['_hash', 'text']);
  const textKinds = [...texts.columns, ...counted.map(({ valuesColumn }) => valuesColumn)].map(
    (column): readonly [string, ColumnKind] => [column, 'text'],
  );
  const searched = fields.filter(({ name }) => search?.columns.has(name) === true);
  const searchKinds = new Map(searched.map((field) => [field.name, columnKind(field)]));
  const searchRows: BoundValue[][] = [];
  const columnRows: BoundValue[][] = [];
  const textRows: BoundValue[][] = [];
  for (const { stored: row, derived, hash = row.hash } of rows) {
    const { key, values } = row;
    const read = (name: string): FieldValue | undefined => derived[name] ?? values[name];
    const columnRow = [key, ...fields.map((field) => encode(field, read(field.name)))];
    if (hasHashes) columnRow.push(hash);
    columnRows.push(columnRow);
    searchRows.push([key, ...searched.map((field) => encode(field, read(field.name)))]);
    const recounted = counted.map((piece) =>
      withNumbers(String(before.get(key)?.[piece.valuesColumn]), piece, derived),
    );
    textRows.push([key, ...texts.values(read), ...recounted]);
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

type StoredTexts = ReadonlyMap<string, Row>;
const NO_TEXTS: StoredTexts = new Map();

const timestampTexts = memoizePerObject(timestampTextColumns);

const isRecounted = ({ hash }: RowToRestamp): boolean => hash !== undefined;
