/**
 * Notices that a clock was set: how much time has passed on it is compared with how much has passed since the machine was
 * started, which nobody sets. A store keeps one such pair of its writers, so that a process that begins under a wrong
 * clock notices, too. A store that nobody wrote to for a year, or that was moved to another machine, shows no jump: the
 * machine was running for that year, or was started anew. A clock that is behind is no measure for a later one.
 */
import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';

/** What a machine tells of the time, beside its clock. */
export interface Machine {
  /** Which start of which machine this is; absent where the system does not tell. */
  readonly boot: string | undefined;
  /** Milliseconds since then, those included in which it slept. */
  readonly uptime: () => number;
  /** Milliseconds that this process has been running, without those in which the machine slept; asked at little cost. */
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

/** What the clock said, by the highest that it went since the machine was started, as a store keeps it. */
export interface ClockReading {
  readonly boot: string;
  /** Milliseconds since 1970. */
  readonly clock: number;
  readonly uptime: number;
  /** When the machine was started, by the clock that was believed before another one was said to be right. */
  readonly before?: number;
}

/** What a store holds of time. */
export interface HeldTime {
  readonly reading: ClockReading | undefined;
  /** The youngest moment that was given to a record, or promised to a reader; milliseconds since 1970. */
  readonly newest: number;
}

/** What a store keeps of its clock; undefined where there is nothing that can be read. */
export function parseReading(text: string | undefined): ClockReading | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return undefined;
    if (!('boot' in value) || !('clock' in value) || !('uptime' in value)) return undefined;
    const { boot, clock, uptime: up } = value;
    if (typeof boot !== 'string' || typeof clock !== 'number' || typeof up !== 'number') return undefined;
    const before = 'before' in value && typeof value.before === 'number' ? { before: value.before } : {};
    return { boot, clock, uptime: up, ...before };
  } catch {
    return undefined;
  }
}

/**
 * Milliseconds that a clock may gain at once. Machines that are paused as a whole, such as a virtual one whose host
 * sleeps through the night, gain the time that they missed.
 */
export const TOLERATED = 12 * 3_600_000;

/** Milliseconds between two readings that are kept. */
const KEPT_EVERY = 60_000;

/** Milliseconds by which a clock that is right may lie before the youngest timestamp. */
const BEHIND = 60_000;

/** No clock that is right says a moment before plat was written. */
const BEFORE_PLAT = Date.parse('2026-01-01T00:00:00Z');

/** Whether a clock is known to be behind: what it says is no measure for one that is set ahead. */
const isBehind = (clock: number, newest: number): boolean => clock < newest - BEHIND || clock < BEFORE_PLAT;

/** When the machine was started, by the clock of a reading. */
const startOf = ({ clock, uptime }: Pick<ClockReading, 'clock' | 'uptime'>): number => clock - uptime;

interface Look {
  readonly clock: number;
  readonly elapsed: number;
}

/** Whether a clock has moved as the process has: then nobody has set it, and the machine has not slept. */
const isInStep = (clock: number, elapsed: number): boolean => Math.abs(clock - elapsed) < 1000;

/** Watches one clock. */
export class JumpGuard {
  readonly #machine: Machine;
  readonly #held: () => HeldTime;
  /** The last look at the clock, unless it was found to be set ahead. */
  #look: Look | undefined;
  /** When the machine was started, by the latest that the clock said so without having jumped. */
  #start: number | undefined;
  #kept = Number.NEGATIVE_INFINITY;
  /** What was said of the clock that the store does not hold yet. */
  #said: 'right' | 'restamped' | undefined;
  /** Whether this process was told that its clock is right. */
  #isTold = false;
  #epoch: string | undefined;

  /** @param held what the store holds now */
  constructor(machine: Machine, held: () => HeldTime) {
    this.#machine = machine;
    this.#held = held;
  }

  /**
   * Milliseconds by which the clock was set ahead, beyond what the store holds anyway; 0 if it was not, or if that is
   * known to be right.
   * @param clock what it says now
   */
  jump(clock: number): number {
    const elapsed = this.#machine.elapsed();
    const look = this.#look;
    if (look !== undefined && isInStep(clock - look.clock, elapsed - look.elapsed)) return 0;
    const uptime = this.#machine.uptime();
    const held = this.#held();
    const start = this.#knownStart(held, uptime);
    const ahead = start === undefined ? 0 : clock - Math.max(start + uptime, held.newest);
    if (ahead > TOLERATED) {
      this.#look = undefined;
      return ahead;
    }
    this.#look = { clock, elapsed };
    if (!isBehind(clock, held.newest)) this.#start = Math.max(this.#start ?? -Infinity, clock - uptime);
    return 0;
  }

  /** Milliseconds by which the clock lies before what it said since the machine was started; 0 if it does not. */
  setBack(clock: number): number {
    const uptime = this.#machine.uptime();
    const held = this.#held();
    const start = this.#knownStart(held, uptime);
    if (this.#isTold || start === undefined) return 0;
    const behind = start + uptime - clock;
    if (behind <= TOLERATED) return 0;
    const { before } = this.#ofThisStart(held, uptime) ?? {};
    // It is what it was before one that was ahead was said to be right.
    const isAsBefore = before !== undefined && Math.abs(before + uptime - clock) <= TOLERATED;
    return isAsBefore ? 0 : behind;
  }

  /**
   * Notes that the clock is right, however far it was set.
   * @param why `restamped`: what the store holds of another clock counts no more
   */
  allow(clock: number, why: 'right' | 'restamped' = 'right'): void {
    const { elapsed, uptime } = this.#machine;
    this.#look = { clock, elapsed: elapsed() };
    this.#start = clock - uptime();
    this.#kept = Number.NEGATIVE_INFINITY;
    this.#said = why;
    this.#isTold = true;
  }

  /** Notes what a clock says that knows nothing of this one: where both agree, this one is right. */
  confirm(clock: number, other: number): void {
    if (this.jump(clock) > 0 && Math.abs(other - clock) <= TOLERATED) this.allow(clock);
  }

  /** Notes the epoch of the store: in another one, what was seen of the clock in the one before counts no more. */
  inEpoch(epoch: string): void {
    if (this.#epoch !== undefined && this.#epoch !== epoch && !this.#isTold) {
      this.#look = undefined;
      this.#start = undefined;
    }
    this.#epoch = epoch;
  }

  /** What the store is to keep now; undefined when it has been kept lately, or says nothing. */
  toKeep(clock: number): string | undefined {
    const { boot } = this.#machine;
    const uptime = this.#machine.uptime();
    if (boot === undefined || uptime < this.#kept + KEPT_EVERY || this.jump(clock) > 0) return undefined;
    const held = this.#held();
    const said = this.#said;
    if (said === undefined && isBehind(clock, held.newest)) return undefined;
    this.#kept = uptime;
    this.#said = undefined;
    const reading = this.#ofThisStart(held, uptime);
    const known = reading === undefined ? undefined : startOf(reading);
    const start = said === undefined ? Math.max(clock - uptime, known ?? -Infinity) : clock - uptime;
    const isAnother = said === 'right' && known !== undefined && Math.abs(start - known) > TOLERATED;
    const before =
      said === 'restamped' ? undefined : isAnother ? (reading?.before ?? known) : reading?.before;
    const kept: ClockReading = {
      ...{ boot, clock: start + uptime, uptime },
      ...(before === undefined ? {} : { before }),
    };
    return JSON.stringify(kept);
  }

  /** When the machine was started, by the latest that any clock said so that was right as far as is known. */
  #knownStart(held: HeldTime, uptime: number): number | undefined {
    const reading = this.#ofThisStart(held, uptime);
    const starts = [this.#start, reading && startOf(reading)].filter((start) => start !== undefined);
    return starts.length === 0 ? undefined : Math.max(...starts);
  }

  /** A reading of this start of this machine. */
  #ofThisStart({ reading }: HeldTime, uptime: number): ClockReading | undefined {
    return reading !== undefined && reading.boot === this.#machine.boot && reading.uptime <= uptime
      ? reading
      : undefined;
  }
}

/** How far the clock of a store may be trusted. */
export interface ClockTrust {
  /** Absent: nothing is known of the machine, and any clock is right. */
  readonly machine?: Machine | undefined;
  /** The clock is right, however far it was set. */
  readonly allowClockJump?: boolean | undefined;
}

const SPANS = [
  ['days', 86_400_000],
  ['hours', 3_600_000],
  ['minutes', 60_000],
  ['seconds', 1000],
] as const;

/** A span of time in the largest unit of which there is one and a half. */
export function spanText(milliseconds: number): string {
  const [unit, size] = SPANS.find(([, length]) => milliseconds >= 1.5 * length) ?? ['seconds', 1000];
  return `${(milliseconds / size).toFixed(1)} ${unit}`;
}
