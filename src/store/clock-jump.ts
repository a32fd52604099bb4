/**
 * Notices that a clock was set ahead: how much time has passed on it is compared with how much has passed since the
 * machine was started, which nobody sets. A store keeps one such pair of its last writer, so that a process that begins
 * under a wrong clock notices, too. A store that nobody wrote to for a year, or that was moved to another machine, shows
 * no jump: the machine was running for that year, or was started anew.
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

/** A look at the clock, as a store keeps it. */
export interface ClockReading {
  readonly boot: string;
  /** Milliseconds since 1970. */
  readonly clock: number;
  readonly uptime: number;
}

/** What a store keeps of the last look; undefined where there is none that can be read. */
export function parseReading(text: string | undefined): ClockReading | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return undefined;
    if (!('boot' in value) || !('clock' in value) || !('uptime' in value)) return undefined;
    const { boot, clock, uptime: up } = value;
    return typeof boot === 'string' && typeof clock === 'number' && typeof up === 'number'
      ? { boot, clock, uptime: up }
      : undefined;
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

interface Look {
  readonly clock: number;
  readonly uptime: number;
  readonly elapsed: number;
}

/** Whether a clock has moved as the process has: then nobody has set it, and the machine has not slept. */
const isInStep = (clock: number, elapsed: number): boolean => Math.abs(clock - elapsed) < 1000;

/** Watches one clock. */
export class JumpGuard {
  readonly #machine: Machine;
  readonly #stored: () => ClockReading | undefined;
  /** The last look at which the clock was right. */
  #last: Look | undefined;
  #kept = Number.NEGATIVE_INFINITY;

  /** @param stored what the store keeps */
  constructor(machine: Machine, stored: () => ClockReading | undefined) {
    this.#machine = machine;
    this.#stored = stored;
  }

  /**
   * Milliseconds by which the clock was set ahead; 0 if it was not, or if that is known to be right.
   * @param clock what it says now
   */
  jump(clock: number): number {
    const elapsed = this.#machine.elapsed();
    const known = this.#last;
    if (known !== undefined && isInStep(clock - known.clock, elapsed - known.elapsed)) return 0;
    const uptime = this.#machine.uptime();
    const last = known ?? this.#storedHere(uptime) ?? { clock, uptime };
    const ahead = clock - (last.clock + uptime - last.uptime);
    if (ahead <= TOLERATED || this.#isKnown(clock, uptime)) {
      this.#last = { clock, uptime, elapsed };
      return 0;
    }
    this.#last = { ...last, elapsed: Number.NaN };
    return ahead;
  }

  /** Says that the clock is right, however far it was set. */
  allow(clock: number): void {
    this.#last = { clock, uptime: this.#machine.uptime(), elapsed: this.#machine.elapsed() };
    this.#kept = Number.NEGATIVE_INFINITY;
  }

  /** What the store is to keep now; undefined when it has been kept lately, or says nothing on this system. */
  toKeep(clock: number): string | undefined {
    const { boot, uptime } = this.#machine;
    const now = uptime();
    if (boot === undefined || now < this.#kept + KEPT_EVERY || this.jump(clock) > 0) return undefined;
    this.#kept = now;
    return JSON.stringify({ boot, clock, uptime: now } satisfies ClockReading);
  }

  /** Another process was told that the clock is right. */
  #isKnown(clock: number, uptime: number): boolean {
    const stored = this.#storedHere(uptime);
    return stored !== undefined && clock - (stored.clock + uptime - stored.uptime) <= TOLERATED;
  }

  #storedHere(uptime: number): ClockReading | undefined {
    const stored = this.#stored();
    return stored?.boot === this.#machine.boot && stored !== undefined && stored.uptime <= uptime
      ? stored
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
