/** Literals as tokens, and the arithmetic that is worked out while the filter is read. */
import { typeFault } from '../faults.ts';
import { advance, type Cursor } from './cursor.ts';
import { calculate, isZero, negated } from './decimal.ts';
import type { TokenKind } from './lexer.ts';
import { type ArithmeticWord, BROKEN, type Broken, type Scalar, type ScalarType } from './nodes.ts';

const LITERALS: ReadonlyMap<TokenKind, ScalarType> = new Map([
  ['integer', 'integer'],
  ['decimal', 'decimal'],
  ['character', 'character'],
  ['date', 'date'],
  ['datetime', 'datetime'],
  ['time', 'time'],
  ['boolean', 'boolean'],
  ['null', 'null'],
]);

/** Types whose values may stand in a list. */
const LISTED: ReadonlySet<ScalarType> = new Set(['integer', 'decimal', 'character']);
/** Types whose values may end a range. */
const RANGED: ReadonlySet<ScalarType> = new Set(['integer', 'decimal', 'date', 'datetime', 'time']);

export type LiteralPlace = 'anywhere' | 'list' | 'range';

/** Of a text, a backslash goes only in front of a quote; all others stay, since patterns need them. */
const unquoted = (text: string): string => text.slice(1, -1).replaceAll("\\'", "'");

/** Takes the literal at hand, if there is one that may stand here. */
export function takeLiteral(cursor: Cursor, place: LiteralPlace): Scalar | undefined {
  const type = LITERALS.get(cursor.token.kind);
  if (type === undefined) return undefined;
  if (place === 'list' && !LISTED.has(type)) return undefined;
  if (place === 'range' && !RANGED.has(type)) return undefined;
  const { text, position } = advance(cursor);
  return { kind: 'scalar', type, text: type === 'character' ? unquoted(text) : text, position };
}

export type NumberScalar = Scalar & { readonly type: 'integer' | 'decimal' };

export const isNumber = (node: { readonly kind: string; readonly type?: string }): node is NumberScalar =>
  node.kind === 'scalar' && (node.type === 'integer' || node.type === 'decimal');

/** Characters of a number; a longer one is beyond every number that is stored. */
const LONGEST = 340;

/** The result of an operator between two literal numbers; a fault where it divides by zero or grows without bound. */
export function fold(
  cursor: Cursor,
  operator: ArithmeticWord,
  left: NumberScalar,
  right: NumberScalar,
): Scalar | Broken {
  if (dividesByZero(cursor, operator, right)) return BROKEN;
  const result = calculate(operator, left, right);
  if (result.text.length > LONGEST) {
    cursor.faults.push(
      typeFault(`the result of ${operator} is too large to compare`, operator, right.position),
    );
    return BROKEN;
  }
  return { kind: 'scalar', ...result, position: left.position };
}

/** Notes the fault, too. */
export function dividesByZero(cursor: Cursor, operator: ArithmeticWord, right: NumberScalar): boolean {
  if ((operator !== 'Div' && operator !== 'Mod') || !isZero(right)) return false;
  cursor.faults.push(typeFault(`${operator} by zero`, right.text, right.position));
  return true;
}

export const foldNegation = (number: NumberScalar, position: number): Scalar => ({
  kind: 'scalar',
  ...negated(number),
  position,
});
