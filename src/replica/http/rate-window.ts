import { isObject } from '../json.ts';

/**
 * What was used in a window that moves with the time, in parts of a sixtieth of it. Kept compactly: the number of the
 * first part, counted from 1970, and requests and bytes of each part since.
 */
export interface RateWindow {
  readonly first: number;
  readonly used: readonly Used[];
}

type Used = readonly [requests: number, bytes: number];

export const NOTHING_IN_WINDOW: RateWindow = { first: 0, used: [] };

const PARTS = 60;

/**
 * The window as it is now: without the parts that count no more, up to the part that is now. A part counts until its
 * last moment has left the window, so that what was used in any window of this length is never counted too low.
 */
function moved({ first, used }: RateWindow, length: number, now: number): RateWindow {
  const current = Math.floor(now / (length / PARTS));
  // Where the clock was set back, what was used later than now counts as used by now.
  const begin = Math.min(first, current + 1 - used.length);
  const from = Math.max(begin, current - PARTS);
  const parts = Array.from({ length: current + 1 - from }, (_, at) => used[from - begin + at] ?? NONE);
  const empty = parts.findIndex(([requests, bytes]) => requests > 0 || bytes > 0);
  const skipped = empty < 0 ? parts.length - 1 : empty;
  return { first: from + skipped, used: parts.slice(skipped) };
}

const NONE: Used = [0, 0];

/** The window after something more was used now. @param length of the window in milliseconds */
export function used(
  window: RateWindow,
  length: number,
  now: number,
  requests: number,
  bytes: number,
): RateWindow {
  const { first, used: parts } = moved(window, length, now);
  const [before, read] = parts.at(-1) ?? NONE;
  return { first, used: [...parts.slice(0, -1), [before + requests, read + bytes]] };
}

/** Milliseconds until less was used than the limits, in the window of this length that ends then. */
export function untilLess(
  window: RateWindow,
  length: number,
  now: number,
  limits: { readonly requests: number | undefined; readonly bytes: number | undefined },
): number {
  const { first, used: parts } = moved(window, length, now);
  const until = (column: 0 | 1, limit: number | undefined): number => {
    let left = parts.reduce((sum, part) => sum + part[column], 0);
    if (limit === undefined || left < limit) return 0;
    const last = parts.findIndex((part) => {
      left -= part[column];
      return left < limit;
    });
    const part = first + (last < 0 ? parts.length - 1 : last);
    return (part + 1) * (length / PARTS) + length - now;
  };
  return Math.max(until(0, limits.requests), until(1, limits.bytes));
}

/** A number that was kept; none where it is no such: with NaN a wait would never end. */
export const countIn = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;

/** What was kept of a window, if it was. */
export function readWindow(value: unknown): RateWindow {
  if (!isObject(value) || !Number.isSafeInteger(value.first) || !Array.isArray(value.used))
    return NOTHING_IN_WINDOW;
  const parts = value.used.map((part: unknown): Used => {
    const [requests, bytes]: unknown[] = Array.isArray(part) ? part : [];
    return [countIn(requests), countIn(bytes)];
  });
  return { first: Number(value.first), used: parts };
}
