/**
 * Binds OData expressions: turns syntax nodes into the query tree, resolves names with the key's schema, and checks types (OData
 * 4.01 URL conventions, 5.1.1). It reads from top to bottom: the environment of an expression, nodes, paths and lambdas,
 * comparisons, arithmetic, functions. It knows neither the grammar nor the options that contain expressions.
 */
import { nearestName, nearestOfEither, spellingsOf, textsOfIdentifier } from '../../dictionary/index.ts';
import type { Lookup, Navigation } from '../../dictionary/types.ts';
import { type PlatError, platError } from '../../errors/index.ts';
import { checkRegularExpression, LARGEST_PATTERNS } from '../regular-expression.ts';
import type { ResourceSchema, Schema } from '../schema.ts';
import {
  type ArithmeticOperator,
  type Collection,
  type ComparisonOperator,
  type Count,
  type Expression,
  type Literal,
  type Location,
  type Matches,
  type Quantified,
  type Scope,
  typeOf,
  type ValueType,
} from '../tree.ts';
import type { Argument, Node, NodeOf, Segment } from './nodes.ts';
import {
  MAX_DEPTH,
  MAX_LAMBDAS,
  MAX_REQUEST_TERMS,
  MAX_TERMS,
  MAX_VALUE_CHARACTERS,
  MAX_VALUES,
  notProvided,
  type OptionText,
  positionOf,
  type Sourced,
  type Start,
  shown,
  syntaxError,
  tooLarge,
  typeMismatch,
} from './option-text.ts';
import {
  align,
  alignOperands,
  arithmeticType,
  asDuration,
  castable,
  commonType,
  convertTo,
  describeExpression,
  describeType,
  EDM_TYPES,
  type EdmType,
  exactLiteral,
  FUNCTIONS,
  fieldType,
  inOwnZone,
  isNumber,
  isShape,
  lengthOf,
  literalValue,
  NULL,
  zoneOffset,
} from './values.ts';

// The meaning of a node

interface OneValue {
  readonly kind: 'value';
  readonly expression: Expression;
  /** The lookup that the value belongs to. */
  readonly lookup?: Lookup;
  /** Whether it is a member of an enumeration, in whose name some characters are escaped. */
  readonly isMember?: boolean;
  /** A literal as written in the request, for messages. */
  readonly written?: string;
}

/** One record: that of the query, a related one, or the variable of a lambda. */
interface OneRecord {
  readonly kind: 'record';
  readonly schema: ResourceSchema;
  readonly scope: Scope;
  readonly via: readonly Navigation[];
}

/** The values of a multi-valued field, or the records that a navigation leads to. */
interface ManyValues {
  readonly kind: 'collection';
  readonly name: string;
  readonly over: Collection;
  /** The meaning of a variable that ranges over the collection. */
  readonly element: (scope: Scope) => OneValue | OneRecord;
  /** The condition of `$filter(…)` segments, in terms of the next scope. */
  readonly predicate?: Expression;
}

type Meaning =
  | OneValue
  | OneRecord
  | ManyValues
  | { readonly kind: 'list'; readonly items: readonly OneValue[] }
  /** The point of a record. */
  | { readonly kind: 'location'; readonly location: Location };

// The environment of an expression

/** A parameter alias or a computed name. It is bound again at each use, in the scope of the query for which it was written. */
export interface NamedExpression extends Sourced<Node> {
  readonly query: QueryScope;
}

/** A computed name, and the number of computed names before it, which it may use. */
export interface ComputedName extends NamedExpression {
  readonly before: number;
}

/** What all expressions in the options of one collection share. */
export interface QueryScope {
  readonly schema: Schema;
  readonly record: OneRecord;
  /** Whether the query is an expansion, which cannot access `$it`, the record of the resource path. */
  readonly isExpansion: boolean;
  readonly aliases: ReadonlyMap<string, NamedExpression>;
  /** All computed names of the collection. An expression may use only the first `usable` of them. */
  readonly computed: ReadonlyMap<string, ComputedName>;
  readonly usable: number;
  readonly cost: RequestCost;
}

/** The cost of a whole request so far. Aliases and computed names count at every use. */
export interface RequestCost {
  terms: number;
  characters: number;
}

/** Where an expression occurs. */
interface Environment {
  readonly query: QueryScope;
  readonly source: OptionText;
  /** The subject of unprefixed names and of `$this`; undefined where no record is accessible. */
  readonly self: OneRecord | OneValue | undefined;
  readonly variables: ReadonlyMap<string, OneRecord | OneValue>;
  readonly nextScope: Scope;
  readonly depth: number;
  /** The aliases and computed names that are being bound, to detect cycles. */
  readonly within: readonly NamedExpression[];
  /** The cost of the option so far: the number of terms, and the size of its regular expressions. */
  readonly cost: { terms: number; patterns: number };
}

/** The environment of a complete option. */
export function environmentOf(query: QueryScope, source: OptionText): Environment {
  return {
    query,
    source,
    self: query.record,
    variables: new Map(),
    nextScope: 1,
    depth: 0,
    within: [],
    cost: { terms: 0, patterns: 0 },
  };
}

function countTerm(env: Environment, node: Start): void {
  env.cost.terms++;
  if (env.cost.terms > MAX_TERMS) throw tooLarge(env.source, node.start, 'terms', MAX_TERMS);
  const { cost } = env.query;
  cost.terms++;
  if (cost.terms <= MAX_REQUEST_TERMS) return;
  const what = 'terms in all options, each counted as often as it is used';
  throw tooLarge(env.source, node.start, what, MAX_REQUEST_TERMS);
}

/** The cost of a value in addition to its characters. */
const VALUE = 8;

function countValue(env: Environment, node: Start, characters: number): void {
  const { cost } = env.query;
  cost.characters += characters + VALUE;
  if (cost.characters <= MAX_VALUE_CHARACTERS) return;
  const what = 'characters of values, each counted as often as it is used';
  throw tooLarge(env.source, node.start, what, MAX_VALUE_CHARACTERS);
}

/** The error for a node of the wrong type. */
export const mismatch = ({ source }: Environment, { start }: Start, reason: string): PlatError =>
  typeMismatch(source, start, reason);

const unsupported = ({ source }: Environment, { start }: Start, what: string): PlatError =>
  notProvided(source, start, what);

/** The error for a name that does not exist or that the key may not know: the two cannot be distinguished. */
export function fieldUnknown(
  schema: ResourceSchema,
  source: OptionText,
  { name, start }: Start & { readonly name: string },
): PlatError {
  const nearest = nearestOfEither(name, schema.names(), schema.nativeCounterparts());
  const isCompared = nearest === undefined && AFTER_COMPARISON.test(source.text.slice(0, start));
  const facts = {
    ...{ ...positionOf(source, start), name: shown(name), resource: schema.resource.name, nearest },
    hint: isCompared ? ` (write '${shown(name)}' for a string)` : undefined,
  };
  return platError('fieldUnknown', facts, { target: source.option });
}

/** What precedes the right operand of a comparison, where a name is most likely a string without quotes. */
const AFTER_COMPARISON = /\s(?:eq|ne|gt|ge|lt|le)\s+$/i;

// Nodes

/**
 * Binds an expression that must be true or false.
 *
 * @param requiredBy what requires it, for the message
 * @throws typeMismatch for any other type
 */
export function bindCondition(env: Environment, node: Node, requiredBy: string): Expression {
  const expression = bindValue(env, node);
  const type = typeOf(expression);
  if (type === 'boolean' || type === 'null') return expression;
  throw mismatch(env, node, `${requiredBy} takes a condition, not ${describeExpression(expression)}`);
}

/** Binds one value of any type. */
export const bindValue = (env: Environment, node: Node): Expression => bindOne(env, node).expression;

const bindOne = (env: Environment, node: Node): OneValue => singleValue(env, node, bindNode(env, node));

/** @throws typeMismatch for a record, a list or the point of a record */
function singleValue(env: Environment, node: Node, meaning: Meaning): OneValue {
  switch (meaning.kind) {
    case 'value':
      return meaning;
    case 'record': {
      const name = meaning.via.at(-1)?.name ?? meaning.schema.resource.name;
      throw mismatch(env, node, `${name} is a record; name one of its fields after a slash`);
    }
    case 'collection': {
      const { name } = meaning;
      const uses = `${name}/any(x: …), ${name}/all(x: …) or ${name}/$count`;
      throw mismatch(env, node, `${name} is a list; use ${uses}`);
    }
    case 'list':
      throw mismatch(env, node, 'a list is allowed only after in');
    case 'location':
      throw mismatch(env, node, 'the point of a record is allowed only in geo.distance and geo.intersects');
  }
}

function bindNode(outer: Environment, node: Node): Meaning {
  if (outer.depth >= MAX_DEPTH) throw tooLarge(outer.source, node.start, 'levels of nesting', MAX_DEPTH);
  const env = { ...outer, depth: outer.depth + 1 };
  switch (node.kind) {
    case 'literal':
      return bindLiteral(env, node);
    case 'path':
      return bindPath(env, node.segments);
    case 'list':
      return bindList(env, node);
    case 'object':
      throw unsupported(env, node, 'a record as a value');
    default:
      countTerm(env, node);
      return { kind: 'value', expression: bindOperation(env, node) };
  }
}

function bindLiteral(env: Environment, { literal, start }: NodeOf<'literal'>): OneValue {
  countValue(env, { start }, lengthOf(literal));
  const expression = literalValue(env.source, start, literal);
  return { kind: 'value', expression, ...('text' in literal && { written: literal.text }) };
}

function bindList(env: Environment, node: NodeOf<'list'>): Meaning {
  if (node.items.length > MAX_VALUES) throw tooLarge(env.source, node.start, 'values in a list', MAX_VALUES);
  const items = node.items.flatMap((item) => listItems(env, item));
  if (items.length > MAX_VALUES) throw tooLarge(env.source, node.start, 'values in a list', MAX_VALUES);
  return { kind: 'list', items };
}

/** An alias inside a list may itself be a list. */
function listItems(env: Environment, item: Node): readonly OneValue[] {
  if (item.kind === 'list') throw unsupported(env, item, 'a list inside a list');
  const meaning = bindNode(env, item);
  return meaning.kind === 'list' ? meaning.items : [singleValue(env, item, meaning)];
}

function bindOperation(
  env: Environment,
  node: Exclude<Node, NodeOf<'literal' | 'path' | 'list' | 'object'>>,
): Expression {
  switch (node.kind) {
    case 'and':
    case 'or':
      return { kind: node.kind, terms: node.operands.map((operand) => bindTerm(env, operand, node.kind)) };
    case 'not':
      return { kind: 'not', operand: bindTerm(env, node.operand, 'not (…)') };
    case 'negate':
      return bindNegation(env, node);
    case 'binary':
      return bindBinary(env, node);
    case 'call':
      return bindCall(env, node);
    case 'cast':
      return bindCast(env, node);
    case 'isof':
      return bindIsOf(env, node);
    case 'case':
      return bindCase(env, node);
  }
}

/** Binds an operand of `and` or `or`; a bare field or alias counts as a term, too. */
function bindTerm(env: Environment, node: Node, requiredBy: string): Expression {
  if (node.kind === 'path' || node.kind === 'literal') countTerm(env, node);
  return bindCondition(env, node, requiredBy);
}

function bindBinary(env: Environment, node: NodeOf<'binary'>): Expression {
  switch (node.operator) {
    case 'eq':
    case 'ne':
    case 'gt':
    case 'ge':
    case 'lt':
    case 'le':
      return bindComparison(env, node, node.operator);
    case 'in':
      return bindMembership(env, node);
    case 'has':
      return bindHas(env, node);
    case 'add':
    case 'sub':
    case 'mul':
    case 'div':
    case 'divby':
    case 'mod':
      return bindArithmetic(env, node, node.operator);
  }
}

// Paths (5.1.1.15)

function bindPath(env: Environment, [head, ...rest]: readonly [Segment, ...Segment[]]): Meaning {
  let meaning = bindHead(env, head);
  for (const segment of rest) meaning = follow(env, meaning, segment);
  return meaning;
}

function bindHead(env: Environment, head: Segment): Meaning {
  switch (head.kind) {
    case 'it':
      if (env.query.isExpansion) throw unsupported(env, head, '$it, the outer record, inside an expansion');
      return requireAccessible(env, head, env.query.record);
    case 'this':
      return requireAccessible(env, head, env.self);
    case 'at': {
      const alias = env.query.aliases.get(head.name);
      if (alias) return bindNamed(env, head, alias);
      if (/[.#]/.test(head.name)) throw unsupported(env, head, describe(head));
      // A parameter alias without a value is null (5.3).
      return { kind: 'value', expression: NULL };
    }
    case 'name': {
      const variable = env.variables.get(head.name);
      if (variable) return variable;
      const self = requireAccessible(env, head, env.self);
      const computed = self === env.query.record ? env.query.computed.get(head.name) : undefined;
      if (computed && computed.before < env.query.usable) return bindNamed(env, head, computed);
      if (self.kind === 'record') return memberOf(env, self, head);
      throw mismatch(env, head, `${shown(head.name)} is named where only $this and variables have a value`);
    }
    default:
      throw unsupported(env, head, describe(head));
  }
}

/** The record or value to which a name is relative; an alias of an outer query has none. */
function requireAccessible(env: Environment, segment: Start, self: OneRecord | OneValue | undefined) {
  if (self && env.self) return self;
  throw unsupported(env, segment, 'an alias of the request that names fields, used inside an expansion,');
}

/**
 * Binds an alias or a computed name at its use. Nesting and terms count at the use; names are those of the query for which it was
 * written, and the lambda variables at the use are not accessible.
 *
 * @throws syntax if it refers to itself
 */
function bindNamed(env: Environment, { start }: Start, named: NamedExpression): Meaning {
  if (env.within.includes(named)) {
    throw syntaxError(env.source, start, 'a name that refers to itself', 'a value');
  }
  const { query, source, value } = named;
  const self = query.record === env.query.record ? query.record : undefined;
  const within = [...env.within, named];
  return bindNode({ ...env, query, source, self, variables: new Map(), within }, value);
}

function follow(env: Environment, meaning: Meaning, segment: Segment): Meaning {
  switch (meaning.kind) {
    case 'record': {
      if (segment.kind === 'name') return memberOf(env, meaning, segment);
      if (isUnsupported(segment)) throw unsupported(env, segment, describe(segment));
      const name = meaning.via.at(-1)?.name ?? 'the record';
      throw mismatch(env, segment, `${name} is one record, not a list, so it has no ${describe(segment)}`);
    }
    case 'collection':
      return followCollection(env, meaning, segment);
    default:
      if (isUnsupported(segment)) throw unsupported(env, segment, describe(segment));
      throw mismatch(env, segment, `a single value has no ${describe(segment)}`);
  }
}

/** Segments that the grammar allows but this service does not support: type casts, bound functions, keys, annotations. */
const isUnsupported = (segment: Segment): boolean =>
  segment.kind === 'call' ||
  segment.kind === 'key' ||
  segment.kind === 'at' ||
  (segment.kind === 'name' && segment.name.includes('.'));

function describe(segment: Segment): string {
  switch (segment.kind) {
    case 'name':
      return segment.name.includes('.') ? `the type cast ${shown(segment.name)}` : shown(segment.name);
    case 'call':
      return `the function or key ${shown(segment.name)}(…)`;
    case 'key':
      return 'a key in an expression';
    case 'at':
      return `the annotation @${shown(segment.name)}`;
    case 'lambda':
      return segment.operator;
    default:
      return `$${segment.kind}`;
  }
}

/** The name of the point of a record's Latitude and Longitude; no field of the dictionary has this name. */
const COORDINATES = 'Coordinates';

/** The meaning of a name in a record: a field, a related record or collection, or the point of the record. */
function memberOf(env: Environment, record: OneRecord, segment: Segment & { kind: 'name' }): Meaning {
  const { name } = segment;
  const { schema, scope, via } = record;
  if (name.includes('.')) throw unsupported(env, segment, describe(segment));
  const found = schema.findField(name);
  if (found.kind === 'visible') {
    const { field } = found;
    const lookup = field.lookup === undefined ? undefined : env.query.schema.lookup(field.lookup);
    const isMember = field.lookup !== undefined && env.query.schema.enumerations;
    const type = fieldType(field);
    const value = (expression: Expression): OneValue => ({
      kind: 'value',
      expression,
      ...(lookup && { lookup }),
      ...(isMember && { isMember }),
    });
    if (!field.collection) return value({ kind: 'field', type, scope, via, field });
    const element = (inner: Scope) => value({ kind: 'variable', type, scope: inner });
    return { kind: 'collection', name, over: { kind: 'values', scope, via, field }, element };
  }
  const navigation = schema.findNavigation(name);
  if (navigation) {
    const target = env.query.schema.of(navigation.target);
    if (!navigation.collection) return { kind: 'record', schema: target, scope, via: [...via, navigation] };
    return {
      kind: 'collection',
      name,
      over: { kind: 'records', scope, via, navigation },
      element: (inner) => ({ kind: 'record', schema: target, scope: inner, via: [] }),
    };
  }
  const latitude = schema.findField('Latitude');
  const longitude = schema.findField('Longitude');
  if (name === COORDINATES && latitude.kind === 'visible' && longitude.kind === 'visible') {
    const point = { latitude: latitude.field, longitude: longitude.field };
    return { kind: 'location', location: { kind: 'location', scope, via, ...point } };
  }
  throw fieldUnknown(schema, env.source, segment);
}

// Collections (5.1.1.13)

type SegmentOf<Kind extends Segment['kind']> = Extract<Segment, { kind: Kind }>;

function followCollection(env: Environment, many: ManyValues, segment: Segment): Meaning {
  switch (segment.kind) {
    case 'lambda':
      return { kind: 'value', expression: bindLambda(env, many, segment) };
    case 'count':
      return { kind: 'value', expression: bindCount(env, many, segment) };
    case 'filter': {
      countTerm(env, segment);
      const filter = bindCondition(insideCollection(env, many, segment), segment.predicate, '$filter');
      return { ...many, ...withPredicate(many.predicate, filter) };
    }
  }
  if (isUnsupported(segment)) throw unsupported(env, segment, describe(segment));
  const { name } = many;
  throw mismatch(env, segment, `${name} is a list, so ${describe(segment)} must be inside ${name}/any(x: …)`);
}

/** The environment inside a lambda: the outer record remains accessible, and the variable has the next scope. */
function insideLambda(env: Environment, { start }: Start): Environment {
  if (env.nextScope > MAX_LAMBDAS) throw tooLarge(env.source, start, 'lists inside each other', MAX_LAMBDAS);
  return { ...env, nextScope: env.nextScope + 1 };
}

/** The environment of options in parentheses, in which unprefixed names refer to the members of the collection. */
const insideCollection = (env: Environment, many: ManyValues, segment: Start): Environment => ({
  ...insideLambda(env, segment),
  self: many.element(env.nextScope),
});

function bindLambda(env: Environment, many: ManyValues, segment: SegmentOf<'lambda'>): Quantified {
  countTerm(env, segment);
  const { operator, variable: name, predicate } = segment;
  // With a filter, `all` would have to ignore members for which the filter is false or null.
  if (operator === 'all' && many.predicate) throw unsupported(env, segment, 'all after $filter');
  const variable = env.nextScope;
  const { over } = many;
  if (predicate === undefined || name === undefined) {
    return { kind: operator, over, variable, ...withPredicate(many.predicate) };
  }
  const variables = new Map(env.variables).set(name, many.element(variable));
  const condition = bindCondition({ ...insideLambda(env, segment), variables }, predicate, operator);
  return { kind: operator, over, variable, ...withPredicate(many.predicate, condition) };
}

/** Binds `$count`, with or without options. */
function bindCount(env: Environment, many: ManyValues, segment: SegmentOf<'count'>): Count {
  countTerm(env, segment);
  if (segment.search) throw unsupported(env, segment, '$search inside an expression');
  const filter =
    segment.filter && bindCondition(insideCollection(env, many, segment), segment.filter, '$count');
  return {
    kind: 'count',
    over: many.over,
    variable: env.nextScope,
    ...withPredicate(many.predicate, filter),
  };
}

function withPredicate(first: Expression | undefined, second?: Expression): { predicate?: Expression } {
  const predicate: Expression | undefined =
    first && second ? { kind: 'and', terms: [first, second] } : (first ?? second);
  return predicate === undefined ? {} : { predicate };
}

// Comparisons (5.1.1.1)

function bindComparison(env: Environment, node: NodeOf<'binary'>, operator: ComparisonOperator): Expression {
  const left = bindNode(env, node.left);
  const right = bindNode(env, node.right);
  return (
    existenceTest(left, right, operator) ??
    existenceTest(right, left, operator) ??
    compare(
      env,
      isLiteral(left) && !isLiteral(right) ? node.left : node.right,
      operator,
      singleValue(env, node.left, left),
      singleValue(env, node.right, right),
    )
  );
}

const isLiteral = (meaning: Meaning): boolean =>
  meaning.kind === 'value' && meaning.expression.kind === 'literal';

/** Tests whether a related record exists: `ListAgent eq null` tests its key. */
function existenceTest(
  record: Meaning,
  other: Meaning,
  operator: ComparisonOperator,
): Expression | undefined {
  const isNull = other.kind === 'value' && typeOf(other.expression) === 'null';
  if (record.kind !== 'record' || record.via.length === 0 || !isNull) return undefined;
  if (operator !== 'eq' && operator !== 'ne') return undefined;
  const { scope, via } = record;
  const { fields, key, name } = record.schema.resource;
  const field = fields.get(key);
  if (field === undefined) throw new Error(`The dictionary has no key field of ${name}`);
  const left: Expression = { kind: 'field', type: fieldType(field), scope, via, field };
  return { kind: 'compare', operator, left, right: NULL };
}

/** The types whose literals are compared with all digits of their fraction. */
const WITH_FRACTION: ReadonlySet<ValueType> = new Set(['timestamp', 'time']);

const exactOperand = ({ expression, written }: OneValue): Expression =>
  expression.kind === 'literal' && written !== undefined && WITH_FRACTION.has(expression.type)
    ? exactLiteral(expression, written)
    : expression;

/** @param node the operand that a message refers to */
function compare(
  env: Environment,
  node: Start,
  operator: ComparisonOperator,
  left: OneValue,
  right: OneValue,
): Expression {
  if (operator === 'eq' || operator === 'ne') {
    const spelled = equalsAnySpelling(left, right) ?? equalsAnySpelling(right, left);
    if (spelled) return operator === 'eq' ? spelled : { kind: 'not', operand: spelled };
  }
  const pair = align(exactOperand(left), exactOperand(right));
  // Records contain no shapes, so a shape cannot be compared with anything, not even null.
  if (pair === undefined || pair.some((side) => isShape(typeOf(side)))) {
    throw incomparable(env, node, left, right);
  }
  return { kind: 'compare', operator, left: pair[0], right: pair[1] };
}

/** The error for operands of different types. Missing and superfluous quotes are the most common cause. */
function incomparable(env: Environment, node: Start, left: OneValue, right: OneValue): PlatError {
  const [literal, other] = isLiteral(left) ? [left, right] : [right, left];
  let hint = '';
  if (literal.expression.kind === 'literal') {
    const { type, value } = literal.expression;
    if (type !== 'duration' && !isShape(type) && typeOf(other.expression) === 'string') {
      hint = ` (write '${shown(literal.written ?? String(value))}' for a string)`;
    }
    if (type === 'string') hint = ` (${describeType(typeOf(other.expression))} must be without quotes)`;
  }
  const sides = `${describeExpression(left.expression)} and ${describeExpression(right.expression)}`;
  return mismatch(env, node, `${sides} cannot be compared${hint}`);
}

/** All spellings of a lookup value that records may contain. */
function literalsOfSpellings({ lookup, isMember }: OneValue, literal: Literal): readonly Literal[] {
  if (literal.type !== 'string') return [literal];
  const texts = isMember === true ? textsOfIdentifier(literal.value) : [literal.value];
  const values = new Set(texts.flatMap((text) => spellingsOf(lookup, text)));
  return [...values].map((value) => ({ kind: 'literal', type: 'string', value }));
}

function equalsAnySpelling(operand: OneValue, literal: OneValue): Expression | undefined {
  if (literal.expression.kind !== 'literal') return undefined;
  const values = literalsOfSpellings(operand, literal.expression);
  return values.length > 1 ? { kind: 'in', operand: operand.expression, values } : undefined;
}

/** `in` with a list of literals or of expressions, or with a multi-valued lookup (5.1.1.1.12). */
function bindMembership(env: Environment, node: NodeOf<'binary'>): Expression {
  const operand = bindOne(env, node.left);
  const members = bindNode(env, node.right);
  switch (members.kind) {
    case 'collection':
      return anyEquals(env, node.right, members, operand);
    case 'list':
      return inList(env, node.right, operand, members.items);
    default:
      throw mismatch(env, node.right, 'in takes a list in parentheses or a multi-valued field');
  }
}

function inList(env: Environment, node: Start, operand: OneValue, items: readonly OneValue[]): Expression {
  const literals = items.flatMap((item) => {
    const literal = exactOperand(item);
    return literal.kind === 'literal' ? [{ item, literal }] : [];
  });
  if (literals.length < items.length) {
    return { kind: 'or', terms: items.map((item) => compare(env, node, 'eq', operand, item)) };
  }
  const type = literals.reduce(
    (common: ValueType, { literal }) => commonType(common, literal.type) ?? common,
    typeOf(operand.expression),
  );
  const left = convertTo(exactOperand(operand), type);
  const values = literals.map(({ item, literal }) => {
    const value = convertTo(literal, type);
    if (left && value?.kind === 'literal' && !isShape(typeOf(left)) && !isShape(value.type)) return value;
    throw incomparable(env, node, operand, item);
  });
  return {
    kind: 'in',
    operand: left ?? operand.expression,
    values: values.flatMap((value) => literalsOfSpellings(operand, value)),
  };
}

/** Whether a collection contains a value. */
function anyEquals(env: Environment, node: Start, many: ManyValues, value: OneValue): Expression {
  const { over, element, predicate, name } = many;
  const variable = env.nextScope;
  const member = element(variable);
  if (member.kind !== 'value') throw mismatch(env, node, `${name} is a list of records, not of values`);
  const equal = compare(env, node, 'eq', member, value);
  return { kind: 'any', over, variable, ...withPredicate(predicate, equal) };
}

/**
 * Binds `has`: equality that is null if a side is null or, for a multi-valued lookup, the condition that it contains the member. If
 * several members are given, all of them must match (5.1.1.1.9).
 */
function bindHas(env: Environment, node: NodeOf<'binary'>): Expression {
  const left = bindNode(env, node.left);
  const right = bindOne(env, node.right);
  const of = left.kind === 'collection' ? left.element(env.nextScope) : left;
  const terms = splitFlags(right, of.kind === 'value' ? of : undefined).map((flag) =>
    left.kind === 'collection'
      ? anyEquals(env, node.left, left, flag)
      : compare(env, node, 'eq', singleValue(env, node.left, left), flag),
  );
  const then = allOf(terms);
  if (left.kind === 'collection') return then;
  const present = [singleValue(env, node.left, left).expression, right.expression]
    .filter((side) => side.kind !== 'literal' || side.value === null)
    .map((side): Expression => ({ kind: 'compare', operator: 'ne', left: side, right: NULL }));
  if (present.length === 0) return then;
  return { kind: 'case', type: 'boolean', branches: [{ when: allOf(present), then }] };
}

/** @param terms at least one */
function allOf(terms: readonly Expression[]): Expression {
  const [only, second] = terms;
  return only && !second ? only : { kind: 'and', terms };
}

/** The members of an enumeration literal, which are separated by commas. A comma inside a known value is not a separator. */
function splitFlags(literal: OneValue, of: OneValue | undefined): readonly OneValue[] {
  const { expression } = literal;
  if (expression.kind !== 'literal' || expression.type !== 'string') return [literal];
  if (of?.lookup?.spellings.has(expression.value)) return [literal];
  return expression.value
    .split(',')
    .map((text) => ({ kind: 'value', expression: { ...expression, value: text.trim() } }) as const);
}

// Arithmetic (5.1.1.2), casts and conditionals

function bindArithmetic(env: Environment, node: NodeOf<'binary'>, operator: ArithmeticOperator): Expression {
  const given = [bindValue(env, node.left), bindValue(env, node.right)] as const;
  const [left, right] = alignOperands(...given);
  const types = [typeOf(left), typeOf(right)] as const;
  const type = arithmeticType(operator, ...types);
  if (type !== undefined) {
    return types.includes('null') ? NULL : { kind: 'arithmetic', type, operator, left, right };
  }
  throw mismatch(
    env,
    node,
    `${operator} does not work on ${describeExpression(given[0])} and ${describeExpression(given[1])}`,
  );
}

/** The negation of a literal is a literal. */
function bindNegation(env: Environment, node: NodeOf<'negate'>): Expression {
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
  if (isNumber(type) || type === 'duration') return { kind: 'negate', type, operand };
  throw mismatch(env, node, `${describeExpression(operand)} has no negative`);
}

type Typed = NodeOf<'cast' | 'isof'>;

function edmTypeOf(env: Environment, node: Typed): EdmType {
  const found = EDM_TYPES.get(node.type);
  if (found === undefined) throw unsupported(env, node, `${node.kind} to the type ${shown(node.type)}`);
  return found;
}

function typedOperand(env: Environment, node: Typed): Expression {
  if (node.operand === undefined) throw unsupported(env, node, `${node.kind} of the record itself`);
  return bindValue(env, node.operand);
}

/** `cast(x, Edm.…)` between primitive types (5.1.1.10.1). */
function bindCast(env: Environment, node: Typed): Expression {
  const edm = edmTypeOf(env, node);
  const operand = typedOperand(env, node);
  if (castable(typeOf(operand), edm.type)) return { kind: 'cast', ...edm, operand };
  throw mismatch(env, node, `${describeExpression(operand)} cannot be cast to ${describeType(edm.type)}`);
}

/** `isof(x, Edm.…)`: true for values of that declared type, false for others and for null. */
function bindIsOf(env: Environment, node: Typed): Expression {
  const { type } = edmTypeOf(env, node);
  const operand = typedOperand(env, node);
  const from = typeOf(operand);
  // Every integer is a decimal, too.
  if (from !== type && !(from === 'integer' && type === 'decimal')) {
    return { kind: 'literal', type: 'boolean', value: false };
  }
  return { kind: 'compare', operator: 'ne', left: operand, right: NULL };
}

/** `case(condition:value, …)` whose values are of one type (5.1.1.12.1). */
function bindCase(env: Environment, node: NodeOf<'case'>): Expression {
  const bound = node.branches.map((branch) => ({
    node: branch.result,
    when: bindCondition(env, branch.when, 'case'),
    result: bindValue(env, branch.result),
  }));
  const type = bound.reduce(
    (common: ValueType, { result }) => commonType(common, typeOf(result)) ?? common,
    'null',
  );
  const branches = bound.map(({ node: branch, when, result }) => {
    const then = convertTo(result, type);
    if (then) return { when, then };
    throw mismatch(
      env,
      branch,
      `case cannot return both ${describeType(type)} and ${describeExpression(result)}`,
    );
  });
  return type === 'null' ? NULL : { kind: 'case', type, branches };
}

// Functions (5.1.1.5 to 5.1.1.11)

type Call = NodeOf<'call'>;
type TableFunction = keyof typeof FUNCTIONS;

const isTableFunction = (name: string): name is TableFunction => Object.hasOwn(FUNCTIONS, name);

/** Further names to suggest for an unknown function. */
const SPECIAL = ['matchespattern', 'geo.distance', 'geo.intersects', 'cast', 'isof', 'case'];
/** Functions of OData for types that no field here has. */
const UNSUPPORTED_FUNCTIONS = new Set(['geo.length', 'hassubset', 'hassubsequence']);

/** Binds a function call; names of functions are case-insensitive. */
function bindCall(env: Environment, node: Call): Expression {
  const name = node.name.toLowerCase();
  if (isTableFunction(name)) return bindTableFunction(env, node, name);
  switch (name) {
    case 'matchespattern':
      return bindMatches(env, node);
    case 'geo.distance':
    case 'geo.intersects':
      return bindGeography(env, node, name);
  }
  if (UNSUPPORTED_FUNCTIONS.has(name) || name.includes('.')) {
    throw unsupported(env, node, `the function ${shown(node.name)}`);
  }
  // OData 3 has `substringof(part, text)` instead of `contains(text, part)`.
  const nearest =
    name === 'substringof' ? 'contains' : nearestName(name, [...Object.keys(FUNCTIONS), ...SPECIAL]);
  const expected = nearest ?? 'a function of OData, such as contains';
  throw syntaxError(env.source, node.start, `the function ${shown(node.name)}`, expected);
}

function bindTableFunction(env: Environment, node: Call, name: TableFunction): Expression {
  const { takes, optional = 0, gives } = FUNCTIONS[name];
  const given = positional(env, node, takes.length - optional, takes.length);
  const bound = given.map((argument, index) => bindArgument(env, argument, takes[index] ?? [], name));
  const found = bound.map(({ expression }) => expression);
  const zone = name === 'totaloffsetminutes' ? zoneOffset(bound[0]?.written ?? '') : 0;
  if (zone !== 0) return { kind: 'literal', type: 'integer', value: zone };
  const length = name === 'substring' ? found[2] : undefined;
  // A negative length is an error (5.1.1.5.7).
  if (given[2] && length?.kind === 'literal' && length.type === 'integer' && length.value < 0) {
    throw mismatch(env, given[2], 'the length of a substring cannot be negative');
  }
  const [first] = found;
  const type = gives === 'the type of the argument' ? first && typeOf(first) : gives;
  if (type === undefined || type === 'null') return NULL;
  return { kind: 'call', type, function: name, arguments: found };
}

/** The arguments of a function, which must be positional and of the right number. */
function positional(env: Environment, node: Call, least: number, most: number): readonly Node[] {
  const { length } = node.arguments;
  if (length < least || length > most) {
    const count = least === most ? `${most}` : `${least} or ${most}`;
    const found = `${length} argument${length === 1 ? '' : 's'}`;
    throw syntaxError(env.source, node.start, found, `${count} for ${node.name.toLowerCase()}`);
  }
  return node.arguments.map((argument) => unnamed(env, argument));
}

function unnamed(env: Environment, { name, value }: Argument): Node {
  if (name === undefined) return value;
  throw syntaxError(env.source, value.start, `an argument named ${shown(name)}`, 'arguments without names');
}

function bindArgument(env: Environment, node: Node, takes: readonly ValueType[], name: string): OneValue {
  const bound = bindOne(env, node);
  const expression = convertArgument(bound, takes);
  const type = typeOf(expression);
  if (type === 'null' || takes.includes(type)) return { ...bound, expression };
  const words = takes.map(describeType).join(' or ');
  throw mismatch(env, node, `${name} takes ${words} here, not ${describeExpression(expression)}`);
}

function convertArgument({ expression, written }: OneValue, takes: readonly ValueType[]): Expression {
  if (takes.includes('duration')) return asDuration(expression) ?? expression;
  const isMoment = takes.includes('timestamp') && expression.kind === 'literal' && written !== undefined;
  return isMoment ? inOwnZone(expression, written) : expression;
}

/**
 * `matchespattern(text, pattern[, flags])` (5.1.1.7.1). The pattern must be a literal, so that an invalid one is reported here. The
 * flags may be empty or `i`.
 */
function bindMatches(env: Environment, node: Call): Matches {
  const [text = node, pattern = node, flags] = positional(env, node, 2, 3);
  const { expression: operand } = bindArgument(env, text, ['string'], 'matchespattern');
  const given = flags === undefined ? '' : literalText(env, flags, 'the flags of matchespattern');
  if (given !== '' && given !== 'i') {
    throw unsupported(env, flags ?? node, `the flags ${JSON.stringify(shown(given))} of matchespattern`);
  }
  const found = literalText(env, pattern, 'the pattern of matchespattern');
  checkPattern(env, pattern, found);
  return { kind: 'matches', operand, pattern: found, ignoreCase: given === 'i' };
}

/** Checks a pattern, which must be valid in RE2: the additional features of ECMAScript cannot be matched in linear time. */
function checkPattern(env: Environment, node: Start, pattern: string): void {
  const check = checkRegularExpression(pattern, env.cost.patterns);
  switch (check.kind) {
    case 'good':
      env.cost.patterns += check.size;
      return;
    case 'large':
      throw tooLarge(env.source, node.start, 'steps in its regular expressions', LARGEST_PATTERNS);
    case 'wrong':
      throw isOfECMAScript(pattern)
        ? unsupported(env, node, `'${shown(pattern)}' as a regular expression (${shown(check.reason)})`)
        : mismatch(env, node, `'${shown(pattern)}' is not a regular expression`);
  }
}

function isOfECMAScript(pattern: string): boolean {
  try {
    new RegExp(pattern, 'u');
    return true;
  } catch {
    return false;
  }
}

function literalText(env: Environment, node: Node, what: string): string {
  const value = bindValue(env, node);
  if (value.kind === 'literal' && value.type === 'string') return value.value;
  throw value.kind === 'literal'
    ? mismatch(env, node, `${what} must be a string, not ${describeExpression(value)}`)
    : unsupported(env, node, `a value that is not a literal as ${what}`);
}

/** Binds `geo.distance` between a record and a point, in meters, and `geo.intersects` of a record's point with a polygon. */
function bindGeography(env: Environment, node: Call, name: 'geo.distance' | 'geo.intersects'): Expression {
  let location: Location | undefined;
  let shape: Literal | undefined;
  const sides = positional(env, node, 2, 2).map((side) => ({ side, meaning: bindNode(env, side) }));
  for (const { side, meaning } of sides) {
    const literal = meaning.kind === 'value' && meaning.expression.kind === 'literal' && meaning.expression;
    if (meaning.kind === 'location') location = meaning.location;
    else if (literal && isShape(literal.type)) shape = literal;
    else throw mismatch(env, side, `${name} takes ${COORDINATES} and a geography literal`);
  }
  if (!location || !shape) {
    throw unsupported(env, node, `${name} of two ${location ? 'records' : 'literals'}`);
  }
  if (name === 'geo.distance') {
    if (shape.type === 'point') return { kind: 'distance', location, to: shape.value };
    throw mismatch(env, node, 'geo.distance takes a point, not a polygon');
  }
  if (shape.type === 'polygon') return { kind: 'within', location, polygon: shape.value };
  throw mismatch(env, node, 'geo.intersects takes a polygon, not a point');
}
