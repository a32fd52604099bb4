import type { View } from '../../access/index.ts';
import type { Field } from '../../dictionary/index.ts';
import { BoundedCache, numberOf } from '../../shared/bounded-cache.ts';
import type { Context } from '../context.ts';
import { placeOf, valueAt } from '../expression.ts';
import { bind, column, compact, integer, type Sql, sql } from '../fragment.ts';
import type { ResourceLayout } from '../layout/index.ts';
import type { FileSigning } from '../read.ts';
import { URL_MARK } from './members.ts';

/** What a record's text is made for. */
export interface TextSource {
  readonly context: Context;
  readonly view: View;
  readonly layout: ResourceLayout;
  /** The table that the record's own members come from: its texts, or its columns for a selection. */
  readonly alias: string;
  /** The texts table; the same as `alias` for a whole record. */
  readonly texts: string;
  readonly files: FileAddress;
}

/** The absolute address of a served file, from the SQL of its path. */
export type FileAddress = (path: Sql) => Sql;

/** Both engines know `plat_file_url(path, role, expires, base)`. */
export function fileAddress({ base, role, expires }: FileSigning): FileAddress {
  return (path) => sql`plat_file_url(${path}, ${bind(role)}, ${integer(expires)}, ${bind(base)})`;
}

/** Puts the address in place of the mark in a media record's text. */
export function withFileAddresses(
  { layout, alias, files }: Pick<TextSource, 'layout' | 'alias' | 'files'>,
  text: Sql,
): Sql {
  if (layout.resource.name !== 'Media') return text;
  const address = sql`coalesce(${files(column(alias, '_file'))}, '')`;
  return sql`replace(${text}, ${markSql}, ${address})`;
}

const markSql = bind(URL_MARK);

/** A field of the record in scope 0 as JSON text, from its column. */
export function jsonOf(
  context: Context,
  field: Field,
  place: { readonly files: FileAddress; readonly alias: string },
): Sql {
  const found = valueAt(placeOf(context, 0, [], field));
  const text = context.dialect.json(field.collection ? 'collection' : field.type.kind, found);
  if (field.resource !== 'Media' || field.name !== 'MediaURL') return text;
  const file = column(place.alias, '_file');
  const address = context.dialect.json('string', place.files(file));
  return sql`CASE WHEN ${file} IS NULL THEN ${text} ELSE ${address} END`;
}

/** Expansions read a resource under aliases of their own, so there may be many for one view of it. */
const kept = new BoundedCache<readonly Sql[]>('composed statements', { bytes: 24 * 1024 * 1024 });

/**
 * The members of whole records, made once for each view of a layout: composing them takes longer than the engine
 * takes to read a record (docs/performance.md).
 * @param kind tells apart what is made for the same layout, view and alias
 * @param make follows from layout, view, alias and kind alone
 */
export function keptMembers(
  { layout, view, alias }: Pick<TextSource, 'layout' | 'view' | 'alias'>,
  kind: string,
  make: () => readonly Sql[],
): readonly Sql[] {
  const id = `${numberOf(layout)} ${numberOf(view)} ${alias} ${kind}`;
  const known = kept.get(id);
  if (known !== undefined) return known;
  const made = make().map(compact);
  return kept.put(
    id,
    made,
    made.reduce((sum, fragment) => sum + bytesOf(fragment), 0),
  );
}

/** What a list of parts and one part of it take beside their texts. */
const LIST = 100;
const PART = 24;

const bytesOf = ({ parts }: Sql): number =>
  parts.reduce((sum, part) => sum + PART + (typeof part === 'string' ? part.length : 2 * PART), LIST);
