/**
 * What a file is by its first bytes, whatever its name says: packed, in UTF-16, or something that plat does not read,
 * which is called by its name with what to do about it. It knows nothing of records.
 */
import { platError } from '../../errors/index.ts';
import { looksLikeTable } from './table-form.ts';

/** Bytes that tell it. */
export const BEGINNING = 4096;

const startsWith = (bytes: Buffer, magic: string): boolean =>
  bytes.subarray(0, magic.length).equals(Buffer.from(magic, 'latin1'));

export const isGzip = (bytes: Buffer): boolean => startsWith(bytes, '\x1f\x8b');

/** Formats with a magic of their own that hold no records, or none that plat reads; `FILE` stands for the name. */
const FOREIGN: readonly (readonly [is: (bytes: Buffer) => boolean, what: string, remedy: string])[] = [
  [
    (bytes) => isZip(bytes) && /\[Content_Types\]\.xml|xl\//.test(bytes.toString('latin1')),
    'an Excel workbook',
    'save the sheet as "CSV UTF-8" and import that',
  ],
  [
    (bytes) => isZip(bytes) && /opendocument\.spreadsheet/.test(bytes.toString('latin1')),
    'an OpenDocument spreadsheet',
    'save the sheet as CSV in UTF-8 and import that',
  ],
  [(bytes) => isZip(bytes), 'a ZIP archive', 'unpack it: unzip -p FILE | plat import … -'],
  [
    (bytes) => startsWith(bytes, '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'),
    'an old Excel workbook',
    'save the sheet as "CSV UTF-8" and import that',
  ],
  [
    (bytes) => startsWith(bytes, '\x28\xb5\x2f\xfd'),
    'packed by zstd',
    'unpack it: zstd -dc FILE | plat import … -',
  ],
  [(bytes) => startsWith(bytes, '\xfd7zXZ\0'), 'packed by xz', 'unpack it: xz -dc FILE | plat import … -'],
  [
    (bytes) => /^BZh[1-9]1AY/.test(bytes.toString('latin1', 0, 8)),
    'packed by bzip2',
    'unpack it: bzip2 -dc FILE | plat import … -',
  ],
  [
    (bytes) => startsWith(bytes, 'SQLite format 3\0'),
    'an SQLite database',
    'if it is a store, "plat export" or "plat copy" with --store FILE takes its records out',
  ],
  [(bytes) => startsWith(bytes, 'PAR1'), 'a Parquet file', 'write it as NDJSON or CSV first'],
  [(bytes) => startsWith(bytes, '%PDF'), 'a PDF', 'ask its sender for JSON or CSV'],
  [
    (bytes) => /^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html)/i.test(bytes.toString('latin1', 0, 200)),
    'a web page (HTML)',
    'perhaps an answer that asks to log in, or an error; ask for JSON',
  ],
  [
    (bytes) => /^(?:\xef\xbb\xbf)?\s*<[?!a-z]/i.test(bytes.toString('latin1', 0, 200)),
    'XML',
    'plat reads JSON, CSV and TSV: ask its source for JSON',
  ],
];

const isZip = (bytes: Buffer): boolean => startsWith(bytes, 'PK\x03\x04') || startsWith(bytes, 'PK\x05\x06');

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
  const found = FOREIGN.find(([is]) => is(bytes));
  if (found !== undefined) {
    const [, what, remedy] = found;
    throw platError('usage', { reason: `${name} is ${what}; ${remedy.replace('FILE', name)}.` });
  }
  const utf16 = utf16Of(bytes);
  const text =
    utf16 === undefined ? bytes : Buffer.from(new TextDecoder(utf16).decode(bytes, { stream: true }));
  const isJson = /^(?:\xef\xbb\xbf)?\s*[[{]/.test(text.toString('latin1'));
  if (form !== 'json' && isJson) {
    throw platError('usage', { reason: `${name} holds JSON, not a table; --format json reads it.` });
  }
  if (form === 'json' && !isJson && looksLikeTable(text)) {
    const header = /^[^\r\n]{0,60}/.exec(text.toString().replace(/^\uFEFF/, ''))?.[0] ?? '';
    throw platError('usage', {
      reason: `${name} looks like a table (${header}…), not like JSON; --format csv or --format tsv reads it, and files that end in .csv or .tsv are read so.`,
    });
  }
  return text;
}

/** The form of UTF-16 that a text is in, by its mark or by the zeros beside its first character. */
export function utf16Of(bytes: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first === undefined || second === undefined || bytes.length < 4) return undefined;
  if (first !== 0 && second === 0 && bytes[3] === 0) return 'utf-16le';
  if (first === 0 && second !== 0 && bytes[2] === 0) return 'utf-16be';
  return undefined;
}
