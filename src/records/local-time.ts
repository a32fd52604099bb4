/** Dates and times of day in the native interface, in the time zone of a store. */
import { usageError } from '../errors/index.ts';

const formatters = new Map<string, Intl.DateTimeFormat>();

const makeFormatter = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-US', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hour12: true,
  });

const formatter = (timeZone: string): Intl.DateTimeFormat =>
  formatters.getOrInsertComputed(timeZone, makeFormatter);

/** @throws PlatError `usage` for an unknown time zone */
export function checkTimeZone(timeZone: string): void {
  if (!isTimeZone(timeZone)) throw usageError(`There is no time zone ${timeZone}.`);
}

/** Temporal takes a tenth of the time of a process's first formatter, but does not know every alias that a formatter accepts. */
export const isTimeZone = (name: string): boolean =>
  succeeds(() => Temporal.Now.zonedDateTimeISO(name).timeZoneId.toLowerCase() === name.toLowerCase()) ||
  succeeds(() => formatter(name) !== undefined);

function succeeds(test: () => boolean): boolean {
  try {
    return test();
  } catch {
    return false;
  }
}

/** @returns undefined for a text that is not a timestamp, as in a damaged column */
function partsOf(timestamp: string, timeZone: string): Map<string, string> | undefined {
  const moment = Date.parse(timestamp);
  if (Number.isNaN(moment)) return undefined;
  const parts = formatter(timeZone).formatToParts(moment);
  return new Map(parts.map(({ type, value }) => [type, value]));
}

/** The time of day in the native interface: `09:00 AM`. */
export function formatTimeOfDay(timestamp: string | null, timeZone: string): string | null {
  const parts = timestamp === null ? undefined : partsOf(timestamp, timeZone);
  if (parts === undefined) return null;
  return `${parts.get('hour')}:${parts.get('minute')} ${parts.get('dayPeriod')}`;
}

/** The day in the native interface: `MM/DD/YYYY`, from the date if there is one, otherwise from the timestamp. */
export function formatUsDate(date: string | null, moment: string | null, timeZone: string): string | null {
  if (date !== null) return `${date.slice(5, 7)}/${date.slice(8, 10)}/${date.slice(0, 4)}`;
  const parts = moment === null ? undefined : partsOf(moment, timeZone);
  if (parts === undefined) return null;
  return `${parts.get('month')}/${parts.get('day')}/${parts.get('year')}`;
}
