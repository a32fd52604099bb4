import assert from 'node:assert/strict';
import { test } from 'node:test';
import { campaign } from './campaign.ts';
import { sqliteGround } from './ground.ts';
import { WRONGS } from './mutants.ts';

/** Histories within which a wrong consumer is caught. */
const RUNS = 80;

for (const { name, make, breaks, plan = {} } of WRONGS) {
  test(`caught: ${name}`, async () => {
    const failure = await campaign({ ground: sqliteGround(), from: 1, runs: RUNS, mutant: make, plan });
    assert.match(failure?.outcome.failure ?? `nothing in ${RUNS} histories`, breaks);
  });
}
