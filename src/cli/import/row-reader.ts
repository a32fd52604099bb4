/**
 * Reads the rows of CSV and TSV as records: each row becomes the JSON of a record whose values are texts, with the names
 * from the header row. A row can contain line breaks in quotes, and a broken row does not affect others. This module knows
 * nothing of fields.
 */
import { isUtf8 } from 'node:buffer';
import { CsvError, parse } from 'csv-parse/sync';
import { usageError } from '../../errors/index.ts';
import { BYTE_ORDER_MARK, delimiterOf, separatorLine } from '../../shared/detect-table.ts';
import { tryParseJson } from '../../shared/json.ts';
import { ByteWindow } from './byte-window.ts';
import type { RawRecord } from './record-json.ts';

export interface Column {
  /** The name in the header. A column without a name must be empty. */
  readonly title: string;
  /** The member of the record; undefined drops the column. */
  readonly name: string | undefined;
  /** Whether a value can be a nested collection in JSON. */
  readonly isNested: boolean;
  /** Whether a value is the key of this or another record. */
  readonly isKey: boolean;
}

interface RowOptions {
  /** The name of the file in messages. */
  readonly file: string;
  /** The first bytes of the file, which reveal the delimiter. */
  readonly beginning: Buffer;
  /** TSV uses tabs; CSV uses the delimiter of its header. */
  readonly form: 'csv' | 'tsv';
  /** Maps the header to columns. @throws PlatError `usage` for an invalid header */
  readonly columns: (header: readonly string[]) => readonly Column[];
}

interface Line {
  readonly line: number;
  readonly text: string;
  readonly isUtf8: boolean;
}

type Row = Pick<RawRecord, 'line' | 'text' | 'fault'>;

/** The largest row in bytes, and the number of rows that are parsed together. */
const LARGEST = 64 << 20;
const AT_ONCE = 500;
/**
 * The maximum length of a quoted value in bytes; a longer one is an unterminated quote. The longest field of the dictionary has
 * 4,000 characters.
 */
const LONGEST_QUOTE = 1 << 20;

const NO_UTF8 =
  'The row contains bytes that are not UTF-8; save the file as CSV in UTF-8, or convert it: iconv -f WINDOWS-1252 -t UTF-8';

export async function* readRows(
  chunks: AsyncIterable<Buffer>,
  options: RowOptions,
): AsyncIterable<RawRecord> {
  const separator = separatorLine(options.beginning);
  const delimiter = separator ?? (options.form === 'tsv' ? '\t' : delimiterOf(options.beginning));
  let columns: readonly Column[] | undefined;
  const titles: string[] = [];
  let isFirst = separator !== undefined;
  for await (const rows of groupRows(joinRows(linesOf(chunks, options.beginning), delimiter, titles))) {
    // Excel writes the separator in a line of its own.
    const held = isFirst ? rows.slice(1) : rows;
    isFirst = false;
    for (const { row, cells, fault } of splitCells(held, delimiter, titles)) {
      if (columns === undefined) {
        if (cells === undefined) throw usageError(`${options.file}:${row.line}: ${fault}.`);
        titles.push(...cells.map((cell) => cell.trim()));
        columns = options.columns(titles);
        continue;
      }
      if (cells === undefined) yield { line: row.line, text: row.text, fault };
      else if (cells.some((cell) => cell.trim() !== '')) yield recordOf(row, cells, columns);
    }
  }
}

/** A long number as a spreadsheet shows and saves it. Its last digits are lost, so different keys can look the same. */
const SHORTENED = /^\d(?:[.,]\d+)?E\+\d+$/i;

function recordOf(row: Row, cells: readonly string[], columns: readonly Column[]): RawRecord {
  const refuse = (fault: string): RawRecord => ({ line: row.line, text: row.text, fault });
  const isLonger = cells.slice(columns.length).some((cell) => cell !== '');
  if (isLonger || cells.length < columns.length) {
    const values = cells.length === 1 ? '1 value' : `${cells.length} values`;
    return refuse(`The row has ${values} for ${columns.length} columns`);
  }
  const nameless = columns.findIndex(({ title }, at) => title === '' && cells[at] !== '');
  if (nameless >= 0) return refuse(`There is a value in column ${nameless + 1}, which has no name`);
  const shortened = columns.findIndex(({ isKey }, at) => isKey && SHORTENED.test(cells[at] ?? ''));
  if (shortened >= 0) {
    return refuse(
      `${columns[shortened]?.name} is ${cells[shortened]}, a number that a spreadsheet has shortened; read the column as text there, and save the file again`,
    );
  }
  const members = columns.flatMap(({ name, isNested }, at) => {
    const cell = cells[at] ?? '';
    return name === undefined ? [] : [`${JSON.stringify(name)}:${jsonOfCell(cell, isNested)}`];
  });
  return { line: row.line, text: `{${members.join(',')}}`, isRow: true };
}

/** The JSON of a cell; an empty cell is null. */
function jsonOfCell(cell: string, isNested: boolean): string {
  if (cell === '') return 'null';
  const isList = isNested && cell.trimStart().startsWith('[') && tryParseJson(cell) !== undefined;
  return isList ? cell.replaceAll(/[\r\n]+/g, ' ') : JSON.stringify(cell);
}

interface Cells {
  readonly row: Row;
  readonly cells?: readonly string[];
  readonly fault: string;
}

/** The cells of rows. The rows are parsed together, or one by one if one of them is broken. */
function splitCells(rows: readonly Row[], delimiter: string, titles: readonly string[]): Cells[] {
  const sound = rows.filter(({ fault }) => fault === undefined);
  const all = parseRows(sound.map(({ text }) => text).join('\n'), delimiter, titles);
  if (typeof all !== 'string' && all.length === sound.length) {
    let at = 0;
    return rows.map((row) => {
      if (row.fault !== undefined) return { row, fault: row.fault };
      const cells = all[at++];
      return cells === undefined ? { row, fault: 'The row cannot be read' } : { row, cells, fault: '' };
    });
  }
  return rows.map((row) => {
    if (row.fault !== undefined) return { row, fault: row.fault };
    const one = parseRows(row.text, delimiter, titles);
    if (typeof one === 'string') return { row, fault: one };
    const [cells] = one;
    return cells === undefined || one.length > 1
      ? { row, fault: 'The row cannot be read' }
      : { row, cells, fault: '' };
  });
}

/** @returns the rows of a text, or why it cannot be parsed */
function parseRows(
  text: string,
  delimiter: string,
  titles: readonly string[],
): readonly (readonly string[])[] | string {
  if (text === '') return [];
  try {
    const rows: string[][] = parse(text, {
      delimiter,
      relax_column_count: true,
      record_delimiter: ['\r\n', '\n'],
    });
    return rows;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    if (!QUOTE_FAULTS.has(error.code)) {
      return `The row is not CSV: ${error.message.replace(/ (?:at|on) line \d+/, '')}`;
    }
    const at = Number(error.column);
    const title = titles[at] === undefined ? '' : ` (${titles[at]})`;
    return `The value in column ${at + 1}${title} has a quote inside; put the whole value in quotes, and double each quote in it`;
  }
}

const QUOTE_FAULTS: ReadonlySet<string> = new Set(['INVALID_OPENING_QUOTE', 'CSV_INVALID_CLOSING_QUOTE']);

async function* groupRows(rows: AsyncIterable<Row>): AsyncIterable<readonly Row[]> {
  let held: Row[] = [];
  for await (const row of rows) {
    held.push(row);
    // The header comes first, so that an invalid one is reported before anything else is read.
    if (held.length < AT_ONCE && held[0]?.line !== 1) continue;
    yield held;
    held = [];
  }
  if (held.length > 0) yield held;
}

/**
 * Joins lines to rows, because a quoted value can continue in the next line. If the result is not a valid row, the first line is
 * broken, and the others are read without it.
 */
async function* joinRows(
  lines: AsyncIterable<Line>,
  delimiter: string,
  titles: readonly string[],
): AsyncIterable<Row> {
  const source = lines[Symbol.asyncIterator]();
  let waiting: Line[] = [];
  const next = async (): Promise<Line | undefined> => {
    const held = waiting.shift();
    if (held !== undefined) return held;
    const { done, value } = await source.next();
    return done === true ? undefined : value;
  };
  for (let first = await next(); first !== undefined; first = await next()) {
    if (first.text.trim() === '') continue;
    const held = [first];
    let size = first.text.length;
    let isOpen = !hasEvenQuotes(first.text);
    while (isOpen && size <= LONGEST_QUOTE) {
      const line = await next();
      if (line === undefined) break;
      held.push(line);
      size += line.text.length;
      if (!hasEvenQuotes(line.text)) isOpen = false;
    }
    const row = rowOf(held);
    const fault = isOpen ? OPEN : held.length > 1 ? faultOf(row.text, delimiter, titles) : undefined;
    if (fault === undefined) yield row;
    else {
      yield { ...rowOf([first]), fault };
      waiting = [...held.slice(1), ...waiting];
    }
  }
}

const OPEN = 'A quote in this row is not closed';

function rowOf(lines: readonly Line[]): Row {
  const text = lines
    .map((line) => line.text)
    .join('\n')
    .replace(/\r$/, '');
  const row = { line: lines[0]?.line ?? 0, text };
  return lines.every((line) => line.isUtf8) ? row : { ...row, fault: NO_UTF8 };
}

function faultOf(text: string, delimiter: string, titles: readonly string[]): string | undefined {
  const rows = parseRows(text, delimiter, titles);
  if (typeof rows === 'string') return rows;
  return rows.length === 1 ? undefined : OPEN;
}

function hasEvenQuotes(text: string): boolean {
  let isEven = true;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) isEven = !isEven;
  return isEven;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** @param beginning shows how lines end: in a file for the Macintosh, with a carriage return only */
async function* linesOf(chunks: AsyncIterable<Buffer>, beginning: Buffer): AsyncIterable<Line> {
  const lineEnd = /^[^\r\n]*\r[^\n]/.test(beginning.toString('latin1')) ? CARRIAGE_RETURN : LINE_FEED;
  const window = new ByteWindow();
  let line = 0;
  const cut = (end: number): Line => {
    const bytes = window.bytes.subarray(window.begin, end);
    window.begin = end + 1;
    line++;
    const isText = isUtf8(bytes);
    const text = bytes.toString(isText ? 'utf8' : 'latin1');
    return { line, text: line === 1 ? text.replace(BYTE_ORDER_MARK, '') : text, isUtf8: isText };
  };
  for await (const chunk of chunks) {
    let from = window.size;
    window.append(chunk);
    for (;;) {
      const end = window.bytes.indexOf(lineEnd, window.begin + from);
      if (end < 0 || end >= window.end) break;
      yield cut(end);
      from = 0;
    }
    if (window.size > LARGEST) {
      throw new Error(`line ${line + 1} is larger than ${LARGEST / (1 << 20)} MB`);
    }
  }
  if (window.size > 0) yield cut(window.end);
}
