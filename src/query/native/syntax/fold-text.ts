/** Functions of literal texts and numbers, worked out while the filter is read. */
import { toDecimal, toInteger } from './decimal.ts';
import type { CastType } from './functions.ts';
import type { FieldFunction, Scalar, ScalarType } from './nodes.ts';

export type TextFunction = Extract<
  FieldFunction,
  | 'tolower'
  | 'toupper'
  | 'trim'
  | 'length'
  | 'substring'
  | 'indexof'
  | 'concat'
  | 'round'
  | 'ceiling'
  | 'floor'
>;

export type Folded =
  | { readonly type: ScalarType; readonly text: string }
  /** Why it cannot be worked out. */
  | { readonly reason: string };

const EDGES = /^[\0\t\n\v\f\r ]+|[\0\t\n\v\f\r ]+$/g;
const NUMBER = /^\s*([+-]?)(\d+(?:\.\d+)?(?:[Ee][+-]?\d{1,3})?)\s*$/;

const text = (value: string): Folded => ({ type: 'character', text: value });
const integer = (value: number): Folded => ({ type: 'integer', text: String(value) });
const NULL: Folded = { type: 'null', text: 'NULL' };

/** A literal in another type; null where it has no such value. */
export function foldCast(value: Scalar, to: CastType): Folded {
  if (to === 'character') {
    if (value.type === 'null') return text('');
    return text(value.type === 'decimal' ? toDecimal(value.text) : value.text);
  }
  if (value.type === 'null') return { type: to, text: to === 'integer' ? '0' : '0.0' };
  const [, sign = '', digits] = NUMBER.exec(value.text) ?? [];
  if (digits === undefined || !Number.isFinite(Number(digits))) return NULL;
  const number = `${sign === '-' ? '-' : ''}${digits.replace('+', '')}`;
  return { type: to, text: to === 'integer' ? toInteger(number, 'truncate') : toDecimal(number) };
}

/** Positions count from 0, in characters. */
function substring(value: string, start: number, count: number | undefined): string {
  const characters = [...value];
  return characters.slice(start, count === undefined ? undefined : start + count).join('');
}

function indexOf(value: string, wanted: string): number {
  const units = value.indexOf(wanted);
  return units < 0 ? -1 : [...value.slice(0, units)].length;
}

/** A function of texts and numbers whose arguments have been checked against the table of functions. */
export function foldText(name: TextFunction, value: string, rest: readonly Scalar[]): Folded {
  const second = rest[0]?.text ?? '';
  switch (name) {
    case 'tolower':
      return text(value.toLowerCase());
    case 'toupper':
      return text(value.toUpperCase());
    case 'trim':
      return text(value.replace(EDGES, ''));
    case 'length':
      return integer([...value].length);
    case 'substring':
      return text(substring(value, Number(second), rest[1] === undefined ? undefined : Number(rest[1].text)));
    case 'indexof':
      return integer(indexOf(value, second));
    case 'concat':
      return text(value + second);
    case 'round':
    case 'ceiling':
    case 'floor':
      return { type: 'integer', text: toInteger(value, name) };
  }
}
