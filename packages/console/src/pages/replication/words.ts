/** Times and durations of replication in words: to the second, since windows are short, and relative to the service's clock. */
import { counted, whole } from '../../parts/figures.ts';
import type { Progress } from './report.ts';

const MOMENT = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'medium' });

export const moment = (at: number | string): string => MOMENT.format(new Date(at));

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

/** A duration in its two largest units: `2 hours 5 minutes`. */
export function span(milliseconds: number): string {
  if (milliseconds < 1000) return `${whole(milliseconds)} ms`;
  const first = UNITS.findIndex(([, length]) => milliseconds >= length);
  const parts: string[] = [];
  let left = milliseconds;
  for (const [unit, length] of UNITS.slice(first, first + 2)) {
    const amount = Math.floor(left / length);
    left -= amount * length;
    if (amount > 0) parts.push(counted(amount, unit));
  }
  return parts.join(' ');
}

/** How long ago a time was, by the service's clock. */
export const ago = (at: number | string, now: number): string => {
  const by = now - new Date(at).getTime();
  return by < 1000 ? 'just now' : `${span(by)} ago`;
};

export const WORKS: Readonly<Record<Progress['work'], string>> = {
  download: 'Download',
  window: 'Window',
  purge: 'Purge',
};
