/** One condition of a filter, as a typed expression. */
import type { ComparisonOperator, Expression } from '../../tree.ts';
import type { Clock, Condition, Scalar, Value, Values } from '../syntax/nodes.ts';
import { tokenOf, typeName } from '../syntax/type-names.ts';
import { type BindContext, noteType } from './context.ts';
import { bindEquality, literalFor } from './equality.ts';
import { negate, together } from './logic.ts';
import { type BoundSide, type BoundValue, bindOperand, type Ranging } from './operand.ts';
import { bindShape } from './shapes.ts';

type OrderWord = 'Gt' | 'Ge' | 'Lt' | 'Le';

/** The operator for a value as given, and for one that lies a little after its literal. */
const ORDERS: Readonly<
  Record<OrderWord, { readonly exact: ComparisonOperator; readonly beyond: ComparisonOperator }>
> = {
  Gt: { exact: 'gt', beyond: 'gt' },
  Ge: { exact: 'ge', beyond: 'gt' },
  Lt: { exact: 'lt', beyond: 'le' },
  Le: { exact: 'le', beyond: 'le' },
};

/** A multi-valued field meets a condition when one of its members does. */
function overMembers(expression: Expression, ranging: readonly Ranging[]): Expression {
  return ranging.reduceRight<Expression>(
    (predicate, { collection, variable }) => ({ kind: 'any', over: collection, variable, predicate }),
    expression,
  );
}

const isPlain = (value: Value): value is Scalar | Clock => value.kind === 'scalar' || value.kind === 'clock';

function bindOrder(
  context: BindContext,
  side: BoundValue,
  operator: OrderWord,
  value: Value | undefined,
): Expression | undefined {
  if (value === undefined || !isPlain(value)) return undefined;
  const found = literalFor(context, side, value);
  if (found === undefined) return undefined;
  const { exact, beyond } = ORDERS[operator];
  return {
    kind: 'compare',
    operator: found.beyond ? beyond : exact,
    left: side.expression,
    right: found.literal,
  };
}

function bindBetween(
  context: BindContext,
  side: BoundValue,
  values: readonly Value[],
): Expression | undefined {
  const low = bindOrder(context, side, 'Ge', values[0]);
  const high = bindOrder(context, side, 'Le', values[1]);
  return low === undefined || high === undefined ? undefined : together('and', [low, high]);
}

const isNull = ({ values }: Values): boolean => {
  const [first] = values;
  return first?.kind === 'scalar' && first.type === 'null';
};

/** A multi-valued field is null when it has no members. */
function emptiness(side: BoundValue, [first, second]: readonly Ranging[]): Expression | undefined {
  if (side.expression.kind !== 'variable' || first === undefined || second !== undefined) return undefined;
  return { kind: 'not', operand: { kind: 'any', over: first.collection, variable: first.variable } };
}

function bindEqual(
  context: BindContext,
  side: BoundValue,
  right: Values,
  ranging: readonly Ranging[],
): Expression | undefined {
  const empty = isNull(right) ? emptiness(side, ranging) : undefined;
  if (empty !== undefined) return empty;
  const found = bindEquality(context, side, right.values);
  return found === undefined ? undefined : overMembers(found, ranging);
}

/** Binds each value on its own; the first one at fault ends it, so that one condition is one fault. */
function eachOf(
  values: readonly Value[],
  bindOne: (value: Value) => Expression | undefined,
): readonly Expression[] | undefined {
  const bound: Expression[] = [];
  for (const value of values) {
    const one = bindOne(value);
    if (one === undefined) return undefined;
    bound.push(one);
  }
  return bound;
}

/** Each value is met by some member. */
function bindAll(
  context: BindContext,
  side: BoundValue,
  right: Values,
  ranging: readonly Ranging[],
): Expression | undefined {
  const met = eachOf(right.values, (value) =>
    bindEqual(context, side, { ...right, values: [value] }, ranging),
  );
  return met === undefined ? undefined : together('and', met);
}

function bindLocation(
  context: BindContext,
  { location, name }: Extract<BoundSide, { kind: 'location' }>,
  { values }: Values,
): Expression | undefined {
  const shapes = eachOf(values, (value) => {
    if (value.kind === 'shape') return bindShape(context, location, value);
    const reason = `${name} is compared with a shape such as radius('latitude longitude',miles), not with ${typeName(value.type)}`;
    return noteType(context, reason, tokenOf(value), value.position);
  });
  return shapes === undefined ? undefined : together('or', shapes);
}

/** What `Ne` means: the other way round, in its plainest form. */
function opposite(expression: Expression): Expression {
  if (expression.kind === 'compare' && expression.operator === 'eq') return { ...expression, operator: 'ne' };
  return expression.kind === 'not' ? expression.operand : negate(expression);
}

function bindEither(
  context: BindContext,
  side: BoundSide,
  right: Values,
  ranging: readonly Ranging[],
): Expression | undefined {
  switch (side.kind) {
    case 'location':
      return bindLocation(context, side, right);
    case 'all':
      return bindAll(context, side.of, right, ranging);
    case 'value':
      return bindEqual(context, side, right, ranging);
  }
}

function bindSide(
  context: BindContext,
  side: BoundSide,
  { operator, position }: Condition,
  right: Values,
  ranging: readonly Ranging[],
): Expression | undefined {
  if (operator === 'Eq' || operator === 'Ne') {
    const found = bindEither(context, side, right, ranging);
    return found !== undefined && operator === 'Ne' ? opposite(found) : found;
  }
  if (side.kind !== 'value') {
    const name = side.kind === 'all' ? 'all()' : side.name;
    return noteType(context, `${name} takes Eq or Ne`, operator, position);
  }
  const found =
    operator === 'Bt'
      ? bindBetween(context, side, right.values)
      : bindOrder(context, side, operator, right.values[0]);
  return found === undefined ? undefined : overMembers(found, ranging);
}

/** Undefined when a fault has been noted, now or when the condition was read. */
export function bindCondition(context: BindContext, condition: Condition): Expression | undefined {
  const ranging: Ranging[] = [];
  const side = bindOperand(context, condition.left, ranging);
  if (side === undefined || condition.right.kind === 'broken') return undefined;
  return bindSide(context, side, condition, condition.right, ranging);
}
