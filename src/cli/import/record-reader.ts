/**
 * Finds the records in bytes that come in pieces. A file holds any number of documents behind each other: records,
 * lists of records, and the pages of OData and RESO Common Format, which have their records in the member `value`; lists
 * and pages may stand in lists. Records are cut out by their brackets, so that neither a file nor a list has to fit into
 * memory, and one that is broken does not take the rest with it. It knows nothing of what a record may hold.
 */
import { isUtf8 } from 'node:buffer';
import { ByteWindow } from './byte-window.ts';
import { BROKEN, JsonScanner, MORE } from './json-scanner.ts';
import { repeatedMember } from './repeated-members.ts';

/** A record's text as it stands in the file, or something else that does, and the line that it begins on, from 1. */
export interface RawRecord {
  readonly line: number;
  readonly text: string;
  /** Why it cannot be read; the text is then as much of it as is known, or made of its bytes. */
  readonly fault?: string;
  /** What was counted in the text, where its end was found. */
  readonly counted?: Counted;
  /** Whether it is a row of a table: its values are texts, under the names of fields. */
  readonly isRow?: true;
}

export interface Counted {
  /** Members of the record and of all objects in it. */
  readonly members: number;
  readonly hasLongNumbers: boolean;
  /** Whether it is nested deeper than any record. */
  readonly isDeep: boolean;
}

export interface Context {
  /** What says so: in RESO's form the name is that of a resource, in OData's that of an entity set. */
  readonly form: 'reso' | 'odata';
  readonly name: string;
}

/** Bounds of one record, in bytes; a test has smaller ones. */
export interface RecordLimits {
  /** The largest record that is read. */
  readonly record: number;
  /** How far is read over a larger one, to what stands behind it; beyond that the file is given up. */
  readonly skipped: number;
}

export const RECORD_LIMITS: RecordLimits = { record: 64 << 20, skipped: 1 << 30 };

/** Bytes of a record that is too large which are kept, to tell which it is. */
const KEPT = 1000;
/** Enough of the beginning of an object to tell a page from a record. */
const BEGINNING = 4096;
/** Lists in lists. */
const MOST_LISTS = 64;

const SCALAR = /(?:"(?:[^"\\]|\\.)*"|[-+.\deE]+|true|false|null)/.source;
/** The members of a page that stand before its records, or of a record that says what it is. */
const ANNOTATIONS = new RegExp(`^\\{\\s*(?:"(?:[^"@]*@[^"]*|odata\\.[^"]*)"\\s*:\\s*${SCALAR}\\s*,\\s*)*`);
const RECORDS = /^"value"\s*:\s*\[/;
/** What shows that an object is no page: a field, or an annotation that is more than a text or a number. */
const NO_RECORDS = /^(?:"(?!value"|odata\.|[^"]*@)[^"]*"\s*:|"value"\s*:\s*[^\s[]|"[^"]*"\s*:\s*[[{]|[^\s"])/;
const RESO_CONTEXT = /"@reso\.context"\s*:\s*"urn:reso:metadata:[^":]*:resource:([A-Za-z]+)"/;
const ODATA_CONTEXT =
  /"(?:@odata\.context|@context|odata\.metadata)"\s*:\s*"[^"]*#([A-Za-z]+)(?:\([^"/]*\))?(?:\/(?:\$entity|@Element|\$delta))?"/;

/** What stands in a file of rejected records. */
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

/** A line that closes what was opened in another. */
const CLOSING = /^[\]}]+,?\s*$/;

/** The mark that some programs begin a file with: also amid files that were put together. */
const MARK = Buffer.from('\uFEFF');

/** A list that is being read. */
interface List {
  /** The text of a page up to its records; undefined: the list stands by itself. */
  readonly head?: string;
  last: 'nothing' | 'record' | 'comma';
}

/** What is being cut out of the file. */
type Part =
  | { readonly kind: 'record'; readonly indentation: number }
  /** The rest of a page behind its records. */
  | { readonly kind: 'tail'; readonly page: List }
  /** A value that is no record, up to a comma, the end of its list or line. */
  | { readonly kind: 'scalar' }
  /** What is no document, up to the end of its line. */
  | { readonly kind: 'rubbish' }
  /** A record that is broken, up to the line where the next document most likely begins. */
  | { readonly kind: 'broken'; readonly indentation: number };

/**
 * @param chunks bytes as they come
 * @param onContext called when a document says of what it is, before its records are given
 */
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

const NO_UTF8 = 'The line holds bytes that are no UTF-8; among the rejected it stands as if it were Latin-1';

class Documents {
  /** Whether a record, or blanks, do not end within what is read over. */
  hasGivenUp = false;
  readonly #onContext: (context: Context) => void;
  readonly #limits: RecordLimits;
  readonly #window = new ByteWindow();
  readonly #scanner = new JsonScanner();
  readonly #lists: List[] = [];
  #line = 1;
  /** Where the line begins, counted as the window is; before it when it began in bytes that are gone. */
  #lineBegin = 0;
  #isIndented = true;
  #part: Part | undefined;
  /** How far the part was read. */
  #at = 0;
  /** Bytes of the part that were dropped, since it is too large to be held. */
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
      yield { line: this.#line, text: '', fault: 'The list does not end; the file is cut off' };
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
      ? `Nothing but blanks stands in more than ${most}; the file is not read beyond them`
      : `A record does not end within ${most}; the file is not read beyond it`;
  }

  /** @returns whether something else stands there, of which enough is known */
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

  /** Begins with what stands at the front of the window. @returns undefined when more of it has to be seen */
  #begin(): Iterable<RawRecord> | undefined {
    const byte = this.#window.bytes[this.#window.begin];
    const list = this.#lists.at(-1);
    switch (byte) {
      case OBJECT:
        return this.#beginObject();
      case LIST:
        if (this.#lists.length >= MOST_LISTS) return this.#cutOut(this.#indented('record'));
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

  /** A character that belongs to no document. */
  #stray(): Iterable<RawRecord> {
    const { bytes, begin } = this.#window;
    const character = String.fromCharCode(bytes[begin] ?? 0);
    this.#window.begin++;
    this.#isIndented = false;
    const isComma = character === ',';
    const fault = isComma
      ? `A comma stands where ${this.#lists.length > 0 ? 'a record' : 'a document'} should begin`
      : `${JSON.stringify(character)} stands where nothing ends`;
    return [{ line: this.#line, text: character, fault }];
  }

  /** A record, or a page of records. */
  #beginObject(): Iterable<RawRecord> | undefined {
    const head = this.#headOf();
    if (head === undefined) return undefined;
    const { context, page } = head;
    if (context !== undefined) this.#onContext(context);
    if (page === undefined) return this.#cutOut(this.#indented('record'));
    const list: List = { head: page, last: 'nothing' };
    const lines = linesIn(page);
    return this.#openList(Buffer.byteLength(page, 'latin1'), list, lines);
  }

  /** The annotations that an object begins with, and the text of a page up to its records. */
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

  #indented(kind: 'record'): Part {
    const { begin } = this.#window;
    return { kind, indentation: this.#isIndented ? begin - this.#lineBegin : 0 };
  }

  /** @param length of the bytes up to its records */
  #openList(length: number, list: List, lines = 0): Iterable<RawRecord> {
    this.#lists.push(list);
    this.#window.begin += length;
    this.#line += lines;
    this.#isIndented = false;
    return this.#missingComma(list);
  }

  /** Notes a value in the list around it. @returns what is wrong with that */
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
      const fault = 'A comma stands before the end of a list, where a record should be';
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

  /** @returns undefined when the part goes on behind the window */
  #readPart(part: Part): Iterable<RawRecord> | undefined {
    const window = this.#window;
    const end = this.#endOf(part);
    if (end === BROKEN && part.kind === 'record') {
      // Read anew from its beginning: what follows it may be records.
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
      return [{ line: this.#line, text, fault: 'The page does not end; the file is cut off' }];
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

  /** The line end before the next line that stands no further to the right and does not close what is broken. */
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

  /** A part beyond what is held is read to its end, and only its beginning is kept. */
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

  /** What was read of a part, which is taken from the window. */
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

  /** What is wrong with a page around its records. */
  #pageFaults(page: List, line: number, tail: string, fault: string | undefined): RawRecord[] {
    if (fault !== undefined) return [{ line, text: tail, fault }];
    const around = `${page.head ?? ''}]${tail}`;
    try {
      JSON.parse(around);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return [{ line, text: tail, fault: `What stands around the records of a page is no JSON: ${why}` }];
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

/** Whether a page may begin so, or a record that says what it is: most begin with the name of a field. */
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

const linesIn = (text: string): number => text.split('\n').length - 1;
