import { platError } from '../../errors/index.ts';

const formatters = new Map<string, Intl.DateTimeFormat>();

function formatter(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hour12: true,
  });
  formatters.set(timeZone, made);
  return made;
}

/** @throws PlatError `usage` when there is no time zone of this name */
export function checkTimeZone(timeZone: string): void {
  try {
    formatter(timeZone);
  } catch (cause) {
    throw platError('usage', { reason: `There is no time zone ${timeZone}.` }, { cause });
  }
}

function partsOf(timestamp: string, timeZone: string): Map<string, string> {
  const parts = formatter(timeZone).formatToParts(Date.parse(timestamp));
  return new Map(parts.map(({ type, value }) => [type, value]));
}

/** The time of day as the native interface writes it, `09:00 AM`. */
export function clockTime(timestamp: string | null, timeZone: string): string | null {
  if (timestamp === null) return null;
  const parts = partsOf(timestamp, timeZone);
  return `${parts.get('hour')}:${parts.get('minute')} ${parts.get('dayPeriod')}`;
}

/** The day as the native interface writes it, `MM/DD/YYYY`; of the date, or else of the moment. */
export function slashDate(date: string | null, moment: string | null, timeZone: string): string | null {
  if (date !== null) return `${date.slice(5, 7)}/${date.slice(8, 10)}/${date.slice(0, 4)}`;
  if (moment === null) return null;
  const parts = partsOf(moment, timeZone);
  return `${parts.get('month')}/${parts.get('day')}/${parts.get('year')}`;
}
