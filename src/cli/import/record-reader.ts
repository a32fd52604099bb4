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

/** @param chunks bytes, each as the character of its number */
export async function* readRecords(
  chunks: AsyncIterable<string>,
  envelope: Envelope,
): AsyncIterable<RawRecord> {
  let form: Form = 'undecided';
  let held = '';
  let cutter: Cutter | undefined;
  for await (const chunk of chunks) {
    held += chunk;
    if (form === 'undecided') {
      if (held.length < BEGINNING && !held.includes('\n')) continue;
      form = decide(held, envelope);
      if (form === 'undecided') continue;
    }
    cutter ??= makeCutter(form);
    yield* decoded(cutter.take(held));
    held = '';
  }
  if (cutter === undefined) {
    if (held.trim() === '') return;
    form = decide(held, envelope);
    cutter = makeCutter(form === 'undecided' ? 'lines' : form);
  }
  yield* decoded(cutter.take(held));
  yield* decoded(cutter.end(envelope));
}

const NO_UTF8 = 'The line holds bytes that are no UTF-8; among the rejected it stands as if it were Latin-1';

function* decoded(records: Iterable<RawRecord>): Iterable<RawRecord> {
  for (const { line, text } of records) {
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
  end(envelope: Envelope): Iterable<RawRecord>;
}

function makeCutter(form: Form): Cutter {
  return form === 'array' || form === 'common' ? elements(form === 'common' ? 'object' : 'array') : lines();
}

/** A record a line; empty lines are none. */
function lines(): Cutter {
  let rest = '';
  let line = 0;
  function* cut(text: string): Iterable<RawRecord> {
    line++;
    const record = (line === 1 ? text.replace(BYTE_ORDER_MARK, '') : text).replace(/\r$/, '');
    if (record.trim() !== '') yield { line, text: record };
  }
  return {
    *take(text) {
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      for (const part of parts) yield* cut(part);
    },
    *end() {
      if (rest !== '') yield* cut(rest);
      rest = '';
    },
  };
}

/** The elements of the outermost list: of the text itself, or of the object's member `value`. */
function elements(outer: 'array' | 'object'): Cutter {
  const base = outer === 'array' ? 1 : 2;
  let depth = 0;
  let line = 1;
  let inString = false;
  let escaped = false;
  let closed = false;
  let element = '';
  let from = 1;
  return {
    *take(text) {
      let begin = depth > base || (depth === base && element !== '') ? 0 : -1;
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
      if (begin >= 0) element += text.slice(begin);
    },
    *end(envelope) {
      if (closed) return;
      if (element.trim() !== '') yield* cut('');
      envelope.fault = { line, reason: 'The list does not end; the file is cut off' };
    },
  };

  function* cut(last: string): Iterable<RawRecord> {
    const text = (element + last).trim();
    element = '';
    if (text !== '') yield { line: from, text };
  }
}

const isBetween = (character: string | undefined): boolean =>
  character === undefined || character === ',' || character === ']' || /\s/.test(character);
