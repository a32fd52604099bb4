/**
 * What a source lets one token do, learned from its answers and from the configuration. What was used is kept in the
 * store, so that no restart forgets it and two processes with one token share it.
 */
import { isObject } from '../json.ts';
import { countIn, NOTHING_IN_WINDOW, type RateWindow, readWindow, untilLess, used } from './rate-window.ts';
import { LONGEST_BLOCK } from './told-limits.ts';

/**
 * Requests and bytes of content in any second, any hour and any day, wherever it begins. Absent: no limit is known. A
 * request is sent while the bytes are below their limit; what its answer has above it was not to be known.
 */
export interface BudgetLimits {
  readonly requestsPerSecond?: number;
  readonly requestsPerHour?: number;
  readonly requestsPerDay?: number;
  readonly bytesPerHour?: number;
  readonly bytesPerDay?: number;
}

/** What was used. Moments are milliseconds since 1970. */
export interface BudgetUse {
  readonly lastSent: number;
  readonly hour: RateWindow;
  readonly day: RateWindow;
  /** The source said to send nothing before this moment. */
  readonly blockedUntil: number;
}

const HOUR = 3_600_000;
const DAY = 86_400_000;

export const NOTHING_USED: BudgetUse = {
  lastSent: 0,
  hour: NOTHING_IN_WINDOW,
  day: NOTHING_IN_WINDOW,
  blockedUntil: 0,
};

/** The use after a request that is sent now. */
export function spend(use: BudgetUse, now: number): BudgetUse {
  return {
    lastSent: now,
    hour: used(use.hour, HOUR, now, 1, 0),
    day: used(use.day, DAY, now, 1, 0),
    blockedUntil: use.blockedUntil,
  };
}

/**
 * The use as this clock may have seen it. What a clock that was ahead noted counts as used now, and is kept so: else each
 * later look would count it from its own moment, and the wait would end only when the clock has caught up.
 */
export function seenFrom(use: BudgetUse, now: number): BudgetUse {
  return {
    lastSent: Math.min(use.lastSent, now),
    hour: used(use.hour, HOUR, now, 0, 0),
    day: used(use.day, DAY, now, 0, 0),
    blockedUntil: stillBlocked(use, now),
  };
}

/** The use after an answer. */
export function receive(use: BudgetUse, bytes: number, blocked: number, now: number): BudgetUse {
  return {
    lastSent: use.lastSent,
    hour: used(use.hour, HOUR, now, 0, bytes),
    day: used(use.day, DAY, now, 0, bytes),
    blockedUntil: Math.max(stillBlocked(use, now), blocked),
  };
}

/** How far the clocks of processes that share a token may be apart, in milliseconds. */
const CLOCKS_DIFFER = 600_000;

/** No block is learned that is longer than `LONGEST_BLOCK`: one that ends later was learned by a clock that was wrong. */
const stillBlocked = ({ blockedUntil }: BudgetUse, now: number): number =>
  blockedUntil - now > LONGEST_BLOCK + CLOCKS_DIFFER ? 0 : blockedUntil;

/** Milliseconds until a request may be sent. */
export function waitFor(limits: BudgetLimits, use: BudgetUse, now: number): number {
  const second = 1000 / (limits.requestsPerSecond ?? Number.POSITIVE_INFINITY);
  return Math.max(
    0,
    stillBlocked(use, now) - now,
    second === 0 ? 0 : Math.min(second, use.lastSent + second - now),
    untilLess(use.hour, HOUR, now, { requests: limits.requestsPerHour, bytes: limits.bytesPerHour }),
    untilLess(use.day, DAY, now, { requests: limits.requestsPerDay, bytes: limits.bytesPerDay }),
  );
}

/** What was kept of the use, if it was. */
export function readUse(value: unknown): BudgetUse {
  if (!isObject(value)) return NOTHING_USED;
  return {
    lastSent: countIn(value.lastSent),
    hour: readWindow(value.hour),
    day: readWindow(value.day),
    blockedUntil: countIn(value.blockedUntil),
  };
}
