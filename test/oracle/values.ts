/** Values as the standard defines them, and how they are compared. */

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
 * Dates (at midnight UTC) and timestamps are milliseconds since 1970, times are milliseconds since midnight, and durations are
 * milliseconds, so values of one type can be compared directly.
 */
export type Value = string | number | boolean | null;

/** Thrown if the standard leaves the result for a record open, as for an integer that doubles cannot represent. */
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

/** Neither side is null; false sorts before true. */
export function compareValues(left: Value, right: Value): number {
  if (typeof left === 'string' && typeof right === 'string') return compareTexts(left, right);
  const [one, other] = [Number(left), Number(right)];
  return one < other ? -1 : one > other ? 1 : 0;
}

const NEAR = 1e-6;

/** Distances and computed durations can be computed by several formulas, so comparisons of almost equal values are left open. */
export function refuseNear(left: Value, right: Value): void {
  if (typeof left !== 'number' || typeof right !== 'number') return;
  if (Number.isInteger(left) && Number.isInteger(right)) return;
  if (Math.abs(left - right) <= NEAR * Math.max(1, Math.abs(left), Math.abs(right))) {
    throw new Unsure('almost equal');
  }
}

/** A number that doubles represent exactly; other results are left open. */
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
