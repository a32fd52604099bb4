/** The grammar of `_filter`: conditions, how they are joined, and the left side of a condition. */
import { PlatError } from '../../../errors/index.ts';
import { type Fault, typeFault } from '../faults.ts';
import { readCall, seenType, takeField } from './calls.ts';
import {
  advance,
  at,
  type Cursor,
  closeParenthesis,
  LIMITS,
  openCursor,
  openParenthesis,
  tooMany,
  unexpected,
} from './cursor.ts';
import type { Token } from './lexer.ts';
import { type ArithmeticWord, BROKEN, type Filter, type Operand } from './nodes.ts';
import { arithmeticWord, comparisonWord, operatorMisfit } from './operators.ts';
import { readCondition, readRange } from './right-side.ts';
import { dividesByZero, fold, foldNegation, isNumber, takeLiteral } from './scalars.ts';
import { type SeenType, typeName } from './type-names.ts';

const JOINER = 'And, Or, Not or the end';

export interface ParsedFilter {
  /** Absent when the text is empty, and when it could not be read to its end. */
  readonly filter?: Filter;
  readonly faults: readonly Fault[];
}

/** A part of the filter that is true or false. */
interface Joined {
  readonly kind: 'filter';
  readonly filter: Filter;
  /** Whether its text begins with Not, parentheses aside. */
  readonly startsWithNot: boolean;
}
type Side = Joined | Operand;

/** `A And B Or C Not D`: And before Or, and Not between two conditions means And Not. */
function readJoined(cursor: Cursor, first: Joined = readFirst(cursor)): Joined {
  let all: Filter[] = [first.filter];
  const any: Filter[] = [];
  while (at(cursor, 'conjunction') || at(cursor, 'not')) {
    const { text, kind } = advance(cursor);
    if (at(cursor, 'not')) {
      unexpected(cursor, 'a condition ("A And Not B" is written "A Not B" or "A And (Not B)")');
    }
    const { filter } = readExpression(cursor);
    if (text === 'Or') {
      any.push(together('and', all));
      all = [];
    }
    all.push(kind === 'not' ? { kind: 'not', operand: filter } : filter);
  }
  const filter = together('or', [...any, together('and', all)]);
  return { kind: 'filter', filter, startsWithNot: first.startsWithNot };
}

function together(kind: 'and' | 'or', terms: readonly Filter[]): Filter {
  const [first, second] = terms;
  return first !== undefined && second === undefined ? first : { kind, terms };
}

function readFirst(cursor: Cursor): Joined {
  if (!at(cursor, 'not')) return readExpression(cursor);
  advance(cursor);
  if (at(cursor, 'not')) unexpected(cursor, 'a condition ("Not Not A" is written "Not (Not A)")');
  const { filter, startsWithNot } = readExpression(cursor);
  // The reference counts a Not once where, inside parentheses, it meets a group that begins with Not.
  const counted = cursor.open > 0 && startsWithNot;
  return { kind: 'filter', filter: counted ? filter : { kind: 'not', operand: filter }, startsWithNot: true };
}

function readExpression(cursor: Cursor): Joined {
  const side = readSum(cursor, true);
  return side.kind === 'filter' ? side : readComparison(cursor, side);
}

function readComparison(cursor: Cursor, left: Operand): Joined {
  const { token } = cursor;
  const operator = comparisonWord(token) ?? unexpected(cursor, 'an operator: Eq, Ne, Gt, Ge, Lt, Le or Bt');
  if (cursor.open > LIMITS.levels) tooMany(cursor, 'levels of parentheses', LIMITS.levels);
  if (cursor.expressions === LIMITS.expressions) tooMany(cursor, 'conditions', LIMITS.expressions);
  cursor.expressions += 1;
  advance(cursor);
  const right = operator === 'Bt' ? readRange(cursor) : readCondition(cursor);
  checkComparison(cursor, left, token);
  const misfit = right.kind === 'values' ? operatorMisfit(operator, right) : undefined;
  if (misfit !== undefined) cursor.faults.push(typeFault(misfit, operator, token.position));
  const filter: Filter = {
    kind: 'condition',
    left,
    operator,
    right: misfit === undefined ? right : BROKEN,
    position: token.position,
  };
  return { kind: 'filter', filter, startsWithNot: false };
}

function checkComparison(cursor: Cursor, left: Operand, operator: Token): void {
  if (left.kind === 'broken' || holdsField(left)) return;
  const reason = 'the left side of each condition names a field';
  cursor.faults.push(typeFault(reason, operator.text, operator.position));
}

function holdsField(operand: Operand): boolean {
  switch (operand.kind) {
    case 'name':
    case 'custom':
    case 'call':
    case 'broken':
      return true;
    case 'arithmetic':
      return holdsField(operand.left) || holdsField(operand.right);
    case 'negate':
      return holdsField(operand.operand);
    default:
      return false;
  }
}

function readChain(cursor: Cursor, strength: 'sum' | 'product', first: Side, next: () => Operand): Side {
  let left = first;
  for (let count = 2; left.kind !== 'filter'; count += 1) {
    const { position } = cursor.token;
    const operator = arithmeticWord(cursor.token, strength);
    if (operator === undefined) return left;
    if (count > LIMITS.values) tooMany(cursor, 'values in one condition', LIMITS.values);
    advance(cursor);
    left = combine(cursor, operator, left, next(), position);
  }
  return left;
}

/** @param mayGroup whether parentheses may hold conditions here, which they may where no operator stands before */
function readSum(cursor: Cursor, mayGroup: boolean): Side {
  return readChain(cursor, 'sum', readProduct(cursor, mayGroup), () => operandOf(cursor, readProduct));
}

function readProduct(cursor: Cursor, mayGroup: boolean): Side {
  return readChain(cursor, 'product', readPrimary(cursor, mayGroup), () => operandOf(cursor, readPrimary));
}

function operandOf(cursor: Cursor, read: (cursor: Cursor, mayGroup: boolean) => Side): Operand {
  const side = read(cursor, false);
  return side.kind === 'filter' ? BROKEN : side;
}

function readPrimary(cursor: Cursor, mayGroup: boolean): Side {
  if (at(cursor, '(')) return readParentheses(cursor, mayGroup);
  if (at(cursor, 'minus')) return readNegation(cursor);
  if (at(cursor, 'function')) return readCall(cursor, 'left');
  const field = takeField(cursor) ?? takeLiteral(cursor, 'list');
  return field ?? unexpected(cursor, 'a condition, which begins with a field, a function or a parenthesis');
}

function readParentheses(cursor: Cursor, mayGroup: boolean): Side {
  openParenthesis(cursor);
  const inner = mayGroup ? readInside(cursor) : readSum(cursor, false);
  closeParenthesis(cursor);
  return inner;
}

/** Only what follows tells whether a parenthesis holds conditions or a part of the left side. */
function readInside(cursor: Cursor): Side {
  if (at(cursor, 'not')) return readJoined(cursor);
  const side = readSum(cursor, true);
  if (side.kind !== 'filter' && comparisonWord(cursor.token) === undefined) return side;
  return readJoined(cursor, side.kind === 'filter' ? side : readComparison(cursor, side));
}

function readNegation(cursor: Cursor): Operand {
  const { position } = cursor.token;
  let negative = false;
  while (at(cursor, 'minus')) {
    advance(cursor);
    negative = !negative;
  }
  const operand = operandOf(cursor, readPrimary);
  if (!isNumeric(operand)) {
    cursor.faults.push(typeFault(`${typeName(seenOperand(operand))} cannot be negative`, '-', position));
    return BROKEN;
  }
  if (!negative) return operand;
  return isNumber(operand) ? foldNegation(operand, position) : { kind: 'negate', operand, position };
}

const seenOperand = (operand: Operand): SeenType =>
  operand.kind === 'arithmetic' || operand.kind === 'negate' ? 'decimal' : seenType(operand);

const isNumeric = (operand: Operand): boolean =>
  ['field', 'integer', 'decimal'].includes(seenOperand(operand));

function combine(
  cursor: Cursor,
  operator: ArithmeticWord,
  left: Operand,
  right: Operand,
  position: number,
): Operand {
  const odd = [left, right].find((operand) => !isNumeric(operand));
  if (odd !== undefined) {
    cursor.faults.push(
      typeFault(`${operator} takes numbers, not ${typeName(seenOperand(odd))}`, operator, position),
    );
    return BROKEN;
  }
  if (isNumber(right)) {
    if (isNumber(left)) return fold(cursor, operator, left, right);
    if (dividesByZero(cursor, operator, right)) return BROKEN;
  }
  return { kind: 'arithmetic', operator, left, right, position };
}

/**
 * Reads the text of a filter, in time linear in its length. Names are not looked up yet.
 * Nothing is thrown for a filter that is at fault: the faults are in the result.
 */
export function parseFilter(text: string): ParsedFilter {
  const cursor = openCursor(text);
  if (at(cursor, 'end')) return { faults: [] };
  try {
    const { filter } = readJoined(cursor);
    if (at(cursor, 'character')) unexpected(cursor, `${JOINER} (a quote inside a text is written \\')`);
    if (!at(cursor, 'end')) unexpected(cursor, JOINER);
    return { filter, faults: cursor.faults };
  } catch (error) {
    if (error instanceof PlatError) return { faults: cursor.faults };
    throw error;
  }
}
