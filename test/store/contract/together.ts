/** Several changes of a replica in one transaction: all of them are stored with their checkpoint, or none is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ChangeSource,
  ChangesRolledBack,
  type Fits,
  type JoinableChange,
  LeaseLost,
} from '../../../src/store/checkpoint/checkpoints.ts';
import { listing } from '../../support/builders.ts';
import type { Engine } from '../../support/engine.ts';
import { operations, type World } from '../../support/world.ts';
import { slowWorld } from './heavy.ts';

/** A listing as a page of a walk, with the position after it. */
async function pageOf(world: World, key: string, fields = {}): Promise<JoinableChange> {
  const record = await world.parse('Property', listing(key, fields));
  return { records: [{ resource: 'Property', records: [record] }], state: { position: key } };
}

type Step = (
  fits: Fits,
  awaited: Promise<void>,
) => JoinableChange | undefined | Promise<JoinableChange | undefined>;

/** Changes, one for each call; afterwards none. */
function changesOf(...steps: readonly Step[]) {
  const written: number[] = [];
  let calls = 0;
  const changes: ChangeSource = {
    next: async (...given) => steps[calls++]?.(...given),
    written: ({ inserted, changed }) => void written.push(inserted + changed),
  };
  return { changes, written, calls: () => calls };
}

export function togetherContract(engine: Engine): void {
  test('no reader sees the first page before the position after the last one is stored', async (t) => {
    const { world } = await slowWorld(engine, t, 'replica');
    const { checkpoints } = world.store;
    await checkpoints.commit('feed', await pageOf(world, 'A'));
    const [b, c] = [await pageOf(world, 'B'), await pageOf(world, 'C')];
    const again = await world.again();
    const other = operations(again, world.clock);
    const seen: unknown[] = [];
    const { changes, written } = changesOf(
      () => b,
      async () => {
        seen.push(await other.keys('Property'), await again.checkpoints.state('feed'));
        return c;
      },
    );
    assert.equal((await checkpoints.commitTogether('feed', undefined, changes)).inserted, 2);
    assert.deepEqual(seen, [['A'], { position: 'A' }]);
    assert.deepEqual(written, [1, 1]);
    assert.deepEqual(await other.keys('Property'), ['A', 'B', 'C']);
    assert.deepEqual(await checkpoints.state('feed'), { position: 'C' });
  });

  test('a transaction that takes too long stores no page and no position', async (t) => {
    const { world, pace } = await slowWorld(engine, t, 'replica');
    const { checkpoints } = world.store;
    await checkpoints.commit('feed', await pageOf(world, 'A'));
    const [b, c] = [await pageOf(world, 'B'), await pageOf(world, 'C')];
    const { changes } = changesOf(
      () => b,
      () => {
        pace.look = 3000;
        return c;
      },
    );
    await assert.rejects(
      checkpoints.commitTogether('feed', undefined, changes),
      (error) => error instanceof ChangesRolledBack && error.changes === 2,
    );
    pace.look = 0;
    assert.deepEqual(await world.keys('Property'), ['A']);
    assert.deepEqual(await checkpoints.state('feed'), { position: 'A' });
    await checkpoints.commit('feed', b);
    assert.deepEqual(await checkpoints.state('feed'), { position: 'B' });
  });

  test('an error between two pages stores none', async (t) => {
    const { world } = await slowWorld(engine, t, 'replica');
    const { checkpoints } = world.store;
    await checkpoints.commit('feed', await pageOf(world, 'A'));
    const b = await pageOf(world, 'B');
    const { changes } = changesOf(
      () => b,
      () => {
        throw new Error('no page');
      },
    );
    await assert.rejects(checkpoints.commitTogether('feed', undefined, changes), /no page/);
    assert.deepEqual(await world.keys('Property'), ['A']);
    assert.deepEqual(await checkpoints.state('feed'), { position: 'A' });
  });

  test('a transaction ends as soon as another write of the process waits, and when it has lasted long enough', async (t) => {
    const { world, pace } = await slowWorld(engine, t, 'replica');
    const { checkpoints } = world.store;
    await checkpoints.commit('feed', await pageOf(world, 'A'));
    const [b, c, d] = [await pageOf(world, 'B'), await pageOf(world, 'C'), await pageOf(world, 'D')];
    let noted: Promise<void> | undefined;
    const waited = changesOf(
      () => b,
      async (_, awaited) => {
        noted = checkpoints.exchange('other', 'use', () => 1);
        await awaited;
        return c;
      },
      () => d,
    );
    await checkpoints.commitTogether('feed', undefined, waited.changes);
    await noted;
    assert.equal(waited.calls(), 2);
    assert.deepEqual(await checkpoints.state('feed'), { position: 'C' });
    const slow = changesOf(
      () => {
        pace.look = 300;
        return d;
      },
      () => b,
    );
    await checkpoints.commitTogether('feed', undefined, slow.changes);
    assert.equal(slow.calls(), 1);
    assert.deepEqual(await checkpoints.state('feed'), { position: 'D' });
  });

  test('a page fits unless it brings a field into use or is too large; without a page, nothing is committed', async (t) => {
    const { world } = await slowWorld(engine, t, 'replica');
    const { checkpoints } = world.store;
    await checkpoints.commit('feed', await pageOf(world, 'A'));
    const [old, other] = [await pageOf(world, 'B'), await pageOf(world, 'C', { City: 'Oslo' })];
    const [group] = old.records ?? [];
    const many = Array.from({ length: world.store.recordsAtOnce() + 1 }, () => group?.records ?? []).flat();
    const found: boolean[] = [];
    const { changes } = changesOf((fits) => {
      found.push(fits(old.records), fits(other.records), fits([{ resource: 'Property', records: many }]));
      return undefined;
    });
    const { changes: before } = await world.store.changesKnown().then(({ last }) => ({ changes: last }));
    assert.equal((await checkpoints.commitTogether('feed', undefined, changes)).stamp, '');
    assert.deepEqual(found, [true, false, false]);
    assert.equal((await world.store.changesKnown()).last, before);
  });

  test('a process that has lost its lease stores nothing', async (t) => {
    const { world } = await slowWorld(engine, t, 'replica');
    const { checkpoints } = world.store;
    await checkpoints.commit('feed', await pageOf(world, 'A'));
    const b = await pageOf(world, 'B');
    const now = world.clock.now();
    assert.ok(await checkpoints.lease('feed', { holder: 'other', now, until: now + 60_000 }));
    const lease = { holder: 'this', now, until: now + 60_000 };
    await assert.rejects(checkpoints.commitTogether('feed', lease, changesOf(() => b).changes), LeaseLost);
    assert.deepEqual(await world.keys('Property'), ['A']);
  });
}
