/** Values as the standard sees them, and how they are compared. */

/** The static types of expressions. */
export type Type =
  | 'string'
  | 'integer'
  | 'decimal'
  | 'boolean'
  | 'date'
  | 'timestamp'
  | 'time'
  | 'duration'
  | 'null';

/**
 * Dates (their midnight in UTC) and timestamps are milliseconds since 1970, times milliseconds since midnight,
 * durations milliseconds; so values of one type compare as they are.
 */
export type Value = string | number | boolean | null;

/** What the standard leaves open for a record, such as a whole number beyond what doubles keep exact. */
export class Unsure extends Error {}

export const isNumber = (type: Type): boolean => type === 'integer' || type === 'decimal';
export const isMoment = (type: Type): boolean => type === 'date' || type === 'timestamp';

const PLAIN = /^[\u0020-\u007e]*$/;

/** Texts are ordered by their bytes in UTF-8, which is the order of their code points. */
export function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  if (PLAIN.test(left) && PLAIN.test(right)) return left < right ? -1 : 1;
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

/** Neither side is null; false is before true. */
export function compareValues(left: Value, right: Value): number {
  if (typeof left === 'string' && typeof right === 'string') return compareTexts(left, right);
  const [one, other] = [Number(left), Number(right)];
  return one < other ? -1 : one > other ? 1 : 0;
}

const NEAR = 1e-6;

/** Distances and computed durations come out of more than one formula, so what is almost equal is left open. */
export function refuseNear(left: Value, right: Value): void {
  if (typeof left !== 'number' || typeof right !== 'number') return;
  if (Number.isInteger(left) && Number.isInteger(right)) return;
  if (Math.abs(left - right) <= NEAR * Math.max(1, Math.abs(left), Math.abs(right))) {
    throw new Unsure('almost equal');
  }
}

/** Compared as double-precision numbers; what they do not keep exact is left open. */
export function wholeNumber(value: number): number {
  if (!Number.isSafeInteger(value)) throw new Unsure('beyond 2^53');
  return value;
}

const DAY = 86_400_000;
export const FIRST_MOMENT = Date.parse('0001-01-01T00:00:00Z');
export const LAST_MOMENT = Date.parse('9999-12-31T23:59:59.999Z');

export const dayOf = (moment: number): number => Math.floor(moment / DAY) * DAY;
export const timeOf = (moment: number): number => moment - dayOf(moment);

const fraction = (milliseconds: number): string => {
  const rest = ((milliseconds % 1000) + 1000) % 1000;
  return rest === 0 ? '' : `.${String(rest).padStart(3, '0')}`;
};

export const dateText = (date: number): string => new Date(date).toISOString().slice(0, 10);
export const timeText = (time: number): string =>
  `${new Date(time).toISOString().slice(11, 19)}${fraction(time)}`;
export const timestampText = (moment: number): string =>
  `${new Date(moment).toISOString().slice(0, 19)}${fraction(moment)}Z`;
