import { nearestName } from '../../../dictionary/index.ts';
import type { Expression, FunctionName, ValueType } from '../../tree.ts';
import type { Argument, Node } from '../syntax/nodes.ts';
import { shown, syntaxError } from '../syntax/source.ts';
import { asDuration } from './align.ts';
import { type Environment, mismatch, unsupported } from './environment.ts';
import { bindValue } from './expression.ts';
import { bindDistance, bindIntersects } from './geography.ts';
import { bindMatches } from './matches.ts';
import { inWords, typeInWords, typeOf } from './types.ts';

type Call = Node & { kind: 'call' };

interface Signature {
  readonly parameters: readonly (readonly ValueType[])[];
  /** Parameters at the end that may be left out. */
  readonly optional?: number;
  readonly result: ValueType | 'of the argument';
}

const TEXT: readonly ValueType[] = ['string'];
const WHOLE: readonly ValueType[] = ['integer'];
const NUMBER: readonly ValueType[] = ['integer', 'decimal'];
const DAY: readonly ValueType[] = ['date', 'timestamp'];
const CLOCK: readonly ValueType[] = ['timestamp', 'time'];
const MOMENT: readonly ValueType[] = ['timestamp'];

type Listed = Exclude<FunctionName, 'dayofyear' | 'dayofweek'>;

/** The canonical functions that are one function of the tree (OData 4.01 URL conventions, 5.1.1.5 to 5.1.1.9). */
const SIGNATURES: Readonly<Record<Listed, Signature>> = {
  contains: { parameters: [TEXT, TEXT], result: 'boolean' },
  startswith: { parameters: [TEXT, TEXT], result: 'boolean' },
  endswith: { parameters: [TEXT, TEXT], result: 'boolean' },
  length: { parameters: [TEXT], result: 'integer' },
  indexof: { parameters: [TEXT, TEXT], result: 'integer' },
  substring: { parameters: [TEXT, WHOLE, WHOLE], optional: 1, result: 'string' },
  tolower: { parameters: [TEXT], result: 'string' },
  toupper: { parameters: [TEXT], result: 'string' },
  trim: { parameters: [TEXT], result: 'string' },
  concat: { parameters: [TEXT, TEXT], result: 'string' },
  year: { parameters: [DAY], result: 'integer' },
  month: { parameters: [DAY], result: 'integer' },
  day: { parameters: [DAY], result: 'integer' },
  hour: { parameters: [CLOCK], result: 'integer' },
  minute: { parameters: [CLOCK], result: 'integer' },
  second: { parameters: [CLOCK], result: 'integer' },
  fractionalseconds: { parameters: [CLOCK], result: 'decimal' },
  date: { parameters: [MOMENT], result: 'date' },
  time: { parameters: [MOMENT], result: 'time' },
  totaloffsetminutes: { parameters: [MOMENT], result: 'integer' },
  totalseconds: { parameters: [['duration']], result: 'decimal' },
  now: { parameters: [], result: 'timestamp' },
  mindatetime: { parameters: [], result: 'timestamp' },
  maxdatetime: { parameters: [], result: 'timestamp' },
  round: { parameters: [NUMBER], result: 'of the argument' },
  floor: { parameters: [NUMBER], result: 'of the argument' },
  ceiling: { parameters: [NUMBER], result: 'of the argument' },
};

const isListed = (name: string): name is Listed => Object.hasOwn(SIGNATURES, name);

const SPECIAL = ['matchespattern', 'geo.distance', 'geo.intersects', 'cast', 'isof', 'case'];
const WITHOUT_MEANING_HERE = new Set(['geo.length', 'hassubset', 'hassubsequence']);

/** A function by its name in any case. */
export function bindCall(env: Environment, node: Call): Expression {
  const name = node.name.toLowerCase();
  if (isListed(name)) return bindListed(env, node, name);
  switch (name) {
    case 'matchespattern':
      return bindMatches(env, node, positional(env, node, 2, 3));
    case 'geo.distance':
      return bindDistance(env, node, positional(env, node, 2, 2));
    case 'geo.intersects':
      return bindIntersects(env, node, positional(env, node, 2, 2));
  }
  if (WITHOUT_MEANING_HERE.has(name) || name.includes('.')) {
    throw unsupported(env, node, `the function ${shown(node.name)}`);
  }
  const nearest = nearestName(name, [...Object.keys(SIGNATURES), ...SPECIAL]);
  const expected = nearest === undefined ? 'a function of OData, such as contains' : nearest;
  throw syntaxError(env.source, node.start, `the function ${shown(node.name)}`, expected);
}

function bindListed(env: Environment, node: Call, name: Listed): Expression {
  const { parameters, optional = 0, result } = SIGNATURES[name];
  const given = positional(env, node, parameters.length - optional, parameters.length);
  const found = given.map((argument, index) => bindArgument(env, argument, parameters[index] ?? [], name));
  if (name === 'substring') checkLength(env, given[2], found[2]);
  const first = found[0];
  const type = result === 'of the argument' ? first && typeOf(first) : result;
  return { kind: 'call', type: type ?? 'null', function: name, arguments: found };
}

/** The arguments, none of them named, as many as the function takes. */
function positional(env: Environment, node: Call, least: number, most: number): readonly Node[] {
  const { length } = node.arguments;
  if (length < least || length > most) {
    const wanted = least === most ? `${most}` : `${least} or ${most}`;
    const found = `${length} argument${length === 1 ? '' : 's'}`;
    throw syntaxError(env.source, node.start, found, `${wanted} for ${node.name.toLowerCase()}`);
  }
  return node.arguments.map((argument) => unnamed(env, argument));
}

function unnamed(env: Environment, { name, value }: Argument): Node {
  if (name === undefined) return value;
  throw syntaxError(env.source, value.start, `an argument named ${shown(name)}`, 'arguments without names');
}

function bindArgument(env: Environment, node: Node, wanted: readonly ValueType[], name: string): Expression {
  const bound = bindValue(env, node);
  const expression = wanted.includes('duration') ? (asDuration(bound) ?? bound) : bound;
  const type = typeOf(expression);
  if (type === 'null' || wanted.includes(type)) return expression;
  const words = wanted.map(typeInWords).join(' or ');
  throw mismatch(env, node, `${name} takes ${words} here, not ${inWords(expression)}`);
}

/** A negative length is a bad request (5.1.1.5.7). */
function checkLength(env: Environment, node: Node | undefined, length: Expression | undefined): void {
  if (node && length?.kind === 'literal' && length.type === 'integer' && length.value < 0) {
    throw mismatch(env, node, 'the length of a substring cannot be negative');
  }
}
