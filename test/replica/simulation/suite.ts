import assert from 'node:assert/strict';
import { test } from 'node:test';
import { campaign, describeFailure } from './campaign.ts';
import type { Ground } from './ground.ts';
import type { Wrong } from './mutants.ts';
import type { Plan } from './plan.ts';
import { simulate } from './simulate.ts';

export interface SuiteOptions {
  readonly ground: Ground;
  readonly interface: Plan['interface'];
  readonly runs: number;
}

export interface FollowedOptions extends Pick<SuiteOptions, 'ground' | 'runs'> {
  readonly from: number;
  /** How many of them have to end with a copy that is level without windows. */
  readonly least: number;
  /** How the source reports its changes; each method has the same number of histories. */
  readonly ways: readonly NonNullable<Plan['reports']>[];
}

/** All methods by which a source of histories reports its changes. */
export const REPORTING = ['stream', 'forgets', 'events', 'both', 'links', 'all'] as const;

/** `npm test` plays a tenth of the histories; all of them are played before a release. */
export const isFull = process.env.PLAT_FULL === '1';

/** Histories of one interface, on any engine. */
export function historySuite({ ground, interface: kind, runs }: SuiteOptions): void {
  test(`${runs} histories of the ${kind} interface on ${ground.name} keep every invariant and end equal`, async () => {
    const plan = { interface: kind, reports: undefined };
    const failure = await campaign({ ground, plan, from: 1, runs });
    assert.ok(failure === undefined, failure === undefined ? '' : describeFailure(failure));
  });
}

/** Histories of a source that reports its changes as they are made, with watches that follow them and fall back to windows. */
export function followedSuite({ ground, from, runs, least, ways }: FollowedOptions): void {
  test(`${runs} histories of a source that is followed on ${ground.name} end equal, at least ${least} of them by reported changes alone`, async () => {
    let level = 0;
    for (const reports of ways) {
      const failure = await campaign({
        ground,
        plan: { interface: 'reso', reports, watches: 0.9 },
        from,
        runs: runs / ways.length,
        onDone: (_, { isFollowed }) => {
          if (isFollowed) level++;
        },
      });
      assert.ok(failure === undefined, failure === undefined ? '' : describeFailure(failure));
    }
    assert.ok(level >= least, `${level}`);
  });
}

/** For engines in this thread, where histories depend on the seed alone. */
export function replaySuite({ ground, interface: kind }: SuiteOptions): void {
  test(`a history of the ${kind} interface is the same each time its seed is played`, async () => {
    for (const seed of isFull ? [3, 14, 159] : [14]) {
      const options = {
        seed,
        ground,
        plan: { interface: kind, reports: undefined, faults: 0.25, mortality: 0.9 },
      };
      const [first, second] = [await simulate(options), await simulate(options)];
      assert.ok(first.log.length > 50, 'something happens');
      assert.deepEqual(second.log, first.log);
    }
  });
}

/** Histories within which an erroneous consumer is detected. */
const ENOUGH = 80;

/** Properties that were added to plans after the first histories that detect an error became known. */
const AS_KNOWN = { reports: undefined, tokens: undefined, latency: 800 } as const;

export function wrongSuite(ground: Ground, wrongs: readonly Wrong[]): void {
  for (const { name, make, breaks, seed = 1, plan = {}, isRare = false } of wrongs) {
    test(`detected on ${ground.name}: ${name}`, async () => {
      const failure = await campaign({
        ground,
        from: isFull ? 1 : seed,
        runs: ENOUGH,
        mutant: make,
        plan: { ...AS_KNOWN, ...plan },
      });
      assert.match(failure?.outcome.failure ?? `nothing in ${ENOUGH} histories`, breaks);
      if (!isRare || failure === undefined) return;
      const own = { ...AS_KNOWN, ...plan };
      const right = await simulate({ seed: failure.seed, ground, plan: own });
      assert.equal(right.failure, undefined);
    });
  }
}
