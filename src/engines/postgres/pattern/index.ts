/**
 * Regular expressions are those of RE2 (src/query/regular-expression.ts), which the server does not know: its own
 * have other escapes, other classes and another idea of case. What is translated here has been checked before.
 */
import { foldRanges } from './folding.ts';
import {
  complement,
  DIGITS,
  NAMED,
  NEWLINE,
  type Ranges,
  SPACE,
  unicodeClass,
  union,
  WORD,
} from './ranges.ts';
import { classText, group, repeated } from './write.ts';

interface Flags {
  readonly ignoreCase: boolean;
  readonly lines: boolean;
  readonly dotAll: boolean;
}

/** Where reading is. */
interface Cursor {
  readonly points: readonly string[];
  at: number;
}

/** The same pattern in the server's language. What is found is the same; which part of the text, is not. */
export function serverPattern(pattern: string, ignoreCase: boolean): string {
  const cursor: Cursor = { points: [...pattern], at: 0 };
  return alternatives(cursor, { ignoreCase, lines: false, dotAll: false });
}

const peek = ({ points, at }: Cursor, ahead = 0): string | undefined => points[at + ahead];

function take(cursor: Cursor, text: string): boolean {
  const found = [...text].every((character, index) => peek(cursor, index) === character);
  if (found) cursor.at += [...text].length;
  return found;
}

/** Reads up to and including an end. */
function until(cursor: Cursor, end: string): string {
  const start = cursor.at;
  while (peek(cursor) !== undefined && peek(cursor) !== end) cursor.at++;
  const text = cursor.points.slice(start, cursor.at).join('');
  cursor.at++;
  return text;
}

function alternatives(cursor: Cursor, given: Flags): string {
  const branches: string[] = [];
  let flags = given;
  let branch = '';
  for (let next = peek(cursor); next !== undefined && next !== ')'; next = peek(cursor)) {
    if (take(cursor, '|')) {
      branches.push(branch);
      branch = '';
      continue;
    }
    const changed = flagsAlone(cursor, flags);
    if (changed === undefined) branch += repetition(cursor, atom(cursor, flags));
    else flags = changed;
  }
  branches.push(branch);
  return group(branches.join('|'));
}

/** `(?i)`: holds up to the end of the group. */
function flagsAlone(cursor: Cursor, flags: Flags): Flags | undefined {
  const match = /^\(\?([imsU-]+)\)/.exec(cursor.points.slice(cursor.at, cursor.at + 16).join(''));
  if (match === null) return undefined;
  cursor.at += match[0].length;
  return withFlags(flags, match[1] ?? '');
}

function withFlags(flags: Flags, text: string): Flags {
  const [on = '', off = ''] = text.split('-', 2);
  const is = (letter: string, before: boolean): boolean =>
    on.includes(letter) || (before && !off.includes(letter));
  return {
    ignoreCase: is('i', flags.ignoreCase),
    lines: is('m', flags.lines),
    dotAll: is('s', flags.dotAll),
  };
}

function repetition(cursor: Cursor, atomText: string): string {
  const [least, most] = timesOf(cursor) ?? [];
  if (least === undefined) return atomText;
  take(cursor, '?'); // fewest first or most first finds the same texts
  return repetition(cursor, repeated(atomText, least, most));
}

function timesOf(cursor: Cursor): [least: number, most: number | undefined] | undefined {
  if (take(cursor, '*')) return [0, undefined];
  if (take(cursor, '+')) return [1, undefined];
  if (take(cursor, '?')) return [0, 1];
  const match = /^\{(\d{1,4})(,(\d{0,4}))?\}/.exec(cursor.points.slice(cursor.at, cursor.at + 12).join(''));
  if (match === null) return undefined;
  cursor.at += match[0].length;
  const least = Number(match[1]);
  if (match[2] === undefined) return [least, least];
  return [least, match[3] === '' ? undefined : Number(match[3])];
}

function atom(cursor: Cursor, flags: Flags): string {
  if (take(cursor, '(')) return bracketed(cursor, flags);
  if (take(cursor, '[')) return classText(classOf(cursor, flags));
  if (take(cursor, '.')) return classText(complement(flags.dotAll ? [] : NEWLINE));
  if (take(cursor, '^')) return flags.lines ? '(?:^|(?<=\\u000a))' : '(?:^)';
  if (take(cursor, '$')) return flags.lines ? '(?:$|(?=\\u000a))' : '(?:$)';
  if (take(cursor, '\\')) return escaped(cursor, flags);
  return classText(characterClass(literal(cursor), flags));
}

function bracketed(cursor: Cursor, flags: Flags): string {
  let inside = flags;
  if (take(cursor, '?')) {
    if (take(cursor, 'P<') || take(cursor, '<')) until(cursor, '>');
    else inside = withFlags(flags, until(cursor, ':'));
  }
  const text = alternatives(cursor, inside);
  take(cursor, ')');
  return text;
}

const literal = (cursor: Cursor): number => cursor.points[cursor.at++]?.codePointAt(0) ?? 0;

const characterClass = (point: number, flags: Flags): Ranges => fold([[point, point]], flags);

const fold = (ranges: Ranges, { ignoreCase }: Flags): Ranges => (ignoreCase ? foldRanges(ranges) : ranges);

/** What stands after a backslash outside of brackets. */
function escaped(cursor: Cursor, flags: Flags): string {
  if (take(cursor, 'A')) return '(?:^)';
  if (take(cursor, 'z')) return '(?:$)';
  if (take(cursor, 'b')) return '(?:\\y)';
  if (take(cursor, 'B')) return '(?:\\Y)';
  if (take(cursor, 'Q')) return quoted(cursor, flags);
  const set = classEscape(cursor, flags);
  return classText(set ?? characterClass(escapedCharacter(cursor), flags));
}

/** `\Q…\E`: every character stands for itself. A repetition after it is one of its last character. */
function quoted(cursor: Cursor, flags: Flags): string {
  const parts: string[] = [];
  while (peek(cursor) !== undefined && !take(cursor, '\\E')) {
    parts.push(classText(characterClass(literal(cursor), flags)));
  }
  const last = parts.pop() ?? '';
  return last === '' ? '(?:)' : `${parts.join('')}${repetition(cursor, last)}`;
}

/** `\d`, `\pL`, …: the classes that stand for themselves, in brackets or not. */
function classEscape(cursor: Cursor, flags: Flags): Ranges | undefined {
  const letter = peek(cursor);
  const plain = { d: DIGITS, s: SPACE, w: WORD }[letter?.toLowerCase() ?? ''];
  if (plain !== undefined) {
    cursor.at++;
    const set = fold(plain, flags);
    return letter === letter?.toLowerCase() ? set : complement(set);
  }
  if (letter !== 'p' && letter !== 'P') return undefined;
  cursor.at++;
  const named = take(cursor, '{') ? until(cursor, '}') : (cursor.points[cursor.at++] ?? '');
  const ranges = fold(unicodeClass(named.replace('^', '')), flags);
  return (letter === 'P') !== named.startsWith('^') ? complement(ranges) : ranges;
}

const CONTROLS: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };

function escapedCharacter(cursor: Cursor): number {
  if (take(cursor, 'x')) {
    if (take(cursor, '{')) return Number.parseInt(until(cursor, '}'), 16);
    cursor.at += 2;
    return Number.parseInt(cursor.points.slice(cursor.at - 2, cursor.at).join(''), 16);
  }
  const octal = /^[0-7]{1,3}/.exec(cursor.points.slice(cursor.at, cursor.at + 3).join(''));
  if (octal !== null) {
    cursor.at += octal[0].length;
    return Number.parseInt(octal[0], 8);
  }
  const control = CONTROLS[peek(cursor) ?? ''];
  const point = literal(cursor);
  return control ?? point;
}

/** What stands in brackets. */
function classOf(cursor: Cursor, flags: Flags): Ranges {
  const negated = take(cursor, '^');
  const ranges: (readonly [number, number])[] = [];
  for (let first = true; peek(cursor) !== undefined && (first || peek(cursor) !== ']'); first = false) {
    ranges.push(...classPart(cursor, flags));
  }
  take(cursor, ']');
  const all = union(ranges);
  return negated ? complement(all) : all;
}

function classPart(cursor: Cursor, flags: Flags): Ranges {
  if (take(cursor, '[:')) {
    const text = until(cursor, ':');
    take(cursor, ']');
    const name = text.replace('^', '');
    const named = fold((Object.hasOwn(NAMED, name) ? NAMED[name] : undefined) ?? [], flags);
    return text.startsWith('^') ? complement(named) : named;
  }
  if (peek(cursor) === '\\') {
    cursor.at++;
    const set = classEscape(cursor, flags);
    if (set !== undefined) return set;
    cursor.at--;
  }
  const from = classCharacter(cursor);
  if (peek(cursor) !== '-' || peek(cursor, 1) === ']') return fold([[from, from]], flags);
  cursor.at++;
  return fold([[from, classCharacter(cursor)]], flags);
}

const classCharacter = (cursor: Cursor): number =>
  take(cursor, '\\') ? escapedCharacter(cursor) : literal(cursor);
