import type { ArithmeticOperator, Expression, ValueType } from '../../tree.ts';
import type { Node } from '../syntax/nodes.ts';
import { asDuration, asTimestamp } from './align.ts';
import { type Environment, mismatch } from './environment.ts';
import { bindValue } from './expression.ts';
import { inWords, isNumber, typeOf } from './types.ts';

type Operands = readonly [Expression, Expression];

/** `add`, `sub`, `mul`, `div`, `divby` and `mod` of numbers, dates and durations (OData 4.01 URL conventions, 5.1.1.2). */
export function bindArithmetic(
  env: Environment,
  node: Node & { kind: 'binary' },
  operator: ArithmeticOperator,
): Expression {
  const given: Operands = [bindValue(env, node.left), bindValue(env, node.right)];
  const [left, right] = typed(given);
  const type = resultType(operator, typeOf(left), typeOf(right));
  if (type === undefined) {
    throw mismatch(env, node, `${operator} does not work on ${inWords(given[0])} and ${inWords(given[1])}`);
  }
  return { kind: 'arithmetic', type, operator, left, right };
}

/** Durations without prefix become durations beside times, and a date beside a timestamp its midnight. */
function typed([left, right]: Operands): Operands {
  const types = [typeOf(left), typeOf(right)];
  if (types.includes('date') && types.includes('timestamp')) return [asTimestamp(left), asTimestamp(right)];
  if (types.includes('string')) return [asDuration(left) ?? left, asDuration(right) ?? right];
  return [left, right];
}

const isMoment = (type: ValueType): boolean => type === 'date' || type === 'timestamp';

function resultType(operator: ArithmeticOperator, left: ValueType, right: ValueType): ValueType | undefined {
  // Null with anything is null, in the type of the other side.
  if (left === 'null') return right === 'null' ? 'null' : resultType(operator, other(right), right);
  if (right === 'null') return resultType(operator, left, other(left));
  if (isNumber(left) && isNumber(right)) {
    return operator !== 'divby' && left === 'integer' && right === 'integer' ? 'integer' : 'decimal';
  }
  switch (operator) {
    case 'add':
      if (right === 'duration' && (left === 'duration' || isMoment(left))) return left;
      return left === 'duration' && isMoment(right) ? right : undefined;
    case 'sub':
      if (right === 'duration' && (left === 'duration' || isMoment(left))) return left;
      return left === right && isMoment(left) ? 'duration' : undefined;
    case 'mul':
      if (left === 'duration' && isNumber(right)) return left;
      return isNumber(left) && right === 'duration' ? right : undefined;
    case 'div':
    case 'divby':
      return left === 'duration' && isNumber(right) ? left : undefined;
    case 'mod':
      return undefined;
  }
}

/** The type that null is taken for beside another. */
const other = (type: ValueType): ValueType => (isMoment(type) ? 'duration' : type);

/** `-x`. A negated literal is a literal. */
export function bindNegation(env: Environment, node: Node & { kind: 'negate' }): Expression {
  const operand = bindValue(env, node.operand);
  const type = typeOf(operand);
  if (operand.kind === 'literal') {
    switch (operand.type) {
      case 'integer':
      case 'decimal':
      case 'duration':
        return { ...operand, value: 0 - operand.value };
      case 'null':
        return operand;
    }
  }
  if (!isNumber(type) && type !== 'duration')
    throw mismatch(env, node, `${inWords(operand)} has no negative`);
  return { kind: 'negate', type, operand };
}
