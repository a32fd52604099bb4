/**
 * Binds `_filter` (SparkQL): turns syntax nodes into the query tree, resolves names with the key's schema, and checks types. It
 * reads from top to bottom: the whole filter, conditions, their right sides, their left sides, and values in the type of the other
 * side. It knows neither the grammar nor any particular resource.
 */
import { nearestOfEither, spellingsOf } from '../../dictionary/index.ts';
import type { Field, Navigation } from '../../dictionary/types.ts';
import type {
  ArithmeticOperator,
  Collection,
  ComparisonOperator,
  Expression,
  LikePart,
  Literal,
  Location,
  Scope,
} from '../tree.ts';
import type { ArithmeticWord } from './decimal.ts';
import { errorOf, type Fault, FILTER, fault, shortened, typeFault } from './faults.ts';
import { castType, FUNCTIONS, SIDE_TYPES, type SideType } from './functions.ts';
import { FALSE, joinTerms, negate } from './logic.ts';
import { customName, type NativeNames } from './names.ts';
import {
  type Clock,
  type Condition,
  type FieldCall,
  type FieldName,
  type Filter,
  type Operand,
  type Pattern,
  type Scalar,
  tokenOf,
  typeName,
  type Value,
  type Values,
} from './nodes.ts';
import { parseFilter } from './parser.ts';
import { shapeCondition, shapeProblem } from './shapes.ts';
import { clockText, dayOf, startOfDay, timeOf, timestampOf } from './temporal.ts';

// The whole filter

/** What binding needs in addition to the filter, and the list of faults. */
interface Binding {
  readonly names: NativeNames;
  /** The time of the request. */
  readonly now: Date;
  readonly faults: Fault[];
}

/**
 * Binds `_filter` to the query tree; undefined if the text is empty. The tree has two-valued logic, as the language does: a
 * condition is true or false, never null. A multi-valued field meets a condition if one of its members does.
 *
 * @param now the time of the request, for `now()`, `days()` and similar functions; days begin at midnight UTC
 * @throws PlatError `syntax`, `typeMismatch`, `fieldUnknown` (native 1040), `filterTooLarge` (native 1041) or `notImplemented`
 * for the first fault; its `sparkql` lists all of them
 */
export function bindFilter(
  text: string,
  names: NativeNames,
  { now }: { readonly now: Date },
): Expression | undefined {
  const { filter, faults } = parseFilter(text);
  const binding: Binding = { names, now, faults: [...faults] };
  const bound = filter === undefined ? undefined : bind(binding, filter);
  const error = errorOf(binding.faults);
  if (error !== undefined) throw error;
  return bound;
}

function bind(binding: Binding, filter: Filter): Expression | undefined {
  switch (filter.kind) {
    case 'condition':
      return bindCondition(binding, filter);
    case 'not': {
      const operand = bind(binding, filter.operand);
      return operand === undefined ? undefined : negate(operand);
    }
    case 'and':
    case 'or': {
      const terms = filter.terms.map((term) => bind(binding, term));
      const bound = terms.filter((term) => term !== undefined);
      return bound.length < terms.length ? undefined : joinTerms(filter.kind, bound);
    }
  }
}

function recordFault(binding: Binding, reason: string, token: string, position: number): undefined {
  binding.faults.push(typeFault(reason, token, position));
}

const recordFaultOfValue = (binding: Binding, reason: string, value: Value): undefined =>
  recordFault(binding, reason, tokenOf(value), value.position);

// Conditions. Undefined means that a fault has been recorded, here or by the parser.

/** A multi-valued field of which one member, the variable, must satisfy an expression. */
interface Quantifier {
  readonly collection: Collection;
  readonly variable: Scope;
}

function bindCondition(binding: Binding, condition: Condition): Expression | undefined {
  const ranging: Quantifier[] = [];
  const { left, operator, right, position } = condition;
  const side = bindOperand(binding, left, ranging);
  if (side === undefined || right.kind === 'broken') return undefined;
  if (operator === 'Eq' || operator === 'Ne') {
    const equal = bindEquality(binding, side, right, ranging);
    return equal !== undefined && operator === 'Ne' ? negateCondition(equal) : equal;
  }
  if (side.kind !== 'value') {
    const name = side.kind === 'all' ? 'all()' : side.name;
    return recordFault(binding, `${name} takes Eq or Ne`, operator, position);
  }
  const [low, high] = right.values;
  const found =
    operator === 'Bt'
      ? allOf([bindOrder(binding, side, 'Ge', low), bindOrder(binding, side, 'Le', high)])
      : bindOrder(binding, side, operator, low);
  return found === undefined ? undefined : quantify(found, ranging);
}

const allOf = (terms: readonly (Expression | undefined)[]): Expression | undefined => {
  const bound = terms.filter((term) => term !== undefined);
  return bound.length < terms.length ? undefined : joinTerms('and', bound);
};

/** Quantifies an expression over the members of multi-valued fields: one member must satisfy it. */
function quantify(expression: Expression, ranging: readonly Quantifier[]): Expression {
  return ranging.reduceRight<Expression>(
    (predicate, { collection, variable }) => ({ kind: 'any', over: collection, variable, predicate }),
    expression,
  );
}

/** The negation of a condition, for `Ne`, in its simplest form. */
function negateCondition(expression: Expression): Expression {
  if (expression.kind === 'compare' && expression.operator === 'eq') return { ...expression, operator: 'ne' };
  return expression.kind === 'not' ? expression.operand : negate(expression);
}

type OrderWord = 'Gt' | 'Ge' | 'Lt' | 'Le';

const ORDERS: Readonly<Record<OrderWord, ComparisonOperator>> = { Gt: 'gt', Ge: 'ge', Lt: 'lt', Le: 'le' };

function bindOrder(
  binding: Binding,
  side: OneValue,
  word: OrderWord,
  value: Value | undefined,
): Expression | undefined {
  if (value?.kind !== 'scalar' && value?.kind !== 'clock') return undefined;
  const right = literalFor(binding, side, value);
  return right && { kind: 'compare', operator: ORDERS[word], left: side.expression, right };
}

function bindEquality(
  binding: Binding,
  side: LeftSide,
  right: Values,
  ranging: readonly Quantifier[],
): Expression | undefined {
  switch (side.kind) {
    case 'location': {
      const shapes = bindEach(right.values, (value) => bindShape(binding, side, value));
      return shapes && joinTerms('or', shapes);
    }
    case 'all': {
      const met = bindEach(right.values, (value) =>
        bindEqual(binding, side.of, { ...right, values: [value] }, ranging),
      );
      return met && joinTerms('and', met);
    }
    case 'value':
      return bindEqual(binding, side, right, ranging);
  }
}

/** Binds each value, and stops at the first fault, so that one condition reports one fault. */
function bindEach(
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

function bindShape(
  binding: Binding,
  { location, name }: LeftSide & { readonly kind: 'location' },
  value: Value,
): Expression | undefined {
  if (value.kind !== 'shape') {
    const reason = `${name} is compared with a shape such as radius('latitude longitude',miles), not with ${typeName(value.type)}`;
    return recordFaultOfValue(binding, reason, value);
  }
  const problem = shapeProblem(value.geometry, value.function);
  if (problem === undefined) return shapeCondition(location, value.geometry);
  if ('reason' in problem) return recordFaultOfValue(binding, problem.reason, value);
  const facts = { option: FILTER, what: problem.missing, position: value.position };
  binding.faults.push(fault('notImplemented', facts, value.function));
  return undefined;
}

// `Eq` with one value or a list: the field equals one of them, matches one of the patterns, or lies in a range.

function bindEqual(
  binding: Binding,
  side: OneValue,
  { values }: Values,
  ranging: readonly Quantifier[],
): Expression | undefined {
  const [value] = values;
  const [only, second] = ranging;
  const isNull = value?.kind === 'scalar' && value.type === 'null';
  if (isNull && side.expression.kind === 'variable' && only !== undefined && second === undefined) {
    // A multi-valued field is null if it has no members.
    return { kind: 'not', operand: { kind: 'any', over: only.collection, variable: only.variable } };
  }
  if (hasTooManyWildcards(binding, values)) return undefined;
  const literals: Literal[] = [];
  const tests: Expression[] = [];
  for (const each of values) {
    const meant = meaningOf(binding, side, each);
    if (meant === undefined) return undefined;
    if ('test' in meant) tests.push(meant.test);
    else literals.push(...meant.literals);
  }
  const terms = [...oneOf(side, literals), ...tests];
  return quantify(terms.length === 0 ? FALSE : joinTerms('or', terms), ranging);
}

function oneOf({ expression: left }: OneValue, literals: readonly Literal[]): readonly Expression[] {
  const [first, second] = literals;
  if (first === undefined) return [];
  if (second === undefined) return [{ kind: 'compare', operator: 'eq', left, right: first }];
  return [{ kind: 'in', operand: left, values: literals }];
}

/** The meaning of one value: literals, or a test. */
type Meaning = { readonly literals: readonly Literal[] } | { readonly test: Expression };

const stringLiteral = (value: string): Literal => ({ kind: 'literal', type: 'string', value });

function meaningOf(binding: Binding, side: OneValue, value: Value): Meaning | undefined {
  const { expression: left } = side;
  if (value.kind === 'shape' || (side.type !== 'string' && value.type === 'character')) {
    return recordFaultOfValue(binding, mismatchReason(side, value), value);
  }
  switch (value.kind) {
    case 'pattern':
      return { test: patternTest(left, value) };
    case 'range':
      return {
        test: joinTerms('and', [
          { kind: 'compare', operator: 'ge', left, right: stringLiteral(value.from) },
          { kind: 'compare', operator: 'le', left, right: stringLiteral(value.to) },
        ]),
      };
    case 'clock':
    case 'scalar': {
      if (value.type === 'character') return meaningOfText(binding, side, readWildcards(value.text));
      const literal = literalFor(binding, side, value);
      return literal && { literals: [literal] };
    }
  }
}

function patternTest(operand: Expression, { form, text, ignoreCase }: Pattern): Expression {
  if (form === 'regex') return { kind: 'matches', operand, pattern: text, ignoreCase };
  return { kind: 'call', type: 'boolean', function: form, arguments: [operand, stringLiteral(text)] };
}

/** A text with wildcards, or all spellings of a lookup value that records may contain. */
function meaningOfText(binding: Binding, side: OneValue, parts: readonly LikePart[]): Meaning {
  if (wildcardCount(parts) > 0) {
    return { test: { kind: 'like', operand: side.expression, pattern: parts } };
  }
  const text = parts[0]?.kind === 'text' ? parts[0].text : '';
  const lookup = side.lookup === undefined ? undefined : binding.names.lookup(side.lookup);
  return { literals: spellingsOf(lookup, text).map(stringLiteral) };
}

const MOST_WILDCARDS = 3;

function hasTooManyWildcards({ faults }: Binding, values: readonly Value[]): boolean {
  let count = 0;
  for (const value of values) {
    if (value.kind !== 'scalar' || value.type !== 'character') continue;
    count += wildcardCount(readWildcards(value.text));
    if (count <= MOST_WILDCARDS) continue;
    const what = 'wildcards in one condition';
    const facts = { option: FILTER, what, limit: MOST_WILDCARDS, position: value.position };
    faults.push(fault('filterTooLarge', facts, value.text));
    return true;
  }
  return false;
}

const wildcardCount = (parts: readonly LikePart[]): number =>
  parts.filter((part) => part.kind !== 'text').length;

const PART = /\\([*?])|[*?]|(?:[^\\*?]|\\(?![*?]))+/g;

/**
 * The parts of a text, with adjacent plain ones joined: `*` stands for any characters and `?` for one; after a backslash, both are
 * literal. A text without wildcards has at most one part.
 */
function readWildcards(text: string): readonly LikePart[] {
  if (text !== '' && !/[*?\\]/.test(text)) return [{ kind: 'text', text }];
  const parts: LikePart[] = [];
  for (const [found, escaped] of text.matchAll(PART)) {
    const last = parts.at(-1);
    if (found === '*') parts.push({ kind: 'any' });
    else if (found === '?') parts.push({ kind: 'one' });
    else if (last?.kind === 'text') {
      parts[parts.length - 1] = { kind: 'text', text: last.text + (escaped ?? found) };
    } else parts.push({ kind: 'text', text: escaped ?? found });
  }
  return parts;
}

// The left side: names become fields, types are checked

interface OneValue {
  readonly kind: 'value';
  readonly expression: Expression;
  readonly type: SideType;
  /** Whether the side is more than a single field. */
  readonly computed: boolean;
  /** The lookup, if the side is a single field; other spellings of its values are equivalent. */
  readonly lookup?: string | undefined;
  /** The name in messages. */
  readonly name: string;
}

type LeftSide =
  | OneValue
  | { readonly kind: 'all'; readonly of: OneValue }
  | { readonly kind: 'location'; readonly location: Location; readonly name: string };

/** @param ranging collects the multi-valued fields that occur */
function bindOperand(binding: Binding, operand: Operand, ranging: Quantifier[]): LeftSide | undefined {
  switch (operand.kind) {
    case 'name':
    case 'custom':
      return bindName(binding, operand, ranging);
    case 'call':
      return bindCall(binding, operand, ranging);
    case 'arithmetic':
      return bindArithmetic(binding, operand, ranging);
    case 'negate':
      return bindNegation(binding, operand, ranging);
    case 'scalar':
      return bindScalar(binding, operand);
    default:
      // The parser has recorded a fault for everything else.
      return undefined;
  }
}

function bindName(binding: Binding, named: FieldName, ranging: Quantifier[]): LeftSide | undefined {
  const { names } = binding;
  const isPlain = named.kind === 'name';
  const name = isPlain ? named.name : customName(named.group, named.label);
  const found = isPlain ? names.find(named.name) : names.findCustom(named.group, named.label);
  switch (found.kind) {
    case 'field':
      return bindField(found.field, found.via, name, ranging);
    case 'computed':
      return { kind: 'value', expression: found.expression, type: 'string', computed: true, name };
    case 'constant':
      return { kind: 'value', expression: stringLiteral(found.text), type: 'string', computed: false, name };
    case 'location':
      return { kind: 'location', location: found.location, name };
    case 'composite': {
      const reason = `${name} is made of several fields and cannot be compared`;
      return recordFault(binding, reason, name, named.position);
    }
    case 'hidden':
    case 'unknown':
      return recordUnknownField(binding, name, isPlain ? names.names : names.customNames, named.position);
  }
}

/** Each suggestion compares all names, so only the first faults of a filter get suggestions. */
const MOST_SUGGESTIONS = 10;

function recordUnknownField(
  { names, faults }: Binding,
  name: string,
  others: () => Iterable<string>,
  position: number,
): undefined {
  const nearest =
    faults.length < MOST_SUGGESTIONS ? nearestOfEither(name, others(), names.counterparts()) : undefined;
  const facts = {
    name: shortened(name),
    nearest,
    resource: names.collection,
    option: FILTER,
    position,
  };
  faults.push(fault('fieldUnknown', facts, name));
}

function bindField(field: Field, via: readonly Navigation[], name: string, ranging: Quantifier[]): OneValue {
  const type = field.type.kind;
  const known = { kind: 'value', type, computed: false, lookup: field.lookup, name } as const;
  if (!field.collection) {
    return { ...known, expression: { kind: 'field', type, scope: 0, via, field } };
  }
  const variable = ranging.length + 1;
  ranging.push({ collection: { kind: 'values', scope: 0, via, field }, variable });
  return { ...known, expression: { kind: 'variable', type, scope: variable } };
}

const isNumeric = (type: SideType): type is 'integer' | 'decimal' => type === 'integer' || type === 'decimal';

const computed = (expression: Expression, type: SideType, name: string): OneValue => ({
  kind: 'value',
  expression,
  type,
  computed: true,
  name,
});

/** Binds an operand that must be a single value: not a shape, and not `all()`. */
function bindValue(binding: Binding, operand: Operand, ranging: Quantifier[]): OneValue | undefined {
  const side = bindOperand(binding, operand, ranging);
  if (side === undefined || side.kind === 'value') return side;
  const { position } = operand.kind === 'broken' ? { position: 1 } : operand;
  return side.kind === 'all'
    ? recordFault(binding, 'all() must be alone on the left side', 'all', position)
    : recordFault(binding, `${side.name} can only be compared with a shape`, side.name, position);
}

function bindScalar(binding: Binding, scalar: Scalar): OneValue | undefined {
  const type = scalar.type === 'character' ? 'string' : scalar.type === 'integer' ? 'integer' : 'decimal';
  const name = shortened(scalar.text);
  const coerced = coerce(scalar, type, binding.now);
  if (coerced.kind === 'literal') return computed(coerced, type, name);
  return recordFaultOfValue(
    binding,
    coerced.kind === 'impossible' ? coerced.reason : `${name} is not allowed here`,
    scalar,
  );
}

function bindCall(binding: Binding, call: FieldCall, ranging: Quantifier[]): LeftSide | undefined {
  const of = bindValue(binding, call.of, ranging);
  if (of === undefined) return undefined;
  const name = `${call.function}(${of.name})`;
  const rule = FUNCTIONS.get(call.function);
  switch (rule?.kind) {
    case 'field': {
      const type = SIDE_TYPES[rule.gives];
      if (!rule.of.fields.includes(of.type)) {
        const reason = `${rule.name}() takes ${rule.of.inWords}, but ${of.name} is ${describeType(of.type)}`;
        return recordFault(binding, reason, of.name, call.position);
      }
      const rest = call.rest.flatMap((scalar) => bindScalar(binding, scalar)?.expression ?? []);
      const operands = [of.expression, ...rest];
      return computed({ kind: 'call', type, function: rule.name, arguments: operands }, type, name);
    }
    case 'cast': {
      const type = SIDE_TYPES[castType(call.rest[0]?.text ?? '') ?? 'character'];
      return computed({ kind: 'cast', type, operand: of.expression }, type, name);
    }
    default:
      return { kind: 'all', of };
  }
}

const OPERATORS: Readonly<Record<ArithmeticWord, ArithmeticOperator>> = {
  Add: 'add',
  Sub: 'sub',
  Mul: 'mul',
  Div: 'div',
  Mod: 'mod',
};

function bindArithmetic(
  binding: Binding,
  { operator: word, left, right, position }: Extract<Operand, { kind: 'arithmetic' }>,
  ranging: Quantifier[],
): OneValue | undefined {
  const sides = [bindValue(binding, left, ranging), bindValue(binding, right, ranging)];
  const odd = sides.find((side) => side !== undefined && !isNumeric(side.type));
  if (odd !== undefined) {
    return recordFault(
      binding,
      `${word} takes numbers, but ${odd.name} is ${describeType(odd.type)}`,
      odd.name,
      position,
    );
  }
  const [first, second] = sides;
  if (first === undefined || second === undefined) return undefined;
  const type = first.type === 'integer' && second.type === 'integer' ? 'integer' : 'decimal';
  const operands = { left: first.expression, right: second.expression };
  const expression: Expression = { kind: 'arithmetic', type, operator: OPERATORS[word], ...operands };
  return computed(expression, type, 'the computed left side');
}

function bindNegation(
  binding: Binding,
  { operand, position }: Extract<Operand, { kind: 'negate' }>,
  ranging: Quantifier[],
): OneValue | undefined {
  const bound = bindValue(binding, operand, ranging);
  if (bound === undefined) return undefined;
  const { type, name } = bound;
  if (!isNumeric(type)) {
    return recordFault(binding, `${name} is ${describeType(type)} and cannot be negative`, name, position);
  }
  return computed({ kind: 'negate', type, operand: bound.expression }, type, `-${name}`);
}

// Values in the type of the other side

/** The type that a value must have: `numberLiteral` accepts whole numbers and decimals, as computed sides do. */
export type Target = SideType | 'number';

const NAMES: Readonly<Record<Target, string>> = {
  string: 'a text',
  integer: 'a whole number',
  decimal: 'a decimal number',
  number: 'a number',
  boolean: 'true or false',
  date: 'a date',
  timestamp: 'a timestamp',
  time: 'a time of day',
};

/** The name of a type in messages of this language. */
const describeType = (type: Target): string => NAMES[type];

/** The type that a side accepts: computed numbers mix freely; a field of whole numbers accepts no decimals. */
const acceptedType = ({ computed: isComputed, type }: OneValue): Target =>
  isComputed && isNumeric(type) ? 'number' : type;

/** A literal of the right side in the type of the left side; undefined if a fault has been recorded. */
function literalFor(binding: Binding, side: OneValue, value: Scalar | Clock) {
  const coerced = coerce(value, acceptedType(side), binding.now);
  if (coerced.kind === 'literal') return coerced;
  return recordFaultOfValue(
    binding,
    coerced.kind === 'impossible' ? coerced.reason : mismatchReason(side, value),
    value,
  );
}

function mismatchReason(side: OneValue, value: Value): string {
  const isText = value.kind === 'scalar' && side.type === 'string';
  const hint = isText ? ` (write '${shortened(value.text)}' for a text)` : '';
  return `${side.name} is ${describeType(acceptedType(side))} and cannot be compared with ${typeName(value.type)}${hint}`;
}

type Coerced =
  | Literal
  | { readonly kind: 'misfit' }
  | { readonly kind: 'impossible'; readonly reason: string };

const MISFIT: Coerced = { kind: 'misfit' };
const impossible = (reason: string): Coerced => ({ kind: 'impossible', reason });

/** @param now the time of the request, which clock functions are relative to */
export function coerce(value: Scalar | Clock, target: Target, now: Date): Coerced {
  if (value.kind === 'scalar') return fromText(value.type, value.text, target);
  const text = clockText(now, value);
  return text === undefined
    ? impossible(`${tokenOf(value)}() leaves the years 1 to 9999`)
    : fromText(value.type, text, target);
}

/** Converts a literal. Null fits every type; a whole number can be a decimal, a date a timestamp, and a timestamp its date. */
function fromText(type: Scalar['type'], text: string, target: Target): Coerced {
  switch (type) {
    case 'null':
      return { kind: 'literal', type: 'null', value: null };
    case 'character':
      return target === 'string' ? stringLiteral(text) : MISFIT;
    case 'boolean':
      return target === 'boolean' ? { kind: 'literal', type: 'boolean', value: text === 'true' } : MISFIT;
    case 'integer':
      if (target === 'decimal') return numberLiteral(text, 'decimal');
      return target === 'integer' || target === 'number' ? numberLiteral(text, 'integer') : MISFIT;
    case 'decimal':
      return target === 'decimal' || target === 'number' ? numberLiteral(text, 'decimal') : MISFIT;
    case 'date':
      if (target === 'timestamp') return timeLiteral('timestamp', startOfDay(text), text);
      return target === 'date' ? dateLiteral(text) : MISFIT;
    case 'datetime':
      if (target === 'date') return dateLiteral(text);
      return target === 'timestamp' ? timeLiteral('timestamp', timestampOf(text), text) : MISFIT;
    case 'time':
      return target === 'time' ? timeLiteral('time', timeOf(text), text) : MISFIT;
  }
}

function numberLiteral(text: string, type: 'integer' | 'decimal'): Coerced {
  const value = Number(text);
  return Number.isFinite(value)
    ? { kind: 'literal', type, value }
    : impossible('a number of this size cannot be compared');
}

function timeLiteral(type: 'timestamp' | 'time', value: string | undefined, text: string): Coerced {
  return value === undefined ? impossible(`there is no time ${text}`) : { kind: 'literal', type, value };
}

function dateLiteral(text: string): Coerced {
  const value = dayOf(text);
  return value === undefined
    ? impossible(`there is no day ${text}`)
    : { kind: 'literal', type: 'date', value };
}
