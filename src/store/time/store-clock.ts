/**
 * The clock that sets a store's timestamps, as far as it can be trusted. It detects that the clock was set, by comparing the time
 * that passed on it with the time since the machine booted, which nobody can set. A store keeps one such pair from its writers, so
 * that a process that starts under a wrong clock also detects the jump. A store that was not written to for a year, or was moved to
 * another machine, shows no jump: the machine was running for that year, or has booted since. A clock that is behind is not a
 * reference for a later one.
 */

import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { type Clock, steadyClock } from '../../shared/clock.ts';
import { isObject, tryParseJson } from '../../shared/json.ts';

/** The clocks of a machine that cannot be set. */
export interface Machine {
  /** Identifies this boot of this machine; absent where the system does not expose it. */
  readonly boot: string | undefined;
  /** Milliseconds since the boot, including time asleep. */
  readonly uptime: () => number;
  /** Milliseconds that this process has been running, excluding time asleep; cheap. */
  readonly elapsed: () => number;
}

const BOOT_ID = '/proc/sys/kernel/random/boot_id';

export function thisMachine(): Machine {
  return { boot: bootId(), uptime: () => uptime() * 1000, elapsed: () => performance.now() };
}

function bootId(): string | undefined {
  try {
    return readFileSync(BOOT_ID, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** A reading of the clock that a store keeps: the latest since the machine booted. */
export interface ClockReading {
  readonly boot: string;
  /** Milliseconds since 1970. */
  readonly clock: number;
  readonly uptime: number;
  /** The time of the boot according to the clock that was trusted before another time was confirmed. */
  readonly before?: number;
}

/** The time information of a store. */
export interface StoredTime {
  readonly reading: ClockReading | undefined;
  /** The latest moment that was assigned to a record or promised to a reader; milliseconds since 1970. */
  readonly newest: number;
}

/** Parses a stored reading; undefined for one that cannot be read. */
export function parseReading(text: string | undefined): ClockReading | undefined {
  const value = text === undefined ? undefined : tryParseJson(text);
  if (!isObject(value)) return undefined;
  const { boot, clock, uptime: up, before } = value;
  if (typeof boot !== 'string' || typeof clock !== 'number' || typeof up !== 'number') return undefined;
  return { boot, clock, uptime: up, ...(typeof before === 'number' ? { before } : {}) };
}

/** Milliseconds that a clock may gain at once: a virtual machine on a sleeping host gains the time that it missed. */
export const TOLERATED_JUMP = 12 * 3_600_000;

/** Milliseconds between two stored readings. */
const READING_INTERVAL = 60_000;

/** Milliseconds by which a correct clock may be behind the newest timestamp. */
const TOLERATED_LAG = 60_000;

/** No correct clock shows a time before plat was written. */
const BEFORE_PLAT = Date.parse('2026-01-01T00:00:00Z');

/** Whether a clock is known to be behind, so that it cannot serve as a reference for a clock that is set ahead. */
const isBehind = (clock: number, newest: number): boolean =>
  clock < newest - TOLERATED_LAG || clock < BEFORE_PLAT;

/** The time of the boot according to the clock of a reading. */
const bootTimeOf = ({ clock, uptime }: Pick<ClockReading, 'clock' | 'uptime'>): number => clock - uptime;

interface ClockCheck {
  readonly clock: number;
  readonly elapsed: number;
}

/** Whether a clock has advanced as much as the process has: if so, nobody has set it, and the machine has not slept. */
const isInStep = (clock: number, elapsed: number): boolean => Math.abs(clock - elapsed) < 1000;

/** Watches one clock. */
export class JumpGuard {
  readonly #machine: Machine;
  readonly #stored: () => StoredTime;
  /** The last check of the clock that found no jump. */
  #lastCheck: ClockCheck | undefined;
  /** The time of the boot according to a clock that had not jumped: the latest such time. */
  #bootTime: number | undefined;
  /** When a reading was last stored, by the uptime of the machine. */
  #storedAt = Number.NEGATIVE_INFINITY;
  /** A confirmation of the clock that has not been stored yet. */
  #confirmation: 'right' | 'restamped' | undefined;
  /** Whether the clock was confirmed for this process. */
  #isConfirmed = false;
  #epoch: string | undefined;

  /** @param stored returns the current time information of the store */
  constructor(machine: Machine, stored: () => StoredTime) {
    this.#machine = machine;
    this.#stored = stored;
  }

  /**
   * Milliseconds by which the clock was set ahead, beyond any time that the store contains; 0 if it was not set, or if the clock is
   * known to be right.
   * @param clock the current time
   */
  jump(clock: number): number {
    const elapsed = this.#machine.elapsed();
    const last = this.#lastCheck;
    if (last !== undefined && isInStep(clock - last.clock, elapsed - last.elapsed)) return 0;
    const uptime = this.#machine.uptime();
    const stored = this.#stored();
    const bootTime = this.#knownBootTime(stored, uptime);
    const ahead = bootTime === undefined ? 0 : clock - Math.max(bootTime + uptime, stored.newest);
    if (ahead > TOLERATED_JUMP) {
      this.#lastCheck = undefined;
      return ahead;
    }
    this.#lastCheck = { clock, elapsed };
    if (!isBehind(clock, stored.newest))
      this.#bootTime = Math.max(this.#bootTime ?? -Infinity, clock - uptime);
    return 0;
  }

  /** Milliseconds by which the clock is behind the time that it must have reached since the machine booted; 0 if it is not. */
  setBack(clock: number): number {
    const uptime = this.#machine.uptime();
    const stored = this.#stored();
    const bootTime = this.#knownBootTime(stored, uptime);
    if (this.#isConfirmed || bootTime === undefined) return 0;
    const behind = bootTime + uptime - clock;
    if (behind <= TOLERATED_JUMP) return 0;
    const { before } = this.#readingOfThisBoot(stored, uptime) ?? {};
    // The clock has returned to the time from before a confirmed jump.
    const isAsBefore = before !== undefined && Math.abs(before + uptime - clock) <= TOLERATED_JUMP;
    return isAsBefore ? 0 : behind;
  }

  /**
   * Confirms the clock, however far it was set.
   * @param why `restamped`: readings of another clock in the store no longer count
   */
  trust(clock: number, why: 'right' | 'restamped' = 'right'): void {
    const { elapsed, uptime } = this.#machine;
    this.#lastCheck = { clock, elapsed: elapsed() };
    this.#bootTime = clock - uptime();
    this.#storedAt = Number.NEGATIVE_INFINITY;
    this.#confirmation = why;
    this.#isConfirmed = true;
  }

  /** Reports the time of an independent clock: if both agree, this one is right. */
  confirm(clock: number, other: number): void {
    if (this.jump(clock) > 0 && Math.abs(other - clock) <= TOLERATED_JUMP) this.trust(clock);
  }

  /** Sets the epoch of the store. In a new epoch, earlier observations of the clock no longer count. */
  inEpoch(epoch: string): void {
    if (this.#epoch !== undefined && this.#epoch !== epoch && !this.#isConfirmed) {
      this.#lastCheck = undefined;
      this.#bootTime = undefined;
    }
    this.#epoch = epoch;
  }

  /** The reading to store now; undefined if one was stored recently, or if it would be meaningless. */
  readingToStore(clock: number): string | undefined {
    const { boot } = this.#machine;
    const uptime = this.#machine.uptime();
    if (boot === undefined || uptime < this.#storedAt + READING_INTERVAL || this.jump(clock) > 0)
      return undefined;
    const stored = this.#stored();
    const confirmation = this.#confirmation;
    if (confirmation === undefined && isBehind(clock, stored.newest)) return undefined;
    this.#storedAt = uptime;
    this.#confirmation = undefined;
    const reading = this.#readingOfThisBoot(stored, uptime);
    const known = reading === undefined ? undefined : bootTimeOf(reading);
    const bootTime =
      confirmation === undefined ? Math.max(clock - uptime, known ?? -Infinity) : clock - uptime;
    const isAnother =
      confirmation === 'right' && known !== undefined && Math.abs(bootTime - known) > TOLERATED_JUMP;
    const before =
      confirmation === 'restamped' ? undefined : isAnother ? (reading?.before ?? known) : reading?.before;
    const current: ClockReading = {
      ...{ boot, clock: bootTime + uptime, uptime },
      ...(before === undefined ? {} : { before }),
    };
    return JSON.stringify(current);
  }

  /** The time of the boot: the latest one according to any clock that was right as far as is known. */
  #knownBootTime(stored: StoredTime, uptime: number): number | undefined {
    const reading = this.#readingOfThisBoot(stored, uptime);
    const bootTimes = [this.#bootTime, reading && bootTimeOf(reading)].filter((each) => each !== undefined);
    return bootTimes.length === 0 ? undefined : Math.max(...bootTimes);
  }

  /** The stored reading, if it is from this boot of this machine. */
  #readingOfThisBoot({ reading }: StoredTime, uptime: number): ClockReading | undefined {
    return reading !== undefined && reading.boot === this.#machine.boot && reading.uptime <= uptime
      ? reading
      : undefined;
  }
}

/** How far the clock of a store may be trusted. */
export interface ClockTrust {
  /** Absent: nothing is known about the machine, and any clock is accepted. */
  readonly machine?: Machine | undefined;
  /** Trusts the clock, regardless of how far it was set. */
  readonly allowClockJump?: boolean | undefined;
}

/** The time information before a store exists. */
export const NOTHING_STORED: StoredTime = { reading: undefined, newest: 0 };

export interface StoreClock extends Clock {
  /** Like `now`, but may go back. */
  readonly raw: () => number;
  /** Milliseconds by which it was set ahead; `now` and `raw` exclude them. */
  readonly jump: () => number;
  /** Milliseconds by which it was set back. */
  readonly setBack: () => number;
  /** Trusts the clock, since timestamps ahead of it were moved back. */
  readonly trustAfterRestamp: () => void;
  /** Reports the time of another clock. */
  readonly confirm: (other: number) => void;
  /** The time for timestamps of a store in its current epoch, never before its last timestamp or promise. */
  readonly timeForTimestamps: (times: { readonly newest: number; readonly epoch: string }) => number;
  /** See `JumpGuard.inEpoch`. */
  readonly inEpoch: (epoch: string) => void;
  /** The reading that the store should save. */
  readonly readingToStore: () => string | undefined;
}

/**
 * @param stored returns the time information of the store
 * @param isKnown whether any time information exists yet
 */
export function storeClock(
  { now, sleep }: Clock,
  { machine, allowClockJump = false }: ClockTrust,
  stored: () => StoredTime,
  isKnown: () => boolean = () => true,
): StoreClock {
  const guard = machine && new JumpGuard(machine, stored);
  let isAllowed = allowClockJump;
  const guarded = <T>(ask: (guard: JumpGuard, time: number) => T): T | undefined => {
    if (guard === undefined || !isKnown()) return undefined;
    if (isAllowed) guard.trust(now());
    isAllowed = false;
    return ask(guard, now());
  };
  const jump = (): number => guarded((known, time) => known.jump(time)) ?? 0;
  const raw = (): number => now() - jump();
  const steady = steadyClock({ now: raw, sleep });
  const inEpoch = (epoch: string): void => {
    steady.inEpoch(epoch);
    guard?.inEpoch(epoch);
  };
  return {
    ...{ now: steady.now, sleep, raw, jump, inEpoch },
    timeForTimestamps({ newest, epoch }) {
      inEpoch(epoch);
      return Math.max(steady.now(), newest);
    },
    setBack: () => guarded((known, time) => known.setBack(time)) ?? 0,
    trustAfterRestamp: () => guarded((known, time) => known.trust(time, 'restamped')),
    confirm: (other) => guarded((known, time) => known.confirm(time, other)),
    readingToStore: () => guarded((known, time) => known.readingToStore(time)),
  };
}
