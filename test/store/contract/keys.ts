/** The keys of a store, and their use. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashToken, type KeyRecord, makeKeyId, makeToken } from '../../../src/access/index.ts';
import { type KeyUse, NO_USE } from '../../../src/store/keys/key-store.ts';
import type { Engine } from '../../support/engine.ts';
import { makeWorld } from '../../support/world.ts';

const key = (id: string, fields: Partial<KeyRecord> = {}): KeyRecord => ({
  id,
  name: `Vendor ${id}`,
  kind: 'replication',
  role: 'idx',
  systems: [],
  createdAt: '2026-06-01T12:00:00Z',
  expiresAt: null,
  revokedAt: null,
  ...fields,
});

const use = (fields: Partial<KeyUse>): KeyUse => ({ ...NO_USE, ...fields });

export function keyContract(engine: Engine): void {
  test('a key is found only by the hash of its token, in every process', async (t) => {
    const world = await makeWorld(engine, t);
    const token = makeToken();
    const record = key(makeKeyId(), {
      kind: 'floorplans',
      systems: ['X', 'Y'],
      expiresAt: '2027-01-01T00:00:00Z',
    });
    await world.store.keys.add(record, hashToken(token));
    assert.deepEqual((await world.store.look(hashToken(token))).key, record);
    assert.deepEqual((await (await world.again()).look(hashToken(token))).key, record);
    assert.equal((await world.store.look(token)).key, undefined);
    assert.equal((await world.store.look(hashToken(makeToken()))).key, undefined);
    assert.equal((await world.store.look('')).key, undefined);
  });

  test('keys are listed in the order of their creation, with their use', async (t) => {
    const world = await makeWorld(engine, t);
    const { keys } = world.store;
    await keys.add(key('b', { createdAt: '2026-06-01T12:00:01Z' }), 'hash b');
    await keys.add(key('c'), 'hash c');
    await keys.add(key('a'), 'hash a');
    const listed = await keys.list();
    assert.deepEqual(
      listed.map(({ id }) => id),
      ['a', 'c', 'b'],
    );
    assert.deepEqual(listed[0], { ...key('a'), use: NO_USE });
  });

  test('a second key with the same id or token is rejected', async (t) => {
    const world = await makeWorld(engine, t);
    await world.store.keys.add(key('a'), 'hash a');
    await assert.rejects(world.store.keys.add(key('a'), 'hash b'));
    await assert.rejects(world.store.keys.add(key('b'), 'hash a'));
    assert.deepEqual(
      (await world.store.keys.list()).map(({ id }) => id),
      ['a'],
    );
    await world.store.keys.add(key('b'), 'hash b');
  });

  test('a key is revoked from a moment on, for every process', async (t) => {
    const world = await makeWorld(engine, t);
    await world.store.keys.add(key('a'), 'hash');
    const other = await world.again();
    assert.equal((await other.look('hash')).key?.revokedAt, null);
    assert.equal(await world.store.keys.revoke('a', '2026-06-02T00:00:00Z'), true);
    assert.equal((await other.look('hash')).key?.revokedAt, '2026-06-02T00:00:00Z');
    assert.equal(await world.store.keys.revoke('a', '2026-06-03T00:00:00Z'), true);
    assert.equal(
      (await other.look('hash')).key?.revokedAt,
      '2026-06-02T00:00:00Z',
      'it stays the first moment',
    );
    assert.equal(await world.store.keys.revoke('a', '2026-06-01T00:00:00Z'), true);
    assert.equal((await other.look('hash')).key?.revokedAt, '2026-06-01T00:00:00Z', 'or an earlier one');
    assert.equal(await world.store.keys.revoke('none', '2026-06-02T00:00:00Z'), false);
  });

  test('recorded uses are added up, and the latest time of each kind is kept', async (t) => {
    const world = await makeWorld(engine, t);
    const { keys } = world.store;
    await keys.add(key('a'), 'hash a');
    await keys.add(key('b'), 'hash b');
    const first = use({
      requests: 2,
      rows: 2000,
      bytes: 9_000_000_000,
      lastRequestAt: 't1',
      lastWindow: 'w1',
    });
    const second = use({ requests: 1, rows: 10, bytes: 50, lastRequestAt: 't2', lastSweepAt: 's2' });
    await keys.recordUse(
      new Map([
        ['a', first],
        ['b', use({ requests: 1 })],
      ]),
    );
    await (await world.again()).keys.recordUse(new Map([['a', second]]));
    const listed = await keys.list();
    assert.deepEqual(
      listed.map((each) => each.use),
      [
        {
          requests: 3,
          rows: 2010,
          bytes: 9_000_000_050,
          lastRequestAt: 't2',
          lastWindow: 'w1',
          lastSweepAt: 's2',
        },
        use({ requests: 1 }),
      ],
    );
    await keys.recordUse(new Map());
  });
}
