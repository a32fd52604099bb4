/** Remembers which methods of following changes failed, and chooses the best of the others. This module sends no requests. */
import type { RequestFailure } from '../http/failure.ts';
import { delayAfter, LONGEST_DELAY } from '../http/retry.ts';
import { CHANGE_METHODS, type ChangeFeed, type ChangeMethod } from '../source/source.ts';

/** The wait after a method failed. It begins short, because a source that is being restarted is back soon. Milliseconds. */
const FAILURE_DELAY = { base: 1000, longest: 300_000 } as const;
/** The wait after which a method that the source does not offer is tried again. */
const UNOFFERED_DELAY = { base: 3_600_000, longest: 3_600_000 } as const;
/** The wait after the sequence was interrupted several times within a period. */
const BREAK_DELAY = { base: 60_000, longest: 3_600_000 } as const;
const FORGIVEN = 6 * 3_600_000;
/** The number of failures in a row that are not reported, because they may be due to one lost connection. */
const UNREPORTED = 1;
/** The number of failures in a row, within about half a minute, after which a method is no longer expected back soon. */
const LASTING = 6;

/** Why a chain of changes has ended. */
export const BROKEN = 'the source no longer has the changes since the last position';

interface MethodFailure {
  readonly failures: number;
  readonly until: number;
  readonly reason: string;
  /** Whether the method is not expected back soon. */
  readonly isLasting: boolean;
}

/** Until when no method is tried, and why. */
interface Suspension {
  /** Milliseconds since 1970. */
  readonly until: number;
  /** Undefined while a single lost connection may be the only cause. */
  readonly reason: string | undefined;
}

/** Chooses the best method that a source offers and that has not failed recently. */
export class FailedMethods {
  readonly #failed = new Map<ChangeMethod, MethodFailure>();
  readonly #random: () => number;
  /** The recent times at which the sequence was interrupted, in milliseconds since 1970. */
  #broken: number[] = [];

  constructor(random: () => number) {
    this.#random = random;
  }

  /**
   * The best method that has not failed recently. A method that cannot continue from the current position requires windows and a
   * sweep, so it does not replace a better method that is expected back soon. @param offered the offered methods, the best first
   */
  best(
    offered: readonly ChangeFeed[],
    chain: { readonly way: ChangeMethod; readonly position: string } | undefined,
    now: number,
  ): ChangeFeed | undefined {
    let isExpected = false;
    for (const feed of offered) {
      const failed = this.#failed.get(feed.way);
      const goesOn =
        chain === undefined || chain.way === feed.way || feed.translatePosition(chain) !== undefined;
      if ((failed?.until ?? now) <= now && (goesOn || !isExpected)) return feed;
      isExpected ||= failed !== undefined && !failed.isLasting;
    }
    return undefined;
  }

  /** How long no method is tried, and why, if `best` returns none. */
  suspension(offered: readonly ChangeFeed[], now: number): Suspension {
    const failed = offered.flatMap(({ way }) => this.#failed.get(way) ?? []);
    const until = Math.min(now + UNOFFERED_DELAY.longest, ...failed.map((each) => each.until));
    const isReported = failed.some(({ failures }) => failures > UNREPORTED);
    return { until, reason: isReported ? failed.map(({ reason }) => reason).join('; ') : undefined };
  }

  /** Why no better method is in use; undefined for the best one. */
  reasonsAgainstBetter(way: ChangeMethod): string | undefined {
    const better = CHANGE_METHODS.slice(0, CHANGE_METHODS.indexOf(way)).flatMap(
      (each) => this.#failed.get(each)?.reason ?? [],
    );
    return better.length === 0 ? undefined : better.join('; ');
  }

  recordSuccess(way: ChangeMethod): void {
    this.#failed.delete(way);
  }

  recordFailure(way: ChangeMethod, { kind, message: reason, retryAfter }: RequestFailure, now: number): void {
    const failures = (this.#failed.get(way)?.failures ?? 0) + 1;
    const isOffered = kind !== 'rejected';
    const delay = !isOffered ? UNOFFERED_DELAY : kind === 'refused' ? LONGEST_DELAY : FAILURE_DELAY;
    this.#failed.set(way, {
      // A method that is not offered is reported at once; a lost connection is common, and is not.
      failures: isOffered ? failures : Math.max(failures, UNREPORTED + 1),
      until: now + delayAfter(failures, retryAfter, delay, this.#random),
      reason,
      isLasting: !isOffered || failures >= LASTING,
    });
  }

  /**
   * Records that the sequence was interrupted. Each interruption requires reading everything again, so if it happens repeatedly,
   * the method is not used for a while.
   */
  recordBreak(way: ChangeMethod, now: number): void {
    this.#broken = [...this.#broken.filter((at) => Math.abs(now - at) < FORGIVEN), now];
    const again = this.#broken.length - 1;
    if (again === 0) return;
    const until = now + delayAfter(again, undefined, BREAK_DELAY, this.#random);
    this.#failed.set(way, { failures: again + UNREPORTED, until, reason: BROKEN, isLasting: true });
  }
}
