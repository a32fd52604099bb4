import { isUtf8 } from 'node:buffer';

/**
 * Finds the records in bytes that come in pieces: lines of JSON, a JSON array, or RESO Common Format. Records are
 * cut out by their braces, so that neither a file nor an array has to fit into memory, and one that is broken does
 * not take the rest with it.
 */

/** A record's text as it stands in the file, and the line that it begins on, from 1. */
export interface RawRecord {
  readonly line: number;
  readonly text: string;
  /** Why it cannot be read; the text is then made of its bytes. */
  readonly fault?: string;
}

/** What the text turned out to be, beside its records. */
export interface Envelope {
  /** The resource that `@reso.context` names, in lower case. */
  resource?: string;
  /** What is wrong with the text as a whole, such as an array that does not end. */
  fault?: { readonly line: number; readonly reason: string };
}

type Form = 'undecided' | 'lines' | 'array' | 'common';

const CONTEXT = /"@reso\.context"\s*:\s*"urn:reso:metadata:[^":]*:resource:([A-Za-z]+)"/;
/** An object that holds the records in a list, rather than being one. */
const COMMON = /^\s*\{\s*(?:"(?:@[^"]*)"\s*:\s*(?:"[^"]*"|[\d.]+)\s*,\s*)*"value"\s*:\s*\[/;
/** Enough of the beginning to tell the forms apart. */
const BEGINNING = 4096;

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

/** @param chunks bytes, each as the character of its number */
export async function* readRecords(
  chunks: AsyncIterable<string>,
  envelope: Envelope,
  limits: RecordLimits = RECORD_LIMITS,
): AsyncIterable<RawRecord> {
  let held = '';
  let before = 1;
  let cutter: Cutter | undefined;
  const blanks = new Blanks(limits);
  for await (const chunk of chunks) {
    const isBlank = blanks.isBlank(chunk);
    if (blanks.hasGivenUp()) {
      envelope.fault = { line: cutter?.line() ?? before, reason: onlyBlanks(limits) };
      return;
    }
    if (isBlank && cutter?.skip(chunk) === true) continue;
    if (cutter === undefined) {
      held += chunk;
      if (held.length < BEGINNING && !held.includes('\n')) continue;
      const form = decide(held, envelope);
      if (form === 'undecided') {
        // Nothing but space: only its lines count.
        before += linesIn(held);
        held = '';
        continue;
      }
      cutter = makeCutter(form, before, limits);
      yield* decoded(cutter.take(held));
      held = '';
    } else yield* decoded(cutter.take(chunk));
    if (cutter.hasGivenUp()) {
      envelope.fault = { line: cutter.line(), reason: givenUp(limits) };
      return;
    }
  }
  if (cutter === undefined) {
    if (held.trim() === '') return;
    const form = decide(held, envelope);
    cutter = makeCutter(form === 'undecided' ? 'lines' : form, before, limits);
    yield* decoded(cutter.take(held));
  }
  yield* decoded(cutter.end(envelope));
}

const megabytes = (bytes: number): string => `${bytes / (1 << 20)} MB`;

const tooLarge = ({ record }: RecordLimits): string =>
  `The record is larger than ${megabytes(record)}; this is its beginning`;

const givenUp = ({ skipped }: RecordLimits): string =>
  `A record does not end within ${megabytes(skipped)}; the file is not read beyond it`;

const onlyBlanks = ({ skipped }: RecordLimits): string =>
  `Nothing but blanks stands in more than ${megabytes(skipped)}; the file is not read beyond them`;

/** The characters of one record that may come in many pieces, up to a bound. */
class Held {
  readonly #limits: RecordLimits;
  #pieces: string[] = [];
  #size = 0;

  constructor(limits: RecordLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#size;
  }

  add(piece: string): void {
    this.#size += piece.length;
    if (this.#size <= this.#limits.record) this.#pieces.push(piece);
    else this.#pieces = [[...this.#pieces, piece].find((each) => each !== '')?.slice(0, KEPT) ?? ''];
  }

  hasGivenUp(): boolean {
    return this.#size > this.#limits.skipped;
  }

  /** What is held, which is held no more. */
  take(): { readonly text: string; readonly fault?: string } {
    const text = this.#pieces.join('');
    const isTooLarge = this.#size > this.#limits.record;
    this.#pieces = [];
    this.#size = 0;
    return isTooLarge ? { text, fault: tooLarge(this.#limits) } : { text };
  }
}

const NEWLINE = 0x0a;

/** Character by character: a file may hold nothing but line ends. */
function linesIn(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) === NEWLINE) count++;
  return count;
}

const NOT_BLANK = /\S/;

/** Counts the blank characters that stand between two records; beyond a bound nothing more is expected of a file. */
class Blanks {
  readonly #limits: RecordLimits;
  #size = 0;

  constructor(limits: RecordLimits) {
    this.#limits = limits;
  }

  /** @returns whether the text is blank */
  isBlank(text: string): boolean {
    const blank = !NOT_BLANK.test(text);
    this.#size = blank ? this.#size + text.length : 0;
    return blank;
  }

  hasGivenUp(): boolean {
    return this.#size > this.#limits.skipped;
  }
}

const NO_UTF8 = 'The line holds bytes that are no UTF-8; among the rejected it stands as if it were Latin-1';

function* decoded(records: Iterable<RawRecord>): Iterable<RawRecord> {
  for (const record of records) {
    const { line, text, fault } = record;
    if (fault !== undefined) {
      yield record;
      continue;
    }
    const bytes = Buffer.from(text, 'latin1');
    yield isUtf8(bytes) ? { line, text: bytes.toString() } : { line, text, fault: NO_UTF8 };
  }
}

/** The mark of UTF-8 that some programs begin a file with. */
const BYTE_ORDER_MARK = /^\u00EF\u00BB\u00BF/;

function decide(text: string, envelope: Envelope): Form {
  const start = text.replace(BYTE_ORDER_MARK, '').trimStart();
  if (start === '') return 'undecided';
  if (start.startsWith('[')) return 'array';
  const context = CONTEXT.exec(start.slice(0, BEGINNING));
  if (context?.[1] !== undefined) envelope.resource = context[1].toLowerCase();
  return COMMON.test(start.slice(0, BEGINNING)) ? 'common' : 'lines';
}

interface Cutter {
  take(text: string): Iterable<RawRecord>;
  /** Passes over blanks, unless they may be a part of a record. @returns whether it did */
  skip(blanks: string): boolean;
  end(envelope: Envelope): Iterable<RawRecord>;
  /** Whether a record has no end within what is read over. */
  hasGivenUp(): boolean;
  /** The line at which the record begins that is being read. */
  line(): number;
}

function makeCutter(form: Form, from: number, limits: RecordLimits): Cutter {
  return form === 'array' || form === 'common'
    ? elements(form === 'common' ? 'object' : 'array', from, limits)
    : lines(from, limits);
}

/** A record a line; empty lines are none. */
function lines(from: number, limits: RecordLimits): Cutter {
  const held = new Held(limits);
  let line = from;
  function* cut(): Iterable<RawRecord> {
    const { text, ...fault } = held.take();
    const record = (line === 1 ? text.replace(BYTE_ORDER_MARK, '') : text).replace(/\r$/, '');
    if (record.trim() !== '') yield { line, text: record, ...fault };
    line++;
  }
  return {
    skip(blanks) {
      if (held.size > 0) return false;
      line += linesIn(blanks);
      return true;
    },
    *take(text) {
      let begin = 0;
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', begin)) {
        held.add(text.slice(begin, end));
        yield* cut();
        begin = end + 1;
      }
      held.add(text.slice(begin));
    },
    *end() {
      if (held.size > 0) yield* cut();
    },
    hasGivenUp: () => held.hasGivenUp(),
    line: () => line,
  };
}

/** The elements of the outermost list: of the text itself, or of the object's member `value`. */
function elements(outer: 'array' | 'object', firstLine: number, limits: RecordLimits): Cutter {
  const base = outer === 'array' ? 1 : 2;
  let depth = 0;
  let line = firstLine;
  let inString = false;
  let escaped = false;
  let closed = false;
  const held = new Held(limits);
  let from = firstLine;
  return {
    skip(blanks) {
      if (inString || held.size > 0) return false;
      line += linesIn(blanks);
      return true;
    },
    *take(text) {
      let begin = depth > base || (depth === base && held.size > 0) ? 0 : -1;
      for (let index = 0; index < text.length; index++) {
        const character = text[index];
        if (character === '\n') line++;
        if (inString) {
          if (escaped) escaped = false;
          else if (character === '\\') escaped = true;
          else if (character === '"') inString = false;
          continue;
        }
        if (depth === base && begin < 0 && !closed && !isBetween(character)) {
          begin = index;
          from = line;
        }
        if (character === '"') inString = true;
        else if (character === '{' || character === '[') depth++;
        else if (character === '}' || character === ']') {
          depth--;
          if (depth === base - 1 && !closed) {
            closed = true;
            if (begin >= 0) yield* cut(text.slice(begin, index));
            begin = -1;
          }
        } else if (character === ',' && depth === base && begin >= 0) {
          yield* cut(text.slice(begin, index));
          begin = -1;
        }
      }
      if (begin >= 0) held.add(text.slice(begin));
    },
    *end(envelope) {
      if (closed) return;
      if (held.size > 0) yield* cut('');
      envelope.fault = { line, reason: 'The list does not end; the file is cut off' };
    },
    hasGivenUp: () => held.hasGivenUp(),
    line: () => from,
  };

  function* cut(last: string): Iterable<RawRecord> {
    held.add(last);
    const { text, ...fault } = held.take();
    const record = text.trim();
    if (record !== '') yield { line: from, text: record, ...fault };
  }
}

const isBetween = (character: string | undefined): boolean =>
  character === undefined || character === ',' || character === ']' || /\s/.test(character);
