/**
 * Dates and times of native filters, in the canonical form of the tree, and the functions that are relative to the time of the
 * request.
 */
import {
  canonicalDate,
  canonicalTimestamp,
  dayFrom,
  fractionText,
  timestampFrom,
} from '../../dictionary/index.ts';
import type { Clock } from './nodes.ts';

const DATETIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)?(?:\.(\d+))?(?:(Z)|([+-]\d\d):?(\d\d))?$/;
const TIME = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?$/;

/** The number of fractional digits of a second that the grammar of SparkQL allows. */
const ALL_DIGITS = 50;

/**
 * A timestamp in UTC, with all digits of its fraction: stored ones have at most six digits, and compare with it as texts. Without a
 * zone it is in UTC. Undefined if the calendar has no such moment.
 */
export function timestampOf(literal: string): string | undefined {
  const [found, day, minutes, seconds = ':00', fraction = '', , hours, rest] = DATETIME.exec(literal) ?? [];
  if (found === undefined) return undefined;
  const zone = hours === undefined ? 'Z' : `${hours}:${rest}`;
  const whole = canonicalTimestamp(`${day}T${minutes}${seconds}${zone}`);
  return whole === undefined ? undefined : `${whole.slice(0, -1)}${fractionText(fraction, ALL_DIGITS)}Z`;
}

/** The first moment of a date, in UTC. */
export const startOfDay = (date: string): string | undefined => timestampOf(`${date}T00:00:00Z`);

/** The day of a date, or of a timestamp in its own zone. */
export function dayOf(literal: string): string | undefined {
  const isMoment = literal.includes('T');
  return isMoment && timestampOf(literal) === undefined ? undefined : canonicalDate(literal.slice(0, 10));
}

/** A time of day, with all digits of its fraction. */
export function timeOf(literal: string): string | undefined {
  const [found, hour, minute, second = '00', fraction = ''] = TIME.exec(literal) ?? [];
  if (found === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59)
    return undefined;
  return `${hour}:${minute}:${second}${fractionText(fraction, ALL_DIGITS)}`;
}

/** Milliseconds. */
const UNITS = { now: 0, seconds: 1000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 };
const FIRST = Date.parse('0001-01-01T00:00:00Z');
const LAST = Date.parse('9999-12-31T23:59:59.999Z');

const isWeekend = (day: Date): boolean => day.getUTCDay() === 0 || day.getUTCDay() === 6;

function withMonths(now: Date, months: number): number {
  const moved = new Date(now);
  moved.setUTCDate(1);
  moved.setUTCMonth(moved.getUTCMonth() + months);
  const last = new Date(Date.UTC(2000, 0, 1));
  last.setUTCFullYear(moved.getUTCFullYear(), moved.getUTCMonth() + 1, 0);
  return moved.setUTCDate(Math.min(now.getUTCDate(), last.getUTCDate()));
}

/**
 * Adds whole weeks, then single days. Weekends are skipped. Whole weeks from a weekend end on the nearest weekday in the direction
 * of now.
 */
function withWeekdays(now: Date, count: number): number {
  const direction = count > 0 ? 1 : -1;
  const remaining = Math.abs(count) % 5;
  const beganOnWeekend = isWeekend(now);
  const day = new Date(now);
  const step = (days: number): number => day.setUTCDate(day.getUTCDate() + days);
  step(Math.trunc(count / 5) * 7);
  for (let left = remaining; left > 0; left -= 1) {
    step(direction);
    while (isWeekend(day)) step(direction);
  }
  while (isWeekend(day)) step(beganOnWeekend && remaining === 0 ? -direction : direction);
  return day.getTime();
}

function shifted(now: Date, clock: Clock): number {
  const { count } = clock;
  switch (clock.function) {
    case 'weekdays':
      return withWeekdays(now, count);
    case 'months':
      return withMonths(now, count);
    case 'years':
      return withMonths(now, count * 12);
    default:
      return now.getTime() + count * UNITS[clock.function];
  }
}

/** The result of a clock function: a date or a timestamp. Undefined outside the years 1 to 9999. */
export function clockText(now: Date, clock: Clock): string | undefined {
  const time = shifted(now, clock);
  if (!(time >= FIRST && time <= LAST)) return undefined;
  return clock.type === 'date' ? dayFrom(time) : timestampFrom(time);
}
