/**
 * What an answer tells of when the source wants to be asked again. Moments that it names are on its own clock, which its
 * Date header tells; what is given back is on ours.
 */
type Headers = Readonly<Record<string, string>>;

/** The longest that is waited because a source said so, in milliseconds. More is a mistake more often than a wish. */
export const LONGEST_BLOCK = 86_400_000;

/** What feeds put before `-Remaining` and `-Reset`; one of them tells of two windows. */
const FAMILIES = ['ratelimit', 'x-ratelimit', 'application-ratelimit', 'burst-ratelimit'];

/** Above this a number of seconds is a moment: they would be 31 years. */
const MOMENTS = 1_000_000_000;
/** Above this a moment is in milliseconds: in seconds it would be in the year 5138. */
const MILLISECONDS = 100_000_000_000;

/**
 * When nothing is left of a window that an answer tells of: the moment it ends, the latest of several. Reads the IETF
 * header in its two forms (`"name";r=0;t=20` and `remaining=0, reset=20`) and the ones that feeds use: seconds that are
 * left, or a moment in seconds or milliseconds since 1970.
 */
export function blockedUntil(headers: Headers, now: number): number {
  const field = headers.ratelimit ?? '';
  const told = [/\br(?:emaining)?=(\d+)/, /\b(?:t|reset)=(\d+)/].map((pattern) => pattern.exec(field)?.[1]);
  const endOf = (left: string | undefined, end: string | undefined): number => {
    const remaining = number(left);
    const reset = number(end);
    if (remaining === undefined || remaining > 0 || reset === undefined) return 0;
    if (reset <= MOMENTS) return now + reset * 1000;
    return now + (reset > MILLISECONDS ? reset : reset * 1000) - sourceNow(headers, now);
  };
  return Math.max(
    endOf(told[0], told[1]),
    ...FAMILIES.map((name) => endOf(headers[`${name}-remaining`], headers[`${name}-reset`])),
  );
}

/** The moment before which a source that has had too much of a token wants nothing more of it, whatever is asked. */
export function throttledUntil(status: number, headers: Headers, now: number): number {
  const wait = retryAfter(headers, now);
  return status === 429 && wait !== undefined ? now + wait : 0;
}

/** Milliseconds that `Retry-After` asks for: seconds, or a date on the source's clock (RFC 9110, 10.2.3). */
export function retryAfter(headers: Headers, now: number): number | undefined {
  const header = headers['retry-after'];
  if (header === undefined) return undefined;
  const seconds = number(header);
  if (seconds !== undefined) return Math.max(0, seconds * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? 0 : Math.max(0, date - sourceNow(headers, now));
}

function sourceNow({ date = '' }: Headers, now: number): number {
  const told = Date.parse(date);
  return Number.isNaN(told) ? now : told;
}

function number(text: string | undefined): number | undefined {
  const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
}
