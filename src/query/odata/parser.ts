/**
 * The grammar of OData requests (OData 4.01 ABNF), from top to bottom: options, expressions, calls and paths, the resource path,
 * and finally the tokens. It turns text into syntax nodes. The grammar knows no fields or functions by name; the binders resolve
 * them.
 */
import { nearestName } from '../../dictionary/index.ts';
import { type PlatError, platError } from '../../errors/index.ts';
import { tryParseJson } from '../../shared/json.ts';
import type { Search } from '../tree.ts';
import {
  type Argument,
  type BinaryOperator,
  type ComputeNode,
  type ExpandNode,
  type LiteralText,
  NO_OPTIONS,
  type Node,
  type OptionNodes,
  type OrderNode,
  type PathPart,
  type PathSegment,
  type Segment,
  type SelectNode,
} from './nodes.ts';
import {
  decodePart,
  MAX_DEPTH,
  type OptionText,
  type Sourced,
  shown,
  syntaxError,
  tooLarge,
} from './option-text.ts';
import { parseSearchAt } from './search.ts';
import { matchAt, readBareLiteral, readPrefixedLiteral, readQuoted, skipSpace } from './values.ts';

// Options

/** The options of a request whose values have a syntax of their own, without the dollar sign. */
export const PARSED_OPTIONS = [
  'filter',
  'orderby',
  'select',
  'expand',
  'compute',
  'search',
  'count',
  'top',
  'skip',
] as const;

/** `levels` is allowed only inside `$expand`. */
type ParsedOption = (typeof PARSED_OPTIONS)[number] | 'levels';

/**
 * Parses the value of every option of a request. Options that have no syntax (`$skiptoken`, `$format`, …) are left to the binder.
 * @throws syntax, filterTooLarge, optionInvalid and the errors of nested options
 */
export function parseOptions(
  system: ReadonlyMap<string, string>,
  aliasTexts: ReadonlyMap<string, string>,
): OptionNodes {
  const aliases = new Map<string, Sourced<Node>>();
  for (const [name, text] of aliasTexts) {
    const source = { option: `@${name}`, text };
    aliases.set(name, { source, value: parseExpressionText(source) });
  }
  let options: OptionNodes = { aliases };
  for (const [name, text] of system) {
    const option = findOption(name, PARSED_OPTIONS);
    if (option === undefined) continue;
    const scanner = scan({ option: `$${option}`, text });
    options = { ...options, ...parseOption(scanner, option, false) };
    expectEnd(scanner, option === 'filter' ? 'an operator, such as eq or and,' : '","');
  }
  return options;
}

/**
 * Parses a whole text as one expression (commonExpr).
 * @throws syntax, filterTooLarge
 */
export function parseExpressionText(source: OptionText): Node {
  const scanner = scan(source);
  const node = parseExpression(scanner);
  expectEnd(scanner, 'an operator, such as eq or and,');
  return node;
}

/** @param inList whether the option is inside the parentheses of another one */
function parseOption(scanner: Scanner, option: ParsedOption, inList: boolean): Partial<OptionNodes> {
  const { source } = scanner;
  switch (option) {
    case 'filter':
      return { filter: { source, value: parseExpression(scanner) } };
    case 'orderby':
      return { orderby: { source, value: commaList(scanner, parseOrderItem) } };
    case 'compute':
      return { compute: { source, value: commaList(scanner, parseComputeItem) } };
    case 'select':
      return { select: { source, value: commaList(scanner, parseSelectItem) } };
    case 'expand':
      return { expand: { source, value: commaList(scanner, parseExpandItem) } };
    case 'search':
      return { search: parseSearch(scanner, inList) };
    case 'top':
      return { top: parseWhole(scanner, '$top', inList) };
    case 'skip':
      return { skip: parseWhole(scanner, '$skip', inList) };
    case 'count':
      return { count: parseBoolean(scanner, inList) };
    case 'levels':
      return { levels: parseLevels(scanner, inList) };
  }
}

type Mutable = { -readonly [Key in keyof OptionNodes]: OptionNodes[Key] };

/**
 * Parses the options in the parentheses of an item, including `)`: separated by semicolons, with or without a dollar sign.
 * @param allowed the allowed options; aliases are always allowed
 * @throws syntax, optionUnknown, optionRepeated, optionInvalid
 */
function parseOptionList(scanner: Scanner, allowed: ReadonlySet<ParsedOption>): OptionNodes {
  const target = scanner.source.option;
  const where = ` inside ${target}`;
  const repeated = (name: string) => platError('optionRepeated', { name: `${name}${where}` }, { target });
  return nested(scanner, () => {
    const aliases = new Map<string, Sourced<Node>>();
    const options: Mutable = { aliases };
    do {
      const token = peek(scanner);
      switch (token.kind) {
        case 'at':
          take(scanner);
          expect(scanner, '=');
          if (aliases.has(token.name)) throw repeated(`@${token.name}`);
          aliases.set(token.name, { source: scanner.source, value: parseExpression(scanner) });
          break;
        case 'system':
        case 'name': {
          take(scanner);
          const option = findOption(token.name, allowed);
          if (option === undefined) {
            throw unknownOption(`$${shown(token.name)}${where}`, token.name, allowed, target);
          }
          expect(scanner, '=', ` after ${token.name}`);
          if (options[option] !== undefined) throw repeated(`$${option}`);
          Object.assign(options, parseOption(scanner, option, true));
          break;
        }
        default:
          throw unexpected(scanner, 'an option, such as $select=…');
      }
    } while (accept(scanner, ';'));
    expect(scanner, ')', ' or ";"');
    return options;
  });
}

function parseSearch(scanner: Scanner, inList: boolean): Search {
  const { search, end } = parseSearchAt(scanner.source, scanner.offset, scanner.depth, inList);
  moveTo(scanner, end);
  return search;
}

/** The rest of an option, up to the next option in a list or to the end of the text. */
const PLAIN_IN_LIST = /[^;)]*/y;
const PLAIN = /.*/sy;

function takeOptionText(scanner: Scanner, inList: boolean): string {
  const { text } = scanner.source;
  const start = skipSpace(text, scanner.offset);
  const found = matchAt(inList ? PLAIN_IN_LIST : PLAIN, text, start) ?? '';
  moveTo(scanner, start + found.length);
  return found.trimEnd();
}

const invalidOption = (name: string, value: string, expected: string) =>
  platError('optionInvalid', { name, value: shown(value), expected }, { target: name });

/** No collection has more rows than the largest exact number, which therefore stands for every larger one. */
function parseWhole(scanner: Scanner, name: string, inList: boolean): number {
  const text = takeOptionText(scanner, inList);
  if (/^\d+$/.test(text)) return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
  throw invalidOption(name, text, 'a whole number, 0 or more');
}

function parseBoolean(scanner: Scanner, inList: boolean): boolean {
  const text = takeOptionText(scanner, inList);
  switch (text.toLowerCase()) {
    case 'true':
      return true;
    case 'false':
      return false;
    default:
      throw invalidOption('$count', text, 'true or false');
  }
}

function parseLevels(scanner: Scanner, inList: boolean): number | 'max' {
  const text = takeOptionText(scanner, inList);
  if (text.toLowerCase() === 'max') return 'max';
  const number = Number(text);
  if (/^[1-9]\d*$/.test(text) && Number.isSafeInteger(number)) return number;
  throw invalidOption('$levels', text, 'a whole number, 1 or more, or max');
}

function parseOrderItem(scanner: Scanner): OrderNode {
  const expression = parseExpression(scanner);
  const token = peek(scanner);
  const word = token.kind === 'name' ? token.name.toLowerCase() : '';
  if (word === 'asc' || word === 'desc') take(scanner);
  return { expression, descending: word === 'desc' };
}

function parseComputeItem(scanner: Scanner): ComputeNode {
  const expression = parseExpression(scanner);
  const as = peek(scanner);
  if (as.kind !== 'name' || as.name.toLowerCase() !== 'as') throw unexpected(scanner, 'an operator or "as"');
  take(scanner);
  const token = peek(scanner);
  if (token.kind !== 'name' || token.name.includes('.')) throw unexpected(scanner, 'a name after "as"');
  take(scanner);
  return { expression, name: token.name, start: token.start };
}

// The options that are allowed in parentheses; each set includes the one before it.
const COUNT_OPTIONS = new Set<ParsedOption>(['filter', 'search']);
const REFERENCE_OPTIONS = new Set<ParsedOption>([...COUNT_OPTIONS, 'orderby', 'skip', 'top', 'count']);
const SELECT_OPTIONS = new Set<ParsedOption>([...REFERENCE_OPTIONS, 'compute', 'select']);
const RECORD_OPTIONS = new Set<ParsedOption>([...SELECT_OPTIONS, 'expand', 'levels']);
const STAR_OPTIONS = new Set<ParsedOption>(['levels']);

/** One name or annotation of a path; undefined if something else comes next. */
function parsePart(scanner: Scanner): PathPart | undefined {
  const token = peek(scanner);
  const { start } = token;
  if (token.kind !== 'name' && token.kind !== 'at') return undefined;
  take(scanner);
  return { kind: token.kind === 'at' ? 'annotation' : 'name', name: token.name, start };
}

/** selectItem */
function parseSelectItem(scanner: Scanner): SelectNode {
  const { start } = peek(scanner);
  if (accept(scanner, '*')) return { kind: 'all', start };
  const path: PathPart[] = [];
  do {
    const part = parsePart(scanner);
    if (part === undefined) throw unexpected(scanner, 'a field or *');
    path.push(part);
  } while (accept(scanner, '/'));
  if (path.length === 1 && accept(scanner, '.')) {
    expect(scanner, '*', ' after a namespace and a dot');
    return { kind: 'operations', start };
  }
  if (!isNextCharacter(scanner, '(')) return { kind: 'path', path, start };
  take(scanner);
  if (isOptionNext(scanner)) {
    return { kind: 'path', path, options: parseOptionList(scanner, SELECT_OPTIONS), start };
  }
  commaList(scanner, () => {
    if (parsePart(scanner) === undefined) throw unexpected(scanner, 'an option or the name of a parameter');
  });
  expect(scanner, ')', ' or ","');
  return { kind: 'operations', start };
}

/** Whether `name =` or an alias comes next, that is, an option and not the parameter name of a function. */
function isOptionNext(scanner: Scanner): boolean {
  const token = peek(scanner);
  if (token.kind !== 'name') return true;
  take(scanner);
  const named = accept(scanner, '=');
  moveTo(scanner, token.start);
  return named;
}

const EXPANSION = 'an expansion, such as Media, or *';

type Give = 'records' | 'references' | 'count';

/** expandItem */
function parseExpandItem(scanner: Scanner): ExpandNode {
  const first = peek(scanner);
  const { start } = first;
  if (first.kind === 'system' && first.name === 'value') {
    take(scanner);
    return { kind: 'media', start };
  }
  const path: PathPart[] = [];
  let star = false;
  let give: Give = 'records';
  do {
    const part = parsePart(scanner);
    if (part !== undefined) path.push(part);
    else if (accept(scanner, '*')) star = true;
    else give = parseExpandEnd(scanner, path.length > 0, false);
  } while (!star && give === 'records' && accept(scanner, '/'));
  if (star && accept(scanner, '/')) give = parseExpandEnd(scanner, true, true);
  const allowed = expandOptions(star, give);
  let options = NO_OPTIONS;
  if (allowed !== undefined && isNextCharacter(scanner, '(')) {
    take(scanner);
    options = parseOptionList(scanner, allowed);
  }
  if (star) return { kind: 'star', path, give, options, start };
  const [head, ...rest] = path;
  if (head === undefined) throw unexpected(scanner, EXPANSION);
  return { kind: 'path', path: [head, ...rest], give, options, start };
}

/** `$ref` or `$count` at the end of an expansion's path. */
function parseExpandEnd(scanner: Scanner, isBehindPath: boolean, star: boolean): Give {
  const token = peek(scanner);
  if (token.kind === 'system' && isBehindPath) {
    if (token.name === 'ref') {
      take(scanner);
      return 'references';
    }
    if (token.name === 'count' && !star) {
      take(scanner);
      return 'count';
    }
  }
  throw unexpected(scanner, star ? '$ref after */' : EXPANSION);
}

/** The options that an expansion may have in parentheses; undefined if it may have none. */
function expandOptions(star: boolean, give: Give): ReadonlySet<ParsedOption> | undefined {
  switch (give) {
    case 'references':
      return star ? undefined : REFERENCE_OPTIONS;
    case 'count':
      return COUNT_OPTIONS;
    case 'records':
      return star ? STAR_OPTIONS : RECORD_OPTIONS;
  }
}

/** The option with a name, which is case-insensitive and may lack its dollar sign (OData 4.01 URL conventions, 5.1). */
export function findOption<O extends string>(name: string, known: Iterable<O>): O | undefined {
  const plain = (name.startsWith('$') ? name.slice(1) : name).toLowerCase();
  for (const option of known) if (option === plain) return option;
  return undefined;
}

/**
 * The error for an option that does not exist.
 *
 * @param given the name as in the request, for the message
 * @param name without the dollar sign, to find a suggestion
 */
export function unknownOption(
  given: string,
  name: string,
  known: Iterable<string>,
  target: string,
): PlatError {
  const nearest = nearestName(name, known);
  return platError('optionUnknown', { name: given, nearest: nearest && `$${nearest}` }, { target });
}

// Expressions

type Infix = BinaryOperator | 'and' | 'or';

/** The precedence of each operator (OData 4.01 URL conventions, 5.1.1.17). */
const PRECEDENCE: ReadonlyMap<string, readonly [Infix, number]> = new Map(
  (
    [
      [['or'], 1],
      [['and'], 2],
      [['eq', 'ne'], 3],
      [['gt', 'ge', 'lt', 'le'], 4],
      [['add', 'sub'], 5],
      [['mul', 'div', 'divby', 'mod'], 6],
      [['has', 'in'], 8],
    ] as const
  ).flatMap(([operators, level]) =>
    operators.map((operator): [string, readonly [Infix, number]] => [operator, [operator, level]]),
  ),
);
/** The precedence of `-` and `not` is between multiplication and `has`. */
const UNARY = 7;
const LOWEST = 1;

/** Parses an expression with operators of at least the given precedence. Operators of equal precedence associate to the left. */
function parseExpression(scanner: Scanner, level = LOWEST): Node {
  return nested(scanner, () => {
    const { start } = peek(scanner);
    let left = parseOperand(scanner);
    /** The operands of the `and` or `or` that is being collected. */
    let collected: { kind: 'and' | 'or'; operands: Node[] } | undefined;
    for (;;) {
      const token = peek(scanner);
      const infix = token.kind === 'name' ? PRECEDENCE.get(token.name.toLowerCase()) : undefined;
      if (infix === undefined || infix[1] < level) return left;
      take(scanner);
      const [operator, precedence] = infix;
      if (operator === 'and' || operator === 'or') {
        const right = parseExpression(scanner, precedence + 1);
        if (collected?.kind === operator) {
          collected.operands.push(right);
        } else {
          collected = { kind: operator, operands: [left, right] };
          left = { ...collected, start };
        }
      } else {
        const right =
          operator === 'in' ? parseMembers(scanner, precedence) : parseExpression(scanner, precedence + 1);
        left = { kind: 'binary', operator, left, right, start };
        collected = undefined;
      }
    }
  });
}

function parseOperand(scanner: Scanner): Node {
  const token = peek(scanner);
  const { start } = token;
  switch (token.kind) {
    case 'literal':
      take(scanner);
      return { kind: 'literal', literal: token.literal, start };
    case 'system':
    case 'at':
      return parsePath(scanner);
    case 'name':
      if (token.name.toLowerCase() === 'not') {
        take(scanner);
        return { kind: 'not', operand: parseExpression(scanner, UNARY), start };
      }
      return scanner.source.text[token.end] === '(' ? parseCall(scanner) : parsePath(scanner);
    case 'json':
      throw unexpected(scanner, 'a value; a string must be in single quotes');
    case 'symbol':
      switch (token.symbol) {
        case '(':
          return bracketed(scanner, () => parseCondition(scanner));
        case '-':
          take(scanner);
          return { kind: 'negate', operand: parseExpression(scanner, UNARY), start };
        case '[':
          return { kind: 'list', items: bracketedList(scanner, ']', parseJsonValue), start };
        case '{':
          return { kind: 'object', members: bracketedList(scanner, '}', parseJsonMember), start };
      }
  }
  throw unexpected(scanner, 'a field, a value or a function');
}

/** An expression and its closing parenthesis. */
function parseCondition(scanner: Scanner): Node {
  const node = parseExpression(scanner);
  expect(scanner, ')', ' or an operator');
  return node;
}

const isListItem = (node: Node): boolean =>
  node.kind === 'literal' ||
  (node.kind === 'negate' && node.operand.kind === 'literal') ||
  (node.kind === 'path' && node.segments.length === 1 && node.segments[0].kind === 'at');

/** Parses the right side of `in`: a list of literals in parentheses, or any expression. */
function parseMembers(scanner: Scanner, precedence: number): Node {
  const { start } = peek(scanner);
  if (scanner.source.text[start] !== '(') return parseExpression(scanner, precedence + 1);
  return bracketed(scanner, () => {
    const items: Node[] = [];
    if (accept(scanner, ')')) return { kind: 'list', items, start };
    do {
      const item = parseExpression(scanner);
      if (!isListItem(item)) {
        if (items.length > 0)
          throw syntaxError(scanner.source, item.start, 'no literal', 'literals in a list');
        expect(scanner, ')', ', since a list holds only literals');
        return item;
      }
      items.push(item);
    } while (accept(scanner, ','));
    expect(scanner, ')', ' or ","');
    return { kind: 'list', items, start };
  });
}

/** Inside arrays and objects, a string may also be in double quotes (valueInUrl). */
function parseJsonValue(scanner: Scanner): Node {
  const token = peek(scanner);
  if (token.kind !== 'json') return parseExpression(scanner);
  take(scanner);
  return { kind: 'literal', literal: { form: 'string', text: token.value }, start: token.start };
}

function parseJsonMember(scanner: Scanner): { name: string; value: Node } {
  const token = peek(scanner);
  if (token.kind !== 'json') throw unexpected(scanner, 'a name in double quotes');
  take(scanner);
  expect(scanner, ':');
  return { name: token.value, value: parseJsonValue(scanner) };
}

// Calls

/** Parses a call, or a path that continues from its result. The next tokens are its name and, without white space, `(`. */
function parseCall(scanner: Scanner): Node {
  const token = take(scanner);
  const { start } = token;
  const name = token.kind === 'name' ? token.name : '';
  const keyword = name.toLowerCase();
  switch (keyword) {
    case 'cast':
    case 'isof':
      return bracketed(scanner, () => parseTyped(scanner, keyword, start));
    case 'case':
      return bracketed(scanner, () => parseCase(scanner, start));
    case 'any':
    case 'all':
      throw unexpected(scanner, `a list and "/" in front of ${name}`);
  }
  const head: Segment & { kind: 'call' } = { kind: 'call', name, arguments: parseArguments(scanner), start };
  const segments = parseSegments(scanner, head);
  return segments.length === 1 ? head : { kind: 'path', segments, start };
}

/** `( … )` with any number of arguments, each of which may be named. */
const parseArguments = (scanner: Scanner): Argument[] => bracketedList(scanner, ')', parseArgument);

function parseArgument(scanner: Scanner): Argument {
  const token = peek(scanner);
  if (token.kind === 'name') {
    take(scanner);
    if (accept(scanner, '=')) return { name: token.name, value: parseExpression(scanner) };
    moveTo(scanner, token.start);
  }
  return { value: parseExpression(scanner) };
}

/** `cast(T)`, `cast(x,T)`, and the same forms of `isof`. */
function parseTyped(scanner: Scanner, kind: 'cast' | 'isof', start: number): Node {
  const first = peek(scanner);
  if (first.kind === 'name') {
    const type = parseTypeName(scanner);
    if (accept(scanner, ')')) return { kind, type, start };
    moveTo(scanner, first.start);
  }
  const operand = parseExpression(scanner);
  expect(scanner, ',', ' and a type');
  const type = parseTypeName(scanner);
  expect(scanner, ')');
  return { kind, operand, type, start };
}

function parseTypeName(scanner: Scanner): string {
  const token = peek(scanner);
  if (token.kind !== 'name') throw unexpected(scanner, 'a type, such as Edm.String');
  take(scanner);
  if (token.name !== 'Collection' || !accept(scanner, '(')) return token.name;
  const inner = peek(scanner);
  if (inner.kind !== 'name') throw unexpected(scanner, 'a type, such as Edm.String');
  take(scanner);
  expect(scanner, ')');
  return `Collection(${inner.name})`;
}

/** `case(condition:value, …)` (OData 4.01 URL conventions, 5.1.1.12.1). */
function parseCase(scanner: Scanner, start: number): Node {
  const branches = commaList(scanner, () => {
    splitTimes(scanner, true);
    const when = parseExpression(scanner);
    splitTimes(scanner, false);
    expect(scanner, ':', ' after the condition');
    return { when, result: parseExpression(scanner) };
  });
  expect(scanner, ')', ' or ","');
  return { kind: 'case', branches, start };
}

// Paths

/** Parses a path (firstMemberExpr). */
function parsePath(scanner: Scanner): Node {
  const token = peek(scanner);
  const { start } = token;
  const head = headOf(token);
  if (head === undefined) throw unexpected(scanner, 'a field, $it or $this');
  take(scanner);
  const segments = parseSegments(scanner, head);
  if (segments.length === 1 && head.kind === 'name' && head.name.includes('.')) {
    throw unexpected(scanner, `"(" or "/" after ${shown(head.name)}`);
  }
  if (segments.length === 1 && head.kind === 'root') throw unexpected(scanner, '"/" after $root');
  return { kind: 'path', segments, start };
}

/** Parses the segments after a head that has been parsed. */
function parseSegments(scanner: Scanner, head: Segment): [Segment, ...Segment[]] {
  const segments: [Segment, ...Segment[]] = [head];
  let last = head;
  while (last.kind !== 'lambda' && last.kind !== 'count') {
    const isAddressable = last.kind === 'call' || last.kind === 'filter';
    if (isAddressable && isNextCharacter(scanner, '(')) {
      const { start } = peek(scanner);
      last = { kind: 'key', arguments: parseArguments(scanner), start };
    } else if (accept(scanner, '/')) {
      last = parseSegment(scanner);
    } else {
      break;
    }
    segments.push(last);
  }
  return segments;
}

function headOf(token: Token): Segment | undefined {
  const { start } = token;
  switch (token.kind) {
    case 'name':
      return { kind: 'name', name: token.name, start };
    case 'at':
      return { kind: 'at', name: token.name, start };
    case 'system':
      switch (token.name) {
        case 'it':
        case 'this':
        case 'root':
          return { kind: token.name, start };
      }
  }
  return undefined;
}

function parseSegment(scanner: Scanner): Segment {
  const token = peek(scanner);
  const { start } = token;
  switch (token.kind) {
    case 'name': {
      take(scanner);
      if (!isNextCharacter(scanner, '(')) return { kind: 'name', name: token.name, start };
      const operator = token.name.toLowerCase();
      if (operator === 'any' || operator === 'all') return parseLambda(scanner, operator, start);
      return { kind: 'call', name: token.name, arguments: parseArguments(scanner), start };
    }
    case 'at':
      take(scanner);
      return { kind: 'at', name: token.name, start };
    case 'system':
      if (token.name === 'count') {
        take(scanner);
        return parseCount(scanner, start);
      }
      if (token.name === 'filter') {
        take(scanner);
        return { kind: 'filter', predicate: parseFilterSegment(scanner), start };
      }
  }
  throw unexpected(scanner, 'a name, any, all, $count or $filter after "/"');
}

/** The parentheses after `/$filter`. */
function parseFilterSegment(scanner: Scanner): Node {
  if (!isNextCharacter(scanner, '(')) throw unexpected(scanner, '"(" after $filter');
  return bracketed(scanner, () => parseCondition(scanner));
}

function parseCount(scanner: Scanner, start: number): Segment {
  if (!isNextCharacter(scanner, '(')) return { kind: 'count', start };
  const { filter, search } = bracketed(scanner, () => parseOptionList(scanner, COUNT_OPTIONS));
  return { kind: 'count', ...(filter && { filter: filter.value }), ...(search && { search }), start };
}

function parseLambda(scanner: Scanner, operator: 'any' | 'all', start: number): Segment {
  return bracketed(scanner, () => {
    if (operator === 'any' && accept(scanner, ')')) return { kind: 'lambda', operator, start };
    const variable = peek(scanner);
    if (variable.kind !== 'name' || variable.name.includes('.')) {
      throw unexpected(scanner, `a variable, such as ${operator}(x: …)`);
    }
    take(scanner);
    expect(scanner, ':', ` after the variable ${shown(variable.name)}`);
    return { kind: 'lambda', operator, variable: variable.name, predicate: parseCondition(scanner), start };
  });
}

// The resource path

const FINAL_SEGMENTS = new Set(['count', 'ref', 'value', 'query', 'metadata', 'batch']);
const FIRST_SEGMENTS = new Set(['metadata', 'batch', 'all', 'entity', 'crossjoin']);
const LATER_SEGMENTS = new Set(['count', 'ref', 'value', 'query', 'filter', 'each']);
/** The segments among these that this service provides. */
const PROVIDED_SEGMENTS = ['$metadata', '$count', '$value'];

/**
 * Parses the path after the service root (resourcePath): splits it at slashes, then decodes the segments. The key-as-segment
 * convention is supported, so a segment after a plain name may be any text.
 *
 * @throws syntax, requestMalformed; pathNotFound for a system segment that OData does not define, or that nothing can follow
 */
export function parsePathText(rawPath: string): readonly PathSegment[] {
  if (rawPath === '') return [];
  const segments: PathSegment[] = [];
  for (const raw of rawPath.split('/')) {
    const before = segments.at(-1);
    const source = { option: 'path', text: decodePart(raw) };
    const isAfterLast = before?.kind === 'system' && FINAL_SEGMENTS.has(before.name);
    const segment = isAfterLast ? undefined : parsePathSegment(source, before);
    if (segment === undefined) {
      const path = [...segments, source].map(({ text }) => shown(text)).join('/');
      const nearest = isAfterLast ? undefined : nearestName(source.text, PROVIDED_SEGMENTS);
      throw platError('pathNotFound', { path, nearest });
    }
    segments.push(segment);
  }
  return segments;
}

/** @returns undefined for an unknown system segment */
function parsePathSegment(source: OptionText, before: PathSegment | undefined): PathSegment | undefined {
  const { text } = source;
  const mayBeKey = before?.kind === 'text' || (before?.kind === 'name' && before.groups.length === 0);
  if (text.startsWith('$')) {
    const known = before === undefined ? FIRST_SEGMENTS : LATER_SEGMENTS;
    const name = /^\$(\w*)/.exec(text)?.[1]?.toLowerCase() ?? '';
    return known.has(name) ? parseSystemSegment(scan(source), name) : undefined;
  }
  const scanner = scan(source);
  try {
    return parseNamedSegment(scanner, before === undefined);
  } catch (error) {
    if (mayBeKey) return { kind: 'text', text };
    throw error;
  }
}

function parseSystemSegment(scanner: Scanner, name: string): PathSegment {
  take(scanner);
  if (name === 'filter') parseFilterSegment(scanner);
  if (name === 'crossjoin') {
    if (!isNextCharacter(scanner, '(')) throw unexpected(scanner, '"(" after $crossjoin');
    parseArguments(scanner);
  }
  expectEnd(scanner, '"/"');
  return { kind: 'system', name, text: scanner.source.text };
}

function parseNamedSegment(scanner: Scanner, first: boolean): PathSegment {
  const { source } = scanner;
  const token = peek(scanner);
  if (token.kind !== 'name' || (first && token.name.includes('.'))) {
    throw unexpected(scanner, first ? 'the name of an entity set' : 'a name');
  }
  take(scanner);
  const groups: (readonly Argument[])[] = [];
  while (isNextCharacter(scanner, '(')) {
    const found = nested(scanner, () => parseArguments(scanner));
    for (const { value } of found) {
      const plain = value.kind === 'literal' || (value.kind === 'path' && value.segments[0].kind === 'at');
      if (!plain) throw syntaxError(source, value.start, 'no literal', 'a literal, such as a key in quotes');
    }
    groups.push(found);
  }
  expectEnd(scanner, '"("');
  return { kind: 'name', name: token.name, groups, text: source.text };
}

// Tokens

interface Span {
  /** Offsets into the text. */
  readonly start: number;
  readonly end: number;
}

type Token = Span &
  (
    | { readonly kind: 'end' }
    | { readonly kind: 'symbol'; readonly symbol: string }
    /** Identifiers joined by dots, as written. */
    | { readonly kind: 'name'; readonly name: string }
    /** `$count` and similar names, in lower case and without the dollar sign. */
    | { readonly kind: 'system'; readonly name: string }
    /** A parameter alias, or an annotation: the name without the at sign, with a qualifier after `#`. */
    | { readonly kind: 'at'; readonly name: string }
    | { readonly kind: 'literal'; readonly literal: LiteralText }
    /** A JSON string, unescaped. */
    | { readonly kind: 'json'; readonly value: string }
  );

interface Scanner {
  readonly source: OptionText;
  /** Everything before this offset has been consumed. */
  offset: number;
  /** The current depth of nesting. */
  depth: number;
  /** Whether the parser is inside the condition of a `case` branch (see readBareLiteral). */
  splitTimes: boolean;
  /** The token after `offset`, if it has been read. */
  ahead: Token | undefined;
}

const scan = (source: OptionText): Scanner => ({
  source,
  offset: 0,
  depth: 0,
  splitTimes: false,
  ahead: undefined,
});

/** The next token, which is not consumed. */
function peek(scanner: Scanner): Token {
  scanner.ahead ??= readToken(scanner.source, scanner.offset, scanner.splitTimes);
  return scanner.ahead;
}

function take(scanner: Scanner): Token {
  const token = peek(scanner);
  moveTo(scanner, token.end);
  return token;
}

/** Continues at an offset, which may be an earlier one. */
function moveTo(scanner: Scanner, offset: number): void {
  scanner.offset = offset;
  scanner.ahead = undefined;
}

function splitTimes(scanner: Scanner, split: boolean): void {
  scanner.splitTimes = split;
  scanner.ahead = undefined;
}

/** Whether the very next character, without white space before it, is this one. */
const isNextCharacter = (scanner: Scanner, character: string): boolean =>
  scanner.source.text[scanner.offset] === character;

/** Consumes a symbol if it comes next. */
function accept(scanner: Scanner, symbol: string): boolean {
  const token = peek(scanner);
  if (token.kind !== 'symbol' || token.symbol !== symbol) return false;
  moveTo(scanner, token.end);
  return true;
}

/** @throws syntax if another token comes next */
function expect(scanner: Scanner, symbol: string, or = ''): void {
  if (!accept(scanner, symbol)) throw unexpected(scanner, `"${symbol}"${or}`);
}

/** @throws syntax if anything is left */
function expectEnd(scanner: Scanner, or: string): void {
  if (peek(scanner).kind !== 'end') throw unexpected(scanner, `${or} or the end`);
}

/** The error that the next token is not what the grammar expects. */
function unexpected(scanner: Scanner, expected: string): PlatError {
  const { source } = scanner;
  const token = peek(scanner);
  const found = token.kind === 'end' ? 'the end' : shown(source.text.slice(token.start, token.end));
  return syntaxError(source, token.start, found, expected);
}

/**
 * Parses something one level deeper.
 * @throws filterTooLarge beyond MAX_DEPTH, so that no text exhausts the stack
 */
function nested<T>(scanner: Scanner, parse: () => T): T {
  if (scanner.depth >= MAX_DEPTH) {
    throw tooLarge(scanner.source, peek(scanner).start, 'levels of nesting', MAX_DEPTH);
  }
  scanner.depth++;
  const result = parse();
  scanner.depth--;
  return result;
}

/** Consumes an opening bracket and parses what follows. Inside brackets, `10:20` is a time again. */
function bracketed<T>(scanner: Scanner, parse: () => T): T {
  const outer = scanner.splitTimes;
  scanner.splitTimes = false;
  take(scanner);
  const result = parse();
  splitTimes(scanner, outer);
  return result;
}

/** `item , item …` */
function commaList<T>(scanner: Scanner, item: (scanner: Scanner) => T): T[] {
  const items = [item(scanner)];
  while (accept(scanner, ',')) items.push(item(scanner));
  return items;
}

/** Parses a list between brackets, which may be empty. */
function bracketedList<T>(scanner: Scanner, close: string, item: (scanner: Scanner) => T): T[] {
  return bracketed(scanner, () => {
    if (accept(scanner, close)) return [];
    const items = commaList(scanner, item);
    expect(scanner, close, ' or ","');
    return items;
  });
}

const START = '[\\p{L}\\p{Nl}_]';
const PART = '[\\p{L}\\p{Nl}\\p{Nd}\\p{Mn}\\p{Mc}\\p{Pc}\\p{Cf}]';
const IDENTIFIER = `${START}${PART}*`;
const QUALIFIED = `${IDENTIFIER}(?:\\.${IDENTIFIER})*`;
const NAME = new RegExp(QUALIFIED, 'uy');
const SYSTEM = new RegExp(`\\$${IDENTIFIER}`, 'uy');
const AT = new RegExp(`@${QUALIFIED}(?:#${IDENTIFIER})?`, 'uy');
const JSON_TEXT = /"[^"\\]*(?:\\.[^"\\]*)*"/y;
const SYMBOLS = '(),/:;=[]{}*.';

/**
 * Reads the token at an offset, after white space.
 *
 * @throws syntax for a character that begins no token
 */
function readToken(source: OptionText, offset: number, splitTimes: boolean): Token {
  const { text } = source;
  const start = skipSpace(text, offset);
  const first = text[start];
  if (first === undefined) return { kind: 'end', start, end: start };
  if (first === "'") {
    const quoted = readQuoted(source, start);
    return { kind: 'literal', literal: { form: 'string', text: quoted.text }, start, end: quoted.end };
  }
  if (first === '"') return readJson(source, start);
  if (SYMBOLS.includes(first)) return readSymbol(first, start);
  const literal = readBareLiteral(source, start, splitTimes);
  if (literal !== undefined) return { kind: 'literal', ...literal, start };
  const name = matchAt(NAME, text, start);
  if (name !== undefined) return readName(source, start, name);
  const system = matchAt(SYSTEM, text, start);
  if (system !== undefined) {
    return { kind: 'system', name: system.slice(1).toLowerCase(), start, end: start + system.length };
  }
  const at = matchAt(AT, text, start);
  if (at !== undefined) return { kind: 'at', name: at.slice(1), start, end: start + at.length };
  // A minus sign that does not begin a number.
  if (first === '-') return readSymbol(first, start);
  const character = String.fromCodePoint(text.codePointAt(start) ?? 0);
  const expected = OPERATORS_OF_OTHERS[character] ?? 'a name, a value or an operator';
  throw syntaxError(source, start, JSON.stringify(character), expected);
}

/** Operators of other languages, and those of OData with the same meaning. */
const OPERATORS_OF_OTHERS: Readonly<Record<string, string>> = {
  '>': 'gt or ge',
  '<': 'lt or le',
  '!': 'ne or not',
  '&': 'and',
  '|': 'or',
};

const readSymbol = (symbol: string, start: number): Token => ({
  kind: 'symbol',
  symbol,
  start,
  end: start + 1,
});

function readName(source: OptionText, start: number, name: string): Token {
  const end = start + name.length;
  if (source.text[end] === "'") return { kind: 'literal', ...readPrefixedLiteral(source, name, end), start };
  const text = name.toLowerCase();
  switch (text) {
    case 'null':
      return { kind: 'literal', literal: { form: 'null', text }, start, end };
    case 'true':
    case 'false':
      return { kind: 'literal', literal: { form: 'boolean', text }, start, end };
    default:
      return { kind: 'name', name, start, end };
  }
}

function readJson(source: OptionText, start: number): Token {
  const found = matchAt(JSON_TEXT, source.text, start);
  if (found === undefined) throw syntaxError(source, start, 'a string that is not closed', 'a closing "');
  const value = tryParseJson(found);
  if (typeof value === 'string') return { kind: 'json', value, start, end: start + found.length };
  // Only an invalid escape sequence can get here.
  throw syntaxError(source, start, shown(found), 'a JSON string');
}
