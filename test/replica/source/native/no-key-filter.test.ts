/** A native source that offers what the specification lists and nothing else: it does not filter by keys (4.3, _filter). */
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

/** Refuses what the specification does not list, and serves the sub-resources of a listing at their paths. */
function bySpecification(server: NativeServer): (seen: Seen) => Reply | undefined {
  return (seen) => {
    const [collection, key, part] = seen.path.replace('/v1/', '').split('/');
    if (collection !== 'listings') return undefined;
    if (isForKeys(seen)) return failure(400, 1040, 'Only gt, lt and bt');
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
