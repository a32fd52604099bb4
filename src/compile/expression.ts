/**
 * Compiles expressions of the query tree to SQL: values, conditions, collections and distances. It excludes what the role may not
 * see of other records, wherever an expression leads (I4). Only the dialect knows how an engine writes SQL.
 */
import { type Field, type Navigation, REPLICA_TIMESTAMP } from '../dictionary/index.ts';
import {
  type Arithmetic,
  type Cast,
  type Collection,
  type Comparison,
  type ComparisonOperator,
  type Conditional,
  type Count,
  type Distance,
  type Expression,
  type FieldReference,
  type Literal,
  type Location,
  type Membership,
  MIRRORED,
  operandsOf,
  type Quantified,
  type Scope,
  typeOf,
  type ValueType,
  type Variable,
  type Within,
} from '../query/tree.ts';
import {
  type Context,
  recordOf,
  samePartition,
  shownCondition,
  visibleRows,
  withheldBit,
  withScope,
} from './context.ts';
import { all, bind, column, join, joinConditions, name, type Sql, sql } from './fragment.ts';
import { ownColumn } from './layout/index.ts';
import { isStored } from './model.ts';
import { recordColumn, recordTables, useSearchTable } from './record-rows.ts';

/** How a statement obtains the value of a field: from a column of `alias`, or from the row at the end of a chain of links. */
type FieldAccess =
  /** The value is null, because the store has never had a value of the field. */
  | { readonly kind: 'none'; readonly value: Sql }
  | { readonly kind: 'column'; readonly alias: string; readonly column: Sql; readonly shown?: Sql }
  | { readonly kind: 'linked'; readonly link: Sql; readonly target: LinkedTarget };

interface LinkedTarget {
  readonly from: Sql;
  readonly key: Sql;
  /** The conditions under which the role sees the row. Joined fields have none (contract, Access). */
  readonly conditions: readonly Sql[];
  readonly access: FieldAccess;
}

/** Locates a field of the record that a scope refers to, through to-one navigations if there are any. */
function accessTo(context: Context, scope: number, via: readonly Navigation[], field: Field): FieldAccess {
  const { alias, resource } = recordOf(context, scope);
  return accessFrom(context, alias, resource, via, field);
}

function accessFrom(
  context: Context,
  alias: string,
  resource: string,
  via: readonly Navigation[],
  field: Field,
): FieldAccess {
  const [step, ...rest] = via;
  if (step === undefined) return accessOwnField(context, alias, field);
  const none = noAccess(context, field);
  if (!context.model.stores(step.target)) return none;
  const layout = context.model.layout(step.target);
  const local = context.model.resource(resource).fields.get(step.local);
  if (local === undefined) return none;
  const link = accessOwnField(context, alias, local);
  if (link.kind !== 'column') return none;
  const target = context.alias();
  useSearchTable(context, layout, target);
  const remote = layout.resource.fields.get(step.remote);
  const key = remote === undefined ? undefined : accessOwnField(context, target, remote);
  if (key?.kind !== 'column') return none;
  const access = accessFrom(context, target, step.target, rest, field);
  const { from, joined } = recordTables(context, layout, target);
  return {
    kind: 'linked',
    link: link.column,
    target: {
      from,
      key: key.column,
      conditions: [...joined, ...visibleRows(context, layout, target)],
      access,
    },
  };
}

const noAccess = ({ dialect }: Context, { collection, type }: Field): FieldAccess => ({
  kind: 'none',
  value: dialect.nullOf(collection ? 'string' : type.kind),
});

function accessOwnField(context: Context, alias: string, field: Field): FieldAccess {
  const { model, rows } = context;
  if (!model.inUse(field)) return noAccess(context, field);
  const layout = model.layout(field.resource);
  if (field.joined !== undefined && !isStored(field, model.settings)) {
    const { link, resource, field: targetName } = field.joined;
    const targetLayout = model.layout(resource);
    const targetField = targetLayout.resource.fields.get(targetName);
    const target = context.alias();
    if (targetField === undefined) return noAccess(context, field);
    useSearchTable(context, targetLayout, target);
    const found = recordColumn(context, targetLayout, target, targetField.name);
    const { from, joined } = recordTables(context, targetLayout, target);
    return {
      kind: 'linked',
      link: recordColumn(context, layout, alias, link),
      target: {
        from,
        key: column(target, '_key'),
        conditions: joined,
        access: { kind: 'column', alias: target, column: found },
      },
    };
  }
  const bits = withheldBit(rows, layout, field);
  return {
    kind: 'column',
    alias,
    column: recordColumn(context, layout, alias, ownColumn(layout.resource, field) ?? field.name),
    ...(bits === 0 ? {} : { shown: shownCondition(context, layout, alias, bits) }),
  };
}

/** The value of a field of the record that a scope refers to. */
export function fieldValue(context: Context, scope: number, via: readonly Navigation[], field: Field): Sql {
  return valueOfAccess(accessTo(context, scope, via, field));
}

function valueOfAccess(access: FieldAccess): Sql {
  switch (access.kind) {
    case 'none':
      return access.value;
    case 'column':
      return access.shown === undefined
        ? access.column
        : sql`CASE WHEN ${access.shown} THEN ${access.column} END`;
    case 'linked': {
      const { from, key, conditions, access: inner } = access.target;
      const where = all([sql`${key} = ${access.link}`, ...conditions]);
      return sql`(SELECT ${valueOfAccess(inner)} FROM ${from} WHERE ${where} LIMIT 1)`;
    }
  }
}

/**
 * The condition that a field's value satisfies; null never satisfies it. The condition contains the bare column so that an index
 * can serve it; for a linked value, the engine searches the other table first.
 */
function conditionOnAccess(access: FieldAccess, condition: (value: Sql) => Sql): Sql {
  switch (access.kind) {
    case 'none':
      return sql`FALSE`;
    case 'column':
      return access.shown === undefined
        ? condition(access.column)
        : sql`(${condition(access.column)} AND ${access.shown})`;
    case 'linked': {
      const { from, key, conditions, access: inner } = access.target;
      const where = all([conditionOnAccess(inner, condition), ...conditions]);
      return sql`${access.link} IN (SELECT ${key} FROM ${from} WHERE ${where})`;
    }
  }
}

/** A literal in the form in which columns store its type. */
function literalSql(context: Context, literal: Literal): Sql {
  const { type, value: given } = literal;
  if (given === null) return sql`NULL`;
  if (type === 'point' || type === 'polygon') throw new Error(`A ${type} is not a value of a column`);
  return context.dialect.literal(type, given);
}

/** Compiles an expression to an SQL value of its type. */
export function compileValue(context: Context, expression: Expression): Sql {
  const { dialect } = context;
  switch (expression.kind) {
    case 'literal':
      return literalSql(context, expression);
    case 'field':
      return fieldValue(context, expression.scope, expression.via, expression.field);
    case 'variable': {
      const binding = context.scopes.get(expression.scope);
      if (binding?.kind !== 'value') throw new Error(`Scope ${expression.scope} is not a value`);
      return binding.sql;
    }
    case 'arithmetic':
      return arithmetic(context, expression);
    case 'negate':
      return sql`(-${compileValue(context, expression.operand)})`;
    case 'call': {
      if (expression.function === 'now') return dialect.literal('timestamp', context.now);
      const inner = expression.arguments.map((argument) => compileValue(context, argument));
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
      return sql`(${compileCondition(context, expression, true)})`;
  }
}

/** A number outside the range of the type is null. The CTE computes the operand once, however deeply casts are nested. */
function cast(context: Context, { operand: of, type, range }: Cast): Sql {
  const made = context.dialect.cast(typeOf(of), type, compileValue(context, of));
  if (range === undefined) return made;
  const [low, high] = range;
  return sql`(WITH cast_value(n) AS MATERIALIZED (SELECT ${made}) SELECT n FROM cast_value WHERE n BETWEEN ${bind(low)} AND ${bind(high)})`;
}

function conditional(context: Context, expression: Conditional): Sql {
  const branches = expression.branches.map(
    ({ when, then }) =>
      sql`WHEN ${compileCondition(context, when, false)} THEN ${compileValue(context, then)}`,
  );
  return sql`CASE ${join(branches, ' ')} END`;
}

const isMoment = (type: ValueType): type is 'timestamp' | 'date' => type === 'timestamp' || type === 'date';

function arithmetic(context: Context, { operator, left, right, type }: Arithmetic): Sql {
  const { dialect } = context;
  // No engine can infer the type of an operation on two nulls.
  if (type === 'null') return dialect.nullOf(type);
  const leftSql = compileValue(context, left);
  const rightSql = compileValue(context, right);
  const leftType = typeOf(left);
  const rightType = typeOf(right);
  if (isMoment(leftType) && rightType === 'duration') {
    const seconds = operator === 'sub' ? sql`(-${rightSql})` : rightSql;
    return sql`plat_shift(${leftSql}, ${seconds})`;
  }
  if (leftType === 'duration' && isMoment(rightType)) return sql`plat_shift(${rightSql}, ${leftSql})`;
  if (isMoment(leftType) && isMoment(rightType)) {
    const both = leftType === rightType ? leftType : 'timestamp';
    const same = (from: ValueType, moment: Sql): Sql =>
      from === both ? moment : dialect.cast(from, both, moment);
    return sql`plat_seconds(${same(leftType, leftSql)}, ${same(rightType, rightSql)})`;
  }
  const operation = operator === 'div' && type !== 'integer' ? 'divby' : operator;
  return dialect.operations[operation](leftSql, rightSql);
}

/**
 * Compiles an expression to an SQL condition.
 * @param exact false if null may be treated as false, as at the top of a filter: the plain comparisons that an index can serve are
 * then sufficient. Below a `not` the difference matters.
 */
export function compileCondition(context: Context, expression: Expression, exact: boolean): Sql {
  const linked = exact ? undefined : linkedCondition(context, expression);
  if (linked !== undefined) return linked;
  switch (expression.kind) {
    case 'and':
      return all(expression.terms.map((term) => compileCondition(context, term, exact)));
    case 'or':
      return joinConditions(
        expression.terms.map((term) => compileCondition(context, term, exact)),
        ' OR ',
      );
    case 'not':
      return sql`NOT (${compileCondition(context, expression.operand, true)})`;
    case 'compare':
      return comparison(context, expression, exact);
    case 'in':
      return membership(context, expression, exact);
    case 'matches':
      return context.dialect.matches(
        compileValue(context, expression.operand),
        expression.pattern,
        expression.ignoreCase,
      );
    case 'like':
      return context.dialect.like(compileValue(context, expression.operand), expression.pattern);
    case 'within':
      return withinCondition(context, expression, exact);
    case 'any':
    case 'all':
      return collectionCondition(context, expression);
    case 'literal':
      return booleanLiteral(expression);
    case 'case': {
      const [only, second] = expression.branches;
      // An index can serve a conjunction, but not a CASE.
      if (!exact && only && !second)
        return compileCondition(context, { kind: 'and', terms: [only.when, only.then] }, false);
      return sql`(${compileValue(context, expression)})`;
    }
    case 'field':
    case 'variable':
    case 'call':
    case 'cast':
      return sql`(${compileValue(context, expression)})`;
    case 'arithmetic':
    case 'negate':
    case 'count':
    case 'distance':
      throw new Error(`An expression of kind ${expression.kind} is not a condition`);
  }
}

/** The scope of a field's value in a condition that is compiled for each of its values. */
const VALUE: Scope = -1;

/**
 * The condition of a term on a field of a linked record: the engine finds the linked records that satisfy it once, instead of
 * looking one up for each row.
 */
function linkedCondition(context: Context, term: Expression): Sql | undefined {
  const tested = testedField(term);
  const isBare = (term.kind === 'compare' || term.kind === 'in') && operandsOf(term).includes(tested ?? term);
  if (tested === undefined || isBare || linkOf(context, tested) === undefined) return undefined;
  const access = accessTo(context, tested.scope, tested.via, tested.field);
  if (access.kind !== 'linked') return undefined;
  const ofValue = withField(term, { kind: 'variable', type: tested.type, scope: VALUE });
  return conditionOnAccess(access, (value) =>
    compileCondition(withScope(context, VALUE, { kind: 'value', sql: value }), ofValue, false),
  );
}

/** The field of the same record that leads to the record with this field; undefined for a field of the record itself. */
export function linkOf({ model, scopes }: Context, { field, scope, via }: FieldReference): Field | undefined {
  const [step] = via;
  const binding = scopes.get(scope);
  if (binding?.kind !== 'record') return undefined;
  const joined = field.joined !== undefined && !isStored(field, model.settings) ? field.joined : undefined;
  const link = step === undefined ? joined?.link : step.local;
  return link === undefined ? undefined : model.resource(binding.resource).fields.get(link);
}

/** The only field that a term tests, if nothing else in it varies and null does not satisfy it. */
export function testedField(term: Expression): FieldReference | undefined {
  switch (term.kind) {
    case 'compare': {
      const { operator, left, right } = term;
      return operator === 'ne' ? undefined : onlyField([left, right]);
    }
    case 'in':
      return onlyField([term.operand, ...term.values]);
    case 'matches':
    case 'like':
      return onlyField([term.operand]);
    case 'call':
      return onlyField([term]);
    default:
      return undefined;
  }
}

/** The only field in expressions that are null if it is null; undefined if there are other ones. */
function onlyField(expressions: readonly Expression[]): FieldReference | undefined {
  const leaves = expressions.flatMap(leavesOf);
  const [field, other] = leaves.filter((leaf) => leaf.kind !== 'literal' || leaf.value === null);
  return field?.kind === 'field' && other === undefined ? field : undefined;
}

/** The arguments of function calls, all of which return null for null. */
const leavesOf = (expression: Expression): readonly Expression[] =>
  expression.kind === 'call' && expression.function !== 'now'
    ? expression.arguments.flatMap(leavesOf)
    : [expression];

/** A term with another value in place of the field that it tests. */
function withField(term: Expression, value: Variable): Expression {
  const inside = (each: Expression): Expression => withField(each, value);
  switch (term.kind) {
    case 'field':
      return value;
    case 'compare':
      return { ...term, left: inside(term.left), right: inside(term.right) };
    case 'in':
    case 'matches':
    case 'like':
      return { ...term, operand: inside(term.operand) };
    case 'call':
      return { ...term, arguments: term.arguments.map(inside) };
    default:
      return term;
  }
}

function booleanLiteral(literal: Literal): Sql {
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

const isNull = (expression: Expression): boolean =>
  expression.kind === 'literal' && expression.value === null;

function comparison(context: Context, expression: Comparison, exact: boolean): Sql {
  const { operator, left, right } = expression;
  const isConstantLeft = left.kind === 'literal' && right.kind === 'field';
  if (isConstantLeft || (isNull(left) && !isNull(right))) {
    const mirrored = { ...expression, operator: MIRRORED[operator], left: right, right: left };
    return comparison(context, mirrored, exact);
  }
  if (isNull(right)) return nullComparison(context, operator, left);
  if (left.kind === 'distance' && right.kind === 'literal') {
    return distanceCondition(context, left, operator, right, exact);
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
    const isRecent = selectsRecentChanges(context, left.field, operator, right);
    return conditionOnAccess(accessTo(context, left.scope, left.via, left.field), (column) => {
      const compared = sql`${column}${OPERATORS[operator]}${literal}`;
      return isRecent ? context.dialect.selective(compared) : compared;
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

/** Few records have changed this recently. The engines cannot know this and would scan all records. */
const RECENT = 2 * 86_400_000;
const CHANGE_TIMESTAMPS: ReadonlySet<string> = new Set(['ModificationTimestamp', REPLICA_TIMESTAMP]);

/** Whether a condition selects the changes of the last days, as an incremental replication does. */
function selectsRecentChanges(
  context: Context,
  field: Field,
  operator: ComparisonOperator,
  from: Literal,
): boolean {
  if (!CHANGE_TIMESTAMPS.has(field.name) || (operator !== 'gt' && operator !== 'ge')) return false;
  return typeof from.value === 'string' && Date.parse(from.value) > Date.parse(context.now) - RECENT;
}

/** A comparison with null: equality tests for absence, and no order holds. */
function nullComparison(context: Context, operator: ComparisonOperator, left: Expression): Sql {
  if (operator !== 'eq' && operator !== 'ne') return sql`FALSE`;
  const value = operand(context, left, typeOf(left));
  return operator === 'eq' ? sql`${value} IS NULL` : sql`${value} IS NOT NULL`;
}

/** A date that is compared with a timestamp means midnight UTC. Numbers need no common type. */
function commonTypes(left: ValueType, right: ValueType): [ValueType, ValueType] {
  const mixed = (left === 'date' && right === 'timestamp') || (left === 'timestamp' && right === 'date');
  return mixed ? ['timestamp', 'timestamp'] : [left, right];
}

/** The value of one operand, cast to the type of the comparison. */
function operand(context: Context, expression: Expression, type: ValueType): Sql {
  const own = typeOf(expression);
  const compiled =
    own === 'boolean' && expression.kind !== 'literal'
      ? sql`(${compileCondition(context, expression, true)})`
      : compileValue(context, expression);
  return own === type ? compiled : context.dialect.cast(own, type, compiled);
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
    return conditionOnAccess(
      accessTo(context, left.scope, left.via, left.field),
      (column) => sql`${column} IN (${list})`,
    );
  }
  const compiled = operand(context, left, typeOf(left));
  if (texts.length === 0) return sql`${compiled} IS NULL`;
  return sql`coalesce(${compiled} IN (${list}), ${hasNull ? sql`TRUE` : sql`FALSE`})`;
}

/** The rows that a lambda ranges over: a FROM clause, its conditions, and the context in which the predicate is compiled. */
interface Range {
  readonly from: Sql;
  readonly conditions: readonly Sql[];
  readonly context: Context;
}

/** Whether the store has never had a record of the collection's resource. */
const hasNoRecords = ({ model }: Context, over: Collection): boolean =>
  over.kind === 'records' && !model.stores(over.navigation.target);

/** `any` and `all` as EXISTS and NOT EXISTS. A predicate that is null counts as false (OData 4.01 URL conventions, 5.1.1.13). */
function collectionCondition(context: Context, expression: Quantified): Sql {
  if (hasNoRecords(context, expression.over)) return expression.kind === 'any' ? sql`FALSE` : sql`TRUE`;
  const { predicate, over } = expression;
  if (over.kind === 'values' && predicate === undefined) {
    // An empty collection is stored as null.
    return expression.kind === 'any'
      ? sql`${fieldValue(context, over.scope, over.via, over.field)} IS NOT NULL`
      : sql`TRUE`;
  }
  const range = rangeOf(context, over, expression.variable);
  if (expression.kind === 'any') {
    const matches = predicate === undefined ? [] : [compileCondition(range.context, predicate, false)];
    return sql`EXISTS (SELECT 1 FROM ${range.from} WHERE ${all([...range.conditions, ...matches])})`;
  }
  const fails =
    predicate === undefined
      ? sql`FALSE`
      : sql`NOT coalesce(${compileCondition(range.context, predicate, true)}, FALSE)`;
  return sql`NOT EXISTS (SELECT 1 FROM ${range.from} WHERE ${all([...range.conditions, fails])})`;
}

function collectionCount(context: Context, { over, variable, predicate }: Count): Sql {
  if (hasNoRecords(context, over)) return sql`0`;
  const range = rangeOf(context, over, variable);
  const matches = predicate === undefined ? [] : [compileCondition(range.context, predicate, false)];
  return sql`(SELECT count(*) FROM ${range.from} WHERE ${all([...range.conditions, ...matches])})`;
}

function rangeOf(context: Context, over: Collection, variable: number): Range {
  const alias = context.alias();
  switch (over.kind) {
    case 'values': {
      const members = fieldValue(context, over.scope, over.via, over.field);
      return {
        from: context.dialect.members(members, alias),
        conditions: nestedDeadline(context),
        context: withScope(context, variable, { kind: 'value', sql: column(alias, 'value') }),
      };
    }
    case 'records':
      return childRange(context, over, alias, variable);
  }
}

/** Nested collections multiply, so that a single row of the statement could exceed the time limit. */
const nestedDeadline = ({ scopes, dialect: { deadline } }: Context): readonly Sql[] =>
  scopes.size > 1 && deadline !== undefined ? [deadline.ofValues] : [];

function childRange(
  context: Context,
  over: Collection & { kind: 'records' },
  alias: string,
  variable: number,
): Range {
  const { navigation, scope, via } = over;
  const owner = recordOf(context, scope);
  const ownerResource = context.model.resource(navigation.resource);
  const ownerKey = ownerResource.fields.get(ownerResource.key);
  if (ownerKey === undefined) throw new Error(`${ownerResource.name} has no key field`);
  const key = via.length === 0 ? column(owner.alias, '_key') : fieldValue(context, scope, via, ownerKey);
  const holder = via.length === 0 ? owner.alias : undefined;
  const layout = context.model.layout(navigation.target);
  return {
    from: sql`${name(layout.columnsTable)} ${name(alias)}`,
    conditions: [
      ...childConditions(context, navigation, alias, key, holder),
      ...visibleRows(context, layout, alias),
      ...nestedDeadline(context),
    ],
    context: withScope(context, variable, { kind: 'record', alias, resource: navigation.target }),
  };
}

/**
 * The conditions under which the row of `alias` belongs to the record with this key, which has the navigation.
 * @param holder the alias of that record's row, if the statement reads it
 */
export function childConditions(
  context: Context,
  { resource: owner, target, remote }: Pick<Navigation, 'resource' | 'target' | 'remote'>,
  alias: string,
  key: Sql,
  holder?: string,
): Sql[] {
  const { dialect, model } = context;
  const { parent } = model.resource(target);
  if (parent === undefined) {
    return [sql`${recordColumn(context, model.layout(target), alias, remote)} = ${key}`];
  }
  const beside = holder === undefined ? [] : samePartition(dialect, model.layout(target), alias, holder);
  const belongs = [sql`${column(alias, '_parent')} = ${key}`, ...beside];
  return parent.kind === 'fixed'
    ? belongs
    : [...belongs, sql`${column(alias, '_parent_resource')} = ${bind(owner)}`];
}

/** Mean radius of the earth in metres (IUGG). */
const EARTH_RADIUS = 6_371_008.8;
const METRES_PER_DEGREE = (Math.PI * EARTH_RADIUS) / 180;

interface Coordinates {
  readonly accesses: { readonly latitude: FieldAccess; readonly longitude: FieldAccess };
  readonly latitude: Sql;
  readonly longitude: Sql;
}

function coordinates(context: Context, location: Location): Coordinates {
  const { scope, via } = location;
  const latitude = accessTo(context, scope, via, location.latitude);
  const longitude = accessTo(context, scope, via, location.longitude);
  return {
    accesses: { latitude, longitude },
    latitude: valueOfAccess(latitude),
    longitude: valueOfAccess(longitude),
  };
}

const between =
  (low: number, high: number) =>
  (value: Sql): Sql =>
    sql`${value} BETWEEN ${bind(low)} AND ${bind(high)}`;

/** A point as SQL; null if it belongs to a record that the role does not see, or if the record has no location. */
interface PointSql {
  readonly latitude: Sql;
  readonly longitude: Sql;
}

function pointOf(context: Context, to: Distance['to']): PointSql {
  if (!('key' in to)) return { latitude: bind(to.latitude), longitude: bind(to.longitude) };
  const { key, latitude, longitude } = to;
  const { resource } = latitude;
  const layout = context.model.layout(resource);
  const alias = context.alias();
  const inner = withScope(context, 0, { kind: 'record', alias, resource });
  const where = all([sql`${column(alias, '_key')} = ${bind(key)}`, ...visibleRows(inner, layout, alias)]);
  const looked = (field: Field): Sql =>
    sql`(SELECT ${fieldValue(inner, 0, [], field)} FROM ${name(layout.columnsTable)} ${name(alias)} WHERE ${where})`;
  return { latitude: looked(latitude), longitude: looked(longitude) };
}

/** Great-circle distance in metres, by the haversine formula. */
function distanceValue(context: Context, { location, to }: Distance): Sql {
  return haversine(coordinates(context, location), pointOf(context, to));
}

function haversine({ latitude, longitude }: Coordinates, to: PointSql): Sql {
  const toLatitude = sql`radians(${to.latitude})`;
  const north = sql`sin((radians(${latitude}) - ${toLatitude}) / 2)`;
  const east = sql`sin((radians(${longitude}) - radians(${to.longitude})) / 2)`;
  const chord = sql`(${north} * ${north} + cos(radians(${latitude})) * cos(${toLatitude}) * ${east} * ${east})`;
  // Because of rounding, the chord between antipodes may slightly exceed 1.
  const angle = sql`CASE WHEN ${chord} < 1 THEN asin(sqrt${chord}) WHEN ${chord} >= 1 THEN ${bind(Math.PI / 2)} END`;
  return sql`(${bind(2 * EARTH_RADIUS)} * (${angle}))`;
}

/** Compares a distance. "Nearer than" first restricts the latitude, which an index can serve. */
function distanceCondition(
  context: Context,
  distance: Distance,
  operator: ComparisonOperator,
  limit: Literal,
  exact: boolean,
): Sql {
  const at = coordinates(context, distance.location);
  const to = pointOf(context, distance.to);
  const measured = haversine(at, to);
  const metres = bind(typeof limit.value === 'number' ? limit.value : null);
  if (operator === 'ne') return sql`${measured} IS DISTINCT FROM ${metres}`;
  const compared = {
    eq: sql`${measured} = ${metres}`,
    gt: sql`${measured} > ${metres}`,
    ge: sql`${measured} >= ${metres}`,
    lt: sql`${measured} < ${metres}`,
    le: sql`${measured} <= ${metres}`,
  }[operator];
  if (exact) return sql`coalesce(${compared}, FALSE)`;
  if ((operator !== 'lt' && operator !== 'le') || typeof limit.value !== 'number') return compared;
  const degrees = limit.value / METRES_PER_DEGREE + 1e-9;
  const near = conditionOnAccess(
    at.accesses.latitude,
    'key' in distance.to
      ? (value) =>
          sql`${value} BETWEEN ${to.latitude} - ${bind(degrees)} AND ${to.latitude} + ${bind(degrees)}`
      : between(distance.to.latitude - degrees, distance.to.latitude + degrees),
  );
  return sql`(${near} AND ${compared})`;
}

/**
 * Whether the location lies in the polygon or on its border. The bounding box is tested first, which an index can serve.
 * @param exact whether a missing location must yield null rather than false
 */
function withinCondition(context: Context, { location, polygon }: Within, exact: boolean): Sql {
  const at = coordinates(context, location);
  const ring = polygon.flatMap(({ longitude, latitude }) => [longitude, latitude]);
  const inside = context.dialect.within(at.latitude, at.longitude, ring);
  if (exact) return inside;
  const latitudes = polygon.map((point) => point.latitude);
  const longitudes = polygon.map((point) => point.longitude);
  const inLatitudes = between(Math.min(...latitudes), Math.max(...latitudes));
  const inLongitudes = between(Math.min(...longitudes), Math.max(...longitudes));
  return all([
    conditionOnAccess(at.accesses.latitude, inLatitudes),
    conditionOnAccess(at.accesses.longitude, inLongitudes),
    inside,
  ]);
}
