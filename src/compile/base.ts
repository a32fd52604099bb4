import type { View } from '../access/index.ts';
import type { NativeExpansion } from '../query/native/index.ts';
import { type Context, type ContextSource, makeContext, sameRow } from './context.ts';
import type { Dialect } from './dialect.ts';
import { needsColumns } from './expansion.ts';
import type { FileAddress } from './file-address.ts';
import { bind, name, type Sql, sql } from './fragment.ts';
import { isOneTable, type ResourceLayout } from './layout/index.ts';
import { partText, primaryPhoto } from './native-part-text.ts';
import { nativeListingText } from './native-text.ts';
import type { Shape } from './read.ts';
import { isWhole, resoText, type TextSource } from './reso-text.ts';

/** The tables that a page of records is read from, and the text of each record. */
export interface Base {
  readonly from: Sql;
  /** The table whose ids are indexed. */
  readonly ids: string;
  /** The table whose key and visibility decide. */
  readonly main: string;
  /** All tables that have the key. */
  readonly keyed: readonly string[];
  readonly context: Context;
  readonly text: Sql;
}

const COLUMNS = 'r';

/** Texts that lie beside the columns are read under the same alias. */
const textsAlias = (layout: ResourceLayout): string => (isOneTable(layout) ? COLUMNS : 't');

/** Expansions that are made of a listing's own columns. */
const FROM_COLUMNS: ReadonlySet<NativeExpansion> = new Set(['CustomFields', 'Supplement']);

type Tables = 'texts' | 'columns' | 'both';

function tablesFor(shape: Shape, layout: ResourceLayout): Tables {
  switch (shape.kind) {
    case 'reso':
      if (!isWhole(shape)) return 'columns';
      return needsColumns({ layout }, shape) ? 'both' : 'texts';
    case 'native-listing':
      return isWhole(shape) && !shape.expansions.some((each) => FROM_COLUMNS.has(each)) ? 'texts' : 'both';
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
  const texts = textsAlias(layout);
  const needed = tablesFor(shape, layout);
  // Ids are indexed beside the texts; the index alone then leads to the columns.
  const tables = needed === 'columns' && find === 'by-id' ? 'both' : needed;
  const scopeAlias = needed === 'texts' ? texts : COLUMNS;
  const main = needed === 'columns' ? COLUMNS : texts;
  const context = makeContext(source, scopeAlias, layout.resource.name);
  const whole = shape.kind === 'native-part' || isWhole(shape);
  const textSource = { context, view, layout, alias: whole ? texts : COLUMNS, texts, files };
  return {
    from: fromTables(source.dialect, tables, layout),
    ids: texts,
    main,
    keyed: tables === 'both' && !isOneTable(layout) ? [texts, COLUMNS] : [main],
    context,
    text: recordText(textSource, shape),
  };
}

function fromTables(dialect: Dialect, tables: Tables, layout: ResourceLayout): Sql {
  const alias = textsAlias(layout);
  const texts = sql`${name(layout.textsTable)} ${name(alias)}`;
  if (isOneTable(layout) || tables === 'texts') return texts;
  const columns = sql`${name(layout.columnsTable)} ${name(COLUMNS)}`;
  if (tables === 'columns') return columns;
  return sql`${texts} JOIN ${columns} ON ${sameRow(dialect, layout, COLUMNS, alias)}`;
}

function recordText(source: TextSource, shape: Shape): Sql {
  switch (shape.kind) {
    case 'reso':
      return resoText(source, shape);
    case 'native-listing':
      return nativeListingText(source, shape);
    case 'native-part':
      return partText(source, {
        ...shape,
        ...(shape.listing === undefined
          ? {}
          : { primary: sql`(${primaryPhoto(source.context, bind(shape.listing))})` }),
        namesListing: shape.listing === undefined,
      });
  }
}
