/** The sequence of changes: each written record once per commit, in commit order, with any number of writers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILT_IN_ACCESS } from '../../../src/access/index.ts';
import { BEFORE_ALL, type Changes } from '../../../src/store/changes/change-follower.ts';
import type { Store } from '../../../src/store/store.ts';
import { listing, photo } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import { type Engine, runsOn } from '../../support/engine.ts';
import { temporaryFile } from '../../support/temporary.ts';
import { makeWorld, operations } from '../../support/world.ts';

/** A follower that begins at the end of the sequence. */
async function followerOf(store: Pick<Store, 'changesSince'>) {
  let position = (await recordsIn(store, BEFORE_ALL)).position;
  return {
    async changes(): Promise<unknown> {
      const changes = await store.changesSince(position);
      if (changes.kind !== 'behind') position = changes.position;
      return changes.kind === 'records' ? plain(changes) : changes.kind;
    },
  };
}

async function recordsIn(store: Pick<Store, 'changesSince'>, since: number) {
  const changes = await store.changesSince(since);
  assert.ok(changes.kind === 'records', changes.kind);
  return changes;
}

/** Without the values of lookups, which the store publishes itself. */
const plain = ({ keys }: Changes & { kind: 'records' }): Record<string, readonly string[]> =>
  Object.fromEntries(
    [...keys]
      .filter(([resource]) => resource !== 'Lookup')
      .map(([resource, found]) => [resource, [...found]]),
  );

export function changesContract(engine: Engine): void {
  test('the sequence has every record that a write stores, restamps or deletes, and no other', async (t) => {
    const { store, write } = await makeWorld(engine, t);
    const { changes } = await followerOf(store);
    await write('Property', listing('A', { Media: [photo('M1')] }), listing('B'));
    assert.deepEqual(await changes(), { Property: ['A', 'B'], Media: ['M1'] });
    await write('Property', listing('A', { Media: [photo('M1')] }), listing('B'));
    assert.deepEqual(await changes(), {}, 'nothing was changed');
    await write('Property', listing('A', { Media: [photo('M1'), photo('M2')] }));
    assert.deepEqual(await changes(), { Property: ['A'], Media: ['M2'] });
    await write('Media', { ...photo('M1'), ResourceName: 'Property', ResourceRecordKey: 'B' });
    assert.deepEqual(await changes(), { Property: ['A', 'B'], Media: ['M1'] });
    await store.remove('Property', ['A']);
    assert.deepEqual(await changes(), { Media: ['M2'], Property: ['A'] });
    await write('Member', { MemberKey: 'X' });
    assert.deepEqual(await changes(), { Member: ['X'] });
    assert.deepEqual(await changes(), {});
  });

  test('the sequence has the records whose visibility changes with a new day or new rules', async (t) => {
    const clock = testClock('2026-05-31T23:59:00Z');
    const { store, write, again } = await makeWorld(engine, t, { clock });
    const seeing = (rule: string) =>
      store.configure((settings) => ({
        ...settings,
        access: {
          ...BUILT_IN_ACCESS,
          roles: [
            ...BUILT_IN_ACCESS.roles,
            { name: 'partner', classes: ['idx'], resources: { Property: rule } },
          ],
        },
      }));
    await seeing('ListingContractDate ge {today}');
    await write(
      'Property',
      listing('A', { ListingContractDate: '2026-05-31' }),
      listing('B', { ListingContractDate: '2026-06-01' }),
    );
    const { changes } = await followerOf(store);
    clock.set('2026-06-01T00:00:00Z');
    await again();
    assert.deepEqual(await changes(), { Property: ['A'] });
    await seeing('ListingContractDate ge {today - 1 days}');
    assert.deepEqual(await changes(), { Property: ['A'] });
  });

  test('after a new epoch, a repair, or for a position that never existed, everything counts as changed', async (t) => {
    const { store } = await makeWorld(engine, t);
    const { changes } = await followerOf(store);
    await store.beginEpoch({});
    assert.equal(await changes(), 'everything');
    const { position } = await recordsIn(store, (await lastOf(store)).position);
    assert.ok(position > 1_000_000_000, 'numbers of the abandoned timeline do not recur');
    await store.mend(undefined);
    const { resources } = await recordsIn(store, position);
    assert.ok(resources.has('Property'));
    assert.equal((await store.changesSince(position - 2)).kind, 'everything', 'there is no such entry');
    assert.equal((await store.changesSince(position + 1000)).kind, 'behind');
  });

  test('old entries are compacted, and a reader at a position before that has to read everything', async (t) => {
    const clock = testClock('2026-06-01T12:00:00Z');
    const { store, write, again } = await makeWorld(engine, t, {
      clock,
      settings: { changesKept: { days: 1 } },
    });
    await write('Property', listing('A'));
    const { position } = await lastOf(store);
    await write('Property', listing('B'));
    assert.deepEqual(plain(await recordsIn(store, position)), { Property: ['B'] });
    clock.set('2026-06-03T12:00:00Z');
    await again();
    await write('Property', listing('C'));
    assert.equal((await store.changesSince(position)).kind, 'everything');
    const { position: now } = await lastOf(store);
    assert.deepEqual(plain(await recordsIn(store, now)), {});
  });

  test('a backup continues the sequence', async (t) => {
    const { store, write, copy } = await makeWorld(engine, t);
    await write('Property', listing('A'));
    const { position } = await lastOf(store);
    const file = temporaryFile();
    await store.backup(file);
    const copied = await copy(file);
    assert.deepEqual(plain(await recordsIn(copied, position)), {});
    await copied.remove('Property', ['A']);
    assert.deepEqual(plain(await recordsIn(copied, position)), { Property: ['A'] });
  });

  test('with several writers, a reader that has seen a number never finds a smaller one later', async (t) => {
    const { store, again, clock } = await makeWorld(engine, t);
    const writers = [store, await again(), await again()].map((each) => operations(each, clock));
    const follower = await again();
    let isWriting = true;
    const rounds = Math.max(2, runsOn(engine, 12));
    const writing = Promise.all(
      writers.map(async ({ write }, writer) => {
        for (let round = 0; round < rounds; round++) {
          const keys = Array.from({ length: 5 }, (_, index) => `${writer}-${round}-${index}`);
          await write('Property', ...keys.map((key) => listing(key)));
        }
      }),
    ).finally(() => {
      isWriting = false;
    });
    const seen: string[] = [];
    let { position } = await lastOf(follower);
    for (let isLast = false; !isLast; ) {
      isLast = !isWriting;
      const changes = await recordsIn(follower, position);
      assert.ok(changes.position >= position);
      seen.push(...(changes.keys.get('Property') ?? []));
      position = changes.position;
      await new Promise(setImmediate);
    }
    await writing;
    const all = writers.flatMap((_, writer) =>
      Array.from({ length: rounds * 5 }, (__, index) => `${writer}-${Math.floor(index / 5)}-${index % 5}`),
    );
    assert.deepEqual(seen.toSorted(), all.toSorted());
  });
}

async function lastOf(store: Pick<Store, 'changesSince'>): Promise<{ readonly position: number }> {
  const changes = await store.changesSince(BEFORE_ALL);
  assert.ok(changes.kind !== 'behind');
  return changes;
}
