/** Literals: values that occur in records, their neighbors, and unusual ones. */
import type { Random } from '../random.ts';
import type { Literal, Term } from '../term.ts';
import { characters } from '../text.ts';
import { dayOf, FIRST_MOMENT, LAST_MOMENT, type Type, type Value } from '../values.ts';
import { aimed, type Context } from './context.ts';

export const NULL: Literal = { kind: 'literal', type: 'null', value: null };
export const literal = (type: Type, value: Value): Literal => ({ kind: 'literal', type, value });

const DAY = 86_400_000;
const ODD_TEXTS = [
  '',
  ' ',
  "'",
  "O'Brien",
  '%',
  '_',
  '*',
  '?',
  '\\',
  '[a-z]',
  'é',
  'É',
  'ß',
  '😀',
  'İ',
  'null',
  '12',
] as const;
const ODD_NUMBERS = [0, 1, -1, 2, 3, 10, 100, 999, -999] as const;
const ODD_DECIMALS = [0, 0.01, -0.01, 0.005, 0.5, 1.5, -2.5, 1, 100000, 1e12] as const;

function oddText(random: Random): string {
  return random.pick(ODD_TEXTS);
}

const START = Date.parse('2026-06-01T12:00:00Z');

/** A literal of a type, from the values that occur in records or from unusual ones. */
export function anyLiteral(context: Context, type: Type): Literal {
  const { random, catalogue } = context;
  const stored = random.chance(0.7) ? random.among(catalogue.stored(type)) : undefined;
  if (stored !== undefined && stored !== null) return literal(type, shortened(stored));
  switch (type) {
    case 'string':
      return literal(type, oddText(random));
    case 'integer':
      return literal(type, random.pick(ODD_NUMBERS));
    case 'decimal':
      return literal(type, random.pick(ODD_DECIMALS));
    case 'boolean':
      return literal(type, random.chance(0.5));
    case 'date':
      return literal(type, Math.floor((START - random.between(-400, 9000) * DAY) / DAY) * DAY);
    case 'timestamp':
      return literal(type, START - random.between(-1e9, 1e11));
    case 'time':
      return literal(type, random.chance(0.5) ? random.between(0, 95) * 900_000 : random.between(0, DAY - 1));
    case 'duration':
      return literal(type, oddDuration(random));
    case 'null':
      return NULL;
  }
}

function oddDuration(random: Random): number {
  const size = random.pick([1, 1000, 60_000, 3_600_000, DAY, 30 * DAY]);
  return random.between(-40, 400) * size;
}

/** Shortens a long text, which would only fill the page. */
const shortened = (value: Value): Value =>
  typeof value === 'string' && value.length > 60 ? characters(value).slice(0, 40).join('') : value;

/** A value equal or close to another one. */
export function nearby(random: Random, type: Type, value: Value): Value {
  if (value === null || random.chance(0.6)) return value;
  switch (type) {
    case 'string':
      return otherText(random, String(value));
    case 'integer':
      return Number(value) + random.pick([1, -1, 10]);
    case 'decimal':
      return Math.round((Number(value) + random.pick([0.01, -0.01, 1, 0.5, 1000])) * 1e4) / 1e4;
    case 'boolean':
      return !value;
    case 'date':
      return dayOf(inYears(Number(value) + random.pick([DAY, -DAY, 365 * DAY])));
    case 'timestamp':
      return inYears(Number(value) + random.pick([1, -1, 1000, DAY]));
    case 'time':
      return (Number(value) + random.pick([1, 1000, 60_000])) % DAY;
    case 'duration':
      return Number(value) + random.pick([1, -1, 1000]);
    case 'null':
      return value;
  }
}

const inYears = (moment: number): number => Math.min(LAST_MOMENT, Math.max(FIRST_MOMENT, moment));

function otherText(random: Random, text: string): string {
  const all = characters(text);
  return random.pick([
    text.toLowerCase(),
    text.toUpperCase(),
    all.slice(0, -1).join(''),
    `${text} `,
    all.toReversed().join(''),
  ]);
}

const isWritable = (type: Type, value: Value): boolean => {
  if (typeof value === 'string') return !/[\0]/.test(value);
  if (typeof value !== 'number') return true;
  if (type !== 'decimal' && !Number.isSafeInteger(value)) return false;
  if (type === 'date' || type === 'timestamp') return value >= FIRST_MOMENT && value <= LAST_MOMENT;
  return Number.isFinite(value) && (value === 0 || (Math.abs(value) > 1e-6 && Math.abs(value) < 1e20));
};

/** A literal that matches some record if it is compared with a term. */
export function aimedLiteral(context: Context, term: Term, type: Type): Literal {
  const { random } = context;
  const value = random.chance(0.85) ? aimed(context, term) : undefined;
  if (value === undefined || value === null) return anyLiteral(context, type);
  const near = shortened(nearby(random, type, value));
  return isWritable(type, near) ? literal(type, near) : anyLiteral(context, type);
}
