/** Native sources that offer little: one does not filter by keys, which the specification does not list (4.3), one expands nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, testClock } from '../../../support/clock.ts';
import type { Json } from '../../../support/world.ts';
import { change, keyOf, keysUpTo, listings } from '../../support/feed.ts';
import type { Reply, Seen } from '../../support/loopback.ts';
import { failure, type NativeServer, nativeServer, success } from '../../support/native-server.ts';
import { makeReplica } from '../../support/replica.ts';

const photoOf = (key: string): Json => ({ Id: `${key}-p`, Uri800: `https://img.example/${key}` });
const COUNT = 205;

const isForKeys = ({ query }: Seen): boolean => /^ListingKey Eq/.test(query.get('_filter') ?? '');

/** Serves listings and their sub-resources at their paths, and unless it filters by keys, refuses that. */
function bySpecification(server: NativeServer, filtersByKey = false): (seen: Seen) => Reply | undefined {
  return (seen) => {
    const [collection, key, part] = seen.path.replace('/v1/', '').split('/');
    if (collection !== 'listings') return undefined;
    if (isForKeys(seen) && !filtersByKey) return failure(400, 1040, 'Only gt, lt and bt');
    if (key === undefined) return undefined;
    const found = server.listings.find(({ ListingKey }) => ListingKey === key);
    if (found === undefined || part === undefined) return failure(404, 404, 'Nothing there');
    const members = part === 'photos' && Array.isArray(found.Photos) ? found.Photos : [];
    const skip = Number(seen.query.get('_skip'));
    return success(members.slice(skip, skip + Number(seen.query.get('_limit'))));
  };
}

for (const tokenTakesItsOwn of [false, true]) {
  const what = tokenTakesItsOwn ? 'includes its record' : 'excludes its record';
  test(`a source that does not filter by keys, and whose token ${what}, is copied with its sub-resources`, async (t) => {
    const clock = testClock();
    const photos = (number: number): Json =>
      number === 3
        ? { Photos: Array.from({ length: COUNT }, (_, at) => photoOf(`${keyOf(3)}-${1000 + at}`)) }
        : { Photos: [photoOf(keyOf(number))] };
    const server = await nativeServer(t, clock, listings(12, clock, photos));
    server.tokenTakesItsOwn = tokenTakesItsOwn;
    server.intercept = bySpecification(server);
    const resources = ['Property'];
    const replica = await makeReplica(t, { from: server.root, interface: 'native', clock, resources });

    assert.equal(await replica.replicate(), 'done');
    assert.deepEqual(await replica.keys('Property'), keysUpTo(12));
    assert.equal((await replica.keys('Media')).length, COUNT + 11);
    const refused = server.seen.filter(isForKeys).length;

    clock.advance(DAY);
    change(server.listings, keyOf(5), { Photos: [] }, clock);
    // Only the sweep finds a listing that became visible. A longer key lies before it, and it is the last one of its length.
    const old = { ModificationTimestamp: '2026-05-01T00:00:00Z' };
    const [first = {}] = server.listings;
    for (const key of ['2999', '29990', '3000'])
      server.listings.push({ ...first, ...old, ListingKey: key, Photos: [photoOf(key)] });
    clock.advance(600_000);
    assert.equal(await replica.replicate(), 'done');
    assert.deepEqual(await replica.keys('Property'), [...keysUpTo(12), '2999', '29990', '3000']);
    assert.equal((await replica.keys('Media')).length, COUNT + 13);
    assert.deepEqual(await replica.quarantine(), []);
    const verified = await replica.verify();
    assert.deepEqual(
      verified.flatMap(({ differences }) => differences),
      [],
    );
    // A run finds out once.
    assert.ok(server.seen.filter(isForKeys).length <= 3 * refused, `${refused}`);
  });
}

for (const filtersByKey of [true, false]) {
  const what = filtersByKey ? 'filters by keys' : 'does not filter by keys';
  test(`a source that ignores _expand, and ${what}, is asked for the sub-resources of each listing, also in updates`, async (t) => {
    const clock = testClock();
    const photos = (number: number): Json => ({
      Photos: number < 3 ? [] : [photoOf(keyOf(number))],
      PhotosChangeTimestamp: '2026-05-01T00:00:00Z',
    });
    const server = await nativeServer(t, clock, listings(12, clock, photos));
    server.expands = false;
    server.intercept = bySpecification(server, filtersByKey);
    const resources = ['Property'];
    const replica = await makeReplica(t, { from: server.root, interface: 'native', clock, resources });
    assert.equal(await replica.replicate(), 'done');
    const expected = keysUpTo(10, 3).map((key) => `${key}-p`);
    assert.deepEqual(await replica.keys('Media'), expected);

    clock.advance(DAY);
    change(server.listings, keyOf(1), { Photos: [photoOf(keyOf(1))] }, clock);
    clock.advance(1000);
    change(server.listings, keyOf(5), { Photos: [] }, clock);
    clock.advance(600_000);
    const before = server.seen.length;
    assert.equal(await replica.replicate({ step: 'update' }), 'done');
    const now = [`${keyOf(1)}-p`, ...expected.filter((key) => key !== `${keyOf(5)}-p`)];
    assert.deepEqual(await replica.keys('Media'), now);
    const asked = server.seen.slice(before).filter(({ path }) => path.endsWith('/rooms'));
    assert.equal(asked.length, 2, 'only for the listings that changed');
    // A listing that becomes visible is requested by its key.
    const [, , third = {}] = server.listings;
    const old = { ModificationTimestamp: '2026-05-01T00:00:00Z', Photos: [photoOf('2999')] };
    server.listings.push({ ...third, ...old, ListingKey: '2999' });
    clock.advance(DAY);
    assert.equal(await replica.replicate(), 'done');
    assert.deepEqual(await replica.keys('Media'), [...now, '2999-p']);
    const verified = await replica.verify();
    assert.deepEqual(
      verified.flatMap(({ differences }) => differences),
      [],
    );
    assert.equal(verified.find(({ resource }) => resource === 'Media')?.atSource, now.length + 1);
    assert.deepEqual(await replica.quarantine(), []);
  });
}

test('custom fields of a source that ignores _expand for sub-resources are copied with them', async (t) => {
  const clock = testClock();
  const parts = (number: number): Json => ({
    Photos: [photoOf(keyOf(number))],
    CustomFields: [{ Main: [{ Features: [{ Pool: `${number}` }] }] }],
  });
  const server = await nativeServer(t, clock, listings(3, clock, parts));
  server.expands = false;
  server.intercept = bySpecification(server, true);
  const resources = ['Property'];
  const replica = await makeReplica(t, { from: server.root, interface: 'native', clock, resources });
  const options = { customFields: true } as const;
  assert.equal(await replica.replicate(options), 'done');
  assert.equal((await replica.keys('Media')).length, 3);
  clock.advance(DAY);
  change(server.listings, keyOf(2), { Photos: [] }, clock);
  clock.advance(600_000);
  assert.equal(await replica.replicate(options), 'done');
  assert.deepEqual(await replica.keys('Media'), [`${keyOf(1)}-p`, `${keyOf(3)}-p`]);
  for (const { differences } of await replica.verify(options)) assert.deepEqual(differences, []);
});
