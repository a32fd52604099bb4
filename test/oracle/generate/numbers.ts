/** Random numbers. */
import { type Arithmetic, type Term, typeOf } from '../term.ts';
import { makeCase, makeValue, orNull } from './conditions.ts';
import { type Context, chooseField, chooseWay } from './context.ts';
import { makeCount } from './lists.ts';
import { anyLiteral, literal } from './literals.ts';
import { call, makeText, partOf } from './texts.ts';
import { makeDuration, makeMoment, makeTimestamp } from './times.ts';

export function makeInteger(context: Context, depth: number): Term {
  const { random } = context;
  if (depth <= 0 || random.chance(0.35)) {
    const field = random.chance(0.85) ? chooseField(context, 'integer') : undefined;
    return field ?? anyLiteral(context, 'integer');
  }
  switch (random.between(0, 12)) {
    case 0:
      return call('length', 'integer', orNull(context, makeText(context, depth - 1)));
    case 1: {
      const text = makeText(context, depth - 1);
      return call('indexof', 'integer', text, literal('string', partOf(context, text, 'anywhere')));
    }
    case 2: {
      const name = random.pick(['year', 'month', 'day']);
      return call(name, 'integer', makeMoment(context, depth - 1));
    }
    case 3: {
      const name = random.pick(['hour', 'minute', 'second', 'totaloffsetminutes']);
      if (name === 'totaloffsetminutes') return call(name, 'integer', makeTimestamp(context, depth - 1));
      const type = random.pick(['timestamp', 'time']);
      return call(name, 'integer', makeValue(context, type, depth - 1));
    }
    case 4:
    case 5:
    case 6: {
      const operator = random.pick(['add', 'sub', 'mul', 'div', 'mod']);
      return arithmetic(operator, makeInteger(context, depth - 1), makeInteger(context, depth - 1));
    }
    case 7:
      return negated(makeInteger(context, depth - 1));
    case 8:
    case 9:
    case 10: {
      const to = random.pick(['Edm.Int32', 'Edm.Int64', 'Edm.Int16', 'Edm.Byte', 'Edm.SByte']);
      const type = random.pick(['string', 'decimal', 'integer']);
      return { kind: 'cast', type: 'integer', to, operand: makeValue(context, type, depth - 1) };
    }
    case 11:
      return makeCase(context, 'integer', depth);
    default:
      return makeCount(context, depth) ?? makeInteger(context, depth - 1);
  }
}

export function makeDecimal(context: Context, depth: number): Term {
  const { random } = context;
  if (depth <= 0 || random.chance(0.4)) {
    const field = random.chance(0.88) ? chooseField(context, 'decimal') : undefined;
    return field ?? anyLiteral(context, 'decimal');
  }
  switch (random.between(0, 8)) {
    case 0:
    case 1:
    case 2: {
      const operator = random.pick(['add', 'sub', 'mul', 'div', 'divby', 'mod']);
      const left = makeDecimal(context, depth - 1);
      return arithmetic(operator, left, makeNumber(context, depth - 1));
    }
    case 3:
      return arithmetic('divby', makeInteger(context, depth - 1), makeInteger(context, depth - 1));
    case 4: {
      const name = random.pick(['round', 'floor', 'ceiling']);
      const number = makeNumber(context, depth - 1);
      return call(name, typeOf(number), number);
    }
    case 5: {
      if (random.chance(0.5)) return call('totalseconds', 'decimal', makeDuration(context, depth - 1));
      const type = random.pick(['timestamp', 'time']);
      return call('fractionalseconds', 'decimal', makeValue(context, type, depth - 1));
    }
    case 6: {
      const type = random.pick(['string', 'integer', 'decimal']);
      const to = random.pick(['Edm.Decimal', 'Edm.Double']);
      return { kind: 'cast', type: 'decimal', to, operand: makeValue(context, type, depth - 1) };
    }
    case 7:
      return random.chance(0.5)
        ? makeCase(context, 'decimal', depth)
        : negated(makeDecimal(context, depth - 1));
    default:
      return makeDistance(context) ?? makeDecimal(context, depth - 1);
  }
}

export const makeNumber = (context: Context, depth: number): Term =>
  context.random.chance(0.5) ? makeInteger(context, depth) : makeDecimal(context, depth);

export function arithmetic(operator: Arithmetic, left: Term, right: Term): Term {
  const whole = operator !== 'divby' && typeOf(left) === 'integer' && typeOf(right) === 'integer';
  return { kind: 'arithmetic', type: whole ? 'integer' : 'decimal', operator, left, right };
}

/** A minus sign before a literal is part of the literal. */
export function negated(operand: Term): Term {
  return operand.kind === 'literal' ? operand : { kind: 'negate', type: typeOf(operand), operand };
}

/** A place with a few decimal digits, near the market or anywhere. */
export function makePlace({ random }: Context): { readonly longitude: number; readonly latitude: number } {
  if (random.chance(0.1)) return { longitude: random.between(-180, 180), latitude: random.between(-90, 90) };
  const places = 10 ** random.between(1, 4);
  const near = (centre: number): number => Math.round((centre + random.unit() * 1.6 - 0.8) * places) / places;
  return { longitude: near(-85.9), latitude: near(44.7) };
}

export function makeDistance(context: Context): Term | undefined {
  const way = chooseWay(context, 0.95);
  if (way === undefined || !way.resource.fields.has('Latitude')) return undefined;
  return { kind: 'distance', scope: way.scope, via: way.via, to: makePlace(context) };
}
