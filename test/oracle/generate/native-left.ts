/** Random left sides of native conditions: fields, functions of fields, and arithmetic. */
import type { Field } from '../../../src/dictionary/index.ts';
import type { Left } from '../native-term.ts';
import { isWritable } from '../native-text.ts';
import type { FunctionName, Term } from '../term.ts';
import { typeOf } from '../term.ts';
import type { Type } from '../values.ts';
import { typeOfField } from '../world.ts';
import type { Context } from './context.ts';
import { anyLiteral, literal } from './literals.ts';
import { arithmetic, negated } from './numbers.ts';
import { call, partOf } from './texts.ts';

/** Native names begin with a capital letter and contain only letters and digits; names that begin with `Null` cannot be written. */
const isNamed = ({ nativeName, custom }: Field): boolean =>
  custom !== undefined || (/^[A-Z][A-Za-z0-9]*$/.test(nativeName) && !/^null/i.test(nativeName));

function rootOf({ open }: Context) {
  const [root] = open;
  if (root?.kind !== 'record') throw new Error('the root is a record');
  return root.resource;
}

export function nativeField(context: Context, type: Type): Term {
  const { random, catalogue } = context;
  const { used, all } = catalogue.singles(rootOf(context), type);
  const field = random.among((random.chance(0.95) ? used : all).filter(isNamed));
  if (field === undefined) throw new Error(`no field of type ${type}`);
  return { kind: 'field', type, scope: 0, via: [], field };
}

export function chooseList(context: Context): Left['over'] {
  const field = context.random.among(context.catalogue.lists(rootOf(context)).filter(isNamed));
  return field === undefined ? undefined : { kind: 'values', scope: 0, via: [], field };
}

/** A left side of a type; texts may be those of a multi-valued field. */
export function makeLeft(context: Context, type: Type, depth: number): Left {
  if (type !== 'string' && type !== 'integer') return { term: makeTerm(context, type, depth, undefined) };
  const over = context.random.chance(type === 'string' ? 0.3 : 0.1) ? chooseList(context) : undefined;
  return { term: makeTerm(context, type, depth, over), over: over };
}

type Ranging = Left['over'];

export function makeTerm(context: Context, type: Type, depth: number, over: Ranging): Term {
  const { random } = context;
  const leaf = (): Term =>
    over !== undefined && type === 'string'
      ? { kind: 'element', type: typeOfField(over.field), scope: 1, lookup: over.field.lookup }
      : nativeField(context, type);
  if ((depth <= 0 || random.chance(0.5)) && (over === undefined || type === 'string') && type !== 'time')
    return leaf();
  const below = Math.max(0, depth - 1);
  switch (type) {
    case 'string':
      return textTerm(context, below, over);
    case 'integer':
      return over === undefined ? wholeTerm(context, below) : ofText(context, below, over);
    case 'decimal':
      return decimalTerm(context, below);
    case 'date': {
      const from = random.pick(['date', 'timestamp', 'timestamp']);
      return call('date', 'date', makeTerm(context, from, from === 'date' ? below : 0, undefined));
    }
    case 'time':
      return call('time', 'time', nativeField(context, 'timestamp'));
    default:
      return leaf();
  }
}

const part = (context: Context, term: Term): Term => {
  const text = partOf(context, term, 'anywhere');
  return literal('string', isWritable(text) ? text : 'a');
};

function textTerm(context: Context, depth: number, over: Ranging): Term {
  const { random } = context;
  if (over === undefined && random.chance(0.2)) {
    const type = random.pick(['integer', 'decimal', 'date', 'timestamp', 'boolean', 'string']);
    return { kind: 'cast', type: 'string', to: 'Edm.String', operand: nativeField(context, type) };
  }
  const text = makeTerm(context, 'string', depth, over);
  switch (random.between(0, 4)) {
    case 0:
      return call('tolower', 'string', text);
    case 1:
      return call('toupper', 'string', text);
    case 2:
      return call('trim', 'string', text);
    case 3:
      return call(
        'concat',
        'string',
        text,
        over === undefined ? part(context, text) : literal('string', 'x'),
      );
    default: {
      const start = literal('integer', random.between(0, 6));
      if (random.chance(0.4)) return call('substring', 'string', text, start);
      return call('substring', 'string', text, start, literal('integer', random.between(0, 6)));
    }
  }
}

function ofText(context: Context, depth: number, over: Ranging): Term {
  const text = makeTerm(context, 'string', depth, over);
  if (context.random.chance(0.6)) return call('length', 'integer', text);
  return call('indexof', 'integer', text, over === undefined ? part(context, text) : literal('string', 'a'));
}

const PARTS: readonly FunctionName[] = ['year', 'month', 'day', 'dayofyear', 'dayofweek'];
const CLOCK: readonly FunctionName[] = ['hour', 'minute', 'second'];

function wholeTerm(context: Context, depth: number): Term {
  const { random } = context;
  switch (random.between(0, 8)) {
    case 0:
      return ofText(context, depth, undefined);
    case 1:
    case 7:
    case 8: {
      const from = random.pick(['date', 'timestamp']);
      return call(random.pick(PARTS), 'integer', makeTerm(context, from, depth, undefined));
    }
    case 2:
      return call(random.pick(CLOCK), 'integer', nativeField(context, 'timestamp'));
    case 3: {
      const name = random.pick(['round', 'ceiling', 'floor']);
      return call(name, 'integer', nativeField(context, random.pick(['decimal', 'decimal', 'integer'])));
    }
    case 4: {
      const type = random.pick(['string', 'decimal', 'integer']);
      return { kind: 'cast', type: 'integer', to: 'Edm.Int64', operand: nativeField(context, type) };
    }
    case 5:
      return negated(nativeField(context, 'integer'));
    default:
      return calculation(context, 'integer', depth);
  }
}

function decimalTerm(context: Context, depth: number): Term {
  const { random } = context;
  switch (random.between(0, 3)) {
    case 0:
      return call('fractionalseconds', 'decimal', nativeField(context, 'timestamp'));
    case 1: {
      const type = random.pick(['string', 'decimal', 'integer']);
      return { kind: 'cast', type: 'decimal', to: 'Edm.Decimal', operand: nativeField(context, type) };
    }
    default:
      return calculation(context, 'decimal', depth);
  }
}

/** Arithmetic of a field with a number or another field; two numbers would be computed by the parser. */
function calculation(context: Context, type: 'integer' | 'decimal', depth: number): Term {
  const { random } = context;
  const first = makeTerm(context, type, depth, undefined);
  const second = random.chance(0.6)
    ? number(context, type)
    : makeTerm(context, random.pick(['integer', type]), depth, undefined);
  const operator = random.pick(['add', 'sub', 'mul', 'div', 'mod']);
  const flipped = random.chance(0.2) && operator !== 'div' && operator !== 'mod';
  return flipped ? arithmetic(operator, second, first) : arithmetic(operator, first, second);
}

/** A literal other than zero, since division by zero is an error. */
function number(context: Context, type: 'integer' | 'decimal'): Term {
  const made = anyLiteral(context, type);
  const value = Number(made.value);
  const plain = value !== 0 && Math.abs(value) < 1e12 && !String(value).includes('e');
  return plain ? made : literal(type, type === 'integer' ? 7 : 2.5);
}

export const isComputed = ({ term }: Left): boolean => term.kind !== 'field' && term.kind !== 'element';
export const typeOfLeft = ({ term }: Left): Type => typeOf(term);
