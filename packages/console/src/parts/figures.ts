/** Numbers and times for people: in American English, and in the time zone of the reader. */

const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
const MOMENT = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'short' });
const CLOCK = new Intl.DateTimeFormat('en-US', { timeStyle: 'short' });
const SECOND = new Intl.DateTimeFormat('en-US', { timeStyle: 'medium' });
const DAY = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium' });
const AGO = new Intl.RelativeTimeFormat('en-US', { numeric: 'auto' });

type Moment = number | string;

export const whole = (amount: number): string => WHOLE.format(amount);

/** `1.2M` */
export const short = (amount: number): string => SHORT.format(amount);

export const counted = (amount: number, one: string, many = `${one}s`): string =>
  `${whole(amount)} ${amount === 1 ? one : many}`;

const SIZES = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const;

/** `27.9 MB`, in steps of 1,024. */
export function size(bytes: number): string {
  const step = bytes < 1024 ? 0 : Math.min(SIZES.length - 1, Math.floor(Math.log2(bytes) / 10));
  const amount = bytes / 1024 ** step;
  const digits = step === 0 || amount >= 100 ? 0 : 1;
  return `${amount.toLocaleString('en-US', { maximumFractionDigits: digits })} ${SIZES[step] ?? ''}`;
}

/** `8 ms`, `1.5 s` */
export const duration = (milliseconds: number): string =>
  milliseconds < 1000
    ? `${milliseconds.toLocaleString('en-US', { maximumFractionDigits: milliseconds < 10 ? 2 : 0 })} ms`
    : `${(milliseconds / 1000).toLocaleString('en-US', { maximumFractionDigits: 1 })} s`;

export const moment = (at: Moment): string => MOMENT.format(new Date(at));
export const clock = (at: Moment): string => CLOCK.format(new Date(at));
export const second = (at: Moment): string => SECOND.format(new Date(at));
export const day = (at: Moment): string => DAY.format(new Date(at));

const SPANS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** `3 hours ago`, `in 2 days` */
export function ago(at: Moment, now = Date.now()): string {
  const seconds = (new Date(at).getTime() - now) / 1000;
  for (const [unit, length] of SPANS) {
    if (Math.abs(seconds) >= length) return AGO.format(Math.trunc(seconds / length), unit);
  }
  return seconds > 0 ? 'in a moment' : 'just now';
}

/** `5 minutes`, `90 seconds` */
export function span(seconds: number): string {
  const found = SPANS.find(([, length]) => seconds >= length && seconds % length === 0);
  return found === undefined ? counted(seconds, 'second') : counted(seconds / found[1], found[0]);
}

/** The places of values with a gap on either side, which a line cannot show: there is nothing to connect them with. */
export const isolated = (values: ArrayLike<number | null | undefined>): number[] => {
  const isGap = (at: number): boolean => typeof values[at] !== 'number';
  return Array.from(values, (_, at) => at).filter((at) => !isGap(at) && isGap(at - 1) && isGap(at + 1));
};
