/**
 * Two stores with the same writes are the same on either engine: the same timestamps, numbers of records and sequence of changes.
 * Neither engine guarantees an order of rows without ORDER BY, and PostgreSQL's depends on earlier writes; if such an order decided
 * something that a reader sees, the stores would differ.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { SECOND } from '../support/clock.ts';
import { runsOn } from '../support/engine.ts';
import { postgresEngine } from '../support/postgres-engine.ts';
import { inScope } from '../support/scope.ts';
import { sqliteEngine } from '../support/sqlite-engine.ts';
import { makeWorld, TIME, type World } from '../support/world.ts';
import { anyStep, type Step, take } from './contract/random-market.ts';

const RESOURCES = ['Property', 'Media', 'PropertyRooms', 'OpenHouse', 'Field', 'Lookup'];

const SQLITE = sqliteEngine();
const POSTGRES = postgresEngine();

/** What a reader who sees everything gets after these steps. */
async function outcomeOf(world: World, steps: readonly Step[]) {
  const { position } = await begin(world);
  for (const step of steps) {
    await take(world, step);
    world.clock.advance(SECOND);
  }
  const { query } = await world.request('Property');
  const page = await world.store.feed({
    since: position,
    resources: RESOURCES,
    limit: 10_000,
  });
  assert.ok(page.kind === 'changes' && page.isLevel);
  return {
    records: await Promise.all(RESOURCES.map(world.exported)),
    ids: [...(await world.store.ids(query, TIME))],
    changes: page.changes.map(({ sequence, ...change }) => ({
      ...change,
      sequence: sequence - position.sequence,
    })),
  };
}

async function begin({ store }: World) {
  const page = await store.feed({ since: 'end', resources: RESOURCES, limit: 1 });
  assert.ok(page.kind === 'changes');
  return page;
}

suite('engines', () => {
  test('property: the same writes give the same store', async () => {
    const property = fc.asyncProperty(fc.array(anyStep, { minLength: 6, maxLength: 14 }), (steps) =>
      inScope(async (scope) => {
        const [one, other] = await Promise.all(
          [SQLITE, POSTGRES].map(async (engine) => outcomeOf(await makeWorld(engine, scope), steps)),
        );
        assert.deepEqual(other, one);
      }),
    );
    await fc.assert(property, { seed: 20260604, numRuns: runsOn(POSTGRES, 60) });
  });
});
