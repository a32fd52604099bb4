/**
 * Finds the records in a stream of bytes. A file contains any number of documents: records, lists of records, and pages of OData
 * and RESO Common Format, which have their records in the member `value`. Lists can contain lists and pages. Records are found by
 * their brackets, so neither a file nor a list has to fit into memory, and a broken record does not affect the rest. This module
 * knows nothing about fields.
 */
import { isUtf8 } from 'node:buffer';
import { messageOf } from '../../shared/error-code.ts';
import { ByteWindow } from './byte-window.ts';
import { BROKEN, JsonScanner, MORE } from './json-scanner.ts';
import { type RawRecord, repeatedMember } from './record-json.ts';

export interface Context {
  /** The annotation: `reso` names a resource, `odata` an entity set. */
  readonly form: 'reso' | 'odata';
  readonly name: string;
}

/** Limits of one record, in bytes; tests use smaller ones. */
interface RecordLimits {
  readonly record: number;
  /** The number of bytes of a larger record that are skipped to reach the next one. If it is even larger, reading the file ends. */
  readonly skipped: number;
}

export const RECORD_LIMITS: RecordLimits = { record: 64 << 20, skipped: 1 << 30 };

/** The number of bytes of an oversized record that are kept to identify it. */
const KEPT = 1000;
/** The number of bytes that suffice to distinguish a page from a record. */
const BEGINNING = 4096;
/** The maximum nesting of lists. */
const MOST_LISTS = 64;

const SCALAR = /(?:"(?:[^"\\]|\\.)*"|[-+.\deE]+|true|false|null)/.source;
/** Annotations at the beginning of a page or a record. */
const ANNOTATIONS = new RegExp(`^\\{\\s*(?:"(?:[^"@]*@[^"]*|odata\\.[^"]*)"\\s*:\\s*${SCALAR}\\s*,\\s*)*`);
const RECORDS = /^"value"\s*:\s*\[/;
/** Matches an object that is not a page: it begins with a field, or with an annotation that is an object or a list. */
const NO_RECORDS = /^(?:"(?!value"|odata\.|[^"]*@)[^"]*"\s*:|"value"\s*:\s*[^\s[]|"[^"]*"\s*:\s*[[{]|[^\s"])/;
const RESO_CONTEXT = /"@reso\.context"\s*:\s*"urn:reso:metadata:[^":]*:resource:([A-Za-z]+)"/;
const ODATA_CONTEXT =
  /"(?:@odata\.context|@context|odata\.metadata)"\s*:\s*"[^"]*#([A-Za-z]+)(?:\([^"/]*\))?(?:\/(?:\$entity|@Element|\$delta))?"/;

/** The annotation in a file of rejected records. */
const REJECTED_RESOURCE = /"@plat\.resource"\s*:\s*"(\w+)"/;

const LINE_END = 0x0a;
const OBJECT = 0x7b;
const LIST = 0x5b;
const OBJECT_END = 0x7d;
const LIST_END = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;
const TEXT = 0x22;

const isBlank = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === LINE_END || byte === 0x0d || byte === 0x09;

/** A line that only closes brackets of earlier lines. */
const CLOSING = /^[\]}]+,?\s*$/;

/** The byte order mark. In concatenated files it can occur anywhere. */
const MARK = Buffer.from('\uFEFF');

/** A list or page that is being read. */
interface List {
  /** The text of a page up to its records; undefined for a plain list. */
  readonly head?: string;
  last: 'nothing' | 'record' | 'comma';
}

/** What is being read from the file. */
type Part =
  | { readonly kind: 'record'; readonly indentation: number }
  /** The rest of a page after its records. */
  | { readonly kind: 'tail'; readonly page: List }
  /** A value that is not a record, up to a comma or the end of its list or line. */
  | { readonly kind: 'scalar' }
  /** Text that is not a document, up to the end of its line. */
  | { readonly kind: 'rubbish' }
  /** A broken record, up to the line where the next document probably begins. */
  | { readonly kind: 'broken'; readonly indentation: number };

/** @param onContext called when a document names its resource, before its records are yielded */
export async function* readRecords(
  chunks: AsyncIterable<Buffer>,
  onContext: (context: Context) => void = () => undefined,
  limits: RecordLimits = RECORD_LIMITS,
): AsyncIterable<RawRecord> {
  const documents = new Documents(onContext, limits);
  for await (const chunk of chunks) {
    yield* documents.take(chunk);
    if (documents.hasGivenUp) return;
  }
  yield* documents.end();
}

const megabytes = (bytes: number): string => `${bytes / (1 << 20)} MB`;

const NO_UTF8 = 'The line contains bytes that are not UTF-8; the rejected file has it decoded as Latin-1';

class Documents {
  /** Whether a record, or whitespace, exceeds the limit for skipping. */
  hasGivenUp = false;
  readonly #onContext: (context: Context) => void;
  readonly #limits: RecordLimits;
  readonly #window = new ByteWindow();
  readonly #scanner = new JsonScanner();
  readonly #lists: List[] = [];
  #line = 1;
  /** Position of the line in the window; negative if it began in bytes that have been discarded. */
  #lineBegin = 0;
  #isIndented = true;
  #part: Part | undefined;
  /** Position up to which the part has been read. */
  #at = 0;
  /** Bytes of an oversized part that have been discarded. */
  #dropped = 0;
  #droppedLines = 0;
  #kept = '';
  #blanks = 0;
  #isEnd = false;

  constructor(onContext: (context: Context) => void, limits: RecordLimits) {
    this.#onContext = onContext;
    this.#limits = limits;
  }

  *take(chunk: Buffer): Generator<RawRecord> {
    const window = this.#window;
    const before = window.begin;
    window.append(chunk);
    const moved = window.begin - before;
    this.#at += moved;
    this.#lineBegin += moved;
    yield* this.#read();
  }

  *end(): Generator<RawRecord> {
    this.#isEnd = true;
    yield* this.#read();
    if (this.#lists.length > 0) {
      yield { line: this.#line, text: '', fault: 'The list does not end; the file is truncated' };
    }
  }

  *#read(): Generator<RawRecord> {
    while (!this.hasGivenUp) {
      if (this.#part === undefined) {
        if (!this.#skipBlanks()) break;
        const begun = this.#begin();
        if (begun === undefined) break;
        yield* begun;
        continue;
      }
      const found = this.#readPart(this.#part);
      if (found === undefined) break;
      yield* found;
    }
    if (this.hasGivenUp) yield { line: this.#line, text: '', fault: this.#givenUp() };
  }

  #givenUp(): string {
    const most = megabytes(this.#limits.skipped);
    return this.#part === undefined
      ? `More than ${most} contain nothing but whitespace; plat does not read the rest of the file`
      : `A record does not end within ${most}; the file is not read beyond it`;
  }

  /** @returns whether there is something else, of which enough bytes are known */
  #skipBlanks(): boolean {
    const window = this.#window;
    const { bytes } = window;
    for (; window.begin < window.end; window.begin++) {
      const byte = bytes[window.begin];
      if (byte === LINE_END) {
        this.#line++;
        this.#lineBegin = window.begin + 1;
        this.#isIndented = true;
      } else if (byte === MARK[0]) {
        if (window.size < MARK.length && !this.#isEnd) return false;
        if (!bytes.subarray(window.begin, window.begin + MARK.length).equals(MARK)) break;
        window.begin += MARK.length - 1;
        this.#lineBegin = window.begin + 1;
      } else if (!isBlank(byte)) break;
      this.#blanks++;
    }
    if (this.#blanks > this.#limits.skipped) this.hasGivenUp = true;
    if (window.size === 0) return false;
    this.#blanks = 0;
    return true;
  }

  /** Starts to read what is at the front of the window. @returns undefined if more bytes are needed */
  #begin(): Iterable<RawRecord> | undefined {
    const byte = this.#window.bytes[this.#window.begin];
    const list = this.#lists.at(-1);
    switch (byte) {
      case OBJECT:
        return this.#beginObject();
      case LIST:
        if (this.#lists.length >= MOST_LISTS) return this.#cutOut(this.#record());
        return this.#openList(1, { last: 'nothing' });
      case LIST_END:
        return list === undefined ? this.#cutOut({ kind: 'rubbish' }) : this.#closeList(list);
      case COMMA:
        if (list === undefined || list.last !== 'record') return this.#stray();
        list.last = 'comma';
        this.#window.begin++;
        return [];
      case OBJECT_END:
      case COLON:
        return list === undefined ? this.#cutOut({ kind: 'rubbish' }) : this.#stray();
      default:
        return this.#cutOut({ kind: list === undefined ? 'rubbish' : 'scalar' });
    }
  }

  /** Skips a character that belongs to no document. */
  #stray(): Iterable<RawRecord> {
    const { bytes, begin } = this.#window;
    const character = String.fromCharCode(bytes[begin] ?? 0);
    this.#window.begin++;
    this.#isIndented = false;
    const isComma = character === ',';
    const fault = isComma
      ? `There is a comma where ${this.#lists.length > 0 ? 'a record' : 'a document'} should begin`
      : `${JSON.stringify(character)} closes nothing`;
    return [{ line: this.#line, text: character, fault }];
  }

  /** Starts to read a record or a page of records. */
  #beginObject(): Iterable<RawRecord> | undefined {
    const head = this.#headOf();
    if (head === undefined) return undefined;
    const { context, page } = head;
    if (context !== undefined) this.#onContext(context);
    if (page === undefined) return this.#cutOut(this.#record());
    const lines = page.split('\n').length - 1;
    return this.#openList(Buffer.byteLength(page, 'latin1'), { head: page, last: 'nothing' }, lines);
  }

  /** The context that the annotations of an object name, and the text of a page up to its records. */
  #headOf(): { readonly context?: Context | undefined; readonly page?: string } | undefined {
    const { bytes, begin, end } = this.#window;
    let at = begin + 1;
    while (at < end && isBlank(bytes[at]) && at - begin < BEGINNING) at++;
    const isKnown = this.#isEnd || end - begin >= BEGINNING;
    if (at + 1 >= end && !isKnown) return undefined;
    if (!mayBeHead(bytes[at], bytes[at + 1])) return {};
    const beginning = bytes.toString('latin1', begin, Math.min(end, begin + BEGINNING));
    const [annotations = ''] = ANNOTATIONS.exec(beginning) ?? [];
    const context = contextOf(annotations);
    const rest = beginning.slice(annotations.length);
    const records = RECORDS.exec(rest);
    if (records !== null) return { context, page: annotations + records[0] };
    return isKnown || NO_RECORDS.test(rest) ? { context } : undefined;
  }

  #record(): Part {
    const { begin } = this.#window;
    return { kind: 'record', indentation: this.#isIndented ? begin - this.#lineBegin : 0 };
  }

  /** @param length number of bytes up to the records */
  #openList(length: number, list: List, lines = 0): Iterable<RawRecord> {
    this.#lists.push(list);
    this.#window.begin += length;
    this.#line += lines;
    this.#isIndented = false;
    return this.#missingComma(list);
  }

  /** Records a value in the enclosing list. @returns the faults that this reveals */
  #missingComma(except?: List): RawRecord[] {
    const list = this.#lists.findLast((each) => each !== except);
    if (list === undefined) return [];
    const isMissing = list.last === 'record';
    list.last = 'record';
    if (!isMissing) return [];
    return [{ line: this.#line, text: '', fault: 'A comma is missing between two records of a list' }];
  }

  #closeList(list: List): Iterable<RawRecord> {
    this.#lists.pop();
    this.#window.begin++;
    this.#isIndented = false;
    const faults: RawRecord[] = [];
    if (list.last === 'comma') {
      const fault = 'There is a comma before the end of a list, where a record should be';
      faults.push({ line: this.#line, text: ',', fault });
    }
    if (list.head !== undefined) this.#startPart({ kind: 'tail', page: list });
    return faults;
  }

  #cutOut(part: Part): Iterable<RawRecord> {
    const faults = this.#missingComma();
    this.#startPart(part);
    return faults;
  }

  #startPart(part: Part): void {
    this.#part = part;
    this.#at = this.#window.begin;
    this.#scanner.begin(part.kind === 'tail');
    this.#isIndented = false;
  }

  /** @returns undefined if the part continues after the window */
  #readPart(part: Part): Iterable<RawRecord> | undefined {
    const window = this.#window;
    const end = this.#endOf(part);
    if (end === BROKEN && part.kind === 'record') {
      // Read again from its beginning, since records may follow in the same bytes.
      this.#part = { kind: 'broken', indentation: part.indentation };
      this.#at = window.begin;
      return [];
    }
    if (end >= 0) return this.#finish(part, end);
    if (!this.#isEnd) {
      if (part.kind !== 'broken') this.#at = window.end;
      this.#drop();
      return undefined;
    }
    if (window.size === 0 && this.#dropped === 0 && part.kind !== 'tail') {
      this.#part = undefined;
      return [];
    }
    if (part.kind === 'record' && this.#lists.length === 0 && this.#dropped === 0) {
      this.#part = { kind: 'broken', indentation: part.indentation };
      this.#at = window.begin;
      return [];
    }
    if (part.kind === 'tail') {
      const { text } = this.#take(window.end);
      return [{ line: this.#line, text, fault: 'The page does not end; the file is truncated' }];
    }
    return this.#finish(part, window.end);
  }

  #endOf(part: Part): number {
    const { bytes, end } = this.#window;
    switch (part.kind) {
      case 'record': {
        const recovers = this.#lists.length > 0 || this.#dropped > 0;
        return this.#scanner.scan(bytes, this.#at, end, recovers);
      }
      case 'tail':
        return this.#scanner.scan(bytes, this.#at, end, true);
      case 'rubbish':
        return lineEnd(bytes, this.#at, end);
      case 'scalar':
        return endOfScalar(bytes, this.#at, end);
      case 'broken':
        return this.#nextDocument(part.indentation);
    }
  }

  /** The end of the line before the next line that is indented no further and does not close the broken record. */
  #nextDocument(indentation: number): number {
    const { bytes, end } = this.#window;
    for (let at = lineEnd(bytes, this.#at, end); at >= 0; at = lineEnd(bytes, at + 1, end)) {
      let next = at + 1;
      if (bytes[next] === MARK[0]) next += MARK.length;
      while (next < end && next - at - 1 < indentation && isBlank(bytes[next])) next++;
      const lineEnds = lineEnd(bytes, next, end);
      if (lineEnds < 0 && !this.#isEnd && end - next < BEGINNING) {
        this.#at = at;
        return MORE;
      }
      if (isBlank(bytes[next])) continue;
      const line = bytes.toString('latin1', next, Math.min(lineEnds < 0 ? end : lineEnds, next + BEGINNING));
      if (!CLOSING.test(line)) return at;
    }
    this.#at = end;
    return MORE;
  }

  /** Discards the bytes of an oversized part except for its beginning. The part is nevertheless read to its end. */
  #drop(): void {
    const window = this.#window;
    if (window.size + this.#dropped > this.#limits.skipped) {
      this.hasGivenUp = true;
      return;
    }
    if (this.#dropped === 0 && window.size <= this.#limits.record) return;
    const part = window.bytes.subarray(window.begin, window.end);
    if (this.#dropped === 0) this.#kept = part.toString('latin1', 0, KEPT);
    this.#dropped += part.length;
    this.#droppedLines += countLines(part);
    window.begin = window.end;
    this.#at = window.end;
  }

  /** Removes the part from the window, and returns it. */
  #take(end: number): { readonly text: string; readonly line: number; readonly fault?: string } {
    const window = this.#window;
    const { bytes, begin } = window;
    const line = this.#line;
    const isTooLarge = this.#dropped > 0 || end - begin > this.#limits.record;
    const part = bytes.subarray(begin, end);
    const text = this.#dropped > 0 ? this.#kept : undefined;
    this.#line += this.#droppedLines + countLines(part);
    const lastLine = part.lastIndexOf(LINE_END);
    if (lastLine >= 0) this.#lineBegin = begin + lastLine + 1;
    window.begin = end;
    this.#part = undefined;
    this.#dropped = 0;
    this.#droppedLines = 0;
    this.#kept = '';
    if (isTooLarge) {
      const fault = `The record is larger than ${megabytes(this.#limits.record)}; this is its beginning`;
      return { line, text: text ?? part.toString('latin1', 0, KEPT), fault };
    }
    return isUtf8(part)
      ? { line, text: part.toString() }
      : { line, text: part.toString('latin1'), fault: NO_UTF8 };
  }

  #finish(part: Part, end: number): Iterable<RawRecord> {
    const { text, line, fault } = this.#take(end);
    if (part.kind === 'tail') return this.#pageFaults(part.page, line, text, fault);
    const { members, hasLongNumbers, isDeep } = this.#scanner;
    const record: RawRecord = {
      line,
      text: part.kind === 'record' ? text : text.trim(),
      ...(fault === undefined ? {} : { fault }),
      ...(part.kind === 'record' ? { counted: { members, hasLongNumbers, isDeep } } : {}),
    };
    return [record];
  }

  /** The faults of a page outside of its records. */
  #pageFaults(page: List, line: number, tail: string, fault: string | undefined): RawRecord[] {
    if (fault !== undefined) return [{ line, text: tail, fault }];
    const around = `${page.head ?? ''}]${tail}`;
    try {
      JSON.parse(around);
    } catch (error) {
      const why = messageOf(error);
      return [{ line, text: tail, fault: `The text around the records of a page is not JSON: ${why}` }];
    }
    const repeated = repeatedMember(around);
    if (repeated === undefined) return [];
    return [{ line, text: tail, fault: `The page has the member ${repeated} twice` }];
  }
}

function endOfScalar(bytes: Buffer, from: number, to: number): number {
  for (let at = from; at < to; at++) {
    const byte = bytes[at];
    if (byte === LINE_END || byte === LIST_END || byte === COMMA) return at;
  }
  return MORE;
}

function lineEnd(bytes: Buffer, from: number, to: number): number {
  const at = bytes.indexOf(LINE_END, from);
  return at < to ? at : MORE;
}

/** Whether these bytes can begin an annotation or a page; most objects begin with the name of a field. */
const mayBeHead = (first: number | undefined, second: number | undefined): boolean =>
  first === TEXT && (second === 0x40 || second === 0x76 || second === 0x6f);

function contextOf(annotations: string): Context | undefined {
  const reso = (REJECTED_RESOURCE.exec(annotations) ?? RESO_CONTEXT.exec(annotations))?.[1];
  if (reso !== undefined) return { form: 'reso', name: reso };
  const odata = ODATA_CONTEXT.exec(annotations)?.[1];
  return odata === undefined ? undefined : { form: 'odata', name: odata };
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_END); at >= 0; at = bytes.indexOf(LINE_END, at + 1)) count++;
  return count;
}
