import { bind, column, integer, type Sql, sql } from './fragment.ts';
import type { FileSigning } from './read.ts';
import type { TextSource } from './reso-text.ts';
import { URL_MARK } from './text/served-files.ts';

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
