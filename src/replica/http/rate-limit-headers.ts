/** Reads from headers when the source accepts the next request. Times in headers are on its clock (Date), results on ours. */
type Headers = Readonly<Record<string, string>>;

/** The longest wait that a source may request, in milliseconds. A longer one is more likely a mistake than intended. */
export const LONGEST_BLOCK = 86_400_000;

/** The prefixes of the headers `…-Remaining` and `…-Reset` that feeds send. A feed may have two windows. */
const FAMILIES = ['ratelimit', 'x-ratelimit', 'application-ratelimit', 'burst-ratelimit'];

/** A number of seconds from here on is a time: as a duration, it would be 31 years. */
const SMALLEST_EPOCH_SECONDS = 1_000_000_000;
/** A time from here on is in milliseconds: in seconds, it would be in the year 5138. */
const SMALLEST_EPOCH_MILLISECONDS = 100_000_000_000;

/**
 * The end of the window whose limit is exhausted; the latest if there are several, 0 if there is none. Reads both forms of the IETF
 * header (`"name";r=0;t=20` and `remaining=0, reset=20`) and the headers that feeds use, whose value is the remaining seconds, or a
 * time in seconds or milliseconds since 1970.
 */
export function blockedUntil(headers: Headers, now: number): number {
  const field = headers.ratelimit ?? '';
  const [, remaining] = /\br(?:emaining)?=(\d+)/.exec(field) ?? [];
  const [, reset] = /\b(?:t|reset)=(\d+)/.exec(field) ?? [];
  const endOf = (left: string | undefined, end: string | undefined): number => {
    const [rest, moment] = [number(left), number(end)];
    if (rest === undefined || rest > 0 || moment === undefined) return 0;
    if (moment <= SMALLEST_EPOCH_SECONDS) return now + moment * 1000;
    return now + (moment > SMALLEST_EPOCH_MILLISECONDS ? moment : moment * 1000) - sourceNow(headers, now);
  };
  return Math.max(
    endOf(remaining, reset),
    ...FAMILIES.map((name) => endOf(headers[`${name}-remaining`], headers[`${name}-reset`])),
  );
}

/** The time until which a source that throttles a token rejects requests with it. */
export function throttledUntil(status: number, headers: Headers, now: number): number {
  const wait = retryAfter(headers, now);
  return status === 429 && wait !== undefined ? now + wait : 0;
}

/** Milliseconds that `Retry-After` requests: seconds, or a date on the source's clock (RFC 9110, 10.2.3). */
export function retryAfter(headers: Headers, now: number): number | undefined {
  const header = headers['retry-after'];
  if (header === undefined) return undefined;
  const seconds = number(header);
  if (seconds !== undefined) return Math.max(0, seconds * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? 0 : Math.max(0, date - sourceNow(headers, now));
}

function sourceNow({ date = '' }: Headers, now: number): number {
  const moment = Date.parse(date);
  return Number.isNaN(moment) ? now : moment;
}

function number(text: string | undefined): number | undefined {
  const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
}
