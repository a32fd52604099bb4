/** The rate limits of a source for one token. Its usage is kept in the store, and shared by all processes. */
import { hash } from 'node:crypto';
import { isObject } from '../../shared/json.ts';
import type { Checkpoints } from '../../store/checkpoint/checkpoints.ts';
import { LONGEST_BLOCK } from './rate-limit-headers.ts';

/**
 * The maximum number of requests and of bytes of content in any second, any hour and any day (sliding windows). Absent: no limit is
 * known. A request is sent while the bytes are below their limit; how many its response adds cannot be known in advance.
 */
export interface BudgetLimits {
  readonly requestsPerSecond?: number;
  readonly requestsPerHour?: number;
  readonly requestsPerDay?: number;
  readonly bytesPerHour?: number;
  readonly bytesPerDay?: number;
}

/** Permission to send requests with one token. */
export interface Allowance {
  /** Takes permission for one request. @returns 0 if it is granted, otherwise the milliseconds after which to try again */
  take(now: number): Promise<number>;
  /** Records a response. @param blocked milliseconds since 1970 before which the source accepts no request */
  recordResponse(bytes: number, blocked: number, now: number): Promise<void>;
}

/** Grants every request: no limits are known except those that responses state. */
export const UNLIMITED: Allowance = { take: async () => 0, recordResponse: async () => undefined };

/** The name under which the usage of a token, or of the client that tokens are issued to, is kept. Neither is stored itself. */
export const budgetName = (identity: string): string =>
  `token:${hash('sha256', identity, 'base64url').slice(0, 16)}`;

const USAGE = 'use';

export type UsageStore = Pick<Checkpoints, 'state' | 'exchange'>;

/** Keeps the usage of a token until there is a store. */
export class InMemoryUsage implements UsageStore {
  readonly #entries = new Map<string, Record<string, unknown>>();

  async state(source: string): Promise<Readonly<Record<string, unknown>>> {
    return this.#entries.get(source) ?? {};
  }

  async exchange(source: string, name: string, change: (current: unknown) => unknown): Promise<void> {
    const before = this.#entries.get(source) ?? {};
    this.#entries.set(source, { ...before, [name]: change(before[name]) });
  }

  async moveTo(other: UsageStore): Promise<void> {
    for (const [source, entry] of this.#entries)
      for (const [name, use] of Object.entries(entry)) await other.exchange(source, name, () => use);
  }
}

/** The allowance of a token, or of the client that tokens are issued to, which all processes with one store share. */
export function sharedAllowance(checkpoints: UsageStore, identity: string, limits: BudgetLimits): Allowance {
  const name = budgetName(identity);
  const isCounted = Object.values(limits).some((limit) => limit !== undefined);
  return {
    async take(now) {
      // Without configured limits, only the waits that the source requests matter, and these are rarely written.
      if (!isCounted)
        return waitUntilAllowed(limits, parseUsage((await checkpoints.state(name))[USAGE]), now);
      let wait = 0;
      await checkpoints.exchange(name, USAGE, (kept) => {
        const use = parseUsage(kept);
        wait = waitUntilAllowed(limits, use, now);
        return wait > 0 ? clampToClock(use, now) : usageAfterRequest(use, now);
      });
      return wait;
    },
    async recordResponse(bytes, blocked, now) {
      if (!isCounted && blocked <= now) return;
      await checkpoints.exchange(name, USAGE, (kept) =>
        usageAfterResponse(parseUsage(kept), bytes, blocked, now),
      );
    },
  };
}

/** The usage of a token. Times are milliseconds since 1970. */
export interface TokenUsage {
  readonly lastSent: number;
  readonly hour: RateWindow;
  readonly day: RateWindow;
  /** The source accepts no request before this moment. */
  readonly blockedUntil: number;
}

/**
 * The usage in a sliding window, which is divided into sixty slots: the number of the first slot, counted from 1970, and the
 * requests and bytes of each slot from there on.
 */
interface RateWindow {
  readonly first: number;
  readonly used: readonly Slot[];
}

type Slot = readonly [requests: number, bytes: number];

const HOUR = 3_600_000;
const DAY = 86_400_000;
const SLOTS = 60;
const EMPTY_SLOT: Slot = [0, 0];
const EMPTY_WINDOW: RateWindow = { first: 0, used: [] };

export const NO_USAGE: TokenUsage = {
  lastSent: 0,
  hour: EMPTY_WINDOW,
  day: EMPTY_WINDOW,
  blockedUntil: 0,
};

const addToWindows = ({ hour, day }: TokenUsage, now: number, requests: number, bytes: number) => ({
  hour: addToWindow(hour, HOUR, now, requests, bytes),
  day: addToWindow(day, DAY, now, requests, bytes),
});

/** The usage after a request that is sent now. */
export function usageAfterRequest(use: TokenUsage, now: number): TokenUsage {
  return { lastSent: now, ...addToWindows(use, now, 1, 0), blockedUntil: use.blockedUntil };
}

/**
 * The usage without times in the future. Usage that a clock ahead of this one recorded counts as used now, and must be stored like
 * that: otherwise, each later check would move it to its own time, and the wait would end only when this clock had caught up.
 */
export function clampToClock(use: TokenUsage, now: number): TokenUsage {
  const lastSent = Math.min(use.lastSent, now);
  return { lastSent, ...addToWindows(use, now, 0, 0), blockedUntil: validBlockEnd(use, now) };
}

/** The usage after a response. */
export function usageAfterResponse(use: TokenUsage, bytes: number, blocked: number, now: number): TokenUsage {
  const blockedUntil = Math.max(validBlockEnd(use, now), blocked);
  return { lastSent: use.lastSent, ...addToWindows(use, now, 0, bytes), blockedUntil };
}

/** How far the clocks of processes that share a token may differ, in milliseconds. */
const MAX_CLOCK_SKEW = 600_000;

/** No wait is longer than `LONGEST_BLOCK`, so one that ends later was recorded with a wrong clock. */
const validBlockEnd = ({ blockedUntil }: TokenUsage, now: number): number =>
  blockedUntil - now > LONGEST_BLOCK + MAX_CLOCK_SKEW ? 0 : blockedUntil;

/** Milliseconds until a request may be sent. */
export function waitUntilAllowed(limits: BudgetLimits, use: TokenUsage, now: number): number {
  const interval = 1000 / (limits.requestsPerSecond ?? Number.POSITIVE_INFINITY);
  return Math.max(
    0,
    validBlockEnd(use, now) - now,
    interval === 0 ? 0 : Math.min(interval, use.lastSent + interval - now),
    waitUntilBelow(use.hour, HOUR, now, [limits.requestsPerHour, limits.bytesPerHour]),
    waitUntilBelow(use.day, DAY, now, [limits.requestsPerDay, limits.bytesPerDay]),
  );
}

/**
 * The window at this time, from the first slot that still counts and is not empty to the current slot. A slot counts until its end
 * has left the window, so that the usage in any window of this length is never underestimated.
 */
function windowAt({ first, used }: RateWindow, length: number, now: number): RateWindow {
  const current = Math.floor(now / (length / SLOTS));
  // After the clock was set back, usage with a later time counts as usage at this time.
  const begin = Math.min(first, current + 1 - used.length);
  const from = Math.max(begin, current - SLOTS);
  const slots = Array.from({ length: current + 1 - from }, (_, at) => used[from - begin + at] ?? EMPTY_SLOT);
  const filled = slots.findIndex(([requests, bytes]) => requests > 0 || bytes > 0);
  const skipped = filled < 0 ? slots.length - 1 : filled;
  return { first: from + skipped, used: slots.slice(skipped) };
}

function addToWindow(
  window: RateWindow,
  length: number,
  now: number,
  requests: number,
  bytes: number,
): RateWindow {
  const { first, used } = windowAt(window, length, now);
  const [before, read] = used.at(-1) ?? EMPTY_SLOT;
  return { first, used: [...used.slice(0, -1), [before + requests, read + bytes]] };
}

/** Milliseconds until the usage in the window is below its limits of requests and bytes. */
function waitUntilBelow(
  window: RateWindow,
  length: number,
  now: number,
  limits: readonly [requests: number | undefined, bytes: number | undefined],
): number {
  const { first, used } = windowAt(window, length, now);
  const until = (column: 0 | 1): number => {
    const limit = limits[column];
    let left = used.reduce((sum, slot) => sum + slot[column], 0);
    if (limit === undefined || left < limit) return 0;
    const last = used.findIndex((slot) => {
      left -= slot[column];
      return left < limit;
    });
    const slot = first + (last < 0 ? used.length - 1 : last);
    return (slot + 1) * (length / SLOTS) + length - now;
  };
  return Math.max(until(0), until(1));
}

/** A number from the store; 0 for anything else, since a wait of NaN milliseconds would never end. */
const countIn = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;

/** Parses the usage from the store, as far as it can be read. */
export function parseUsage(value: unknown): TokenUsage {
  if (!isObject(value)) return NO_USAGE;
  return {
    lastSent: countIn(value.lastSent),
    hour: parseWindow(value.hour),
    day: parseWindow(value.day),
    blockedUntil: countIn(value.blockedUntil),
  };
}

function parseWindow(value: unknown): RateWindow {
  if (!isObject(value) || !Number.isSafeInteger(value.first) || !Array.isArray(value.used))
    return EMPTY_WINDOW;
  const used = value.used.map((slot: unknown): Slot => {
    const [requests, bytes]: unknown[] = Array.isArray(slot) ? slot : [];
    return [countIn(requests), countIn(bytes)];
  });
  return { first: Number(value.first), used };
}
