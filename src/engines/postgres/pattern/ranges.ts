/** Sets of characters as ranges of code points (first and last), in order and not adjacent. */
export type Ranges = readonly (readonly [number, number])[];

const LAST = 0x10ffff;

export function union(all: Ranges): Ranges {
  const made: [number, number][] = [];
  for (const [from, to] of all.toSorted(([left], [right]) => left - right)) {
    const last = made.at(-1);
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else made.push([from, to]);
  }
  return made;
}

/** All other characters; no text contains character 0. */
export function complement(ranges: Ranges): Ranges {
  const made: [number, number][] = [];
  let next = 1;
  for (const [from, to] of ranges) {
    if (from > next) made.push([next, from - 1]);
    next = Math.max(next, to + 1);
  }
  if (next <= LAST) made.push([next, LAST]);
  return made;
}

export const holds = (ranges: Ranges, point: number): boolean =>
  ranges.some(([from, to]) => from <= point && point <= to);

const between = (text: string): Ranges => {
  const points = [...text].map((character) => character.codePointAt(0) ?? 0);
  return Array.from({ length: points.length / 2 }, (_, index) => [
    points[2 * index] ?? 0,
    points[2 * index + 1] ?? 0,
  ]);
};

export const DIGITS = between('09');
export const WORD = between('09AZ__az');
export const SPACE = between('\t\n\f\r  ');
export const NEWLINE = between('\n\n');

/** The classes `[:name:]`, which contain only ASCII characters. */
export const NAMED: Readonly<Record<string, Ranges>> = {
  alnum: between('09AZaz'),
  alpha: between('AZaz'),
  ascii: between('\u0001\u007f'),
  blank: between('\t\t  '),
  cntrl: between('\u0001\u001f\u007f\u007f'),
  digit: DIGITS,
  graph: between('!~'),
  lower: between('az'),
  print: between(' ~'),
  punct: between('!/:@[`{~'),
  space: between('\t\r  '),
  upper: between('AZ'),
  word: WORD,
  xdigit: between('09AFaf'),
};

const unicode = new Map<string, Ranges>();

/** A general category or script of Unicode, such as `L`, `Lu` or `Greek`. The first use of a class examines all characters. */
export function unicodeClass(name: string): Ranges {
  const known = unicode.get(name);
  if (known !== undefined) return known;
  const pattern = unicodePattern(name);
  const made: [number, number][] = [];
  for (let point = 1; point <= LAST; point++) {
    if (!pattern.test(String.fromCodePoint(point))) continue;
    const last = made.at(-1);
    if (last?.[1] === point - 1) last[1] = point;
    else made.push([point, point]);
  }
  unicode.set(name, made);
  return made;
}

function unicodePattern(name: string): RegExp {
  if (name === 'Any') return /^.$/su;
  try {
    return new RegExp(`^\\p{${name}}$`, 'u');
  } catch {
    return new RegExp(`^\\p{Script=${name}}$`, 'u');
  }
}
