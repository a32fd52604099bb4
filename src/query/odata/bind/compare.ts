import { spellingsOf, textsOfIdentifier } from '../../../dictionary/index.ts';
import type { PlatError } from '../../../errors/index.ts';
import type { Comparison, ComparisonOperator, Expression, Literal, ValueType } from '../../tree.ts';
import type { Node } from '../syntax/nodes.ts';
import { shown } from '../syntax/source.ts';
import { align, commonType, fit } from './align.ts';
import type { Bound, BoundCollection, BoundRecord, BoundValue, Environment } from './environment.ts';
import { mismatch, type Place } from './environment.ts';
import { bindNode, singleValue } from './expression.ts';
import { fieldType, inWords, typeInWords, typeOf } from './types.ts';

type Binary = Node & { kind: 'binary' };

/** `eq`, `ne`, `gt`, `ge`, `lt` and `le` (OData 4.01 URL conventions, 5.1.1.1). */
export function bindComparison(env: Environment, node: Binary, operator: ComparisonOperator): Expression {
  const left = bindNode(env, node.left);
  const right = bindNode(env, node.right);
  return (
    presence(left, right, operator) ??
    presence(right, left, operator) ??
    compare(
      env,
      { start: isLiteral(left) && !isLiteral(right) ? node.left.start : node.right.start },
      operator,
      singleValue(env, node.left, left),
      singleValue(env, node.right, right),
    )
  );
}

const isLiteral = (bound: Bound): boolean => bound.kind === 'value' && bound.expression.kind === 'literal';

const isNull = (bound: Bound): boolean => bound.kind === 'value' && typeOf(bound.expression) === 'null';

/** Whether there is a related record: `ListAgent eq null` asks for its key. */
function presence(record: Bound, other: Bound, operator: ComparisonOperator): Expression | undefined {
  if (record.kind !== 'record' || record.via.length === 0 || !isNull(other)) return undefined;
  if (operator !== 'eq' && operator !== 'ne') return undefined;
  return { kind: 'compare', operator, left: keyOf(record), right: NULL };
}

const NULL: Literal = { kind: 'literal', type: 'null', value: null };

function keyOf({ schema, scope, via }: BoundRecord): Expression {
  const { resource } = schema;
  const field = resource.fields.get(resource.key);
  if (field === undefined) throw new Error(`The dictionary has no key field of ${resource.name}`);
  return { kind: 'field', type: fieldType(field), scope, via, field };
}

/** @param place of the operand that a message points at */
function compare(
  env: Environment,
  place: Place,
  operator: ComparisonOperator,
  left: BoundValue,
  right: BoundValue,
): Expression {
  if (operator === 'eq' || operator === 'ne') {
    const spelled = inAnySpelling(left, right) ?? inAnySpelling(right, left);
    if (spelled) return operator === 'eq' ? spelled : { kind: 'not', operand: spelled };
  }
  const pair = align(left.expression, right.expression);
  if (pair === undefined || pair.some(isShape)) {
    throw incomparable(env, place, left, right);
  }
  return { kind: 'compare', operator, left: pair[0], right: pair[1] } satisfies Comparison;
}

/** No two shapes are compared, not even with null: a record has none of its own. */
const isShape = (expression: Expression): boolean => ['point', 'polygon'].includes(typeOf(expression));

/** Quotes too many or too few are the commonest of these mistakes. */
function incomparable(env: Environment, place: Place, left: BoundValue, right: BoundValue): PlatError {
  const [literal, other] = isLiteral(left) ? [left, right] : [right, left];
  let hint = '';
  if (literal.expression.kind === 'literal') {
    const { type, value } = literal.expression;
    const quotable = type !== 'duration' && type !== 'point' && type !== 'polygon';
    if (quotable && typeOf(other.expression) === 'string')
      hint = ` (write '${shown(literal.written ?? String(value))}' for a string)`;
    if (type === 'string') hint = ` (${typeInWords(typeOf(other.expression))} stands without quotes)`;
  }
  const sides = `${inWords(left.expression)} and ${inWords(right.expression)}`;
  return mismatch(env, place, `${sides} cannot be compared${hint}`);
}

/** A lookup value in every spelling that records may hold for it. */
function spellings({ lookup, isOfLookup }: BoundValue, literal: Literal): readonly Literal[] {
  if (literal.type !== 'string') return [literal];
  const texts = isOfLookup === true ? textsOfIdentifier(literal.value) : [literal.value];
  const values = new Set(texts.flatMap((text) => spellingsOf(lookup, text)));
  return [...values].map((value) => ({ kind: 'literal', type: 'string', value }));
}

function inAnySpelling(operand: BoundValue, literal: BoundValue): Expression | undefined {
  if (literal.expression.kind !== 'literal') return undefined;
  const values = spellings(operand, literal.expression);
  return values.length > 1 ? { kind: 'in', operand: operand.expression, values } : undefined;
}

/** `in` with a list of literals or of expressions, or with a multi-valued lookup (5.1.1.1.12). */
export function bindMembership(env: Environment, node: Binary): Expression {
  const operand = singleValue(env, node.left, bindNode(env, node.left));
  const members = bindNode(env, node.right);
  switch (members.kind) {
    case 'collection':
      return anyEquals(env, node.right, members, operand);
    case 'list':
      return inList(env, node, operand, members.items);
    default:
      throw mismatch(env, node.right, 'in takes a list in parentheses or a multi-valued field');
  }
}

function inList(
  env: Environment,
  node: Binary,
  operand: BoundValue,
  items: readonly BoundValue[],
): Expression {
  const literals = items.flatMap((item) =>
    item.expression.kind === 'literal' ? [{ item, literal: item.expression }] : [],
  );
  if (literals.length < items.length) {
    const terms = items.map((item) => compare(env, node.right, 'eq', operand, item));
    return { kind: 'or', terms };
  }
  const type = literals.reduce(
    (held: ValueType, { literal }) => commonType(held, literal.type) ?? held,
    typeOf(operand.expression),
  );
  const values = literals.map(({ item, literal }) => {
    const pair = [fit(operand.expression, type), fit(literal, type)] as const;
    if (pair[0] && pair[1]?.kind === 'literal' && !pair.some((each) => each && isShape(each))) return pair[1];
    throw incomparable(env, node.right, operand, item);
  });
  return {
    kind: 'in',
    operand: fit(operand.expression, type) ?? operand.expression,
    values: values.flatMap((value) => spellings(operand, value)),
  };
}

/** Whether a collection of values holds one. */
function anyEquals(
  env: Environment,
  place: Place,
  { over, element, predicate, name }: BoundCollection,
  value: BoundValue,
): Expression {
  const variable = env.nextScope;
  const member = element(variable);
  if (member.kind !== 'value') throw mismatch(env, place, `${name} is a list of records, not of values`);
  const equal = compare(env, place, 'eq', member, value);
  const whole: Expression = predicate ? { kind: 'and', terms: [predicate, equal] } : equal;
  return { kind: 'any', over, variable, predicate: whole };
}

/** `has`: equality, or for a multi-valued lookup that a member is equal; of several members, of each (5.1.1.1.9). */
export function bindHas(env: Environment, node: Binary): Expression {
  const left = bindNode(env, node.left);
  const right = singleValue(env, node.right, bindNode(env, node.right));
  const lookup = left.kind === 'collection' ? left.element(env.nextScope) : left;
  const terms = members(right, lookup.kind === 'value' ? lookup : undefined).map((member) =>
    left.kind === 'collection'
      ? anyEquals(env, node.left, left, member)
      : compare(env, node, 'eq', singleValue(env, node.left, left), member),
  );
  const [only, second] = terms;
  return only && !second ? only : { kind: 'and', terms };
}

/** The members of an enumeration literal. A comma inside a known value separates nothing. */
function members(literal: BoundValue, holder: BoundValue | undefined): readonly BoundValue[] {
  const { expression } = literal;
  if (expression.kind !== 'literal' || expression.type !== 'string') return [literal];
  if (holder?.lookup?.spellings.has(expression.value)) return [literal];
  return expression.value
    .split(',')
    .map((text) => ({ kind: 'value', expression: { ...expression, value: text.trim() } }) as const);
}
