/** Times are milliseconds since 1970 inside the market, and the dictionary's texts in its records. */
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

/** `2026-06-01` */
export function dateText(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** `2026-06-01T12:00:00Z`: whole seconds. */
export function timestampText(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

/** `20260601120000`, as keys begin. */
export function stampDigits(time: number): string {
  const text = new Date(time).toISOString();
  return (
    text.slice(0, 4) +
    text.slice(5, 7) +
    text.slice(8, 10) +
    text.slice(11, 13) +
    text.slice(14, 16) +
    text.slice(17, 19)
  );
}

/** The beginning of the day, UTC. */
export function startOfDay(time: number): number {
  return time - (time % DAY);
}
