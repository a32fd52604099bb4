/** Counts are kept as records are written, and equal the rows for every role and system. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { listing } from '../../support/builders.ts';
import { SECOND } from '../../support/clock.ts';
import { contractRuns, type Engine } from '../../support/engine.ts';
import { faultsIn } from '../../support/faults.ts';
import { inScope } from '../../support/scope.ts';
import type { Viewer } from '../../support/views.ts';
import { makeWorld, type World } from '../../support/world.ts';
import { anyStep, take } from './random-market.ts';

const VIEWERS: readonly Viewer[] = [
  { role: 'private' },
  { role: 'idx' },
  { role: 'vow' },
  { role: 'private', systems: ['X'] },
  { role: 'idx', systems: ['Y', 'X'] },
  { role: 'idx', systems: ['Z'] },
];

const RESOURCES = ['Property', 'Media', 'PropertyRooms', 'OpenHouse'];

/** Every way of counting agrees; no key is there twice. */
async function assertCounted(world: World): Promise<void> {
  for (const viewer of VIEWERS) {
    for (const resource of RESOURCES) {
      const { key } = (await world.store.model()).resource(resource);
      const keys = await world.keys(resource, '', { viewer });
      assert.equal(new Set(keys).size, keys.length, `${resource} has ${keys.join()}`);
      assert.equal(await world.count(resource, '', viewer), keys.length, resource);
      assert.equal(await world.count(resource, `$filter=${key} ne null`, viewer), keys.length, resource);
    }
  }
  const { resources } = await world.store.status();
  for (const { resource, rows, orphans } of resources) {
    if (!RESOURCES.includes(resource)) continue;
    assert.equal(rows, (await world.count(resource)) + orphans, resource);
    assert.equal(rows, (await world.exported(resource)).length, resource);
  }
}

/** What is seen of children follows from what is seen of their parents. */
async function assertFamilies(world: World): Promise<void> {
  for (const viewer of VIEWERS) {
    const listings = new Set(await world.keys('Property', '', { viewer }));
    const houses = await world.rows('OpenHouse', '$select=OpenHouseKey,ListingKey', { viewer });
    const media = await world.rows('Media', '$select=ResourceName,ResourceRecordKey', { viewer });
    const rooms = await world.rows('PropertyRooms', '$select=ListingKey', { viewer });
    const houseKeys = new Set(houses.map(({ OpenHouseKey }) => OpenHouseKey));
    for (const { ListingKey } of [...houses, ...rooms]) assert.ok(listings.has(String(ListingKey)));
    for (const { ResourceName, ResourceRecordKey } of media) {
      const owners = ResourceName === 'Property' ? listings : houseKeys;
      assert.ok(owners.has(String(ResourceRecordKey)), `${ResourceName} ${ResourceRecordKey}`);
    }
  }
}

export function countContract(engine: Engine): void {
  test('systems are told apart by their whole names: none, one called null, one without a name', async (t) => {
    const world = await makeWorld(engine, t);
    const of = (key: string, system?: string) =>
      listing(key, system === undefined ? {} : { OriginatingSystemID: system });
    await world.write('Property', of('A'), of('B', ''), of('C', 'null'), of('D'), of('E', 'null'));
    assert.equal(await world.count('Property'), 5);
    assert.equal(await world.count('Property', '', { role: 'private', systems: ['null'] }), 2);
    await world.write('Property', of('D', ''), of('E'));
    assert.equal(await world.count('Property'), 5);
    assert.equal(await world.count('Property', '', { role: 'private', systems: ['null'] }), 1);
  });

  test('property: counts equal rows after any writes, moves and deletes', async () => {
    const property = fc.asyncProperty(fc.array(anyStep, { minLength: 3, maxLength: 14 }), (steps) =>
      inScope(async (scope) => {
        const world = await makeWorld(engine, scope);
        for (const step of steps) {
          await take(world, step);
          world.clock.advance(SECOND);
        }
        await assertCounted(world);
        await assertFamilies(world);
        assert.deepEqual(await faultsIn(world.store), []);
      }),
    );
    await fc.assert(property, { seed: 20260602, numRuns: contractRuns(engine, 60) });
  });

  test('property: what is exported is what was written, whatever came before', async () => {
    const property = fc.asyncProperty(fc.array(anyStep, { minLength: 3, maxLength: 10 }), (steps) =>
      inScope(async (scope) => {
        const world = await makeWorld(engine, scope);
        for (const step of steps) await take(world, step);
        // A second store that gets the outcome in one go holds the same.
        const copy = await makeWorld(engine, scope);
        for (const resource of ['Property', 'OpenHouse', 'PropertyRooms', 'Media']) {
          const records = await world.exported(resource);
          const bare = records.map(({ ModificationTimestamp: _, ...record }) => record);
          await copy.write(resource, ...bare);
        }
        for (const resource of RESOURCES) {
          const stampless = async (from: World) =>
            (await from.exported(resource)).map((record) =>
              Object.fromEntries(Object.entries(record).filter(([name]) => !name.endsWith('Timestamp'))),
            );
          assert.deepEqual(await stampless(copy), await stampless(world));
          for (const viewer of VIEWERS) {
            assert.deepEqual(
              await copy.keys(resource, '', { viewer }),
              await world.keys(resource, '', { viewer }),
            );
          }
        }
      }),
    );
    await fc.assert(property, { seed: 20260603, numRuns: contractRuns(engine, 25) });
  });
}
