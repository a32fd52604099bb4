import { makeRandom } from 'plat-demo';
import type { BudgetLimits } from '../../../src/replica/http/rate-budget.ts';
import { FAULTS, type Fault } from './network.ts';
import { CHANGES, type Change } from './source.ts';

export type RoleName = 'idx' | 'private';

/** The kind of history that a seed stands for. */
export interface Plan {
  readonly seed: number;
  readonly interface: 'reso' | 'native';
  readonly role: RoleName;
  readonly resources: readonly string[];
  readonly pageSize: number;
  readonly customFields: boolean;
  readonly fieldsDeclared: boolean;
  /** Listings at the beginning, and the number of later changes. */
  readonly listings: number;
  readonly changes: number;
  /** The length of the pauses between changes, relative to the usual one. */
  readonly pace: number;
  /** The kind of many of the changes. */
  readonly often: Change | undefined;
  /** Processes of the consumer, one after the other, before the last ones, which run without faults. */
  readonly processes: number;
  /** The share of them that run until they are stopped, from 0 to 1. */
  readonly watches: number;
  /** Whether they purge; otherwise only the last one does. */
  readonly sweeps: boolean;
  /** The shares of processes that are killed or suspended, and of requests that fail, from 0 to 1. */
  readonly mortality: number;
  readonly faults: number;
  /** The share of unlucky processes that are suspended instead of killed. */
  readonly standstills: number;
  /**
   * The maximum latency of an undisturbed request, in milliseconds; now and then one takes much longer. Without latency, the next page
   * of a walk arrives in time for the transaction of the one before.
   */
  readonly latency: number;
  /** The most frequent fault. */
  readonly trouble: Fault | undefined;
  /** Milliseconds that the consumer's clock is ahead. */
  readonly ahead: number;
  readonly wholeSeconds: boolean;
  readonly purgeShare: number;
  readonly limits: BudgetLimits;
  /** The source writes links with an address at which it cannot be reached. */
  readonly misnamed: boolean;
  /** Changes before a backup, and from then until it is restored; absent: the source is never restored. */
  readonly restored: { readonly after: number; readonly changes: number } | undefined;
  /**
   * Changes before the key's rights are narrowed, and from then until that is reverted; absent: rights change only at random.
   */
  readonly narrowed: { readonly after: number; readonly changes: number } | undefined;
  /**
   * How the source reports changes to watches. `stream`: by events; `forgets`: by events, with a short memory; `events`: by entity
   * events; `both`: by events, and by entity events while the stream is unavailable; `links`: by delta links, some of which expire;
   * `all`: by the best method, while the stream, the delta links, or both are sometimes unavailable; absent: not at all, so that
   * watches read windows.
   */
  readonly reports: 'stream' | 'forgets' | 'events' | 'both' | 'links' | 'all' | undefined;
  /** Changes of the consumer's clock: when, from the beginning on, and by how much, in milliseconds. */
  readonly steps: readonly ClockStep[];
  /** Errors of the source's clock; absent: it is right. */
  readonly wrongClock: WrongClock | undefined;
  /** How long a token of the source is valid, in milliseconds; absent: the consumer has one that never expires. */
  readonly tokens: number | undefined;
}

/** A clock is set: when, from the beginning on, and by how much, in milliseconds. */
export interface ClockStep {
  readonly at: number;
  readonly by: number;
}

/** A source whose clock is wrong for a while, and what its operator does about that. */
export interface WrongClock {
  readonly steps: readonly ClockStep[];
  /** When the clock is right again, for good. Milliseconds from the beginning. */
  readonly right: number;
  /** The operator believes a clock that was set ahead, and confirms it. */
  readonly isBelieved: boolean;
  /**
   * What the operator does about timestamps ahead of the clock: restamps them once the clock is right, restamps them hastily, even
   * though the clock may be what is wrong, or waits until the clock reaches them.
   */
  readonly mends: 'restamp' | 'hastily' | 'waits';
}

/** 2026-06-01, a few hours before midnight, so that the day changes during most histories. */
export const START = Date.parse('2026-06-01T20:00:00Z');

export function drawPlan(seed: number): Plan {
  const random = makeRandom(seed, 'plan');
  return {
    seed,
    interface: random.pick(['reso', 'native']),
    role: random.pick(['idx', 'private']),
    resources: random.weighted([
      [['Property', 'Member', 'Office'], 8],
      [['Property'], 2],
      [['Member', 'Office'], 1],
    ]),
    pageSize: random.weighted([
      [random.integer(2, 6), 7],
      [random.integer(11, 30), 2],
      [1000, 1],
    ]),
    customFields: random.chance(0.5),
    fieldsDeclared: random.chance(0.8),
    listings: random.integer(0, 14),
    changes: random.integer(5, 30),
    pace: random.pick([1, 1, 0.1]),
    often: random.chance(0.3) ? random.pick(CHANGES)[0] : undefined,
    processes: random.integer(1, 4),
    sweeps: true,
    mortality: random.pick([0, 0.5, 0.9]),
    faults: random.pick([0, 0.02, 0.08, 0.25]),
    watches: random.pick([0.1, 0.3, 0.8]),
    standstills: random.pick([0.2, 0.2, 0.8]),
    trouble: random.chance(0.3) ? random.pick(FAULTS)[0] : undefined,
    ahead: random.weighted([
      [0, 1],
      [random.integer(-300_000, 300_000), 1],
      [random.integer(-9, 9) * 3_600_000, 1],
    ]),
    wholeSeconds: random.chance(0.5),
    purgeShare: random.chance(0.8) ? 1 : 0.2,
    limits: random.chance(0.3)
      ? { requestsPerSecond: random.pick([1, 2, 5]), requestsPerHour: random.pick([40, 200, 1000]) }
      : {},
    misnamed: random.chance(0.2),
    restored: random.chance(0.2) ? { after: random.integer(0, 9), changes: random.integer(1, 9) } : undefined,
    narrowed: undefined,
    reports: drawReporting(seed),
    steps: random.chance(0.2)
      ? Array.from({ length: random.integer(1, 3) }, () => ({
          at: random.integer(0, 8 * 3_600_000),
          by: random.pick([-1, 1]) * random.pick([1000, 60_000, 3_600_000, 2 * 86_400_000]),
        }))
      : [],
    wrongClock: drawWrongClock(seed),
    tokens: drawTokens(seed),
    latency: drawLatency(seed),
  };
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Drawn separately, so that the rest of a history is the same as with windows. */
const drawReporting = (seed: number): Plan['reports'] =>
  makeRandom(seed, 'how the source tells').weighted([
    [undefined, 1],
    ['stream', 2],
    ['forgets', 1],
    ['events', 1],
    ['both', 1],
    ['links', 1],
    ['all', 1],
  ]);

/** Drawn separately, so that the rest of a history is the same with any latency. */
const drawLatency = (seed: number): number =>
  makeRandom(seed, 'latency').weighted([
    [800, 2],
    [40, 1],
    [0, 1],
  ]);

/** Drawn separately, so that the rest of a history is the same as with a token that never expires. */
const drawTokens = (seed: number): number | undefined =>
  makeRandom(seed, 'tokens').weighted([
    [undefined, 2],
    [1.5 * MINUTE, 1],
    [10 * MINUTE, 1],
    [HOUR, 1],
  ]);

/** Drawn separately, so that the rest of a history is the same as with a right clock. */
function drawWrongClock(seed: number): WrongClock | undefined {
  const random = makeRandom(seed, "the source's clock");
  if (random.chance(0.7)) return undefined;
  const lengths = [1000, 10_000, MINUTE, 20 * MINUTE, 50 * MINUTE, 2 * HOUR, 11 * HOUR, 2 * DAY, 7300 * DAY];
  const steps = Array.from({ length: random.integer(1, 3) }, () => ({
    at: random.weighted([
      [random.integer(1, 5 * MINUTE), 1],
      [random.integer(1, 4 * HOUR), 2],
    ]),
    by: random.pick([1, 1, -1]) * random.pick(lengths),
  }));
  const right = Math.max(...steps.map(({ at }) => at)) + random.integer(1, 6 * HOUR);
  const mends = random.weighted([
    ['restamp', 3],
    ['hastily', 1],
    ['waits', 1],
  ] as const);
  return { steps, right, isBelieved: random.chance(0.6), mends };
}

/** How far the consumer's clock is ahead at a moment. */
export const aheadOf =
  ({ ahead, steps }: Pick<Plan, 'ahead' | 'steps'>) =>
  (now: number): number =>
    steps.reduce((sum, { at, by }) => (now - START >= at ? sum + by : sum), ahead);
