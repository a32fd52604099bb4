/**
 * The grammar of `_filter` (SparkQL), from top to bottom: conditions and their operators, left and right sides, calls, literals,
 * and finally the tokens. It turns text into syntax nodes and records faults, so that one response reports all of them. The grammar
 * knows no fields by name; the binder resolves them.
 */
import { nearestName } from '../../dictionary/index.ts';
import { PlatError } from '../../errors/index.ts';
import { checkRegularExpression, LARGEST_PATTERNS } from '../regular-expression.ts';
import { ARITHMETIC_OPERATORS, type ArithmeticWord, calculate, isZero, negated } from './decimal.ts';
import { type Fault, FILTER, fault, shortened, typeFault } from './faults.ts';
import { castType, FUNCTIONS, type FunctionRule, foldCast, type ScalarType } from './functions.ts';
import {
  type ApparentType,
  BROKEN,
  type Broken,
  COMPARISONS,
  type ComparisonWord,
  type FieldCall,
  type FieldName,
  type Filter,
  type Operand,
  type Scalar,
  tokenOf,
  typeName,
  type Value,
  type Values,
} from './nodes.ts';
import { readShape } from './shapes.ts';

/** The limits of the language. The limit on parentheses is plat's own; it protects the stack. */
const LIMITS = {
  expressions: 75,
  values: 200,
  levels: 2,
  functions: 5,
  parentheses: 100,
  /** The largest offset of `days` and `weekdays`. */
  days: 365_000,
} as const;

const JOINER = 'And, Or, Not or the end';

interface ParsedFilter {
  /** Absent if the text is empty or could not be parsed to its end. */
  readonly filter?: Filter;
  readonly faults: readonly Fault[];
}

/**
 * Parses the text of a filter, in time linear in its length. Names are not resolved yet. Faults are not thrown but returned in the
 * result.
 */
export function parseFilter(text: string): ParsedFilter {
  const reader = { text, offset: 0, position: 1 };
  const token = nextToken(reader);
  const scanner: Scanner = { reader, token, open: 0, calls: 0, expressions: 0, patterns: 0, faults: [] };
  if (at(scanner, 'end')) return { faults: [] };
  try {
    const { filter } = parseJoined(scanner);
    if (at(scanner, 'character')) unexpected(scanner, `${JOINER} (a quote inside a text is written \\')`);
    if (!at(scanner, 'end')) unexpected(scanner, JOINER);
    return { filter, faults: scanner.faults };
  } catch (error) {
    if (error instanceof PlatError) return { faults: scanner.faults };
    throw error;
  }
}

// Conditions

/** A part of the filter that is true or false. */
interface ParsedCondition {
  readonly kind: 'filter';
  readonly filter: Filter;
  /** Whether its text begins with Not, parentheses aside. */
  readonly startsWithNot: boolean;
}

/** `A And B Or C Not D`: And precedes Or, and Not between two conditions means And Not. */
function parseJoined(scanner: Scanner, first: ParsedCondition = parseFirst(scanner)): ParsedCondition {
  let all: Filter[] = [first.filter];
  const any: Filter[] = [];
  while (at(scanner, 'conjunction') || at(scanner, 'not')) {
    const { text, kind } = advance(scanner);
    if (at(scanner, 'not')) {
      unexpected(scanner, 'a condition ("A And Not B" is written "A Not B" or "A And (Not B)")');
    }
    const { filter } = parseTerm(scanner);
    if (text === 'Or') {
      any.push(joinFilters('and', all));
      all = [];
    }
    all.push(kind === 'not' ? { kind: 'not', operand: filter } : filter);
  }
  const filter = joinFilters('or', [...any, joinFilters('and', all)]);
  return { kind: 'filter', filter, startsWithNot: first.startsWithNot };
}

function joinFilters(kind: 'and' | 'or', terms: readonly Filter[]): Filter {
  const [first, second] = terms;
  return first !== undefined && second === undefined ? first : { kind, terms };
}

function parseFirst(scanner: Scanner): ParsedCondition {
  if (!at(scanner, 'not')) return parseTerm(scanner);
  advance(scanner);
  if (at(scanner, 'not')) unexpected(scanner, 'a condition ("Not Not A" is written "Not (Not A)")');
  const { filter, startsWithNot } = parseTerm(scanner);
  // As in the reference implementation, a Not inside parentheses has no effect in front of a group that begins with Not.
  const counted = scanner.open > 0 && startsWithNot;
  return { kind: 'filter', filter: counted ? filter : { kind: 'not', operand: filter }, startsWithNot: true };
}

function parseTerm(scanner: Scanner): ParsedCondition {
  const side = parseLeftSum(scanner, true);
  return side.kind === 'filter' ? side : parseComparison(scanner, side);
}

const comparisonWord = ({ kind, text }: Token): ComparisonWord | undefined =>
  kind === 'operator' || kind === 'range' ? COMPARISONS.find((word) => word === text) : undefined;

function parseComparison(scanner: Scanner, left: Operand): ParsedCondition {
  const { text, position } = scanner.token;
  const operator =
    comparisonWord(scanner.token) ?? unexpected(scanner, 'an operator: Eq, Ne, Gt, Ge, Lt, Le or Bt');
  if (scanner.open > LIMITS.levels) tooMany(scanner, 'levels of parentheses', LIMITS.levels);
  if (scanner.expressions === LIMITS.expressions) tooMany(scanner, 'conditions', LIMITS.expressions);
  scanner.expressions += 1;
  advance(scanner);
  const right = operator === 'Bt' ? parseRange(scanner) : parseRightSum(scanner);
  if (left.kind !== 'broken' && !containsField(left)) {
    recordFault(scanner, 'the left side of each condition names a field', text, position);
  }
  const reason = right.kind === 'values' ? operatorMismatch(operator, right) : undefined;
  if (reason !== undefined) recordFault(scanner, reason, operator, position);
  const condition = { left, operator, right: reason === undefined ? right : BROKEN, position };
  return { kind: 'filter', filter: { kind: 'condition', ...condition }, startsWithNot: false };
}

function containsField(operand: Operand): boolean {
  switch (operand.kind) {
    case 'name':
    case 'custom':
    case 'call':
    case 'broken':
      return true;
    case 'arithmetic':
      return containsField(operand.left) || containsField(operand.right);
    case 'negate':
      return containsField(operand.operand);
    default:
      return false;
  }
}

/** Why the operator cannot compare with these values; undefined if it can. */
function operatorMismatch(operator: ComparisonWord, { type, values }: Values): string | undefined {
  if (operator === 'Eq' || operator === 'Ne') return undefined;
  if (type === 'character' || type === 'boolean' || type === 'null' || type === 'shape') {
    return `${operator} cannot compare with ${typeName(type)}, only Eq and Ne can`;
  }
  return operator !== 'Bt' && values.length > 1
    ? `${operator} takes one value, only Eq and Ne take a list`
    : undefined;
}

// Arithmetic, on either side

const PRODUCTS: ReadonlySet<string> = new Set(['Mul', 'Div', 'Mod']);

/** Consumes the next token if it is an arithmetic operator of the given precedence. */
function takeArithmetic(scanner: Scanner, precedence: 'sum' | 'product', count: number) {
  const { kind, text } = scanner.token;
  if (kind !== 'arithmetic' || PRODUCTS.has(text) !== (precedence === 'product')) return undefined;
  const operator = ARITHMETIC_OPERATORS.find((word) => word === text);
  if (operator === undefined) return undefined;
  if (count > LIMITS.values) tooMany(scanner, 'values in one condition', LIMITS.values);
  advance(scanner);
  return operator;
}

/** Consumes minus signs. @returns whether they negate the operand */
function takeSigns(scanner: Scanner): boolean {
  let negative = false;
  while (at(scanner, 'minus')) {
    advance(scanner);
    negative = !negative;
  }
  return negative;
}

type NumberScalar = Scalar & { readonly type: 'integer' | 'decimal' };

const isNumber = (node: { readonly kind: string; readonly type?: string }): node is NumberScalar =>
  node.kind === 'scalar' && (node.type === 'integer' || node.type === 'decimal');

/** The longest number in characters: a longer one exceeds every stored number, and arithmetic with it would be slow. */
const LONGEST = 340;

/** The result of an operator between two literal numbers. Division by zero and a result that is too long are faults. */
function fold(
  scanner: Scanner,
  operator: ArithmeticWord,
  left: NumberScalar,
  right: NumberScalar,
): Scalar | Broken {
  if (dividesByZero(scanner, operator, right)) return BROKEN;
  const isLong = Math.max(left.text.length, right.text.length) > LONGEST;
  const result = isLong ? undefined : calculate(operator, left, right);
  if (result === undefined || result.text.length > LONGEST) {
    return recordArithmetic(
      scanner,
      `the result of ${operator} is too large to compare`,
      operator,
      right.position,
    );
  }
  return { kind: 'scalar', ...result, position: left.position };
}

/** Whether an operator divides by zero; if so, the fault is recorded. */
function dividesByZero(scanner: Scanner, operator: ArithmeticWord, right: NumberScalar): boolean {
  if ((operator !== 'Div' && operator !== 'Mod') || !isZero(right)) return false;
  recordArithmetic(scanner, `${operator} by zero`, right.text, right.position);
  return true;
}

const foldNegation = (number: NumberScalar, position: number): Scalar => ({
  kind: 'scalar',
  ...negated(number),
  position,
});

// The left side: fields, and arithmetic with them

type LeftSide = ParsedCondition | Operand;

function parseLeftChain(
  scanner: Scanner,
  precedence: 'sum' | 'product',
  first: LeftSide,
  next: (scanner: Scanner, mayGroup: boolean) => LeftSide,
): LeftSide {
  let left = first;
  for (let count = 2; left.kind !== 'filter'; count += 1) {
    const { position } = scanner.token;
    const operator = takeArithmetic(scanner, precedence, count);
    if (operator === undefined) return left;
    left = combineLeft(scanner, operator, left, asOperand(next(scanner, false)), position);
  }
  return left;
}

const asOperand = (side: LeftSide): Operand => (side.kind === 'filter' ? BROKEN : side);

/** @param mayGroup whether parentheses may contain conditions here, as they may if no operator precedes them */
function parseLeftSum(scanner: Scanner, mayGroup: boolean): LeftSide {
  return parseLeftChain(scanner, 'sum', parseLeftProduct(scanner, mayGroup), parseLeftProduct);
}

function parseLeftProduct(scanner: Scanner, mayGroup: boolean): LeftSide {
  return parseLeftChain(scanner, 'product', parseLeftPrimary(scanner, mayGroup), parseLeftPrimary);
}

function parseLeftPrimary(scanner: Scanner, mayGroup: boolean): LeftSide {
  if (at(scanner, '(')) {
    return parenthesized(scanner, () => (mayGroup ? parseGroup(scanner) : parseLeftSum(scanner, false)));
  }
  if (at(scanner, 'minus')) return parseLeftNegation(scanner);
  if (at(scanner, 'function')) return parseCall(scanner, 'left');
  const field = takeField(scanner) ?? takeLiteral(scanner, 'list');
  return field ?? unexpected(scanner, 'a condition, which begins with a field, a function or a parenthesis');
}

/** Parses a parenthesis. Only the token after it shows whether it contains conditions or a part of the left side. */
function parseGroup(scanner: Scanner): LeftSide {
  if (at(scanner, 'not')) return parseJoined(scanner);
  const side = parseLeftSum(scanner, true);
  if (side.kind !== 'filter' && comparisonWord(scanner.token) === undefined) return side;
  return parseJoined(scanner, side.kind === 'filter' ? side : parseComparison(scanner, side));
}

function parseLeftNegation(scanner: Scanner): Operand {
  const { position } = scanner.token;
  const negative = takeSigns(scanner);
  const operand = asOperand(parseLeftPrimary(scanner, false));
  if (!isNumeric(operand)) {
    return recordFault(scanner, `${typeName(apparentType(operand))} cannot be negative`, '-', position);
  }
  if (!negative) return operand;
  return isNumber(operand) ? foldNegation(operand, position) : { kind: 'negate', operand, position };
}

const isNumeric = (operand: Operand): boolean =>
  ['field', 'integer', 'decimal'].includes(apparentType(operand));

function combineLeft(
  scanner: Scanner,
  operator: ArithmeticWord,
  left: Operand,
  right: Operand,
  position: number,
): Operand {
  const odd = [left, right].find((operand) => !isNumeric(operand));
  if (odd !== undefined) {
    const reason = `${operator} takes numbers, not ${typeName(apparentType(odd))}`;
    return recordArithmetic(scanner, reason, operator, position);
  }
  if (isNumber(right)) {
    if (isNumber(left)) return fold(scanner, operator, left, right);
    if (dividesByZero(scanner, operator, right)) return BROKEN;
  }
  return { kind: 'arithmetic', operator, left, right, position };
}

/** The apparent type of an operand, before it is bound. */
function apparentType(operand: Operand): ApparentType {
  switch (operand.kind) {
    case 'name':
    case 'custom':
    case 'broken':
      return 'field';
    case 'arithmetic':
    case 'negate':
      return 'decimal';
    case 'call': {
      const rule = FUNCTIONS.get(operand.function);
      switch (rule?.kind) {
        case 'field':
          return rule.gives;
        case 'cast':
          return castType(operand.rest[0]?.text ?? '') ?? 'field';
        default:
          return 'all';
      }
    }
    default:
      return operand.type;
  }
}

// The right side: a value, a list of values, a range, or arithmetic between literals

type RightSide = Values | Broken;

const VALUE =
  'a value: a number, a date, true, false, NULL, a function, or a text in single quotes (a field is not allowed here)';

/** Left-associative; `Mul`, `Div` and `Mod` precede `Add` and `Sub`. */
function parseRightChain(
  scanner: Scanner,
  precedence: 'sum' | 'product',
  next: (scanner: Scanner) => RightSide,
): RightSide {
  let left = next(scanner);
  for (let count = 2; ; count += 1) {
    const operator = takeArithmetic(scanner, precedence, count);
    if (operator === undefined) return left;
    left = combineRight(scanner, operator, left, next(scanner));
  }
}

const parseRightProduct = (scanner: Scanner): RightSide =>
  parseRightChain(scanner, 'product', parseRightPrimary);
const parseRightSum = (scanner: Scanner): RightSide => parseRightChain(scanner, 'sum', parseRightProduct);

function parseRightPrimary(scanner: Scanner): RightSide {
  const { kind } = scanner.token;
  if (kind === '(') return parenthesized(scanner, () => parseRightSum(scanner));
  if (kind === 'minus') return parseRightNegation(scanner);
  if (kind === 'function') return parseListFrom(scanner, parseValueCall(scanner, 'right-plain'));
  const listed = takeLiteral(scanner, 'list');
  if (listed !== undefined) return parseListFrom(scanner, listed);
  return single(takeLiteral(scanner, 'anywhere') ?? unexpected(scanner, VALUE));
}

function parseValueCall(scanner: Scanner, place: CallPlace): Value | Broken {
  const called = parseCall(scanner, place);
  return called.kind === 'call' ? BROKEN : called;
}

const single = (value: Value | Broken): RightSide =>
  value.kind === 'broken'
    ? BROKEN
    : { kind: 'values', type: value.type, values: [value], position: value.position };

function parseListFrom(scanner: Scanner, first: Value | Broken): RightSide {
  if (!at(scanner, ',')) return single(first);
  const members: (Value | Broken)[] = [];
  while (at(scanner, ',')) {
    advance(scanner);
    if (members.length + 1 === LIMITS.values) tooMany(scanner, 'values in one condition', LIMITS.values);
    members.push(parseMember(scanner, 'list'));
  }
  const others = members.filter((member) => member.kind !== 'broken');
  return first.kind === 'broken' || others.length < members.length
    ? BROKEN
    : combineMembers(scanner, first, others);
}

/** Parses one member after a comma; the arguments of a function may contain further members. */
function parseMember(scanner: Scanner, place: 'list' | 'range'): Value | Broken {
  if (at(scanner, 'function')) return parseValueCall(scanner, 'right');
  const expected =
    place === 'list' ? 'a number, a text in single quotes or a function' : 'a number, a date or a function';
  return takeLiteral(scanner, place) ?? unexpected(scanner, expected);
}

/** The values after `Bt`: exactly two bounds. */
function parseRange(scanner: Scanner): RightSide {
  const low = parseMember(scanner, 'range');
  if (!at(scanner, ',')) unexpected(scanner, 'a comma and the upper end of the range');
  advance(scanner);
  const high = parseMember(scanner, 'range');
  return low.kind === 'broken' || high.kind === 'broken' ? BROKEN : combineMembers(scanner, low, [high]);
}

function combineMembers(scanner: Scanner, first: Value, others: readonly Value[]): RightSide {
  let { type } = first;
  for (const value of others) {
    const shared = sharedType(type, value.type);
    if (shared === undefined) {
      const [one, other] = [typeName(first.type), typeName(value.type)];
      const reason = `the values differ in type: ${one} comes first, ${other} here`;
      return recordFault(scanner, reason, tokenOf(value), value.position);
    }
    type = shared;
  }
  return { kind: 'values', type, values: [first, ...others], position: first.position };
}

/** The common type of two members of a list; undefined if there is none. */
function sharedType(left: Value['type'], right: Value['type']): Value['type'] | undefined {
  if (left === right) return left;
  const both = new Set([left, right]);
  if (both.has('date') && both.has('datetime')) return 'datetime';
  return both.has('integer') && both.has('decimal') ? 'decimal' : undefined;
}

function parseRightNegation(scanner: Scanner): RightSide {
  const { position } = scanner.token;
  const negative = takeSigns(scanner);
  const side = parseRightPrimary(scanner);
  if (side.kind === 'broken') return BROKEN;
  const number = oneNumber(side);
  if (number === undefined)
    return recordFault(scanner, 'only a single number can be negative', '-', position);
  return negative ? single(foldNegation(number, position)) : side;
}

function oneNumber({ values }: Values): NumberScalar | undefined {
  const [first, second] = values;
  return first !== undefined && second === undefined && isNumber(first) ? first : undefined;
}

function combineRight(
  scanner: Scanner,
  operator: ArithmeticWord,
  left: RightSide,
  right: RightSide,
): RightSide {
  if (left.kind === 'broken' || right.kind === 'broken') return BROKEN;
  const [first, second] = [oneNumber(left), oneNumber(right)];
  if (first !== undefined && second !== undefined) return single(fold(scanner, operator, first, second));
  const odd = first === undefined ? left : right;
  const found = odd.values.length > 1 ? 'a list' : typeName(odd.type);
  return recordArithmetic(scanner, `${operator} takes numbers, not ${found}`, operator, odd.position);
}

// Calls

/**
 * Where a call occurs, which determines its arguments: no fields on the right side, and no nested function in the first member of a
 * list.
 */
type CallPlace = 'left' | 'right' | 'right-plain';

type Called = FieldCall | Value | Broken;
type Argument = Called | FieldName;

/** Parses `name(…)`; the name is the next token. */
function parseCall(scanner: Scanner, place: CallPlace): Called {
  const name = advance(scanner);
  if (!at(scanner, '(')) {
    const hint = `"(" behind the function ${name.text} (a field name begins with a capital letter)`;
    unexpected(scanner, hint);
  }
  if (scanner.calls === LIMITS.functions) tooMany(scanner, 'levels of functions', LIMITS.functions, name);
  scanner.calls += 1;
  const found = parenthesized(scanner, () => parseArguments(scanner, place));
  scanner.calls -= 1;
  return resolve(scanner, name, found);
}

function parseArguments(scanner: Scanner, place: CallPlace): Argument[] {
  if (at(scanner, ')')) return [];
  const found = [parseArgument(scanner, place)];
  while (at(scanner, ',')) {
    advance(scanner);
    if (found.length === LIMITS.values) tooMany(scanner, 'arguments of a function', LIMITS.values);
    found.push(parseArgument(scanner, place));
  }
  return found;
}

function parseArgument(scanner: Scanner, place: CallPlace): Argument {
  const literal = takeLiteral(scanner, 'anywhere');
  if (literal !== undefined) return literal;
  if (place === 'right-plain') return unexpected(scanner, 'a literal value');
  if (at(scanner, 'function')) return parseCall(scanner, place);
  if (place === 'right') return unexpected(scanner, 'a literal value or a function');
  return takeField(scanner) ?? unexpected(scanner, 'a field, a literal value or a function');
}

/** Checks a call against the table of functions, and evaluates it if it contains no field. */
function resolve(scanner: Scanner, name: Token, found: readonly Argument[]): Called {
  const { text, position } = name;
  const rule = FUNCTIONS.get(text);
  if (rule === undefined) {
    const nearest = nearestName(text, FUNCTIONS.keys());
    const expected = `a function of this language${nearest === undefined ? '' : `, such as ${nearest}`}`;
    const facts = { option: FILTER, position, found: `the function "${shortened(text)}"`, expected };
    scanner.faults.push(fault('syntax', facts, text));
    return BROKEN;
  }
  const scalars = found.filter((argument): argument is Scalar => argument.kind === 'scalar');
  const reason = argumentMismatch(text, rule, found) ?? invalidArgument(text, rule, scalars);
  if (reason !== undefined) return recordFault(scanner, reason, text, position);
  const [first] = found;
  if (first?.kind === 'broken') return BROKEN;
  if (rule.kind !== 'field' && rule.kind !== 'all' && rule.kind !== 'cast') {
    return evaluateCall(scanner, rule, scalars, position);
  }
  const of = rule.kind === 'field' ? rule.name : rule.kind;
  switch (first?.kind) {
    case 'name':
    case 'custom':
    case 'call':
      return { kind: 'call', function: of, of: first, rest: scalars, position };
  }
  const [value, ...rest] = scalars;
  if (rule.kind === 'all' || value === undefined)
    return recordFault(scanner, `${of}() takes a field`, of, position);
  if (rule.kind === 'cast') {
    return { kind: 'scalar', ...foldCast(value, castType(rest[0]?.text ?? '') ?? 'character'), position };
  }
  const result = rule.fold(
    value.text,
    rest.map((scalar) => scalar.text),
  );
  if (result === undefined)
    return recordFault(scanner, `${value.text} is not a day of the calendar`, of, position);
  return { kind: 'scalar', type: rule.gives, text: result, position };
}

/** Why the arguments do not fit the function; undefined if they do. */
function argumentMismatch(name: string, rule: FunctionRule, found: readonly Argument[]): string | undefined {
  const most = rule.takes.length;
  const least = most - (rule.optional ?? 0);
  if (found.length < least || found.length > most) {
    const count = least === most ? String(most) : `${least} or ${most}`;
    return `${name}() takes ${count} ${count === '1' ? 'argument' : 'arguments'}, not ${found.length}`;
  }
  for (const [index, argument] of found.entries()) {
    const taken: readonly ApparentType[] = rule.takes[index] ?? [];
    const nested = argument.kind === 'clock' || argument.kind === 'pattern' || argument.kind === 'range';
    if (!nested && taken.includes(apparentType(argument))) continue;
    const given = nested ? 'a function of its own' : typeName(apparentType(argument));
    return `argument ${index + 1} of ${name}() is ${given}, not ${taken.map(typeName).join(' or ')}`;
  }
  return undefined;
}

/** Restrictions of arguments that their types do not express. */
function invalidArgument(name: string, rule: FunctionRule, scalars: readonly Scalar[]): string | undefined {
  if (rule.kind === 'cast' && castType(scalars.at(-1)?.text ?? '') === undefined) {
    return "cast() takes a field or value and one of 'character', 'decimal', 'integer'";
  }
  const isNegative = ({ type, text }: Scalar) => type === 'integer' && text.startsWith('-');
  if (name === 'substring' && scalars.some(isNegative)) {
    return 'substring() takes a start and a length of zero or more';
  }
  return undefined;
}

type RuleOf<K extends FunctionRule['kind']> = Extract<FunctionRule, { readonly kind: K }>;

/** The value of a function without fields. */
function evaluateCall(
  scanner: Scanner,
  rule: RuleOf<'clock' | 'instant' | 'pattern' | 'range' | 'shape'>,
  scalars: readonly Scalar[],
  position: number,
): Value | Broken {
  const texts = scalars.map((scalar) => scalar.text);
  const [first = '', second = ''] = texts;
  switch (rule.kind) {
    case 'instant':
      return { kind: 'scalar', type: 'datetime', text: rule.text, position };
    case 'range':
      return { kind: 'range', type: 'character', from: first, to: second, position };
    case 'clock': {
      const { name, gives: type } = rule;
      const count = Number(first);
      if ((name === 'days' || name === 'weekdays') && Math.abs(count) > LIMITS.days) {
        return recordTooLarge(scanner, `days away in ${name}()`, LIMITS.days, name, position);
      }
      return { kind: 'clock', type, function: name, count, position };
    }
    case 'pattern':
      return pattern(scanner, rule, first, second, position);
    case 'shape': {
      const { name } = rule;
      const shape = readShape(name, texts);
      if ('reason' in shape) return recordFault(scanner, shape.reason, name, position);
      return { kind: 'shape', type: 'shape', geometry: shape.geometry, function: name, position };
    }
  }
}

function pattern(
  scanner: Scanner,
  { name }: RuleOf<'pattern'>,
  text: string,
  flags: string,
  position: number,
): Value | Broken {
  if (name === 'regex') {
    if (!/^i*$/.test(flags)) {
      const reason = `regex() takes the flag 'i' or none, not '${shortened(flags)}'`;
      return recordFault(scanner, reason, name, position);
    }
    const check = checkRegularExpression(text, scanner.patterns);
    if (check.kind === 'large') {
      return recordTooLarge(scanner, 'steps in its regular expressions', LARGEST_PATTERNS, name, position);
    }
    scanner.patterns += check.size;
    if (check.kind === 'wrong') {
      const reason = `this is not a valid regular expression: ${shortened(check.reason)}`;
      return recordFault(scanner, reason, name, position);
    }
  }
  const ignoreCase = name === 'regex' && flags !== '';
  return { kind: 'pattern', type: 'character', form: name, text, ignoreCase, position };
}

// Fields and literals

/** Consumes a field name, if one is next. */
function takeField(scanner: Scanner): FieldName | undefined {
  const { kind, text, position } = scanner.token;
  if (kind === 'field') {
    advance(scanner);
    return { kind: 'name', name: text, position };
  }
  if (kind !== 'custom') return undefined;
  advance(scanner);
  const [, group = '', , label = ''] = text.split('"');
  return { kind: 'custom', group, label, position };
}

/** Literals, and whether they are allowed in a list and as bounds of a range. */
const LITERALS: Readonly<Partial<Record<TokenKind, { list: boolean; range: boolean; type: ScalarType }>>> = {
  integer: { list: true, range: true, type: 'integer' },
  decimal: { list: true, range: true, type: 'decimal' },
  character: { list: true, range: false, type: 'character' },
  date: { list: false, range: true, type: 'date' },
  datetime: { list: false, range: true, type: 'datetime' },
  time: { list: false, range: true, type: 'time' },
  boolean: { list: false, range: false, type: 'boolean' },
  null: { list: false, range: false, type: 'null' },
};

/** Consumes a literal, if one is next and allowed here. */
function takeLiteral(scanner: Scanner, place: 'anywhere' | 'list' | 'range'): Scalar | undefined {
  const known = LITERALS[scanner.token.kind];
  if (known === undefined || (place !== 'anywhere' && !known[place])) return undefined;
  const { text, position } = advance(scanner);
  const { type } = known;
  return { kind: 'scalar', type, text: type === 'character' ? unquoted(text) : text, position };
}

/** Removes quotes. A backslash is removed only in front of a quote; others are kept, since patterns need them. */
const unquoted = (text: string): string => text.slice(1, -1).replaceAll("\\'", "'");

// The state of a parse

/** The next token, the open constructs around it, and the faults so far. */
interface Scanner {
  readonly reader: Reader;
  token: Token;
  /** Open parentheses. */
  open: number;
  calls: number;
  expressions: number;
  /** The total size of the filter's regular expressions so far. */
  patterns: number;
  readonly faults: Fault[];
}

/** Consumes a token and reads the next one. */
function advance(scanner: Scanner): Token {
  const { token } = scanner;
  scanner.token = nextToken(scanner.reader);
  return token;
}

const at = (scanner: Scanner, kind: TokenKind): boolean => scanner.token.kind === kind;

function parenthesized<T>(scanner: Scanner, parse: () => T): T {
  if (scanner.open === LIMITS.parentheses) tooMany(scanner, 'open parentheses', LIMITS.parentheses);
  scanner.open += 1;
  advance(scanner);
  const inner = parse();
  if (!at(scanner, ')')) unexpected(scanner, 'a closing parenthesis');
  advance(scanner);
  scanner.open -= 1;
  return inner;
}

/** Records a fault after which parsing continues. */
function recordFault(scanner: Scanner, reason: string, token: string, position: number): Broken {
  scanner.faults.push(typeFault(reason, token, position));
  return BROKEN;
}

/** The reference implementation counts arithmetic that has no result among its limits (reference: sparkql, Limits). */
function recordArithmetic(scanner: Scanner, reason: string, token: string, position: number): Broken {
  scanner.faults.push(fault('arithmeticInvalid', { option: FILTER, position, reason }, token));
  return BROKEN;
}

function recordTooLarge(
  scanner: Scanner,
  what: string,
  limit: number,
  token: string,
  position: number,
): Broken {
  scanner.faults.push(fault('filterTooLarge', { option: FILTER, what, limit, position }, token));
  return BROKEN;
}

/** Ends parsing: nothing after this fault can be understood. */
function throwFault(scanner: Scanner, found: Fault): never {
  scanner.faults.push(found);
  throw found.raise({});
}

function describe(token: Token): string {
  if (token.kind === 'end') return 'the end';
  if (token.kind === 'unknown' && token.text === "'") return 'a quote that is not closed';
  if (token.kind === 'unknown' && token.text === '"') return 'a double quote that begins no "Group"."Field"';
  return `"${shortened(token.text)}"`;
}

/** Ends parsing at the next token. */
function unexpected(scanner: Scanner, expected: string): never {
  const { token } = scanner;
  const facts = { option: FILTER, position: token.position, found: describe(token), expected };
  return throwFault(scanner, fault('syntax', facts, token.text));
}

function tooMany(scanner: Scanner, what: string, limit: number, token: Token = scanner.token): never {
  const facts = { option: FILTER, what, limit, position: token.position };
  return throwFault(scanner, fault('filterTooLarge', facts, token.text));
}

// Tokens. The order in which forms are tried is part of the language: NULL precedes field names, so no field can begin with "Null";
// timestamps precede dates, and dates precede numbers.

type TokenKind =
  | '('
  | ')'
  | ','
  | 'null'
  | 'field'
  | 'custom'
  | 'datetime'
  | 'date'
  | 'time'
  | 'decimal'
  | 'integer'
  | 'minus'
  | 'character'
  | 'boolean'
  | 'function'
  | 'operator'
  | 'range'
  | 'conjunction'
  | 'not'
  | 'arithmetic'
  | 'end'
  | 'unknown';

export interface Token {
  readonly kind: TokenKind;
  /** The text as written, except that reserved words have their standard spelling (`Eq`, `And`). */
  readonly text: string;
  /** The position of its first character, counted from 1. */
  readonly position: number;
}

/** The current position in the text. The offset counts UTF-16 code units, the position characters. */
interface Reader {
  readonly text: string;
  offset: number;
  position: number;
}

const RESERVED: ReadonlyMap<string, TokenKind> = new Map<string, TokenKind>([
  ...COMPARISONS.map((word): [string, TokenKind] => [word, word === 'Bt' ? 'range' : 'operator']),
  ['And', 'conjunction'],
  ['Or', 'conjunction'],
  ['Not', 'not'],
  ...ARITHMETIC_OPERATORS.map((word): [string, TokenKind] => [word, 'arithmetic']),
]);

type Form = readonly [TokenKind, RegExp];

const SPACE = /[\t ]+/y;
const UPPER: readonly Form[] = [
  ['null', /NULL|Null/y],
  ['field', /[A-Z][A-Za-z0-9]*/y],
];
const LOWER: readonly Form[] = [
  ['null', /null/y],
  ['boolean', /true|false/y],
  ['function', /[A-Za-z]+/y],
];
const NUMERIC: readonly Form[] = [
  ['datetime', /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,50})?)?(?:[+-]\d\d:?\d\d|Z)?/y],
  ['date', /\d{4}-\d\d-\d\d/y],
  ['time', /\d\d:\d\d(?::\d\d(?:\.\d{1,50})?)?/y],
  ['decimal', /-?\d+\.\d+(?:[Ee]-?\d{1,2})?/y],
  ['integer', /-?\d+/y],
  ['minus', /-/y],
];
const OTHERS: Readonly<Record<string, readonly Form[]>> = {
  '(': [['(', /\(/y]],
  ')': [[')', /\)/y]],
  ',': [[',', /,/y]],
  "'": [['character', /'[^'\\]*(?:\\.[^'\\]*)*'/y]],
  '"': [['custom', /"[^$."][^."]+"\."[^$."][^."]*"/y]],
};

/** The forms of tokens that can begin with a character, so that only a few have to be tried. */
function formsFrom(first: string): readonly Form[] {
  if (first >= 'A' && first <= 'Z') return UPPER;
  if (first >= 'a' && first <= 'z') return LOWER;
  if ((first >= '0' && first <= '9') || first === '-') return NUMERIC;
  return OTHERS[first] ?? [];
}

function take(reader: Reader, form: RegExp): string | undefined {
  form.lastIndex = reader.offset;
  const text = form.exec(reader.text)?.[0];
  if (text === undefined) return undefined;
  reader.offset += text.length;
  return text;
}

/** A character beyond the basic plane has two UTF-16 code units, but counts as one position. */
export const characterCount = (text: string): number =>
  /[\ud800-\udbff]/.test(text) ? [...text].length : text.length;

/** Reads the next token; after the last one, always `end`. A character that begins no token is `unknown`. */
export function nextToken(reader: Reader): Token {
  reader.position += take(reader, SPACE)?.length ?? 0;
  const { position, offset, text } = reader;
  const code = text.codePointAt(offset);
  if (code === undefined) return { kind: 'end', text: '', position };
  const first = String.fromCodePoint(code);
  for (const [kind, form] of formsFrom(first)) {
    const found = take(reader, form);
    if (found === undefined) continue;
    reader.position += characterCount(found);
    return kind === 'field' || kind === 'function'
      ? reserved(kind, found, position)
      : { kind, text: found, position };
  }
  reader.offset += first.length;
  reader.position += 1;
  return { kind: 'unknown', text: first, position };
}

/** Reserved words are case-insensitive; a word with digits is not reserved. */
function reserved(kind: TokenKind, text: string, position: number): Token {
  const word = text.charAt(0).toUpperCase() + text.slice(1).toLowerCase();
  const meant = RESERVED.get(word);
  return meant === undefined ? { kind, text, position } : { kind: meant, text: word, position };
}
