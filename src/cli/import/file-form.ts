/** In which form a file of records is read, by its name or as the command says, and whether it is in it. */
import { platError } from '../../errors/index.ts';
import { kindOf, textOfBeginning } from '../../shared/file-kind.ts';

/** What a file holds, as its name says or the command. */
export const FILE_FORMS = ['json', 'csv', 'tsv'] as const;
export type FileForm = (typeof FILE_FORMS)[number];

/** @param asked by the command; undefined: as the name says */
export function formOf(name: string, asked: FileForm | undefined): FileForm {
  if (asked !== undefined) return asked;
  const ending = /\.(csv|tsv|tab)(?:\.gz)?$/i.exec(name)?.[1]?.toLowerCase();
  if (ending === undefined) return 'json';
  return ending === 'csv' ? 'csv' : 'tsv';
}

/**
 * @returns the first bytes in UTF-8
 * @throws PlatError `usage` for a file of a kind that plat does not read, or of another form than it is read in
 */
export function mustHoldText(name: string, form: FileForm, bytes: Buffer): Buffer {
  const found = kindOf(bytes);
  if (found.kind === 'foreign') {
    throw platError('usage', { reason: `${name} is ${found.what}; ${found.remedy.replace('FILE', name)}.` });
  }
  if (found.kind === 'sqlite') {
    throw platError('usage', {
      reason: `${name} is an SQLite database; if it is a store, "plat export" or "plat copy" with --store ${name} takes its records out.`,
    });
  }
  if (form !== 'json' && found.kind === 'json') {
    throw platError('usage', { reason: `${name} holds JSON, not a table; --format json reads it.` });
  }
  if (form === 'json' && found.kind === 'table') {
    throw platError('usage', {
      reason: `${name} looks like a table (${found.header}…), not like JSON; --format csv or --format tsv reads it, and files that end in .csv or .tsv are read so.`,
    });
  }
  return textOfBeginning(bytes);
}
