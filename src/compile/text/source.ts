/** What the texts of both interfaces share when they are read: addresses of files, values as JSON, a cache. */
import type { View } from '../../access/index.ts';
import type { Field } from '../../dictionary/index.ts';
import { BoundedCache } from '../../shared/bounded-cache.ts';
import { objectId } from '../../shared/memoize.ts';
import type { Context } from '../context.ts';
import { fieldValue } from '../expression.ts';
import { bind, column, compact, integer, type Sql, sql } from '../fragment.ts';
import type { ResourceLayout } from '../layout/index.ts';
import type { FileSigning } from '../read.ts';
import { URL_MARK } from './members.ts';

/** The input from which the text of a record is composed. */
export interface TextSource {
  readonly context: Context;
  readonly view: View;
  readonly layout: ResourceLayout;
  /** The alias of the table that the record's own members come from: its texts, or its columns for a selection. */
  readonly alias: string;
  /** The alias of the texts table; equal to `alias` for a whole record. */
  readonly texts: string;
  readonly files: FileAddress;
  /** Whether the places of agents and offices are marked rather than filled by the statement (linked-texts.ts). */
  readonly marksLinks: boolean;
}

/** Makes SQL of the absolute address of a served file from SQL of its path. */
export type FileAddress = (path: Sql) => Sql;

/** Every engine provides `plat_file_url(path, role, expires, base)`. */
export function fileAddress({ base, role, expires }: FileSigning): FileAddress {
  return (path) => sql`plat_file_url(${path}, ${bind(role)}, ${integer(expires)}, ${bind(base)})`;
}

/**
 * Replaces the mark in the text of a media record with the address. A record without a served file has no mark, and its text is
 * used unchanged, since searching for a mark takes a fifth of the time of reading the text.
 */
export function withFileAddresses(
  { layout, alias, files }: Pick<TextSource, 'layout' | 'alias' | 'files'>,
  text: Sql,
): Sql {
  if (layout.resource.name !== 'Media') return text;
  const file = column(alias, '_file');
  return sql`CASE WHEN ${file} IS NULL THEN ${text} ELSE replace(${text}, ${markSql}, coalesce(${files(file)}, '')) END`;
}

const markSql = bind(URL_MARK);

/** A field of the record in scope 0 as JSON text, from its column. */
export function jsonOf(
  context: Context,
  field: Field,
  place: { readonly files: FileAddress; readonly alias: string },
): Sql {
  const found = fieldValue(context, 0, [], field);
  const text = context.dialect.json(field.collection ? 'collection' : field.type.kind, found);
  if (field.resource !== 'Media' || field.name !== 'MediaURL') return text;
  const file = column(place.alias, '_file');
  const address = context.dialect.json('string', place.files(file));
  return sql`CASE WHEN ${file} IS NULL THEN ${text} ELSE ${address} END`;
}

/** There may be many entries per view, because each expansion has its own aliases. */
const composedMembers = new BoundedCache<readonly Sql[]>('composed statements', { bytes: 24 * 1024 * 1024 });

/**
 * The members of whole records, composed once per view of a layout: composing takes longer than the engine needs to read a record
 * (docs/performance.md).
 * @param kind distinguishes entries of the same layout, view and alias
 * @param make depends only on the source and the kind
 */
export function cachedMembers(
  { layout, view, alias, marksLinks }: Pick<TextSource, 'layout' | 'view' | 'alias' | 'marksLinks'>,
  kind: string,
  make: () => readonly Sql[],
): readonly Sql[] {
  const id = `${objectId(layout)} ${objectId(view)} ${alias} ${kind} ${marksLinks}`;
  const known = composedMembers.get(id);
  if (known !== undefined) return known;
  const made = make().map(compact);
  return composedMembers.put(
    id,
    made,
    made.reduce((sum, fragment) => sum + bytesOf(fragment), 0),
  );
}

/** Estimated bytes of a list of parts, and of one part without its text. */
const LIST = 100;
const PART = 24;

const bytesOf = ({ parts }: Sql): number =>
  parts.reduce((sum, part) => sum + PART + (typeof part === 'string' ? part.length : 2 * PART), LIST);
