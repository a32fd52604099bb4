import { parseCall } from './call.ts';
import { accept, type Cursor, expect, expectEnd, nested, peek, startAt, take, unexpected } from './cursor.ts';
import type { BinaryOperator, Node } from './nodes.ts';
import { parsePath } from './path.ts';
import { type Source, syntaxError } from './source.ts';

type Infix = BinaryOperator | 'and' | 'or';

/** How tightly an operator binds (OData 4.01 URL conventions, 5.1.1.17). */
const PRECEDENCE: ReadonlyMap<string, readonly [Infix, number]> = new Map(
  (
    [
      [['or'], 1],
      [['and'], 2],
      [['eq', 'ne'], 3],
      [['gt', 'ge', 'lt', 'le'], 4],
      [['add', 'sub'], 5],
      [['mul', 'div', 'divby', 'mod'], 6],
      [['has', 'in'], 8],
    ] as const
  ).flatMap(([operators, level]) =>
    operators.map((operator): [string, readonly [Infix, number]] => [operator, [operator, level]]),
  ),
);
/** `-` and `not` stand between multiplication and `has`. */
const UNARY = 7;
const LOWEST = 1;

/** Reads an expression and whatever binds at least as tightly as `level`. Equal operators associate to the left. */
export function parseExpression(cursor: Cursor, level = LOWEST): Node {
  return nested(cursor, () => {
    const { start } = peek(cursor);
    let left = parseOperand(cursor);
    /** The operands of the `and` or `or` that is being collected. */
    let collected: { kind: 'and' | 'or'; operands: Node[] } | undefined;
    for (;;) {
      const token = peek(cursor);
      const infix = token.kind === 'name' ? PRECEDENCE.get(token.name.toLowerCase()) : undefined;
      if (infix === undefined || infix[1] < level) return left;
      take(cursor);
      const [operator, binding] = infix;
      if (operator === 'and' || operator === 'or') {
        const right = parseExpression(cursor, binding + 1);
        if (collected?.kind === operator) {
          collected.operands.push(right);
        } else {
          collected = { kind: operator, operands: [left, right] };
          left = { ...collected, start };
        }
      } else {
        const right =
          operator === 'in' ? parseMembers(cursor, binding) : parseExpression(cursor, binding + 1);
        left = { kind: 'binary', operator, left, right, start };
        collected = undefined;
      }
    }
  });
}

function parseOperand(cursor: Cursor): Node {
  const token = peek(cursor);
  const { start } = token;
  switch (token.kind) {
    case 'literal':
      take(cursor);
      return { kind: 'literal', literal: token.literal, start };
    case 'system':
    case 'at':
      return parsePath(cursor);
    case 'name':
      if (token.name.toLowerCase() === 'not') {
        take(cursor);
        return { kind: 'not', operand: parseExpression(cursor, UNARY), start };
      }
      return cursor.source.text[token.end] === '(' ? parseCall(cursor) : parsePath(cursor);
    case 'json':
      throw unexpected(cursor, 'a value; a string stands in single quotes');
    case 'symbol':
      switch (token.symbol) {
        case '(':
          return bracketed(cursor, () => {
            const inner = parseExpression(cursor);
            expect(cursor, ')', ' or an operator');
            return inner;
          });
        case '-':
          take(cursor);
          return { kind: 'negate', operand: parseExpression(cursor, UNARY), start };
        case '[':
          return parseArray(cursor);
        case '{':
          return parseObject(cursor);
      }
  }
  throw unexpected(cursor, 'a field, a value or a function');
}

/** Takes an opening bracket and reads on; inside brackets times are times again. */
export function bracketed<T>(cursor: Cursor, read: () => T): T {
  const { splitTimes } = cursor;
  cursor.splitTimes = false;
  take(cursor);
  const result = read();
  cursor.splitTimes = splitTimes;
  cursor.ahead = undefined;
  return result;
}

const isPlain = (node: Node): boolean =>
  node.kind === 'literal' ||
  (node.kind === 'negate' && node.operand.kind === 'literal') ||
  (node.kind === 'path' && node.segments.length === 1 && node.segments[0].kind === 'at');

/** What stands after `in`: a list of literals in parentheses, or any expression. */
function parseMembers(cursor: Cursor, binding: number): Node {
  const { start } = peek(cursor);
  if (cursor.source.text[start] !== '(') return parseExpression(cursor, binding + 1);
  return bracketed(cursor, () => {
    const items: Node[] = [];
    if (accept(cursor, ')')) return { kind: 'list', items, start };
    do {
      const item = parseExpression(cursor);
      if (!isPlain(item)) {
        if (items.length > 0)
          throw syntaxError(cursor.source, item.start, 'no literal', 'literals in a list');
        expect(cursor, ')', ', since a list holds only literals');
        return item;
      }
      items.push(item);
    } while (accept(cursor, ','));
    expect(cursor, ')', ' or ","');
    return { kind: 'list', items, start };
  });
}

function parseArray(cursor: Cursor): Node {
  const { start } = peek(cursor);
  return bracketed(cursor, () => {
    const items: Node[] = [];
    if (accept(cursor, ']')) return { kind: 'list', items, start };
    do items.push(parseJsonValue(cursor));
    while (accept(cursor, ','));
    expect(cursor, ']', ' or ","');
    return { kind: 'list', items, start };
  });
}

function parseObject(cursor: Cursor): Node {
  const { start } = peek(cursor);
  return bracketed(cursor, () => {
    const members: { name: string; value: Node }[] = [];
    if (accept(cursor, '}')) return { kind: 'object', members, start };
    do {
      const token = peek(cursor);
      if (token.kind !== 'json') throw unexpected(cursor, 'a name in double quotes');
      take(cursor);
      expect(cursor, ':');
      members.push({ name: token.value, value: parseJsonValue(cursor) });
    } while (accept(cursor, ','));
    expect(cursor, '}', ' or ","');
    return { kind: 'object', members, start };
  });
}

/** Inside arrays and objects a string may also stand in double quotes (OData ABNF, valueInUrl). */
function parseJsonValue(cursor: Cursor): Node {
  const token = peek(cursor);
  if (token.kind !== 'json') return parseExpression(cursor);
  take(cursor);
  return { kind: 'literal', literal: { form: 'string', text: token.value }, start: token.start };
}

/**
 * Reads a whole text as one expression (OData ABNF, commonExpr).
 * @throws syntax, filterTooLarge
 */
export function parseExpressionText(source: Source): Node {
  const cursor = startAt(source);
  const node = parseExpression(cursor);
  expectEnd(cursor, 'an operator, such as eq or and,');
  return node;
}
