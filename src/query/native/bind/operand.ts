/** The left side of a condition: names become fields, types are checked. */

import type { Field, Navigation } from '../../../dictionary/index.ts';
import type { ArithmeticOperator, Collection, Expression, Location, Scope } from '../../tree.ts';
import { shortened } from '../faults.ts';
import { castType } from '../syntax/functions.ts';
import type { ArithmeticWord, FieldCall, FieldName, Operand, Scalar } from '../syntax/nodes.ts';
import { coerce, type SideType, wantedName } from './coerce.ts';
import { type BindContext, noteType, noteUnknown, writtenName } from './context.ts';
import { FIELD_FUNCTIONS } from './functions.ts';

/** A multi-valued field; the expression sees its members one by one, as the variable. */
export interface Ranging {
  readonly collection: Collection;
  readonly variable: Scope;
}

export interface BoundValue {
  readonly kind: 'value';
  readonly expression: Expression;
  readonly type: SideType;
  /** Whether it is more than a field alone. */
  readonly computed: boolean;
  /** The lookup of a field that stands alone, whose other spellings mean the same. */
  readonly lookup?: string | undefined;
  /** As messages name it. */
  readonly name: string;
}

export type BoundSide =
  | BoundValue
  /** `all(field)`: the field has each value of the list. */
  | { readonly kind: 'all'; readonly of: BoundValue }
  | { readonly kind: 'location'; readonly location: Location; readonly name: string };

const CASTS = { character: 'string', decimal: 'decimal', integer: 'integer' } as const;

const OPERATORS: Readonly<Record<ArithmeticWord, ArithmeticOperator>> = {
  Add: 'add',
  Sub: 'sub',
  Mul: 'mul',
  Div: 'div',
  Mod: 'mod',
};

const isNumeric = (type: SideType): type is 'integer' | 'decimal' => type === 'integer' || type === 'decimal';

function bindField(field: Field, via: readonly Navigation[], name: string, ranging: Ranging[]): BoundValue {
  const type = field.type.kind;
  const known = { kind: 'value', type, computed: false, lookup: field.lookup, name } as const;
  if (!field.collection) {
    return { ...known, expression: { kind: 'field', type, scope: 0, via, field } };
  }
  const variable = ranging.length + 1;
  ranging.push({ collection: { kind: 'values', scope: 0, via, field }, variable });
  return { ...known, expression: { kind: 'variable', type, scope: variable } };
}

function bindConstant(text: string, name: string): BoundValue {
  const expression: Expression = { kind: 'literal', type: 'string', value: text };
  return { kind: 'value', expression, type: 'string', computed: false, name };
}

function bindName(context: BindContext, named: FieldName, ranging: Ranging[]): BoundSide | undefined {
  const { names } = context;
  const found = named.kind === 'name' ? names.find(named.name) : names.findCustom(named.group, named.label);
  const name = writtenName(named);
  switch (found.kind) {
    case 'field':
      return bindField(found.field, found.via, name, ranging);
    case 'computed':
      return { kind: 'value', expression: found.expression, type: 'string', computed: true, name };
    case 'constant':
      return bindConstant(found.text, name);
    case 'location':
      return { kind: 'location', location: found.location, name };
    case 'composite':
      return noteType(
        context,
        `${name} is made of several fields and cannot be compared`,
        name,
        named.position,
      );
    case 'hidden':
    case 'unknown':
      return noteUnknown(context, named);
  }
}

/** Wherever a single value is needed: not a shape, not `all()`. */
function bindValue(context: BindContext, operand: Operand, ranging: Ranging[]): BoundValue | undefined {
  const side = bindOperand(context, operand, ranging);
  if (side === undefined || side.kind === 'value') return side;
  const { position } = operand.kind === 'broken' ? { position: 1 } : operand;
  return side.kind === 'all'
    ? noteType(context, 'all() stands alone on the left side', 'all', position)
    : noteType(context, `${side.name} can only be compared with a shape`, side.name, position);
}

const literalOf = (context: BindContext, scalar: Scalar): BoundValue | undefined => {
  const type = scalar.type === 'character' ? 'string' : scalar.type === 'integer' ? 'integer' : 'decimal';
  const coerced = coerce(scalar, type, context.now);
  if (coerced.kind === 'literal') {
    return { kind: 'value', expression: coerced.literal, type, computed: true, name: shortened(scalar.text) };
  }
  const reason =
    coerced.kind === 'impossible' ? coerced.reason : `${shortened(scalar.text)} cannot stand here`;
  return noteType(context, reason, scalar.text, scalar.position);
};

function bindCall(context: BindContext, call: FieldCall, ranging: Ranging[]): BoundSide | undefined {
  const of = bindValue(context, call.of, ranging);
  if (of === undefined) return undefined;
  if (call.function === 'all') return { kind: 'all', of };
  const name = `${call.function}(${of.name})`;
  if (call.function === 'cast') {
    const type = CASTS[castType(call.rest[0]?.text ?? '') ?? 'character'];
    const expression: Expression = { kind: 'cast', type, operand: of.expression };
    return { kind: 'value', expression, type, computed: true, name };
  }
  const { takes, needs, gives: type } = FIELD_FUNCTIONS[call.function];
  if (!takes.includes(of.type)) {
    const reason = `${call.function}() takes ${needs}, but ${of.name} is ${wantedName(of.type)}`;
    return noteType(context, reason, of.name, call.position);
  }
  const rest = call.rest.flatMap((scalar) => literalOf(context, scalar)?.expression ?? []);
  const expression: Expression = {
    kind: 'call',
    type,
    function: call.function,
    arguments: [of.expression, ...rest],
  };
  return { kind: 'value', expression, type, computed: true, name };
}

function bindArithmetic(
  context: BindContext,
  { operator, left, right, position }: Extract<Operand, { kind: 'arithmetic' }>,
  ranging: Ranging[],
): BoundValue | undefined {
  const sides = [bindValue(context, left, ranging), bindValue(context, right, ranging)];
  const odd = sides.find((side) => side !== undefined && !isNumeric(side.type));
  if (odd !== undefined) {
    const reason = `${operator} takes numbers, but ${odd.name} is ${wantedName(odd.type)}`;
    return noteType(context, reason, odd.name, position);
  }
  const [first, second] = sides;
  if (first === undefined || second === undefined) return undefined;
  const type = first.type === 'integer' && second.type === 'integer' ? 'integer' : 'decimal';
  const expression: Expression = {
    kind: 'arithmetic',
    type,
    operator: OPERATORS[operator],
    left: first.expression,
    right: second.expression,
  };
  return {
    kind: 'value',
    expression,
    type,
    computed: true,
    name: 'the computed left side',
  };
}

function bindNegation(
  context: BindContext,
  { operand, position }: Extract<Operand, { kind: 'negate' }>,
  ranging: Ranging[],
): BoundValue | undefined {
  const bound = bindValue(context, operand, ranging);
  if (bound === undefined) return undefined;
  const { type, name } = bound;
  if (!isNumeric(type)) {
    return noteType(context, `${name} is ${wantedName(type)} and cannot be negative`, name, position);
  }
  const expression: Expression = { kind: 'negate', type, operand: bound.expression };
  return { kind: 'value', expression, type, computed: true, name: `-${name}` };
}

/**
 * @param ranging gets the multi-valued fields that are met
 * @returns undefined when a fault has been noted
 */
export function bindOperand(
  context: BindContext,
  operand: Operand,
  ranging: Ranging[],
): BoundSide | undefined {
  switch (operand.kind) {
    case 'name':
    case 'custom':
      return bindName(context, operand, ranging);
    case 'call':
      return bindCall(context, operand, ranging);
    case 'arithmetic':
      return bindArithmetic(context, operand, ranging);
    case 'negate':
      return bindNegation(context, operand, ranging);
    case 'scalar':
      return literalOf(context, operand);
    default:
      // Anything else was noted as a fault when it was read.
      return undefined;
  }
}
