/**
 * Canonical dates and timestamps: the one form in which plat stores and returns them. Canonical timestamps sort by time only
 * without their `Z`, because `Z` sorts after the point of a fraction.
 */

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIMESTAMP =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,12}))?)?(?:Z|([+-])(\d{2}):(\d{2}))$/;
/**
 * Matches a timestamp that is already canonical, if its day and time exist. Most sources send such timestamps, and the full
 * analysis takes five times as long.
 */
const PLAIN_TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(?!000Z)\d{3}(?:\d{0,2}[1-9])?)?Z$/;

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDay(year: number, month: number, day: number): boolean {
  if (year < 1 || month < 1 || month > 12 || day < 1) return false;
  const leap = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day <= (DAYS[month - 1] ?? 0) + (leap ? 1 : 0);
}

/** The text itself if it is a day of the calendar, `YYYY-MM-DD`; otherwise undefined. */
export function canonicalDate(text: string): string | undefined {
  const match = DATE.exec(text);
  return match !== null && isDay(Number(match[1]), Number(match[2]), Number(match[3])) ? text : undefined;
}

/**
 * Converts an ISO 8601 timestamp with `Z` or an offset to UTC with `Z`, with a fraction as `fractionText` writes it. Undefined for
 * anything else, including a time without a zone or outside the years 1 to 9999.
 */
export function canonicalTimestamp(text: string): string | undefined {
  const match = TIMESTAMP.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second = '0', fraction = '', sign, offsetHour, offsetMinute] =
    match;
  if (!isDay(Number(year), Number(month), Number(day))) return undefined;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  if (sign === undefined && PLAIN_TIMESTAMP.test(text)) return text;
  if (Number(offsetHour ?? 0) > 14 || Number(offsetMinute ?? 0) > 59) return undefined;
  const offset = (Number(offsetHour ?? 0) * 60 + Number(offsetMinute ?? 0)) * (sign === '-' ? -1 : 1);
  const local = `${year}-${month}-${day}T${hour}:${minute}:${second.padStart(2, '0')}Z`;
  const utc = Date.parse(local) - offset * 60_000;
  const inRange = utc >= FIRST && utc <= LAST;
  return inRange ? `${new Date(utc).toISOString().slice(0, 19)}${fractionText(fraction)}Z` : undefined;
}

/**
 * The canonical fraction of a second, with its decimal point: empty for zero, otherwise three digits, or up to six if needed.
 * Further digits are truncated.
 *
 * @param digits the fraction as written, without its decimal point
 * @param most how many digits are kept
 */
export function fractionText(digits: string, most = 6): string {
  const fine = digits.slice(0, most).replace(/0+$/, '');
  return fine === '' ? '' : `.${fine.padEnd(3, '0')}`;
}

/** Microseconds since 1970 of a canonical timestamp. */
export function microsecondsOf(timestamp: string): number {
  const finer = /\.\d{3}(\d{1,3})/.exec(timestamp)?.[1] ?? '';
  return Date.parse(timestamp) * 1000 + Number(finer.padEnd(3, '0'));
}

/** @param microseconds since 1970 */
export function timestampFromMicroseconds(microseconds: number): string {
  const milliseconds = Math.floor(microseconds / 1000);
  const finer = microseconds - milliseconds * 1000;
  if (finer === 0) return timestampFrom(milliseconds);
  const digits = String(finer).padStart(3, '0').replace(/0+$/, '');
  return `${new Date(milliseconds).toISOString().slice(0, -1)}${digits}Z`;
}

const FIRST = Date.parse('0001-01-01T00:00:00Z');
const LAST = Date.parse('9999-12-31T23:59:59.999Z');

/** @param milliseconds since 1970 */
export function timestampFrom(milliseconds: number): string {
  if (milliseconds !== lastMoment.milliseconds) {
    const text = new Date(milliseconds).toISOString();
    lastMoment = { milliseconds, text: text.endsWith('.000Z') ? `${text.slice(0, -5)}Z` : text };
  }
  return lastMoment.text;
}

/** The last moment that was converted: a request converts the same moment several times. */
let lastMoment = { milliseconds: Number.NaN, text: '' };

/** The UTC day of a moment, `YYYY-MM-DD`. @param milliseconds since 1970 */
export function dayFrom(milliseconds: number): string {
  const day = Math.floor(milliseconds / DAY);
  if (day !== lastDay.day) lastDay = { day, text: new Date(milliseconds).toISOString().slice(0, 10) };
  return lastDay.text;
}

const DAY = 86_400_000;
/** The last day that was converted: nearly all requests arrive on the same day. */
let lastDay = { day: Number.NaN, text: '' };
