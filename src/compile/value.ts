import type { Arithmetic, Cast, Conditional, Expression, Literal, ValueType } from '../query/tree.ts';
import { collectionCount } from './collection.ts';
import { condition } from './condition.ts';
import type { Context } from './context.ts';
import { placeOf, valueAt } from './fields.ts';
import { bind, join, type Sql, sql } from './fragment.ts';
import { distanceValue } from './geo.ts';

/** The type of an expression. */
export function typeOf(expression: Expression): ValueType {
  switch (expression.kind) {
    case 'literal':
    case 'field':
    case 'variable':
    case 'arithmetic':
    case 'negate':
    case 'call':
    case 'cast':
    case 'case':
      return expression.type;
    case 'compare':
    case 'in':
    case 'and':
    case 'or':
    case 'not':
    case 'matches':
    case 'like':
    case 'within':
    case 'any':
    case 'all':
      return 'boolean';
    case 'count':
      return 'integer';
    case 'distance':
      return 'decimal';
  }
}

/** A literal in the form in which columns of its type are stored. */
export function literalSql(context: Context, literal: Literal): Sql {
  const { type, value: given } = literal;
  if (given === null) return sql`NULL`;
  if (type === 'point' || type === 'polygon') throw new Error(`A ${type} is no value of a column`);
  return context.dialect.literal(type, given);
}

/** Compiles an expression to an SQL value of its type. */
export function value(context: Context, expression: Expression): Sql {
  const { dialect } = context;
  switch (expression.kind) {
    case 'literal':
      return literalSql(context, expression);
    case 'field':
      return valueAt(placeOf(context, expression.scope, expression.via, expression.field));
    case 'variable': {
      const binding = context.scopes.get(expression.scope);
      if (binding?.kind !== 'value') throw new Error(`Scope ${expression.scope} is no value`);
      return binding.sql;
    }
    case 'arithmetic':
      return arithmetic(context, expression);
    case 'negate':
      return sql`(-${value(context, expression.operand)})`;
    case 'call': {
      if (expression.function === 'now') return dialect.literal('timestamp', context.now);
      const inner = expression.arguments.map((argument) => value(context, argument));
      return dialect.call(expression.function, inner, expression.arguments.map(typeOf));
    }
    case 'cast':
      return cast(context, expression);
    case 'case':
      return conditional(context, expression);
    case 'count':
      return collectionCount(context, expression);
    case 'distance':
      return distanceValue(context, expression);
    case 'compare':
    case 'in':
    case 'and':
    case 'or':
    case 'not':
    case 'matches':
    case 'like':
    case 'within':
    case 'any':
    case 'all':
      return sql`(${condition(context, expression, true)})`;
  }
}

/** A number outside its range is null; the value is computed once, however deep casts stand in each other. */
function cast(context: Context, { operand: of, type, range }: Cast): Sql {
  const made = context.dialect.cast(typeOf(of), type, value(context, of));
  if (range === undefined) return made;
  const [low, high] = range;
  return sql`(WITH cast_value(n) AS MATERIALIZED (SELECT ${made}) SELECT n FROM cast_value WHERE n BETWEEN ${bind(low)} AND ${bind(high)})`;
}

function conditional(context: Context, expression: Conditional): Sql {
  const branches = expression.branches.map(
    ({ when, then }) => sql`WHEN ${condition(context, when, false)} THEN ${value(context, then)}`,
  );
  return sql`CASE ${join(branches, ' ')} END`;
}

const SIMPLE = { add: sql` + `, sub: sql` - `, mul: sql` * ` } as const;

const isMoment = (type: ValueType): type is 'timestamp' | 'date' => type === 'timestamp' || type === 'date';

function arithmetic(context: Context, { operator, left, right, type }: Arithmetic): Sql {
  const { dialect } = context;
  // Of null with null no engine knows the type.
  if (type === 'null') return dialect.nothing(type);
  const leftSql = value(context, left);
  const rightSql = value(context, right);
  const leftType = typeOf(left);
  const rightType = typeOf(right);
  if (isMoment(leftType) && rightType === 'duration') {
    const seconds = operator === 'sub' ? sql`(-${rightSql})` : rightSql;
    return dialect.shift(leftType, leftSql, seconds);
  }
  if (leftType === 'duration' && isMoment(rightType)) return dialect.shift(rightType, rightSql, leftSql);
  if (isMoment(leftType) && isMoment(rightType)) {
    const both = leftType === rightType ? leftType : 'timestamp';
    const same = (from: ValueType, moment: Sql): Sql =>
      from === both ? moment : dialect.cast(from, both, moment);
    return dialect.secondsBetween(both, same(leftType, leftSql), same(rightType, rightSql));
  }
  switch (operator) {
    case 'add':
    case 'sub':
    case 'mul':
      return sql`(${leftSql}${SIMPLE[operator]}${rightSql})`;
    case 'div':
      return dialect.divide(leftSql, rightSql, type === 'integer');
    case 'divby':
      return dialect.divide(leftSql, rightSql, false);
    case 'mod':
      return dialect.remainder(leftSql, rightSql);
  }
}
