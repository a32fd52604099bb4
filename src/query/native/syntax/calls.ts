/** Calls of functions: read, checked against the table, and worked out where no field takes part. */
import { nearestName } from '../../../dictionary/index.ts';
import { type Fault, FILTER, fault, shortened, typeFault } from '../faults.ts';
import {
  advance,
  at,
  type Cursor,
  closeParenthesis,
  LIMITS,
  openParenthesis,
  tooMany,
  unexpected,
} from './cursor.ts';
import { castType, FUNCTIONS, type FunctionRule } from './functions.ts';
import type { Token } from './lexer.ts';
import { BROKEN, type Broken, type FieldCall, type FieldName, type Scalar, type Value } from './nodes.ts';
import { takeLiteral } from './scalars.ts';
import { type SeenType, typeName } from './type-names.ts';
import { workOut } from './work-out.ts';

/** What may stand in the parentheses: on the right side no field, and first in a list no further function. */
type CallPlace = 'left' | 'right' | 'right-plain';

type Called = FieldCall | Value | Broken;
type Argument = Called | FieldName;

/** The type that a function or an operator sees; fields are of every type until they are bound. */
export function seenType(node: Argument): SeenType {
  switch (node.kind) {
    case 'name':
    case 'custom':
    case 'broken':
      return 'field';
    case 'call': {
      const rule = FUNCTIONS.get(node.function);
      if (rule?.kind !== 'field') return 'field';
      return rule.gives === 'cast' ? (castType(node.rest[0]?.text ?? '') ?? 'field') : rule.gives;
    }
    default:
      return node.type;
  }
}

/** Takes the field name at hand, if there is one. */
export function takeField(cursor: Cursor): FieldName | undefined {
  const { kind, text, position } = cursor.token;
  if (kind === 'field') {
    advance(cursor);
    return { kind: 'name', name: text, position };
  }
  if (kind !== 'custom') return undefined;
  advance(cursor);
  const [, group = '', , label = ''] = text.split('"');
  return { kind: 'custom', group, label, position };
}

function readArgument(cursor: Cursor, place: CallPlace): Argument {
  const literal = takeLiteral(cursor, 'anywhere');
  if (literal !== undefined) return literal;
  if (place === 'right-plain') return unexpected(cursor, 'a literal value');
  if (at(cursor, 'function')) return readCall(cursor, place);
  if (place === 'right') return unexpected(cursor, 'a literal value or a function');
  return takeField(cursor) ?? unexpected(cursor, 'a field, a literal value or a function');
}

function readArguments(cursor: Cursor, place: CallPlace): Argument[] {
  if (at(cursor, ')')) return [];
  const found = [readArgument(cursor, place)];
  while (at(cursor, ',')) {
    advance(cursor);
    if (found.length === LIMITS.values) tooMany(cursor, 'arguments of a function', LIMITS.values);
    found.push(readArgument(cursor, place));
  }
  return found;
}

/** Reads `name(…)`, the name being at hand. */
export function readCall(cursor: Cursor, place: CallPlace): Called {
  const name = advance(cursor);
  if (!at(cursor, '(')) {
    const hint = `"(" behind the function ${name.text} (a field name begins with a capital letter)`;
    unexpected(cursor, hint);
  }
  if (cursor.calls === LIMITS.functions) {
    tooMany(cursor, 'levels of functions', LIMITS.functions, name);
  }
  cursor.calls += 1;
  openParenthesis(cursor);
  const found = readArguments(cursor, place);
  closeParenthesis(cursor);
  cursor.calls -= 1;
  return resolve(cursor, name, found);
}

function unknownFunction({ text, position }: Token): Fault {
  const nearest = nearestName(text, FUNCTIONS.keys());
  const expected =
    nearest === undefined ? 'a function of this language' : `a function of this language, such as ${nearest}`;
  return fault(
    'syntax',
    { option: FILTER, position, found: `the function "${shortened(text)}"`, expected },
    text,
  );
}

/** Why these arguments do not fit the function; undefined when they do. */
function misfit(name: string, rule: FunctionRule, found: readonly Argument[]): string | undefined {
  const most = rule.takes.length;
  const least = most - (rule.optional ?? 0);
  if (found.length < least || found.length > most) {
    const count = least === most ? String(most) : `${least} or ${most}`;
    return `${name}() takes ${count} ${count === '1' ? 'argument' : 'arguments'}, not ${found.length}`;
  }
  for (const [index, argument] of found.entries()) {
    const taken: readonly SeenType[] = rule.takes[index] ?? [];
    const nested = argument.kind === 'clock' || argument.kind === 'pattern' || argument.kind === 'range';
    if (nested || !taken.includes(seenType(argument))) {
      const wanted = taken.map(typeName).join(' or ');
      return `argument ${index + 1} of ${name}() is ${nested ? 'a function of its own' : typeName(seenType(argument))}, not ${wanted}`;
    }
  }
  return undefined;
}

function resolve(cursor: Cursor, name: Token, found: readonly Argument[]): Called {
  const rule = FUNCTIONS.get(name.text);
  const note = (reason: string): Broken => {
    cursor.faults.push(typeFault(reason, name.text, name.position));
    return BROKEN;
  };
  if (rule === undefined) {
    cursor.faults.push(unknownFunction(name));
    return BROKEN;
  }
  const reason = misfit(name.text, rule, found);
  if (reason !== undefined) return note(reason);
  const scalars = found.filter((argument): argument is Scalar => argument.kind === 'scalar');
  if (rule.kind === 'field' && rule.name === 'cast' && castType(scalars.at(-1)?.text ?? '') === undefined) {
    return note("cast() takes a field or value and one of 'character', 'decimal', 'integer'");
  }
  if (rule.kind === 'field' && rule.name === 'substring' && scalars.some(isNegative)) {
    return note('substring() takes a start and a length of zero or more');
  }
  const [first] = found;
  if (
    rule.kind === 'field' &&
    (first?.kind === 'name' || first?.kind === 'custom' || first?.kind === 'call')
  ) {
    return { kind: 'call', function: rule.name, of: first, rest: scalars, position: name.position };
  }
  if (first?.kind === 'broken') return BROKEN;
  const result = workOut(rule, scalars, name.position, cursor);
  if ('kind' in result) return result;
  cursor.faults.push(result);
  return BROKEN;
}

const isNegative = (scalar: Scalar): boolean => scalar.type === 'integer' && scalar.text.startsWith('-');
