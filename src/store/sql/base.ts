import type { View } from '../../access/index.ts';
import type { ResourceLayout } from '../layout/index.ts';
import type { Shape } from '../read.ts';
import { type Context, type ContextSource, makeContext } from './context.ts';
import { needsColumns } from './expansion.ts';
import type { FileAddress } from './file-address.ts';
import { withFileAddresses } from './file-address.ts';
import { column, name, type Sql, sql } from './fragment.ts';
import { nativeListingText, partColumn } from './native-text.ts';
import { isWhole, resoText, type TextSource } from './reso-text.ts';

/** The tables that a page of records is read from, and the text of each record. */
export interface Base {
  readonly from: Sql;
  /** The table whose ids are indexed. */
  readonly ids: string;
  /** The table whose key and visibility decide. */
  readonly main: string;
  readonly context: Context;
  readonly text: Sql;
}

const TEXTS = 't';
const COLUMNS = 'r';

type Tables = 'texts' | 'columns' | 'both';

function tablesFor(shape: Shape, layout: ResourceLayout): Tables {
  switch (shape.kind) {
    case 'reso':
      if (!isWhole(shape)) return 'columns';
      return needsColumns({ layout }, shape) ? 'both' : 'texts';
    case 'native-listing':
      return isWhole(shape) && !shape.expansions.includes('CustomFields') ? 'texts' : 'both';
    case 'native-part':
      return 'texts';
  }
}

export function baseOf(
  source: ContextSource,
  view: View,
  layout: ResourceLayout,
  shape: Shape,
  files: FileAddress,
  find: 'by-key' | 'by-id',
): Base {
  const needed = tablesFor(shape, layout);
  // Ids are indexed beside the texts; the index alone then leads to the columns.
  const tables = needed === 'columns' && find === 'by-id' ? 'both' : needed;
  const scopeAlias = needed === 'texts' ? TEXTS : COLUMNS;
  const main = needed === 'columns' ? COLUMNS : TEXTS;
  const context = makeContext(source, scopeAlias, layout.resource.name);
  const whole = shape.kind === 'native-part' || isWhole(shape);
  const textSource = { context, view, layout, alias: whole ? TEXTS : COLUMNS, texts: TEXTS, files };
  return { from: fromTables(tables, layout), ids: TEXTS, main, context, text: recordText(textSource, shape) };
}

function fromTables(tables: Tables, layout: ResourceLayout): Sql {
  const texts = sql`${name(layout.textsTable)} ${name(TEXTS)}`;
  const columns = sql`${name(layout.columnsTable)} ${name(COLUMNS)}`;
  switch (tables) {
    case 'texts':
      return texts;
    case 'columns':
      return columns;
    case 'both':
      return sql`${texts} JOIN ${columns} ON ${sameRow(layout, COLUMNS, TEXTS)}`;
  }
}

/** Two tables of one resource, row by row; children lie under their parents in both. */
export function sameRow(layout: ResourceLayout, left: string, right: string): Sql {
  const keys = sql`${column(left, '_key')} = ${column(right, '_key')}`;
  if (layout.resource.parent === undefined) return keys;
  return sql`${column(left, '_parent')} = ${column(right, '_parent')} AND ${keys}`;
}

function recordText(source: TextSource, shape: Shape): Sql {
  switch (shape.kind) {
    case 'reso':
      return resoText(source, shape);
    case 'native-listing':
      return nativeListingText(source, shape);
    case 'native-part':
      return withFileAddresses(source, column(source.alias, partColumn(shape.part)));
  }
}
