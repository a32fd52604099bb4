import { type Field, REPLICA_STAMP } from '../dictionary/index.ts';
import type {
  Comparison,
  ComparisonOperator,
  Expression,
  Literal,
  Membership,
  ValueType,
} from '../query/tree.ts';
import { collectionCondition } from './collection.ts';
import type { Context } from './context.ts';
import { conditionAt, type Place, placeOf } from './fields.ts';
import { all, chain, join, type Sql, sql } from './fragment.ts';
import { distanceCondition, withinCondition } from './geo.ts';
import { literalSql, typeOf, value } from './value.ts';

/**
 * Compiles an expression to an SQL condition.
 * @param exact false where a condition that is null may as well be false, as at the top of a filter; the plain
 *   forms that serve an index are then enough. Below a `not` the difference matters.
 */
export function condition(context: Context, expression: Expression, exact: boolean): Sql {
  switch (expression.kind) {
    case 'and':
      return all(expression.terms.map((term) => condition(context, term, exact)));
    case 'or':
      return chain(
        expression.terms.map((term) => condition(context, term, exact)),
        ' OR ',
      );
    case 'not':
      return sql`NOT (${condition(context, expression.operand, true)})`;
    case 'compare':
      return comparison(context, expression, exact);
    case 'in':
      return membership(context, expression, exact);
    case 'matches':
      return context.dialect.matches(
        value(context, expression.operand),
        expression.pattern,
        expression.ignoreCase,
      );
    case 'like':
      return context.dialect.like(value(context, expression.operand), expression.pattern);
    case 'within':
      return withinCondition(context, expression, exact);
    case 'any':
    case 'all':
      return collectionCondition(context, expression);
    case 'literal':
      return truth(expression);
    case 'field':
    case 'variable':
    case 'call':
    case 'cast':
    case 'case':
      return sql`(${value(context, expression)})`;
    case 'arithmetic':
    case 'negate':
    case 'count':
    case 'distance':
      throw new Error(`An expression of kind ${expression.kind} is no condition`);
  }
}

function truth(literal: Literal): Sql {
  if (literal.value === null) return sql`NULL`;
  return literal.value === true ? sql`TRUE` : sql`FALSE`;
}

const OPERATORS: Readonly<Record<ComparisonOperator, Sql>> = {
  eq: sql` = `,
  ne: sql` IS DISTINCT FROM `,
  gt: sql` > `,
  ge: sql` >= `,
  lt: sql` < `,
  le: sql` <= `,
};

const MIRRORED: Readonly<Record<ComparisonOperator, ComparisonOperator>> = {
  eq: 'eq',
  ne: 'ne',
  gt: 'lt',
  ge: 'le',
  lt: 'gt',
  le: 'ge',
};

const isNull = (expression: Expression): boolean =>
  expression.kind === 'literal' && expression.value === null;

function comparison(context: Context, expression: Comparison, exact: boolean): Sql {
  const { operator, left, right } = expression;
  if (isNull(left) && !isNull(right)) {
    return comparison(
      context,
      { ...expression, operator: MIRRORED[operator], left: right, right: left },
      exact,
    );
  }
  if (isNull(right)) return nullComparison(context, operator, left);
  if (left.kind === 'distance' && right.kind === 'literal') {
    return distanceCondition(context, left, operator, right, exact);
  }
  if (left.kind === 'literal' && right.kind === 'field') {
    return comparison(
      context,
      { ...expression, operator: MIRRORED[operator], left: right, right: left },
      exact,
    );
  }
  const [leftType, rightType] = commonTypes(typeOf(left), typeOf(right));
  if (
    !exact &&
    operator !== 'ne' &&
    left.kind === 'field' &&
    right.kind === 'literal' &&
    leftType === left.type
  ) {
    const literal = operand(context, right, rightType);
    const late = beginsLately(context, left.field, operator, right);
    return conditionAt(placeOfField(context, left), (column) => {
      const compared = sql`${column}${OPERATORS[operator]}${literal}`;
      return late ? context.dialect.rare(compared) : compared;
    });
  }
  const sides = [operand(context, left, leftType), operand(context, right, rightType)] as const;
  if (operator === 'ne') return sql`${sides[0]}${OPERATORS.ne}${sides[1]}`;
  if (operator === 'eq' && exact) return sql`${sides[0]} IS NOT DISTINCT FROM ${sides[1]}`;
  if (operator === 'eq' && right.kind !== 'literal' && left.kind !== 'literal') {
    return sql`${sides[0]} IS NOT DISTINCT FROM ${sides[1]}`; // null eq null is true
  }
  const plain = sql`${sides[0]}${OPERATORS[operator]}${sides[1]}`;
  return exact ? sql`coalesce(${plain}, FALSE)` : plain;
}

/** What changed since then is few of many, as the engines cannot know: they would look at every record. */
const LATELY = 2 * 86_400_000;
const CHANGE_STAMPS: ReadonlySet<string> = new Set(['ModificationTimestamp', REPLICA_STAMP]);

/** Whether a condition asks for the changes of the last days, as one who replicates does. */
function beginsLately(context: Context, field: Field, operator: ComparisonOperator, from: Literal): boolean {
  if (!CHANGE_STAMPS.has(field.name) || (operator !== 'gt' && operator !== 'ge')) return false;
  return typeof from.value === 'string' && Date.parse(from.value) > Date.parse(context.now) - LATELY;
}

/** Against null: equality asks for absence, an order is never true. */
function nullComparison(context: Context, operator: ComparisonOperator, left: Expression): Sql {
  switch (operator) {
    case 'eq':
      return sql`${operand(context, left, typeOf(left))} IS NULL`;
    case 'ne':
      return sql`${operand(context, left, typeOf(left))} IS NOT NULL`;
    case 'gt':
    case 'ge':
    case 'lt':
    case 'le':
      return sql`FALSE`;
  }
}

/** A date beside a timestamp means its midnight in UTC; numbers need no common type. */
function commonTypes(left: ValueType, right: ValueType): [ValueType, ValueType] {
  const mixed = (left === 'date' && right === 'timestamp') || (left === 'timestamp' && right === 'date');
  return mixed ? ['timestamp', 'timestamp'] : [left, right];
}

/** The value of one side, as the type in which both are compared. */
function operand(context: Context, expression: Expression, type: ValueType): Sql {
  const own = typeOf(expression);
  const compiled =
    own === 'boolean' && expression.kind !== 'literal'
      ? sql`(${condition(context, expression, true)})`
      : value(context, expression);
  return own === type ? compiled : context.dialect.cast(own, type, compiled);
}

function placeOfField(context: Context, field: Expression & { kind: 'field' }): Place {
  return placeOf(context, field.scope, field.via, field.field);
}

function membership(context: Context, { operand: left, values }: Membership, exact: boolean): Sql {
  const texts = values.filter((literal) => literal.value !== null);
  const hasNull = texts.length < values.length;
  if (texts.length === 0 && !hasNull) return sql`FALSE`;
  const list = join(
    texts.map((literal) => literalSql(context, literal)),
    ', ',
  );
  if (!exact && !hasNull && left.kind === 'field') {
    return conditionAt(placeOfField(context, left), (column) => sql`${column} IN (${list})`);
  }
  const compiled = operand(context, left, typeOf(left));
  if (texts.length === 0) return sql`${compiled} IS NULL`;
  return sql`coalesce(${compiled} IN (${list}), ${hasNull ? sql`TRUE` : sql`FALSE`})`;
}
