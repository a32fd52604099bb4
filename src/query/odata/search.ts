/**
 * The grammar of `$search` (OData 4.01 URL conventions, 5.1.8.1): words, phrases in double quotes, AND, OR and NOT in capitals,
 * parentheses; adjacent terms must both match. It has its own tokens and knows nothing of other options.
 */
import type { PlatError } from '../../errors/index.ts';
import type { Search } from '../tree.ts';
import { MAX_DEPTH, MAX_TERMS, type OptionText, syntaxError, tooLarge } from './option-text.ts';
import { matchAt, readQuoted, skipSpace } from './values.ts';

const WORD = /[^\s()"]+/y;
/** In the parentheses of another option, a semicolon begins the next option. */
const WORD_IN_LIST = /[^\s()";]+/y;
const PHRASE = /"([^"]+)"/y;
const AND = /AND\s+/y;
const OR = /OR\s+/y;
const NOT = /NOT\s+/y;

/** The current position in the search. */
interface Reader {
  readonly source: OptionText;
  readonly word: RegExp;
  offset: number;
  depth: number;
  terms: number;
}

/**
 * Parses a search at an offset. A keyword in a place where no operator is allowed is a word. A whole search in single quotes is one
 * phrase, taken literally.
 *
 * @param depth the depth of nesting around it
 * @param inList whether it is inside the parentheses of another option
 */
export function parseSearchAt(
  source: OptionText,
  offset: number,
  depth: number,
  inList: boolean,
): { readonly search: Search; readonly end: number } {
  const start = skipSpace(source.text, offset);
  if (source.text[start] === "'") {
    const { text, end } = readQuoted(source, start);
    return { search: { kind: 'phrase', text }, end };
  }
  const reader = { source, word: inList ? WORD_IN_LIST : WORD, offset: start, depth, terms: 0 };
  const search = parseAlternatives(reader);
  return { search, end: nextOffset(reader) };
}

const nextOffset = ({ source, offset }: Reader): number => skipSpace(source.text, offset);

function parseAlternatives(reader: Reader): Search {
  const terms = [parseConjunction(reader)];
  while (accept(reader, OR)) terms.push(parseConjunction(reader));
  return joinTerms('search-or', terms);
}

function parseConjunction(reader: Reader): Search {
  const terms = [parseTerm(reader)];
  while (accept(reader, AND) || (afterSpace(reader, OR) === undefined && isTermNext(reader))) {
    terms.push(parseTerm(reader));
  }
  return joinTerms('search-and', terms);
}

function joinTerms(kind: 'search-and' | 'search-or', terms: readonly Search[]): Search {
  const [first, second] = terms;
  return first && !second ? first : { kind, terms };
}

function parseTerm(reader: Reader): Search {
  if (reader.depth >= MAX_DEPTH) {
    throw tooLarge(reader.source, nextOffset(reader), 'levels of nesting', MAX_DEPTH);
  }
  reader.depth++;
  const term = parseInner(reader);
  reader.depth--;
  return term;
}

function parseInner(reader: Reader): Search {
  const { source } = reader;
  const start = nextOffset(reader);
  reader.terms++;
  if (reader.terms > MAX_TERMS) throw tooLarge(source, start, 'terms', MAX_TERMS);
  const negated = afterKeyword(reader, NOT, start);
  if (negated !== undefined) {
    reader.offset = negated;
    return { kind: 'search-not', operand: parseTerm(reader) };
  }
  if (source.text[start] === '(') {
    reader.offset = start + 1;
    const inner = parseAlternatives(reader);
    const end = nextOffset(reader);
    if (source.text[end] !== ')') throw unexpected(source, end, '")" or a word');
    reader.offset = end + 1;
    return inner;
  }
  const phrase = matchAt(PHRASE, source.text, start);
  const text = phrase ?? matchAt(reader.word, source.text, start);
  if (text === undefined) throw unexpected(source, start, 'a word or a phrase in double quotes');
  reader.offset = start + text.length;
  return phrase === undefined ? { kind: 'word', text } : { kind: 'phrase', text: phrase.slice(1, -1) };
}

/** Consumes AND or OR between two terms. */
function accept(reader: Reader, keyword: RegExp): boolean {
  const end = afterSpace(reader, keyword);
  if (end !== undefined) reader.offset = end;
  return end !== undefined;
}

/** The end of a keyword after white space; undefined if no such keyword follows, or if no term comes after it. */
function afterSpace(reader: Reader, keyword: RegExp): number | undefined {
  const from = nextOffset(reader);
  return from > reader.offset ? afterKeyword(reader, keyword, from) : undefined;
}

function afterKeyword({ source, word }: Reader, keyword: RegExp, from: number): number | undefined {
  const found = matchAt(keyword, source.text, from);
  if (found === undefined) return undefined;
  const end = from + found.length;
  return isTermAt(source.text, end, word) ? end : undefined;
}

/** Whether white space and the beginning of a term come next. */
function isTermNext(reader: Reader): boolean {
  const next = nextOffset(reader);
  return next > reader.offset && isTermAt(reader.source.text, next, reader.word);
}

const isTermAt = (text: string, at: number, word: RegExp): boolean =>
  text[at] === '(' || text[at] === '"' || matchAt(word, text, at) !== undefined;

const unexpected = (source: OptionText, start: number, expected: string): PlatError =>
  syntaxError(source, start, source.text[start] ?? 'the end', expected);
