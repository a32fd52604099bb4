const TERM = /\{today(?: - (\d{1,4}) (day|month|year)s?)?\}/g;

/** Whether the meaning of a row filter moves with the calendar. */
export function dependsOnDay(filter: string): boolean {
  return filter.includes('{today');
}

/**
 * Replaces `{today}` and `{today - 3 years}` (days, months, years) in a row filter by dates.
 * A day that the month does not have becomes the month's last one.
 * @param today the UTC day, `YYYY-MM-DD`
 */
export function resolveDayTerms(filter: string, today: string): string {
  return filter.replace(TERM, (_, amount: string | undefined, unit: string | undefined) => {
    const [year = 0, month = 1, day = 1] = today.split('-').map(Number);
    const back = Number(amount ?? 0);
    if (unit === 'day' || unit === undefined) return isoDay(Date.UTC(year, month - 1, day - back));
    const months = unit === 'year' ? back * 12 : back;
    const lastOfMonth = new Date(Date.UTC(year, month - months, 0)).getUTCDate();
    return isoDay(Date.UTC(year, month - 1 - months, Math.min(day, lastOfMonth)));
  });
}

const isoDay = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 10);
