/** The epoch of a store: writes do not change it, and every process sees a new one at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listing } from '../../support/builders.ts';
import { SECOND } from '../../support/clock.ts';
import type { Engine } from '../../support/engine.ts';
import { temporaryFile } from '../../support/temporary.ts';
import { makeWorld, operations, type World } from '../../support/world.ts';

const epochOf = async ({ store }: Pick<World, 'store'>): Promise<string> => (await store.model()).epoch;

export function epochContract(engine: Engine): void {
  test('an epoch survives writes, settings, days and copies', async (t) => {
    const world = await makeWorld(engine, t);
    const first = await epochOf(world);
    assert.match(first, /^[\w-]{12}$/);
    await world.write('Property', listing('A'));
    await world.store.configure((settings) => ({ ...settings, timeZone: 'Europe/Berlin' }));
    world.clock.set('2026-06-09T12:00:00Z');
    await world.write('Property', listing('B'));
    assert.equal(await epochOf(world), first);
    assert.equal(await epochOf({ store: await world.again() }), first);
    const file = temporaryFile();
    await world.store.backup(file);
    assert.equal(
      await epochOf({ store: await world.copy(file) }),
      first,
      'a backup has the epoch of its store',
    );
  });

  test('other processes see a new epoch at once, and it differs from the one before', async (t) => {
    const world = await makeWorld(engine, t);
    const other = await world.again();
    const first = await epochOf({ store: other });
    const { epoch: second } = await world.store.beginEpoch({});
    assert.match(second, /^[\w-]{12}$/);
    assert.notEqual(second, first);
    assert.equal(await epochOf({ store: other }), second);
    const { epoch: third } = await other.beginEpoch({});
    assert.equal(await epochOf(world), third);
    assert.equal(new Set([first, second, third]).size, 3);
  });

  test('after a new epoch no timestamp is assigned before its bound', async (t) => {
    const world = await makeWorld(engine, t);
    const { stamp: before } = await world.write('Property', listing('A'));
    const notBefore = Date.parse(before) + 60 * SECOND;
    await world.store.beginEpoch({ notBefore });
    const other = operations(await world.again(), world.clock);
    assert.ok(Date.parse((await other.write('Property', listing('B'))).stamp) >= notBefore);
    await world.store.beginEpoch({ notBefore: notBefore - 30 * SECOND });
    const { stamp } = await world.write('Property', listing('C'));
    assert.ok(Date.parse(stamp) >= notBefore, `${stamp}: a lower bound takes nothing back`);
  });
}
