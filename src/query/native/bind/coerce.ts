/** Values of the right side, in the type of what they are compared with. */
import type { Literal, ValueType } from '../../tree.ts';
import type { Clock, Scalar } from '../syntax/nodes.ts';
import { tokenOf } from '../syntax/type-names.ts';
import { clockText, dayOf, type Moment, startOfDay, timeOf, timestampOf } from './temporal.ts';

/** The types that fields and functions of fields have. */
export type SideType = Exclude<ValueType, 'duration' | 'point' | 'polygon' | 'null'>;

/** What a value is wanted as: `number` takes a whole number or a decimal, as computed sides do. */
export type Wanted = SideType | 'number';

const NAMES: Readonly<Record<Wanted, string>> = {
  string: 'a text',
  integer: 'a whole number',
  decimal: 'a decimal number',
  number: 'a number',
  boolean: 'true or false',
  date: 'a date',
  timestamp: 'a timestamp',
  time: 'a time of day',
};

/** As messages name it. */
export const wantedName = (type: Wanted): string => NAMES[type];

export type Coerced =
  | {
      readonly kind: 'literal';
      readonly literal: Literal;
      /** The value lies a little after the literal, by less than a microsecond. */
      readonly beyond: boolean;
    }
  | { readonly kind: 'misfit' }
  | { readonly kind: 'impossible'; readonly reason: string };

const MISFIT: Coerced = { kind: 'misfit' };
const exactly = (literal: Literal): Coerced => ({ kind: 'literal', literal, beyond: false });

function number(text: string, type: 'integer' | 'decimal'): Coerced {
  const value = Number(text);
  return Number.isFinite(value)
    ? exactly({ kind: 'literal', type, value })
    : { kind: 'impossible', reason: 'a number of this size cannot be compared' };
}

function moment(type: 'timestamp' | 'time', found: Moment | undefined, text: string): Coerced {
  if (found === undefined) return { kind: 'impossible', reason: `there is no time ${text}` };
  return { kind: 'literal', literal: { kind: 'literal', type, value: found.text }, beyond: found.beyond };
}

function day(found: string | undefined, text: string): Coerced {
  if (found === undefined) return { kind: 'impossible', reason: `there is no day ${text}` };
  return exactly({ kind: 'literal', type: 'date', value: found });
}

/** Null goes with every type; a whole number is a decimal, a date a timestamp, a timestamp the date it names. */
function fromText(type: Scalar['type'], text: string, wanted: Wanted): Coerced {
  switch (type) {
    case 'null':
      return exactly({ kind: 'literal', type: 'null', value: null });
    case 'character':
      return wanted === 'string' ? exactly({ kind: 'literal', type: 'string', value: text }) : MISFIT;
    case 'boolean':
      return wanted === 'boolean'
        ? exactly({ kind: 'literal', type: 'boolean', value: text === 'true' })
        : MISFIT;
    case 'integer':
      if (wanted === 'decimal') return number(text, 'decimal');
      return wanted === 'integer' || wanted === 'number' ? number(text, 'integer') : MISFIT;
    case 'decimal':
      return wanted === 'decimal' || wanted === 'number' ? number(text, 'decimal') : MISFIT;
    case 'date':
      if (wanted === 'timestamp') return moment('timestamp', startOfDay(text), text);
      return wanted === 'date' ? day(dayOf(text), text) : MISFIT;
    case 'datetime':
      if (wanted === 'date') return day(dayOf(text), text);
      return wanted === 'timestamp' ? moment('timestamp', timestampOf(text), text) : MISFIT;
    case 'time':
      return wanted === 'time' ? moment('time', timeOf(text), text) : MISFIT;
  }
}

/** @param now the time of the request, which clock functions count from */
export function coerce(value: Scalar | Clock, wanted: Wanted, now: Date): Coerced {
  if (value.kind === 'scalar') return fromText(value.type, value.text, wanted);
  const text = clockText(now, value);
  return text === undefined
    ? { kind: 'impossible', reason: `${tokenOf(value)}() leaves the years 1 to 9999` }
    : fromText(value.type, text, wanted);
}
