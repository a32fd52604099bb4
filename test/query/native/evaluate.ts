/** The value of an expression of the tree for one record, with three-valued logic. */
import type { FieldValue } from '../../../src/dictionary/index.ts';
import type { Expression, LikePart } from '../../../src/query/tree.ts';

type Record = Readonly<{ [name: string]: FieldValue }>;
type Value = string | number | boolean | null;
type Members = ReadonlyMap<number, Value>;

const ESCAPE = /[\\^$.*+?()[\]{}|]/g;

function likePattern(parts: readonly LikePart[]): RegExp {
  const source = parts.map((part) => {
    if (part.kind === 'text') return part.text.replace(ESCAPE, '\\$&');
    return part.kind === 'any' ? '[^]*' : '[^]';
  });
  return new RegExp(`^${source.join('')}$`, 'u');
}

function compareValues(operator: string, left: Value, right: Value): boolean {
  if (operator === 'eq') return left === right;
  if (operator === 'ne') return left !== right;
  if (left === null || right === null) return false;
  switch (operator) {
    case 'gt':
      return left > right;
    case 'ge':
      return left >= right;
    case 'lt':
      return left < right;
    default:
      return left <= right;
  }
}

const single = (value: FieldValue | undefined): Value =>
  value === undefined || (typeof value === 'object' && value !== null) ? null : value;

export function evaluate(expression: Expression, record: Record, members: Members = new Map()): Value {
  const value = (part: Expression): Value => evaluate(part, record, members);
  switch (expression.kind) {
    case 'literal':
      return typeof expression.value === 'object' ? null : expression.value;
    case 'field':
      return single(record[expression.field.name]);
    case 'variable':
      return members.get(expression.scope) ?? null;
    case 'compare':
      return compareValues(expression.operator, value(expression.left), value(expression.right));
    case 'in':
      return expression.values.some((one) => value(one) === value(expression.operand));
    case 'and':
    case 'or': {
      const decisive = expression.kind === 'or';
      const terms = expression.terms.map(value);
      if (terms.includes(decisive)) return decisive;
      return terms.includes(null) ? null : !decisive;
    }
    case 'not': {
      const operand = value(expression.operand);
      return operand === null ? null : !operand;
    }
    case 'like': {
      const operand = value(expression.operand);
      return operand === null ? null : likePattern(expression.pattern).test(String(operand));
    }
    case 'any': {
      const field = expression.over.kind === 'values' ? record[expression.over.field.name] : undefined;
      const all = typeof field === 'object' && field !== null ? field : [];
      const { predicate, variable } = expression;
      if (predicate === undefined) return all.length > 0;
      return all.some((one) => evaluate(predicate, record, new Map([...members, [variable, one]])) === true);
    }
    default:
      throw new Error(`The tests do not evaluate ${expression.kind}`);
  }
}
