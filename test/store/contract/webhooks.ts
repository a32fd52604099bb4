/** The webhooks of a store, each of which one process at a time holds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SEQUENCE_START } from '../../../src/store/changes/change-feed.ts';
import type { Engine } from '../../support/engine.ts';
import { makeWorld } from '../../support/world.ts';

const WEBHOOK = {
  ...{ id: 'wh_1', url: 'https://example.com/ü', bearer: null, role: 'idx', systems: ['X'], resources: [] },
  ...{
    privateHosts: false,
    createdAt: '2026-06-01T12:00:00Z',
    secret: 'whsec_a',
    former: null,
    paused: null,
  },
  ...{
    position: SEQUENCE_START,
    batchEnd: null,
    delivered: 0,
    deliveredAt: null,
    attempts: 0,
    failingSince: null,
  },
  ...{ nextAttempt: 0, lastError: null },
} as const;

const MOMENT = Date.parse('2026-06-01T12:00:00Z');

export function webhookContract(engine: Engine): void {
  test('every process sees a webhook as it was written, until it is removed', async (t) => {
    const { store, again } = await makeWorld(engine, t);
    const { webhooks } = store;
    await webhooks.add(WEBHOOK);
    const other = (await again()).webhooks;
    assert.deepEqual(await other.list(), [{ ...WEBHOOK, holder: null, heldUntil: 0 }]);
    const change = {
      ...{ paused: 'why', position: { sequence: 9, commit: { sequence: 7, name: 'n-_' } }, batchEnd: 12 },
      ...{ delivered: 5, deliveredAt: '2026-06-01T12:00:01Z', attempts: 2, failingSince: MOMENT },
      ...{ nextAttempt: MOMENT + 5000, lastError: 'e', secret: 'whsec_b' },
      former: { secret: 'whsec_a', until: MOMENT + 9 },
    };
    assert.equal(await other.update('wh_1', change), true);
    assert.deepEqual(await webhooks.list(), [{ ...WEBHOOK, ...change, holder: null, heldUntil: 0 }]);
    const back = { paused: null, batchEnd: null, lastError: null, failingSince: null, former: null };
    await webhooks.update('wh_1', back);
    assert.deepEqual(await other.list(), [{ ...WEBHOOK, ...change, ...back, holder: null, heldUntil: 0 }]);
    assert.equal(await webhooks.update('wh_2', back), false);
    assert.equal(await other.remove('wh_1'), true);
    assert.equal(await webhooks.remove('wh_1'), false);
    assert.deepEqual(await webhooks.list(), []);
  });

  test('one process holds a webhook, and updates it only from the position that it has read', async (t) => {
    const { store } = await makeWorld(engine, t);
    const { webhooks } = store;
    await webhooks.add(WEBHOOK);
    const until = MOMENT + 15_000;
    const taken = await Promise.all(['a', 'b', 'c'].map((each) => webhooks.hold('wh_1', each, until)));
    assert.deepEqual(taken.filter(Boolean), [true]);
    const holder = ['a', 'b', 'c'][taken.indexOf(true)] ?? '';
    const held = { holder, heldUntil: until };
    assert.equal(await webhooks.hold('wh_1', holder, until - 9), true, 'the holder may renew');
    assert.equal(
      (await webhooks.list())[0]?.heldUntil,
      until + 1,
      'it changes even if the clock was set back',
    );
    assert.equal(await webhooks.hold('wh_1', 'd', until + 99_999), false);
    assert.equal(await webhooks.hold('wh_1', 'd', until, held), false, 'the holder has renewed meanwhile');
    const next = { sequence: 4, commit: { sequence: 4, name: 'n' } };
    assert.equal(
      await webhooks.update('wh_1', { position: next }, { holder: 'd', position: SEQUENCE_START }),
      false,
    );
    assert.equal(
      await webhooks.update('wh_1', { position: next }, { holder, position: SEQUENCE_START }),
      true,
    );
    assert.equal(
      await webhooks.update('wh_1', { position: SEQUENCE_START }, { holder, position: SEQUENCE_START }),
      false,
    );
    assert.equal(
      await webhooks.hold('wh_1', 'd', until, { holder, heldUntil: until + 1 }),
      true,
      'the holder has not renewed',
    );
    await webhooks.release('wh_1', holder);
    assert.equal((await webhooks.list())[0]?.holder, 'd');
    await webhooks.release('wh_1', 'd');
    assert.equal((await webhooks.list())[0]?.holder, null);
  });
}
