/** The right side of a condition: a value, a list of values, a range, or arithmetic between literals. */
import { typeFault } from '../faults.ts';
import { readCall } from './calls.ts';
import {
  advance,
  at,
  type Cursor,
  closeParenthesis,
  LIMITS,
  openParenthesis,
  tooMany,
  unexpected,
} from './cursor.ts';
import {
  type ArithmeticWord,
  BROKEN,
  type Broken,
  type Value,
  type Values,
  type ValueType,
} from './nodes.ts';
import { arithmeticWord } from './operators.ts';
import { fold, foldNegation, isNumber, type LiteralPlace, takeLiteral } from './scalars.ts';
import { tokenOf, typeName } from './type-names.ts';

const VALUE =
  'a value: a number, a date, true, false, NULL, a function, or a text in single quotes (a field cannot stand here)';

type Side = Values | Broken;

const single = (value: Value | Broken): Side =>
  value.kind === 'broken'
    ? BROKEN
    : { kind: 'values', type: value.type, values: [value], position: value.position };

/** The type that two members of a list share; undefined where there is none. */
function sharedType(left: ValueType, right: ValueType): ValueType | undefined {
  if (left === right) return left;
  const both = new Set([left, right]);
  if (both.has('date') && both.has('datetime')) return 'datetime';
  return both.has('integer') && both.has('decimal') ? 'decimal' : undefined;
}

function joined(cursor: Cursor, first: Value, others: readonly Value[]): Side {
  let { type } = first;
  for (const value of others) {
    const shared = sharedType(type, value.type);
    if (shared === undefined) {
      const [one, other] = [typeName(first.type), typeName(value.type)];
      const reason = `the values differ in type, ${one} stands first and here ${other}`;
      cursor.faults.push(typeFault(reason, tokenOf(value), value.position));
      return BROKEN;
    }
    type = shared;
  }
  return { kind: 'values', type, values: [first, ...others], position: first.position };
}

/** One member behind a comma; a function there may hold further ones. */
function readMember(cursor: Cursor, place: LiteralPlace): Value | Broken {
  if (at(cursor, 'function')) {
    const called = readCall(cursor, 'right');
    return called.kind === 'call' ? BROKEN : called;
  }
  const expected =
    place === 'list' ? 'a number, a text in single quotes or a function' : 'a number, a date or a function';
  return takeLiteral(cursor, place) ?? unexpected(cursor, expected);
}

/** The members behind the first one. */
function readList(cursor: Cursor, first: Value | Broken): Side {
  const members: (Value | Broken)[] = [];
  while (at(cursor, ',')) {
    advance(cursor);
    if (members.length + 1 === LIMITS.values) tooMany(cursor, 'values in one condition', LIMITS.values);
    members.push(readMember(cursor, 'list'));
  }
  const others = members.filter((member) => member.kind !== 'broken');
  return first.kind === 'broken' || others.length < members.length ? BROKEN : joined(cursor, first, others);
}

function readPrimary(cursor: Cursor): Side {
  const { kind } = cursor.token;
  if (kind === '(') {
    openParenthesis(cursor);
    const inner = readSum(cursor);
    closeParenthesis(cursor);
    return inner;
  }
  if (kind === 'minus') return readNegation(cursor);
  if (kind === 'function') {
    const called = readCall(cursor, 'right-plain');
    const value = called.kind === 'call' ? BROKEN : called;
    return at(cursor, ',') ? readList(cursor, value) : single(value);
  }
  const listed = takeLiteral(cursor, 'list');
  if (listed !== undefined) return at(cursor, ',') ? readList(cursor, listed) : single(listed);
  const alone = takeLiteral(cursor, 'anywhere');
  return single(alone ?? unexpected(cursor, VALUE));
}

function readNegation(cursor: Cursor): Side {
  const { position } = cursor.token;
  let negative = false;
  while (at(cursor, 'minus')) {
    advance(cursor);
    negative = !negative;
  }
  const side = readPrimary(cursor);
  const number = side.kind === 'values' ? oneNumber(side) : undefined;
  if (number !== undefined) return negative ? single(foldNegation(number, position)) : side;
  if (side.kind === 'values') {
    cursor.faults.push(typeFault('only a single number can be negative', '-', position));
  }
  return BROKEN;
}

function oneNumber({ values }: Values) {
  const [first, second] = values;
  return first !== undefined && second === undefined && isNumber(first) ? first : undefined;
}

function combine(cursor: Cursor, operator: ArithmeticWord, left: Side, right: Side): Side {
  if (left.kind === 'broken' || right.kind === 'broken') return BROKEN;
  const [first, second] = [oneNumber(left), oneNumber(right)];
  if (first === undefined || second === undefined) {
    const odd = first === undefined ? left : right;
    const found = odd.values.length > 1 ? 'a list' : typeName(odd.type);
    cursor.faults.push(typeFault(`${operator} takes numbers, not ${found}`, operator, odd.position));
    return BROKEN;
  }
  return single(fold(cursor, operator, first, second));
}

/** Left to right; `Mul`, `Div` and `Mod` before `Add` and `Sub`. */
function readChain(cursor: Cursor, strength: 'sum' | 'product', next: (cursor: Cursor) => Side): Side {
  let left = next(cursor);
  for (let count = 2; ; count += 1) {
    const operator = arithmeticWord(cursor.token, strength);
    if (operator === undefined) return left;
    if (count > LIMITS.values) tooMany(cursor, 'values in one condition', LIMITS.values);
    advance(cursor);
    left = combine(cursor, operator, left, next(cursor));
  }
}

const readProduct = (cursor: Cursor): Side => readChain(cursor, 'product', readPrimary);
const readSum = (cursor: Cursor): Side => readChain(cursor, 'sum', readProduct);

/** What stands behind `Eq` and the other comparisons. */
export const readCondition = readSum;

/** What stands behind `Bt`: exactly two ends. */
export function readRange(cursor: Cursor): Side {
  const low = readMember(cursor, 'range');
  if (!at(cursor, ',')) unexpected(cursor, 'a comma and the upper end of the range');
  advance(cursor);
  const high = readMember(cursor, 'range');
  return low.kind === 'broken' || high.kind === 'broken' ? BROKEN : joined(cursor, low, [high]);
}
