/** Writes filters of the native language. */
import type { Field } from '../../src/dictionary/index.ts';
import type { Condition, Joined, Part, Right, Shape } from './native-term.ts';
import type { Place } from './places.ts';
import type { Random } from './random.ts';
import type { Term } from './term.ts';

export const quoted = (text: string): string => `'${text.replaceAll("'", "\\'")}'`;

/** Whether a text can be written: a backslash is literal unless it precedes a quote, a wildcard, a backslash or the end. */
export const isWritable = (text: string): boolean => !/\\(?:['*?\\]|$)|[\n\r]/.test(text);

/** A literal text: its wildcards are escaped. */
export const plain = (text: string): string => quoted(text.replace(/[*?]/g, '\\$&'));

export function fieldName(field: Field, random: Random): string {
  if (field.custom !== undefined) return `"${field.custom.group}"."${field.custom.label}"`;
  return field.name === 'ListingKey' && random.chance(0.3) ? 'Id' : field.nativeName;
}

export function writeFilter(filter: Joined, random: Random): string {
  const rest = filter.rest.map(({ word, part }) => ` ${inSomeCase(word, random)} ${writePart(part, random)}`);
  return `${filter.negated ? `${inSomeCase('Not', random)} ` : ''}${writePart(filter.first, random)}${rest.join('')}`;
}

const writePart = (part: Part, random: Random): string =>
  part.kind === 'joined' ? `(${writeFilter(part, random)})` : writeCondition(part, random);

function inSomeCase(word: string, random: Random): string {
  return random.chance(0.85) ? word : random.pick([word.toLowerCase(), word.toUpperCase()]);
}

function writeCondition(condition: Condition, random: Random): string {
  const operator = inSomeCase(condition.operator, random);
  switch (condition.kind) {
    case 'comparison': {
      const { term, over } = condition.left;
      return `${writeTerm(term, over?.field, random, 0)} ${operator} ${condition.right.map(writeRight).join(',')}`;
    }
    case 'every':
      return `all(${fieldName(condition.over.field, random)}) ${operator} ${condition.right.map(writeRight).join(',')}`;
    case 'place':
      return `Location ${operator} ${condition.shapes.map(writeShape).join(',')}`;
  }
}

function writeRight(right: Right): string {
  switch (right.kind) {
    case 'null':
      return 'NULL';
    case 'literal':
    case 'beyond':
    case 'wildcards':
      return right.text;
    case 'regex':
      return `regex(${quoted(right.pattern)}${right.ignoreCase ? ",'i'" : ''})`;
    case 'part':
      return `${right.name}(${quoted(right.part)})`;
    case 'range':
      return `range(${quoted(right.from)},${quoted(right.to)})`;
  }
}

const latitudeFirst = ({ latitude, longitude }: Place): string => `${latitude} ${longitude}`;
const longitudeFirst = ({ latitude, longitude }: Place): string => `${longitude} ${latitude}`;

function writeShape(shape: Shape): string {
  switch (shape.kind) {
    case 'circle':
      return `radius('${latitudeFirst(shape.centre)}',${shape.miles})`;
    case 'around':
      return `radius('${shape.key}',${shape.miles})`;
    case 'points': {
      const points = shape.points.map(longitudeFirst);
      const multi = points.map((point, index) => (index === 0 ? point : `(${point})`)).join(', ');
      return shape.form === 'point' ? `wkt('POINT(${points[0]})')` : `wkt('MULTIPOINT(${multi})')`;
    }
    case 'lines':
      return writeLines(shape);
    case 'area':
      return writeArea(shape);
  }
}

function writeLines({ form, lines }: Extract<Shape, { kind: 'lines' }>): string {
  const wkt = lines.map((line) => `(${line.map(longitudeFirst).join(', ')})`);
  switch (form) {
    case 'linestring':
      return `linestring('${(lines[0] ?? []).map(latitudeFirst).join(', ')}')`;
    case 'wkt line':
      return `wkt('LINESTRING${wkt[0]}')`;
    case 'wkt lines':
      return `wkt('MULTILINESTRING(${wkt.join(', ')})')`;
  }
}

function writeArea(shape: Extract<Shape, { kind: 'area' }>): string {
  const [outer = []] = shape.rings;
  switch (shape.form) {
    case 'polygon':
      return `polygon('${outer.slice(0, -1).map(latitudeFirst).join(',')}')`;
    case 'rectangle':
      return `rectangle('${[outer[0], outer[2]].map((corner) => (corner === undefined ? '' : latitudeFirst(corner))).join(', ')}')`;
    case 'wkt': {
      const rings = shape.rings.map((ring) => `(${ring.map(longitudeFirst).join(', ')})`);
      return `wkt('POLYGON(${rings.join(', ')})')`;
    }
  }
}

const WORDS = { add: 'Add', sub: 'Sub', mul: 'Mul', div: 'Div', mod: 'Mod', divby: '' } as const;
const LEVELS = { add: 1, sub: 1, mul: 2, div: 2, mod: 2, divby: 2 } as const;
const UNARY = 3;
const CASTS = { string: 'character', integer: 'integer', decimal: 'decimal' } as const;

/** @param member the multi-valued field whose members the term refers to */
function writeTerm(term: Term, member: Field | undefined, random: Random, least: number): string {
  const inside = (part: Term, level: number): string => writeTerm(part, member, random, level);
  switch (term.kind) {
    case 'literal':
      return typeof term.value === 'string'
        ? quoted(term.value)
        : numberText(Number(term.value), term.type === 'decimal');
    case 'field':
      return fieldName(term.field, random);
    case 'element':
      return member === undefined ? '' : fieldName(member, random);
    case 'call':
      return `${term.name}(${term.parameters.map((part) => inside(part, 0)).join(',')})`;
    case 'cast': {
      const { type } = term;
      const name = type === 'string' || type === 'integer' || type === 'decimal' ? CASTS[type] : '';
      return `cast(${inside(term.operand, 0)},'${name}')`;
    }
    case 'negate':
      return `- ${inside(term.operand, UNARY)}`;
    case 'arithmetic': {
      const level = LEVELS[term.operator];
      const text = `${inside(term.left, level)} ${inSomeCase(WORDS[term.operator], random)} ${inside(term.right, level + 1)}`;
      return level < least ? `(${text})` : text;
    }
    default:
      throw new Error(`the native language has no ${term.kind}`);
  }
}

/** Decimals have a decimal point; there are only small exponents. */
export function numberText(value: number, decimal: boolean): string {
  const text = String(value);
  return decimal && !text.includes('.') ? `${text}.0` : text;
}
