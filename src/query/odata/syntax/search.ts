import type { Search } from '../../tree.ts';
import { MAX_TERMS } from '../limits.ts';
import { type Cursor, moveTo, nested } from './cursor.ts';
import { skipSpace } from './lexer.ts';
import { matchAt, readQuoted } from './literal.ts';
import { syntaxError, tooLarge } from './source.ts';

/** What is being read, and what ends a word there. */
interface Reader {
  readonly cursor: Cursor;
  readonly word: RegExp;
  terms: number;
}

const WORD = /[^\s()"]+/y;
/** Inside parentheses of an option list a semicolon begins the next option. */
const WORD_IN_LIST = /[^\s()";]+/y;
const PHRASE = /"([^"]+)"/y;
const AND = /AND\s+/y;
const OR = /OR\s+/y;
const NOT = /NOT\s+/y;

/**
 * Reads a search expression (OData 4.01 URL conventions, 5.1.8.1): words, phrases in double quotes, AND, OR and
 * NOT in capitals, parentheses; two terms side by side are both wanted. A keyword where no operator can stand is a
 * word. An unfinished expression in single quotes is one phrase, taken as it stands.
 * @param inList whether it stands in the parentheses of another option
 */
export function parseSearch(cursor: Cursor, inList: boolean): Search {
  const { source } = cursor;
  skip(cursor);
  if (source.text[cursor.offset] === "'") {
    const { text, end } = readQuoted(source, cursor.offset);
    moveTo(cursor, end);
    return { kind: 'phrase', text };
  }
  const search = parseOr({ cursor, word: inList ? WORD_IN_LIST : WORD, terms: 0 });
  skip(cursor);
  return search;
}

const skip = (cursor: Cursor): void => moveTo(cursor, skipSpace(cursor.source.text, cursor.offset));

function parseOr(reader: Reader): Search {
  const terms = [parseAnd(reader)];
  while (keyword(reader, OR)) terms.push(parseAnd(reader));
  return join('search-or', terms);
}

function parseAnd(reader: Reader): Search {
  const terms = [parseTerm(reader)];
  while (keyword(reader, AND) || (!isKeyword(reader, OR) && begins(reader))) terms.push(parseTerm(reader));
  return join('search-and', terms);
}

function join(kind: 'search-and' | 'search-or', terms: readonly Search[]): Search {
  const [first, second] = terms;
  return first && !second ? first : { kind, terms };
}

/** Whether white space and then the beginning of a term comes next. */
function begins({ cursor, word }: Reader): boolean {
  const { text } = cursor.source;
  const next = skipSpace(text, cursor.offset);
  return next > cursor.offset && startsTerm(text, next, word);
}

const startsTerm = (text: string, at: number, word: RegExp): boolean =>
  text[at] === '(' || text[at] === '"' || matchAt(word, text, at) !== undefined;

/** Where the text after an operator begins, if the operator comes next and a term follows it. */
function afterKeyword({ cursor, word }: Reader, pattern: RegExp, from: number): number | undefined {
  const found = matchAt(pattern, cursor.source.text, from);
  if (found === undefined) return undefined;
  return startsTerm(cursor.source.text, from + found.length, word) ? from + found.length : undefined;
}

function isKeyword(reader: Reader, pattern: RegExp): boolean {
  const from = skipSpace(reader.cursor.source.text, reader.cursor.offset);
  return from > reader.cursor.offset && afterKeyword(reader, pattern, from) !== undefined;
}

/** Takes AND or OR between two terms. */
function keyword(reader: Reader, pattern: RegExp): boolean {
  if (!isKeyword(reader, pattern)) return false;
  const { cursor } = reader;
  const from = skipSpace(cursor.source.text, cursor.offset);
  moveTo(cursor, afterKeyword(reader, pattern, from) ?? from);
  return true;
}

function parseTerm(reader: Reader): Search {
  const { cursor } = reader;
  return nested(cursor, () => {
    skip(cursor);
    const { source, offset } = cursor;
    reader.terms++;
    if (reader.terms > MAX_TERMS) throw tooLarge(source, offset, 'terms', MAX_TERMS);
    const negated = afterKeyword(reader, NOT, offset);
    if (negated !== undefined) {
      moveTo(cursor, negated);
      return { kind: 'search-not', operand: parseTerm(reader) };
    }
    if (source.text[offset] === '(') return parseGroup(reader);
    const phrase = matchAt(PHRASE, source.text, offset);
    if (phrase !== undefined) {
      moveTo(cursor, offset + phrase.length);
      return { kind: 'phrase', text: phrase.slice(1, -1) };
    }
    const word = matchAt(reader.word, source.text, offset);
    if (word === undefined) throw wrong(cursor, 'a word or a phrase in double quotes');
    moveTo(cursor, offset + word.length);
    return { kind: 'word', text: word };
  });
}

function parseGroup(reader: Reader): Search {
  const { cursor } = reader;
  moveTo(cursor, cursor.offset + 1);
  const inner = parseOr(reader);
  skip(cursor);
  if (cursor.source.text[cursor.offset] !== ')') throw wrong(cursor, '")" or a word');
  moveTo(cursor, cursor.offset + 1);
  return inner;
}

function wrong({ source, offset }: Cursor, expected: string) {
  const character = source.text[offset];
  return syntaxError(source, offset, character === undefined ? 'the end' : character, expected);
}
