import type { Expression, Literal, ValueType } from '../../tree.ts';
import { isDuration } from '../syntax/literal.ts';
import { midnight } from './literal.ts';
import { durationSeconds } from './moment.ts';
import { isNumber, typeOf } from './types.ts';

/** A value as a timestamp: a date means its midnight in UTC. */
export function asTimestamp(expression: Expression): Expression {
  if (typeOf(expression) !== 'date') return expression;
  return expression.kind === 'literal' && expression.type === 'date'
    ? midnight(expression.value)
    : { kind: 'cast', type: 'timestamp', operand: expression };
}

/** A duration whose prefix was left out (OData 4.01 URL conventions, 5.1.1.14.1); undefined for anything else. */
export function asDuration(expression: Expression): Literal | undefined {
  if (expression.kind !== 'literal' || expression.type !== 'string') return undefined;
  const seconds = isDuration(expression.value) ? durationSeconds(expression.value) : Number.NaN;
  return Number.isFinite(seconds) ? { kind: 'literal', type: 'duration', value: seconds } : undefined;
}

/** A value in a type of the same family; undefined when it does not fit. Null fits everywhere. */
export function fit(expression: Expression, wanted: ValueType): Expression | undefined {
  const type = typeOf(expression);
  if (type === wanted || type === 'null' || (isNumber(type) && isNumber(wanted))) return expression;
  if (wanted === 'timestamp' && type === 'date') return asTimestamp(expression);
  if (wanted === 'duration') return asDuration(expression);
  return undefined;
}

/** The type in which values of two types are compared; undefined when they are not. */
export function commonType(left: ValueType, right: ValueType): ValueType | undefined {
  if (left === right || right === 'null') return left;
  if (left === 'null') return right;
  if (isNumber(left) && isNumber(right)) return 'decimal';
  if (isMoment(left) && isMoment(right)) return 'timestamp';
  if (left === 'duration' && right === 'string') return left;
  return left === 'string' && right === 'duration' ? right : undefined;
}

const isMoment = (type: ValueType): boolean => type === 'date' || type === 'timestamp';

/** Two values in a type of their own, or undefined. */
export function align(left: Expression, right: Expression): readonly [Expression, Expression] | undefined {
  const common = commonType(typeOf(left), typeOf(right));
  if (common === undefined) return undefined;
  const [one, other] = [fit(left, common), fit(right, common)];
  return one && other && [one, other];
}
