/**
 * What a source lets one token do, learned from its answers and from the configuration. The windows are kept in the
 * store, so that no restart forgets them and two processes with one token share them.
 */
import { isObject } from '../json.ts';

/** Requests and bytes in windows of seconds, an hour and a day. Absent: no limit is known. */
export interface BudgetLimits {
  readonly requestsPerSecond?: number;
  readonly requestsPerHour?: number;
  readonly requestsPerDay?: number;
  readonly bytesPerHour?: number;
  readonly bytesPerDay?: number;
}

/** What was used, by the beginning of each window (milliseconds since 1970). */
export interface BudgetUse {
  readonly lastSent: number;
  readonly hour: { readonly start: number; readonly requests: number; readonly bytes: number };
  readonly day: { readonly start: number; readonly requests: number; readonly bytes: number };
  /** The source said to send nothing before this moment. */
  readonly blockedUntil: number;
}

const HOUR = 3_600_000;
const DAY = 86_400_000;

export const NOTHING_USED: BudgetUse = {
  lastSent: 0,
  hour: { start: 0, requests: 0, bytes: 0 },
  day: { start: 0, requests: 0, bytes: 0 },
  blockedUntil: 0,
};

function current<W extends { start: number; requests: number; bytes: number }>(
  window: W,
  length: number,
  now: number,
) {
  return now - window.start < length ? window : { start: now, requests: 0, bytes: 0 };
}

/** The use after a request that is sent now. */
export function spend(use: BudgetUse, now: number): BudgetUse {
  const hour = current(use.hour, HOUR, now);
  const day = current(use.day, DAY, now);
  return {
    lastSent: now,
    hour: { ...hour, requests: hour.requests + 1 },
    day: { ...day, requests: day.requests + 1 },
    blockedUntil: use.blockedUntil,
  };
}

/** The use after an answer. */
export function receive(use: BudgetUse, bytes: number, blocked: number, now: number): BudgetUse {
  const hour = current(use.hour, HOUR, now);
  const day = current(use.day, DAY, now);
  return {
    lastSent: use.lastSent,
    hour: { ...hour, bytes: hour.bytes + bytes },
    day: { ...day, bytes: day.bytes + bytes },
    blockedUntil: Math.max(use.blockedUntil, blocked),
  };
}

/** Milliseconds until a request may be sent. */
export function waitFor(limits: BudgetLimits, use: BudgetUse, now: number): number {
  const waits = [use.blockedUntil - now];
  if (limits.requestsPerSecond !== undefined)
    waits.push(use.lastSent + 1000 / limits.requestsPerSecond - now);
  const hour = current(use.hour, HOUR, now);
  const day = current(use.day, DAY, now);
  const full = (used: number, limit: number | undefined): boolean => limit !== undefined && used >= limit;
  if (full(hour.requests, limits.requestsPerHour) || full(hour.bytes, limits.bytesPerHour)) {
    waits.push(hour.start + HOUR - now);
  }
  if (full(day.requests, limits.requestsPerDay) || full(day.bytes, limits.bytesPerDay)) {
    waits.push(day.start + DAY - now);
  }
  return Math.max(0, ...waits);
}

/** What feeds put before `-Remaining` and `-Reset`; one of them tells of two windows. */
const FAMILIES = ['ratelimit', 'x-ratelimit', 'application-ratelimit', 'burst-ratelimit'];

/**
 * When nothing is left of a window that an answer tells of: the moment it ends, the latest of several. Reads the IETF
 * header in its two forms (`"name";r=0;t=20` and `remaining=0, reset=20`) and the ones that feeds use.
 */
export function blockedUntil(headers: Readonly<Record<string, string>>, now: number): number {
  const field = headers.ratelimit ?? '';
  const told = [/\br(?:emaining)?=(\d+)/, /\b(?:t|reset)=(\d+)/].map((pattern) => pattern.exec(field)?.[1]);
  return Math.max(
    endOf(told[0], told[1], now),
    ...FAMILIES.map((name) => endOf(headers[`${name}-remaining`], headers[`${name}-reset`], now)),
  );
}

function endOf(left: string | undefined, end: string | undefined, now: number): number {
  const remaining = number(left);
  const reset = number(end);
  if (remaining === undefined || remaining > 0 || reset === undefined) return 0;
  // Some services give a moment in seconds since 1970, others the seconds that are left.
  return reset > 1_000_000_000 ? reset * 1000 : now + reset * 1000;
}

function number(text: string | undefined): number | undefined {
  const value = Number(text ?? Number.NaN);
  return Number.isFinite(value) ? value : undefined;
}

/** What was kept of the use, if it was. */
export function readUse(value: unknown): BudgetUse {
  if (!isObject(value)) return NOTHING_USED;
  const window = (given: unknown): BudgetUse['hour'] => {
    const { start, requests, bytes } = isObject(given) ? given : {};
    return { start: Number(start ?? 0), requests: Number(requests ?? 0), bytes: Number(bytes ?? 0) };
  };
  return {
    lastSent: Number(value.lastSent ?? 0),
    hour: window(value.hour),
    day: window(value.day),
    blockedUntil: Number(value.blockedUntil ?? 0),
  };
}
