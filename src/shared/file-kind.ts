/**
 * Detects the type of a file by its first bytes, whatever its name: compressed, UTF-16, a table, JSON, or a format
 * that plat does not read and reports by name. This module knows nothing of records or of how a file is used.
 */
import { BYTE_ORDER_MARK, looksLikeTable } from './detect-table.ts';

/** The number of bytes that the detection reads. */
export const DETECTION_BYTES = 4096;

const startsWith = (bytes: Buffer, magic: string): boolean =>
  bytes.subarray(0, magic.length).equals(Buffer.from(magic, 'latin1'));

export const isGzip = (bytes: Buffer): boolean => startsWith(bytes, '\x1f\x8b');

/** Formats with a signature that plat does not read, or that contain no records. `FILE` is replaced by the name of the file. */
const UNSUPPORTED_FORMATS: readonly (readonly [
  is: (bytes: Buffer) => boolean,
  what: string,
  remedy: string,
])[] = [
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
    'compressed with zstd',
    'decompress it: zstd -dc FILE | plat import … -',
  ],
  [
    (bytes) => startsWith(bytes, '\xfd7zXZ\0'),
    'compressed with xz',
    'decompress it: xz -dc FILE | plat import … -',
  ],
  [
    (bytes) => /^BZh[1-9]1AY/.test(bytes.toString('latin1', 0, 8)),
    'compressed with bzip2',
    'decompress it: bzip2 -dc FILE | plat import … -',
  ],
  [
    (bytes) => bytes.toString('latin1', 257, 262) === 'ustar',
    'a tar archive',
    'unpack it: tar -xOf FILE | plat import … -',
  ],
  [(bytes) => startsWith(bytes, 'PAR1'), 'a Parquet file', 'write it as NDJSON or CSV first'],
  [(bytes) => startsWith(bytes, '%PDF'), 'a PDF', 'ask its sender for JSON or CSV'],
  [
    (bytes) => /^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html)/i.test(bytes.toString('latin1', 0, 200)),
    'a web page (HTML)',
    'perhaps a login page or an error page; ask for JSON',
  ],
  [
    (bytes) => /^(?:\xef\xbb\xbf)?\s*<[?!a-z]/i.test(bytes.toString('latin1', 0, 200)),
    'XML',
    'plat reads JSON, CSV and TSV: ask its source for JSON',
  ],
];

const isZip = (bytes: Buffer): boolean => startsWith(bytes, 'PK\x03\x04') || startsWith(bytes, 'PK\x05\x06');

/** The UTF-16 encoding of a text, detected by its byte order mark or by the zeros next to its first character. */
export function utf16Of(bytes: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first === undefined || second === undefined || bytes.length < 4) return undefined;
  if (first !== 0 && second === 0 && bytes[3] === 0) return 'utf-16le';
  if (first === 0 && second !== 0 && bytes[2] === 0) return 'utf-16be';
  return undefined;
}

type FileKind =
  /** A format that plat does not read, and how to import its content. `FILE` is replaced by the name of the file. */
  | { readonly kind: 'foreign'; readonly what: string; readonly remedy: string }
  | { readonly kind: 'json' | 'gzip' | 'sqlite' }
  | { readonly kind: 'table'; readonly header: string }
  | { readonly kind: 'unknown' };

/** The first bytes of a file, converted to UTF-8. */
export function textOfBeginning(bytes: Buffer): Buffer {
  const utf16 = utf16Of(bytes);
  return utf16 === undefined ? bytes : Buffer.from(new TextDecoder(utf16).decode(bytes, { stream: true }));
}

/** The number of characters of a header that are reported. */
const SHOWN = 60;

export function kindOf(bytes: Buffer): FileKind {
  if (isGzip(bytes)) return { kind: 'gzip' };
  if (startsWith(bytes, 'SQLite format 3\0')) return { kind: 'sqlite' };
  const found = UNSUPPORTED_FORMATS.find(([is]) => is(bytes));
  if (found !== undefined) return { kind: 'foreign', what: found[1], remedy: found[2] };
  const text = textOfBeginning(bytes);
  if (/^(?:\xef\xbb\xbf)?\s*[[{]/.test(text.toString('latin1'))) return { kind: 'json' };
  if (!looksLikeTable(text)) return { kind: 'unknown' };
  const [header = ''] = text
    .toString()
    .replace(BYTE_ORDER_MARK, '')
    .split(/[\r\n]/, 1);
  return { kind: 'table', header: header.slice(0, SHOWN) };
}
