/** Dates and times in the canonical text that records hold. The texts have the right form; the calendar is checked here. */
import { fractionText } from '../../../dictionary/index.ts';

const DAY = 86_400;

const two = (number: number): string => String(number).padStart(2, '0');

/** `YYYY-MM-DD`; undefined when the calendar has no such day, or its year has not four digits. */
export function canonicalDate(text: string): string | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (!match) return undefined;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? text : undefined;
}

const TIMESTAMP = /^(\d{4}-\d\d-\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(?:Z|([+-])(\d\d):(\d\d))$/i;

/**
 * `YYYY-MM-DDTHH:MM:SS[.ffffff]Z`, moved to UTC, its fraction as records have it. A leap second is the first one of the
 * next minute. Undefined when the calendar has no such day, or UTC puts it outside the years 0 to 9999.
 */
export function canonicalTimestamp(text: string): string | undefined {
  const match = TIMESTAMP.exec(text);
  const date = canonicalDate(match?.[1] ?? '');
  if (!match || date === undefined) return undefined;
  const [, , hour, minute, second = '0', fraction = '', sign, offsetHour = '0', offsetMinute = '0'] = match;
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === '-' ? -1 : 1);
  const moment = new Date(`${date}T00:00:00Z`);
  moment.setUTCHours(Number(hour), Number(minute) - offset, Number(second));
  const iso = moment.toISOString();
  return /^\d{4}-/.test(iso) ? `${iso.slice(0, 19)}${fractionText(fraction)}Z` : undefined;
}

/** `HH:MM:SS[.ffffff]`. A leap second is the last one of its minute, so that the time stays within its day. */
export function canonicalTime(text: string): string {
  const [hour = '', minute = '', rest = '0'] = text.split(':');
  const [second = '', fraction = ''] = rest.split('.');
  return `${hour}:${minute}:${two(Math.min(59, Number(second)))}${fractionText(fraction)}`;
}

/** Seconds of `[-]PnDTnHnMn.nS`. */
export function durationSeconds(text: string): number {
  const match = /^(-)?P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/i.exec(text);
  const [, sign, days = '0', hours = '0', minutes = '0', seconds = '0'] = match ?? [];
  const total = Number(days) * DAY + Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return sign === '-' && total !== 0 ? -total : total;
}
