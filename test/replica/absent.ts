/**
 * Quarantined records that the source no longer has: every step that discovers this removes them from the quarantine, and nothing
 * stores them.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryQuarantined } from '../../src/replica/quarantine.ts';
import { isCopyEqual } from '../../src/replica/verify/results.ts';
import { listing, member, office, photo } from '../support/builders.ts';
import { SECOND } from '../support/clock.ts';
import type { Engine, Scope } from '../support/engine.ts';
import type { Json } from '../support/world.ts';
import { keyOf, keysUpTo } from './support/feed.ts';
import { type Feed, platFeed, type WatchedReplica } from './support/plat-source.ts';
import { SOURCE } from './support/replica.ts';

const HOUR = 3600 * SECOND;

const entry = (resource: string, key: string, payload: Json) => {
  return { resource, key, reason: 'odd', payload: JSON.stringify(payload) };
};

/** Entries for records that the source never had, for members of a listing, and for records without a key or parent. */
const RECORDS = [
  entry('Member', 'mx', { MemberKey: 'mx', MemberFullName: 'Gone' }),
  entry('Property', '2001', { ListingKey: '2001', ListPrice: 1 }),
  entry('Property', '2002/Media', { wanted: 'Media', key: '2002' }),
];
const PARTS = [
  entry('Media', 'px', { MediaKey: 'px', ResourceName: 'Property', ResourceRecordKey: keyOf(1) }),
  entry('Media', 'py', { MediaKey: 'py', ResourceName: 'Property', ResourceRecordKey: '2001' }),
];
const NAMELESS = [
  entry('Media', 'pz', { MediaKey: 'pz', MediaURL: 7 }),
  entry('Property', '#AAAAAAAAAAAAAAAA', { ListPrice: 'x' }),
];
const keysOf = (entries: typeof RECORDS): string[][] => entries.map(({ resource, key }) => [resource, key]);
const byName = (one: readonly string[], other: readonly string[]): number =>
  one.join(' ') < other.join(' ') ? -1 : 1;

export function absentContract(engine: Engine, kind: 'reso' | 'native'): void {
  const name = `${kind}, ${engine.name}`;

  /** A copy of three listings with the given quarantine. */
  async function copied(
    scope: Scope,
    quarantine: typeof RECORDS,
  ): Promise<{ feed: Feed; replica: WatchedReplica }> {
    const feed = await platFeed(scope);
    await feed.write('Office', office('o'));
    await feed.write('Member', member('m1'));
    await feed.write(
      'Property',
      ...keysUpTo(3).map((key) => listing(key, { ListAgentKey: 'm1', Media: [photo(`p${key}`)] })),
    );
    feed.clock.advance(HOUR);
    const replica = await feed.replica(scope, kind, { engine });
    assert.equal(await replica.replicate(), 'done');
    await replica.store.checkpoints.commit(SOURCE, { quarantine });
    feed.clock.advance(HOUR);
    return { feed, replica };
  }
  const left = async (replica: WatchedReplica): Promise<string[][]> =>
    (await replica.quarantine()).map(([resource, key]) => [resource, key]).toSorted(byName);
  const removed = (replica: WatchedReplica): string[][] =>
    replica
      .reported('gone')
      .flatMap(({ resource, keys }) => keys.map((key) => [resource, key]))
      .toSorted(byName);

  test(`${name}: quarantined records that the source no longer has are not a difference; a purge and a refresh remove them`, async (t) => {
    const every = [...RECORDS, ...PARTS, ...NAMELESS];
    const { feed, replica } = await copied(t, every);
    const before = await replica.verify();
    assert.ok(isCopyEqual(before));
    const gone = before.flatMap(({ resource, gone: keys = [] }) => keys.map((key) => [resource, key]));
    assert.deepEqual(gone.toSorted(byName), keysOf(every).toSorted(byName));
    assert.equal((await replica.quarantine()).length, every.length, 'verify stores nothing');

    assert.equal(await replica.replicate({ step: 'purge' }), 'done');
    // If neither key nor parent is known, only a complete download shows that the source no longer has the record.
    assert.deepEqual(await left(replica), [['Media', 'pz']]);
    const purged = every.filter(({ key }) => key !== 'pz');
    assert.deepEqual(removed(replica), keysOf(purged).toSorted(byName));
    feed.clock.advance(HOUR);
    assert.equal(await replica.replicate({ refresh: true }), 'done');
    assert.deepEqual(await replica.quarantine(), []);
    assert.ok(isCopyEqual(await replica.verify()));
  });

  test(`${name}: a retry stores only what the source still has, whether it asks now or leaves that to the next run`, async (t) => {
    const { feed, replica } = await copied(t, [...RECORDS, ...PARTS]);
    assert.deepEqual(await replica.retry(), { stored: 0, wanted: 0, gone: 5, still: [] });
    assert.deepEqual(await replica.quarantine(), []);
    assert.ok(isCopyEqual(await replica.verify()));

    await replica.store.checkpoints.commit(SOURCE, { quarantine: [...RECORDS, ...PARTS] });
    const { clock } = feed;
    assert.deepEqual(await retryQuarantined(replica.store, { clock }), {
      stored: 0,
      wanted: 5,
      gone: 0,
      still: [],
    });
    clock.advance(HOUR);
    assert.equal(await replica.replicate({ step: 'update' }), 'done');
    assert.deepEqual(await left(replica), []);
    assert.ok(isCopyEqual(await replica.verify()));
  });
}
