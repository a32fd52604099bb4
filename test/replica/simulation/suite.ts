import assert from 'node:assert/strict';
import { test } from 'node:test';
import { campaign, told } from './campaign.ts';
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
  /** How the source tells of its changes, in as many histories of each. */
  readonly ways: readonly NonNullable<Plan['tells']>[];
}

/** All ways in which a source of histories tells of its changes. */
export const TELLING = ['stream', 'forgets', 'events', 'both', 'links', 'all'] as const;

/** A tenth is enough for a change; the rest is for what is published. */
export const isFull = process.env.PLAT_FULL === '1';

/** Histories of one interface, on any engine. */
export function historySuite({ ground, interface: kind, runs }: SuiteOptions): void {
  test(`${runs} histories of the ${kind} interface on ${ground.name} keep every invariant, and end equal`, async () => {
    const plan = { interface: kind, tells: undefined };
    const failure = await campaign({ ground, plan, from: 1, runs });
    assert.ok(failure === undefined, failure === undefined ? '' : told(failure));
  });
}

/** Histories of a source that tells of its changes as they are made, and of watches that follow them and fall back. */
export function followedSuite({ ground, from, runs, least, ways }: FollowedOptions): void {
  test(`${runs} histories of a source that is followed on ${ground.name} end equal, ${least} of them by reported changes alone`, async () => {
    let level = 0;
    for (const tells of ways) {
      const failure = await campaign({
        ground,
        plan: { interface: 'reso', tells, watches: 0.9 },
        from,
        runs: runs / ways.length,
        onDone: (_, { isFollowed }) => {
          if (isFollowed) level++;
        },
      });
      assert.ok(failure === undefined, failure === undefined ? '' : told(failure));
    }
    assert.ok(level >= least, `${level}`);
  });
}

/** For engines in this thread: what happens depends on the seed alone. */
export function replaySuite({ ground, interface: kind }: SuiteOptions): void {
  test(`a history of the ${kind} interface is the same whenever its seed is played`, async () => {
    for (const seed of isFull ? [3, 14, 159] : [14]) {
      const options = {
        seed,
        ground,
        plan: { interface: kind, tells: undefined, faults: 0.25, mortality: 0.9 },
      };
      const [first, second] = [await simulate(options), await simulate(options)];
      assert.ok(first.log.length > 50, 'something happens');
      assert.deepEqual(second.log, first.log);
    }
  });
}

/** Histories within which a wrong consumer is caught. */
const ENOUGH = 80;

export function wrongSuite(ground: Ground, wrongs: readonly Wrong[]): void {
  for (const { name, make, breaks, seed = 1, plan = {}, isRare = false } of wrongs) {
    test(`caught on ${ground.name}: ${name}`, async () => {
      const failure = await campaign({
        ground,
        from: isFull ? 1 : seed,
        runs: ENOUGH,
        mutant: make,
        plan: { tells: undefined, ...plan },
      });
      assert.match(failure?.outcome.failure ?? `nothing in ${ENOUGH} histories`, breaks);
      if (!isRare || failure === undefined) return;
      const right = await simulate({ seed: failure.seed, ground, plan: { tells: undefined, ...plan } });
      assert.equal(right.failure, undefined);
    });
  }
}
