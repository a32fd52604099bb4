/** Servers that support other requests for single records and sub-data, or lack some of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listing } from '../../../support/builders.ts';
import { DAY, SECOND, testClock } from '../../../support/clock.ts';
import type { Scope } from '../../../support/engine.ts';
import type { Json } from '../../../support/world.ts';
import { change, keyOf, keysUpTo, listings, take, withPhotos } from '../../support/feed.ts';
import { json, type Reply, type Seen } from '../../support/loopback.ts';
import { metadataOf, odataServer } from '../../support/odata-server.ts';
import { makeReplica, SOURCE } from '../../support/replica.ts';

const HOUR = 3600 * SECOND;
const MISSING: Reply = { status: 404, body: 'no such path' };
const isRecord = ({ path }: Seen): boolean => /^\/odata\/Property\('[^']*'\)$/.test(path);
const isMedia = ({ path }: Seen): boolean => path.endsWith('/Media');

async function scene(scope: Scope, fields?: (number: number) => Json, paths = false) {
  const clock = testClock();
  const server = await odataServer(scope, clock, { Property: listings(6, clock, fields) }, { paths });
  const resources = ['Property'];
  const replica = await makeReplica(scope, { from: server.root, interface: 'reso', clock, resources });
  const list = server.records.get('Property') ?? [];
  return { clock, server, replica, list };
}

const PHOTOS = keysUpTo(6).flatMap((key) =>
  Array.from({ length: (Number(key) - 1000) % 3 }, (_, at) => `${key}-${at}`),
);

const NOT_THERE: readonly [string, Reply][] = [
  ['nothing', MISSING],
  ['an empty list', json({ value: [] })],
];
for (const [what, reply] of NOT_THERE) {
  test(`if ${what} is at Property(key), single records are read by a filter: a sweep fetches listings that became visible`, async (t) => {
    const { clock, server, replica, list } = await scene(t);
    server.intercept = (seen) => (isRecord(seen) ? reply : undefined);
    await replica.replicate();
    list.push(listing(keyOf(9), { ModificationTimestamp: '2020-01-01T00:00:00Z' }));
    clock.advance(DAY);
    assert.equal(await replica.replicate(), 'done');
    assert.deepEqual(await replica.keys('Property'), [...keysUpTo(6), keyOf(9)]);
    assert.ok(
      (await replica.status()).abilities.includes('returns a record by a filter on its key, not at its URL'),
    );
  });
}

for (const collections of [['Media'], []]) {
  const declared = collections.length > 0 ? 'declared' : 'not declared';
  test(`a source that fails at the paths of sub-data, which are ${declared}`, async (t) => {
    const { server, replica } = await scene(t);
    server.traits.metadata = metadataOf({ ModificationTimestamp: 'Edm.DateTimeOffset' }, collections);
    server.intercept = (seen) => (isMedia(seen) ? { status: 500, body: 'Unexpected character' } : undefined);
    const run = replica.replicate();
    // Declared ones exist, so their failure is one of the source.
    await (collections.length > 0 ? assert.rejects(run, { kind: 'transient' }) : run);
    assert.deepEqual(await replica.keys('Property'), keysUpTo(6));
    assert.equal(
      (await replica.status()).abilities.includes('the source returns no sub-resources'),
      collections.length === 0,
    );
  });
}

for (const [way, filters] of [
  ['by a filter', true],
  ['in no way', false],
] as const) {
  test(`without Property(key) verify finds the same differences when it reads records again ${way}`, async (t) => {
    const { server, replica, list } = await scene(t);
    server.intercept = (seen) => {
      const isOne = isRecord(seen) || (!filters && / eq '/.test(seen.query.get('$filter') ?? ''));
      return isOne ? MISSING : undefined;
    };
    await replica.replicate();
    list[2] = { ...list[2], City: 'Elsewhere' };
    await replica.store.remove('Property', [keyOf(5)]);
    const [verified] = await replica.verify();
    assert.deepEqual(
      verified?.differences.map(({ key, kind, fields }) => [key, kind, ...fields]),
      [
        [keyOf(3), 'content', 'City'],
        [keyOf(5), 'missing'],
      ],
    );
  });
}

test('sub-data that the source sends separately is read separately by verify, and a difference in it counts', async (t) => {
  const { replica, list } = await scene(t, withPhotos, true);
  await replica.replicate();
  list[1] = { ...list[1], Media: [] };
  assert.deepEqual(
    (await replica.verify())[0]?.differences.map(({ key, kind, fields }) => [key, kind, ...fields]),
    [[keyOf(2), 'content', 'Media(1002-0) is not at the source', 'Media(1002-1) is not at the source']],
  );
});

test('a first listing without media at its URL does not mean that no listing has media', async (t) => {
  const { server, replica } = await scene(t, withPhotos, true);
  server.intercept = (seen) => (isMedia(seen) && seen.path.includes(keyOf(1)) ? MISSING : undefined);
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(
    await replica.keys('Media'),
    PHOTOS.filter((key) => !key.startsWith(keyOf(1))),
  );
});

test('media are also found at Property/key/Media, the path of the specification', async (t) => {
  const { server, replica, list } = await scene(t, withPhotos);
  server.intercept = ({ path }) => {
    const [, key] = /^\/odata\/Property\/(\d+)\/Media$/.exec(path) ?? [];
    const found = list.find(({ ListingKey }) => ListingKey === key);
    return found === undefined ? undefined : json({ value: found.Media });
  };
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.keys('Media'), PHOTOS);
});

test('numeric keys are written as numbers in URLs', async (t) => {
  const { server, replica, list } = await scene(t, withPhotos);
  for (const [at, each] of list.entries()) list[at] = { ...each, ListingKey: Number(each.ListingKey) };
  server.intercept = ({ path }) => {
    const [, key] = /^\/odata\/Property\((\d+)\)\/Media$/.exec(path) ?? [];
    const found = list.find(({ ListingKey }) => ListingKey === Number(key));
    return found === undefined ? undefined : json({ value: found.Media });
  };
  await replica.replicate({ step: 'initial' });
  assert.deepEqual(await replica.keys('Media'), PHOTOS);
});

test('when a source begins to offer sub-data, that of every stored listing is fetched', async (t) => {
  const { clock, server, replica } = await scene(t, withPhotos, true);
  server.intercept = (seen) => (isMedia(seen) ? MISSING : undefined);
  await replica.replicate();
  assert.deepEqual(await replica.keys('Media'), []);
  server.intercept = () => undefined;
  clock.advance(HOUR);
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.keys('Media'), PHOTOS);
});

test('if the source sends OpenHousesChangeTimestamp, open houses are requested only when it moved', async (t) => {
  const before = '2026-05-01T00:00:00Z';
  const { clock, server, replica, list } = await scene(
    t,
    () => ({ OpenHousesChangeTimestamp: before }),
    true,
  );
  await replica.replicate();
  const asked = (): number => server.seen.filter(({ path }) => path.endsWith('/OpenHouse')).length;
  const first = asked();
  clock.advance(HOUR);
  change(list, keyOf(1), { ListPrice: 7 }, clock);
  clock.advance(HOUR);
  await replica.replicate();
  assert.equal(asked() - first, 0);
  change(list, keyOf(1), { OpenHousesChangeTimestamp: clock.text() }, clock);
  clock.advance(HOUR);
  await replica.replicate();
  assert.equal(asked() - first, 1);
});

test('a feed that is empty when a watch begins is probed again once it has listings', async (t) => {
  const { clock, replica, list } = await scene(t, withPhotos, true);
  const all = [...list];
  take(list, ...keysUpTo(6));
  const stop = new AbortController();
  const end = clock.now() + 3 * HOUR;
  const fill = (): void => {
    if (list.length === 0)
      list.push(...all.map((each) => ({ ...each, ModificationTimestamp: clock.text() })));
    if (clock.now() > end) stop.abort();
  };
  const onEvent = ({ kind, ...facts }: { kind: string }): void => {
    if (kind === 'step' && 'step' in facts && facts.step === 'update') fill();
  };
  assert.equal(await replica.replicate({ watch: true, signal: stop.signal, onEvent }), 'stopped');
  assert.deepEqual(await replica.keys('Media'), PHOTOS);
  const { capabilities } = Object(await replica.store.checkpoints.state(SOURCE));
  assert.equal(capabilities.isProbed, true);
});
