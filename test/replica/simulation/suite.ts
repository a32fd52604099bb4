import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Engine } from '../../support/engine.ts';
import { campaign, told } from './campaign.ts';
import type { Plan } from './plan.ts';
import { simulate } from './simulate.ts';

export interface SuiteOptions {
  readonly engine: Engine;
  /** Resolves when the engine has no work under way; an engine in this thread needs none. */
  readonly quiet?: () => Promise<void>;
  readonly interface: Plan['interface'];
  readonly runs: number;
}

/** A tenth is enough for a change; the rest is for what is published. */
export const isFull = process.env.PLAT_FULL === '1';

/** Histories of one interface, on any engine. */
export function historySuite({ engine, interface: kind, runs, quiet }: SuiteOptions): void {
  const common = { engine, plan: { interface: kind }, ...(quiet === undefined ? {} : { quiet }) };
  test(`${runs} histories of the ${kind} interface on ${engine.name} keep every invariant, and end equal`, async () => {
    const failure = await campaign({ ...common, from: 1, runs });
    assert.ok(failure === undefined, failure === undefined ? '' : told(failure));
  });
}

/** For engines in this thread: what happens depends on the seed alone. */
export function replaySuite({ engine, interface: kind }: SuiteOptions): void {
  test(`a history of the ${kind} interface is the same whenever its seed is played`, async () => {
    for (const seed of [3, 14, 159]) {
      const options = { seed, engine, plan: { interface: kind, faults: 0.25, mortality: 0.9 } };
      const [first, second] = [await simulate(options), await simulate(options)];
      assert.ok(first.log.length > 50, 'something happens');
      assert.deepEqual(second.log, first.log);
    }
  });
}
