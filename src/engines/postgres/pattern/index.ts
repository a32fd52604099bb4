/**
 * Translates regular expressions. Those of queries are RE2's (src/query/regular-expression.ts), which PostgreSQL does not support:
 * its own have other escapes, other classes and other case rules. Expressions are validated before they are translated.
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

/** A position in a pattern. */
class Cursor {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Consumes what matches a sticky expression at this position. */
  take(form: RegExp): RegExpExecArray | undefined {
    form.lastIndex = this.#at;
    const found = form.exec(this.#text);
    if (found === null) return undefined;
    this.#at = form.lastIndex;
    return found;
  }

  sees(form: RegExp): boolean {
    form.lastIndex = this.#at;
    return form.test(this.#text);
  }
}

/** The equivalent pattern for PostgreSQL. It matches the same texts, though not necessarily the same part of them. */
export const serverPattern = (pattern: string, ignoreCase: boolean): string =>
  alternatives(new Cursor(pattern), { ignoreCase, lines: false, dotAll: false });

function alternatives(cursor: Cursor, given: Flags): string {
  const branches: string[] = [];
  let flags = given;
  let branch = '';
  while (!cursor.sees(/\)|$/uy)) {
    if (cursor.take(/\|/uy)) {
      branches.push(branch);
      branch = '';
      continue;
    }
    // Flags apply up to the end of the group.
    const changed = cursor.take(/\(\?([imsU-]*)\)/uy);
    if (changed === undefined) branch += repetition(cursor, atom(cursor, flags));
    else flags = withFlags(flags, changed[1]);
  }
  branches.push(branch);
  return group(branches.join('|'));
}

function withFlags(flags: Flags, text = ''): Flags {
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
  const times = cursor.take(/\*|\+|\?|\{(\d{1,4})(,(\d{0,4}))?\}/uy);
  if (times === undefined) return atomText;
  cursor.take(/\?/uy); // greedy and lazy repetition match the same texts
  return repetition(cursor, repeated(atomText, ...boundsOf(times)));
}

function boundsOf([sign, least, range, most]: RegExpExecArray): [least: number, most: number | undefined] {
  switch (sign) {
    case '*':
      return [0, undefined];
    case '+':
      return [1, undefined];
    case '?':
      return [0, 1];
    default: {
      const open = most === '' ? undefined : Number(most);
      return [Number(least), range === undefined ? Number(least) : open];
    }
  }
}

function atom(cursor: Cursor, flags: Flags): string {
  if (cursor.take(/\(/uy)) return bracketed(cursor, flags);
  if (cursor.take(/\[/uy)) return classText(classOf(cursor, flags));
  if (cursor.take(/\./uy)) return classText(complement(flags.dotAll ? [] : NEWLINE));
  if (cursor.take(/\^/uy)) return flags.lines ? '(?:^|(?<=\\u000a))' : '(?:^)';
  if (cursor.take(/\$/uy)) return flags.lines ? '(?:$|(?=\\u000a))' : '(?:$)';
  if (cursor.take(/\\/uy)) return escaped(cursor, flags);
  return classText(characterClass(literal(cursor), flags));
}

function bracketed(cursor: Cursor, flags: Flags): string {
  const opened = cursor.take(/\?P?<[^>]*>|\?([imsU-]*):/uy);
  const text = alternatives(cursor, withFlags(flags, opened?.[1]));
  cursor.take(/\)/uy);
  return text;
}

const literal = (cursor: Cursor): number => cursor.take(/./suy)?.[0].codePointAt(0) ?? 0;

const characterClass = (point: number, flags: Flags): Ranges => fold([[point, point]], flags);

const fold = (ranges: Ranges, { ignoreCase }: Flags): Ranges => (ignoreCase ? foldRanges(ranges) : ranges);

const ANCHORS: Readonly<Record<string, string>> = {
  A: '(?:^)',
  z: '(?:$)',
  b: '(?:\\y)',
  B: '(?:\\Y)',
};

/** An escape outside of brackets. */
function escaped(cursor: Cursor, flags: Flags): string {
  const anchor = ANCHORS[cursor.take(/[AzbB]/uy)?.[0] ?? ''];
  if (anchor !== undefined) return anchor;
  const quoted = cursor.take(/Q(.*?)(?:\\E|$)/suy);
  if (quoted !== undefined) return literals(cursor, quoted[1] ?? '', flags);
  const set = classEscape(cursor, flags);
  return classText(set ?? characterClass(escapedCharacter(cursor), flags));
}

/** `\Q…\E`: literal characters. A repetition after it applies to its last character. */
function literals(cursor: Cursor, text: string, flags: Flags): string {
  const parts = [...text].map((each) => classText(characterClass(each.codePointAt(0) ?? 0, flags)));
  const last = parts.pop();
  return last === undefined ? '(?:)' : `${parts.join('')}${repetition(cursor, last)}`;
}

const PLAIN: Readonly<Record<string, Ranges>> = { d: DIGITS, s: SPACE, w: WORD };

/** `\d`, `\pL`, …: character classes, inside or outside of brackets. */
function classEscape(cursor: Cursor, flags: Flags): Ranges | undefined {
  const letter = cursor.take(/[dswDSW]/uy)?.[0];
  if (letter !== undefined) {
    const set = fold(PLAIN[letter.toLowerCase()] ?? [], flags);
    return letter === letter.toLowerCase() ? set : complement(set);
  }
  const named = cursor.take(/([pP])(?:\{(\^?)([^}]*)\}|(.))/suy);
  if (named === undefined) return undefined;
  const [, property, not = '', braced, single = ''] = named;
  const ranges = fold(unicodeClass(braced ?? single), flags);
  return (property === 'P') !== (not === '^') ? complement(ranges) : ranges;
}

const CONTROLS: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };

function escapedCharacter(cursor: Cursor): number {
  const hex = cursor.take(/x(?:\{([^}]*)\}|(..))/suy);
  if (hex !== undefined) return Number.parseInt(hex[1] ?? hex[2] ?? '', 16);
  const octal = cursor.take(/[0-7]{1,3}/uy);
  if (octal !== undefined) return Number.parseInt(octal[0], 8);
  const control = cursor.take(/[afnrtv]/uy);
  return control === undefined ? literal(cursor) : (CONTROLS[control[0]] ?? 0);
}

/** The content of brackets. */
function classOf(cursor: Cursor, flags: Flags): Ranges {
  const negated = cursor.take(/\^/uy) !== undefined;
  const ranges: (readonly [number, number])[] = [];
  // The first member may be the closing bracket itself.
  do ranges.push(...classPart(cursor, flags));
  while (!cursor.sees(/\]|$/uy));
  cursor.take(/\]/uy);
  const all = union(ranges);
  return negated ? complement(all) : all;
}

function classPart(cursor: Cursor, flags: Flags): Ranges {
  const named = cursor.take(/\[:(\^?)([^:]*):\]/uy);
  if (named !== undefined) {
    const [, not, name = ''] = named;
    const ranges = fold((Object.hasOwn(NAMED, name) ? NAMED[name] : undefined) ?? [], flags);
    return not === '^' ? complement(ranges) : ranges;
  }
  if (cursor.take(/\\(?=[dswDSWpP])/uy)) return classEscape(cursor, flags) ?? [];
  const from = classCharacter(cursor);
  if (!cursor.take(/-(?!\])/uy)) return fold([[from, from]], flags);
  return fold([[from, classCharacter(cursor)]], flags);
}

const classCharacter = (cursor: Cursor): number =>
  cursor.take(/\\/uy) ? escapedCharacter(cursor) : literal(cursor);
