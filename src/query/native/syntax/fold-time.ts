/** Functions of literal dates and timestamps. Their parts are taken as written, in the literal's own zone. */
import { canonicalDate } from '../../../dictionary/index.ts';
import type { Folded } from './fold-text.ts';
import type { FieldFunction } from './nodes.ts';

export type TimeFunction = Extract<
  FieldFunction,
  | 'date'
  | 'time'
  | 'year'
  | 'month'
  | 'day'
  | 'hour'
  | 'minute'
  | 'second'
  | 'fractionalseconds'
  | 'dayofyear'
  | 'dayofweek'
>;

const DAY_IN_MILLISECONDS = 86_400_000;
const PARTS = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?/;

const integer = (value: number): Folded => ({ type: 'integer', text: String(value) });

/** The first of January is 1; Sunday is 0. */
function dayOf(day: string, unit: 'year' | 'week'): number {
  const time = Date.parse(`${day}T00:00:00Z`);
  if (unit === 'week') return new Date(time).getUTCDay();
  return (time - Date.parse(`${day.slice(0, 4)}-01-01T00:00:00Z`)) / DAY_IN_MILLISECONDS + 1;
}

/** @param literal a date or timestamp in the lexer's form */
export function foldTime(name: TimeFunction, literal: string): Folded {
  const parts = PARTS.exec(literal) ?? [];
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction] = parts;
  const date = canonicalDate(`${year}-${month}-${day}`);
  if (date === undefined) return { reason: `${literal} is no day of the calendar` };
  switch (name) {
    case 'date':
      return { type: 'date', text: date };
    case 'time':
      return {
        type: 'time',
        text: `${hour}:${minute}:${second}${fraction === undefined ? '' : `.${fraction}`}`,
      };
    case 'year':
      return integer(Number(year));
    case 'month':
      return integer(Number(month));
    case 'day':
      return integer(Number(day));
    case 'hour':
      return integer(Number(hour));
    case 'minute':
      return integer(Number(minute));
    case 'second':
      return integer(Number(second));
    case 'fractionalseconds':
      return { type: 'decimal', text: `0.${fraction ?? '0'}` };
    case 'dayofyear':
      return integer(dayOf(date, 'year'));
    case 'dayofweek':
      return integer(dayOf(date, 'week'));
  }
}
