/** Random dates, timestamps, times of day and durations. */
import type { Term } from '../term.ts';
import { makeCase, orNull } from './conditions.ts';
import { type Context, chooseField } from './context.ts';
import { anyLiteral, literal } from './literals.ts';
import { call, makeText } from './texts.ts';

export const makeMoment = (context: Context, depth: number): Term =>
  orNull(context, context.random.chance(0.5) ? makeDate(context, depth) : makeTimestamp(context, depth));

export function makeDate(context: Context, depth: number): Term {
  const { random } = context;
  if (depth <= 0 || random.chance(0.6)) {
    const field = random.chance(0.9) ? chooseField(context, 'date') : undefined;
    return field ?? anyLiteral(context, 'date');
  }
  switch (random.between(0, 4)) {
    case 0:
      return call('date', 'date', makeTimestamp(context, depth - 1));
    case 1:
    case 2:
      return moved('date', makeDate(context, depth - 1), context, depth);
    case 3: {
      const operand = random.chance(0.5) ? makeTimestamp(context, depth - 1) : makeText(context, depth - 1);
      return { kind: 'cast', type: 'date', to: 'Edm.Date', operand };
    }
    default:
      return makeCase(context, 'date', depth);
  }
}

function moved(type: 'date' | 'timestamp', moment: Term, context: Context, depth: number): Term {
  const { random } = context;
  const duration = makeDuration(context, random.chance(0.7) ? 0 : depth - 1);
  if (random.chance(0.2)) {
    return { kind: 'arithmetic', type, operator: 'add', left: duration, right: moment };
  }
  return { kind: 'arithmetic', type, operator: random.pick(['add', 'sub']), left: moment, right: duration };
}

export function makeTimestamp(context: Context, depth: number): Term {
  const { random } = context;
  if (depth <= 0 || random.chance(0.55)) {
    const field = random.chance(0.85) ? chooseField(context, 'timestamp') : undefined;
    if (field !== undefined) return field;
    const name = random.pick(['now', 'mindatetime', 'maxdatetime']);
    return random.chance(0.3) ? call(name, 'timestamp') : anyLiteral(context, 'timestamp');
  }
  switch (random.between(0, 3)) {
    case 0:
    case 1:
      return moved('timestamp', makeTimestamp(context, depth - 1), context, depth);
    case 2: {
      const operand = random.chance(0.5) ? makeDate(context, depth - 1) : makeText(context, depth - 1);
      return { kind: 'cast', type: 'timestamp', to: 'Edm.DateTimeOffset', operand };
    }
    default:
      return makeCase(context, 'timestamp', depth);
  }
}

export function makeTime(context: Context, depth: number): Term {
  const { random } = context;
  if (depth <= 0) return random.chance(0.2) ? anyLiteral(context, 'time') : clockOf(context, 0);
  switch (random.between(0, 4)) {
    case 0: {
      const operand = random.chance(0.5) ? makeTimestamp(context, depth - 1) : makeText(context, depth - 1);
      return { kind: 'cast', type: 'time', to: 'Edm.TimeOfDay', operand };
    }
    case 1:
      return makeCase(context, 'time', depth);
    default:
      return clockOf(context, depth);
  }
}

const clockOf = (context: Context, depth: number): Term =>
  call('time', 'time', makeTimestamp(context, depth - 1));

/** Durations are literals or differences; no field has one. */
export function makeDuration(context: Context, depth: number): Term {
  const { random } = context;
  if (depth <= 0 || random.chance(0.35)) return anyLiteral(context, 'duration');
  switch (random.between(0, 7)) {
    case 0:
    case 1:
    case 2: {
      const moment = () => random.pick([makeDate, makeTimestamp])(context, depth - 1);
      return difference(moment(), moment());
    }
    case 3: {
      const operator = random.pick(['add', 'sub']);
      const [left, right] = [makeDuration(context, depth - 1), makeDuration(context, depth - 1)];
      return { kind: 'arithmetic', type: 'duration', operator, left, right };
    }
    case 4:
    case 5:
    case 6: {
      const number = random.pick([literal('integer', 3), literal('integer', 2), literal('decimal', 0.5)]);
      const operator = random.pick(['mul', 'div', 'divby']);
      return {
        kind: 'arithmetic',
        type: 'duration',
        operator,
        left: makeDuration(context, depth - 1),
        right: number,
      };
    }
    default: {
      const operand = makeDuration(context, depth - 1);
      return operand.kind === 'literal' ? operand : { kind: 'negate', type: 'duration', operand };
    }
  }
}

/** A date compared with a timestamp is its midnight, so the two can be mixed. */
const difference = (left: Term, right: Term): Term => ({
  kind: 'arithmetic',
  type: 'duration',
  operator: 'sub',
  left,
  right,
});
