import { complement, type Ranges } from './ranges.ts';

/**
 * Parts of PostgreSQL's advanced regular expressions. Each is an atom, so that it can be repeated. Characters are written as code
 * points, so that none has a special meaning.
 */
const number = (point: number): string =>
  point <= 0xffff ? `\\u${point.toString(16).padStart(4, '0')}` : `\\U${point.toString(16).padStart(8, '0')}`;

const PLAIN = /^[A-Za-z0-9 ]$/;

function character(point: number): string {
  const text = String.fromCodePoint(point);
  return PLAIN.test(text) ? text : number(point);
}

export function classText(ranges: Ranges): string {
  const [first] = ranges;
  if (first === undefined) return classText(complement([])).replace('[', '[^');
  if (ranges.length === 1 && first[0] === first[1]) return character(first[0]);
  return `[${ranges.map(([from, to]) => (from === to ? character(from) : `${character(from)}-${character(to)}`)).join('')}]`;
}

export const group = (text: string): string => `(?:${text})`;

/** The largest repetition count that PostgreSQL supports. */
const MOST = 255;

/** @param most undefined: any number */
export function repeated(atom: string, least: number, most: number | undefined): string {
  const one = group(atom);
  const parts: string[] = [];
  let needed = least;
  for (; needed > MOST; needed -= MOST) parts.push(`${one}{${MOST}}`);
  if (most === undefined) parts.push(`${one}{${needed},}`);
  else {
    let allowed = most - least;
    if (needed > 0) parts.push(`${one}{${needed}}`);
    for (; allowed > MOST; allowed -= MOST) parts.push(`${one}{0,${MOST}}`);
    if (allowed > 0) parts.push(`${one}{0,${allowed}}`);
  }
  return group(parts.join(''));
}
