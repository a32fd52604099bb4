/**
 * Translates the regular expressions of queries, which are RE2's (src/query/regular-expression.ts), to those of PostgreSQL, which
 * have other escapes, classes and case rules. RE2JS parses them and resolves all of that, as for the functions of
 * `compile/functions.ts`, so every engine finds the same texts. Its tree is not documented, so anything unexpected in it is an
 * error.
 */
import { RE2JS, RE2Set } from 're2js';

/** A node of the tree. */
interface Node {
  readonly op: number;
  readonly flags: number;
  /** The characters of a literal, or the first and last one of each range of a class. */
  readonly runes: Iterable<number>;
  readonly subs: readonly Node[];
  readonly constructor: { readonly Op: Readonly<Record<number, string>> };
}

/** The equivalent pattern for PostgreSQL. It matches the same texts, though not necessarily the same part of them. */
export const serverPattern = (pattern: string, ignoreCase: boolean): string =>
  `(?:${textOf(parsed(pattern, ignoreCase))})`;

function parsed(pattern: string, ignoreCase: boolean): Node {
  const set = new RE2Set(RE2Set.UNANCHORED, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  set.add(pattern);
  const [tree]: readonly Node[] = set.regexps;
  if (tree === undefined) throw new Error('RE2JS keeps no trees');
  return tree;
}

const FIXED: Readonly<Record<string, string>> = {
  NO_MATCH: '[^\\u0000-\\U0010ffff]',
  EMPTY_MATCH: '(?:)',
  ANY_CHAR: '.',
  ANY_CHAR_NOT_NL: '[^\\u000a]',
  BEGIN_LINE: '(?:^|(?<=\\u000a))',
  END_LINE: '(?:$|(?=\\u000a))',
  BEGIN_TEXT: '(?:^)',
  END_TEXT: '(?:$)',
  WORD_BOUNDARY: '(?:\\y)',
  NO_WORD_BOUNDARY: '(?:\\Y)',
};

/** The flag of a literal that ignores case. */
const FOLD_CASE = 1;

function textOf({ op, flags, runes, subs, constructor: { Op } }: Node): string {
  const fixed = FIXED[Op[op] ?? ''];
  if (fixed !== undefined) return fixed;
  const parts = subs.map(textOf);
  const sequence = parts.join('');
  switch (Op[op]) {
    case 'LITERAL':
      return Array.from(runes, (flags & FOLD_CASE) === 0 ? character : inAnyCase).join('');
    case 'CHAR_CLASS':
      return classText(runes);
    case 'CAPTURE':
    case 'CONCAT':
      return sequence;
    case 'STAR':
      return `(?:${sequence})*`;
    case 'PLUS':
      return `(?:${sequence})+`;
    case 'QUEST':
      return `(?:${sequence})?`;
    case 'ALTERNATE':
      return `(?:${parts.join('|')})`;
    default:
      throw new Error(`RE2JS has an operation that plat does not know: ${Op[op] ?? op}`);
  }
}

const number = (point: number): string =>
  point <= 0xffff ? `\\u${point.toString(16).padStart(4, '0')}` : `\\U${point.toString(16).padStart(8, '0')}`;

/** Characters are written as code points, so that none has a special meaning. */
function character(point: number): string {
  const text = String.fromCodePoint(point);
  return /^[A-Za-z0-9 ]$/.test(text) ? text : number(point);
}

function classText(runes: Iterable<number>): string {
  const points = Array.from(runes, character);
  const written = points.map((point, at) => {
    if (at % 2 === 0) return point;
    return point === points[at - 1] ? '' : `-${point}`;
  });
  return `[${written.join('')}]`;
}

/**
 * A letter in each of its cases. RE2JS lists them in a class, which stays a class only if it contains another character: U+0000 or
 * U+0001, which are not letters. For these two, that would form a range.
 */
const inAnyCase = (point: number): string =>
  point <= 1
    ? character(point)
    : classText([...parsed(`[\\x00\\x{${point.toString(16)}}]`, true).runes].slice(2));
