/**
 * What a store keeps of itself in one row of text each, read back: a text that plat never writes there is damage. It
 * knows no engine.
 */
import { Damage } from '../records/damage.ts';

const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;
const DAY = /^\d{4}-\d\d-\d\d$/;

/** @throws Damage for what is no timestamp. @param what as a message names it: "its last timestamp" */
export function storedStamp(text: unknown, what: string): string {
  if (typeof text === 'string' && STAMP.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw new Damage(`${what} is none`);
}

/** @throws Damage for what is no count, or no moment in milliseconds since 1970 */
export function storedNumber(text: unknown, what: string): number {
  const value = typeof text === 'string' && text !== '' ? Number(text) : Number.NaN;
  if (Number.isFinite(value) && value >= 0) return value;
  throw new Damage(`${what} is no number`);
}

/** Before all days of any store. */
const NEVER = '1970-01-01';

/**
 * The day whose rules the stored visibility follows. One that cannot be read counts as long past, so that all is
 * evaluated anew, as on any new day.
 */
export const storedDay = (text: unknown): string =>
  typeof text === 'string' && DAY.test(text) && !Number.isNaN(Date.parse(text)) ? text : NEVER;
