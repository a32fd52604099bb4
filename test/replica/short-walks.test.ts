/** Walks with fewer records than the source announced, and rows without a key: neither causes a deletion or proves a copy equal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testClock } from '../support/clock.ts';
import type { Scope } from '../support/engine.ts';
import { keyOf, keysUpTo, listings, take } from './support/feed.ts';
import { json, type Reply, type Seen } from './support/loopback.ts';
import { type ODataServer, odataServer, PROBES, type Traits } from './support/odata-server.ts';
import { makeReplica, type TestReplica } from './support/replica.ts';

interface Scene {
  readonly server: ODataServer;
  readonly replica: TestReplica;
}

/** Twelve listings in pages of four, announced as twelve. */
async function scene(scope: Scope, traits: Partial<Traits> = {}): Promise<Scene> {
  const clock = testClock();
  const records = { Property: listings(12, clock) };
  const server = await odataServer(scope, clock, records, { page: 4, counts: true, ...traits });
  const resources = ['Property'];
  return {
    server,
    replica: await makeReplica(scope, { from: server.root, interface: 'reso', clock, resources }),
  };
}

const isPage = ({ path, query }: Seen): boolean =>
  path === '/odata/Property' && !PROBES.has(query.get('$top')) && !query.has('$filter');
const isKeys = (seen: Seen): boolean => isPage(seen) && seen.query.has('$select');
const isDownload = (seen: Seen): boolean => isPage(seen) && !seen.query.has('$select');

/** The second page, as if it were the last one of a walk: it has no link. */
const cutShort = ({ records }: ODataServer): Reply =>
  json({ '@odata.count': 12, value: (records.get('Property') ?? []).slice(4, 8) });
const isSecond = ({ query }: Seen): boolean => query.get('$skiptoken') === '4.0';

const walks = ({ server }: Scene, is: (seen: Seen) => boolean): number =>
  server.seen.filter((seen) => is(seen) && !seen.query.has('$skiptoken') && !seen.query.has('$skip')).length;

for (const key of [null, '']) {
  test(`a page of keys with a row whose key is ${JSON.stringify(key)} never leads to a deletion`, async (t) => {
    const { server, replica } = await scene(t);
    await replica.replicate({ step: 'initial' });
    server.intercept = (seen) =>
      isKeys(seen) && isSecond(seen) ? json({ '@odata.count': 1, value: [{ ListingKey: key }] }) : undefined;
    assert.equal(await replica.replicate({ step: 'purge', force: true }), 'unsure');
    assert.deepEqual(await replica.keys('Property'), keysUpTo(12));
    assert.deepEqual(replica.reported('unsure'), [
      { resource: 'Property', reason: 'a row arrived without its key' },
    ]);
    assert.equal((await replica.status()).lastPurge, undefined, 'the purge stays due');
  });
}

test('a record with an empty key stays in the quarantine: the sweep does not take it for one that is gone', async (t) => {
  const { server, replica } = await scene(t);
  server.records.get('Property')?.push({ ListingKey: '', ListPrice: 5 });
  await replica.replicate();
  assert.deepEqual(
    (await replica.quarantine()).map(([resource, , reason]) => [resource, reason]),
    [['Property', 'The record has no ListingKey']],
  );
});

test('a record without a key is quarantined, and does not keep a purge from deleting others', async (t) => {
  const { server, replica } = await scene(t);
  const list = server.records.get('Property') ?? [];
  await replica.replicate({ step: 'initial' });
  // No window has this record, so the first purge is the first to learn of it.
  const nameless = { ListingKey: null, ModificationTimestamp: '2020-01-01T00:00:00Z' };
  list.unshift(nameless, { ...nameless });
  list.pop();
  const purge = async () => [
    await replica.replicate({ step: 'purge' }),
    (await replica.keys('Property')).length,
    ...(await replica.quarantine()).map(([, , reason]) => reason),
  ];
  const reason = 'ListingKey is null, which is not a key';
  assert.deepEqual(await purge(), ['unsure', 12, reason]);
  assert.equal(replica.reported('quarantined').length, 1, 'both rows look the same');
  // From now on, the row is known to be of that record.
  assert.deepEqual(await purge(), ['done', 11, reason]);
  list.pop();
  assert.deepEqual(await purge(), ['done', 10, reason]);
  Object.assign(nameless, { ListingKey: keyOf(77), StandardStatus: 'Active' });
  list.splice(1, 1);
  assert.deepEqual(await purge(), ['done', 11]);
});

test('a row without a key on a broken page does not cause a deletion because another record has no key', async (t) => {
  const { server, replica } = await scene(t);
  server.records.get('Property')?.push({ ListingKey: null });
  await replica.replicate();
  let broken = 0;
  server.intercept = (seen) =>
    isKeys(seen) && isSecond(seen) && broken++ === 0
      ? json({ '@odata.count': 1, value: [{ ListingKey: null }] })
      : undefined;
  assert.equal(await replica.replicate({ step: 'purge', force: true }), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(12));
});

test('a row that may hide its key keeps a purge from deleting, whatever is in the quarantine', async (t) => {
  const { server, replica } = await scene(t);
  server.records.get('Property')?.push({ ListingKey: null });
  await replica.replicate();
  server.records.get('Property')?.splice(11, 1);
  server.intercept = (seen) => {
    if (!isKeys(seen) || !isSecond(seen)) return undefined;
    assert.doesNotMatch(String(seen.headers.prefer), /omit-values/, 'a key that is null would be omitted');
    return json({ value: [{}] });
  };
  assert.equal(await replica.replicate({ step: 'purge' }), 'unsure');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(12));
});

/** The records of the last page are in no walk, but are announced and can be requested by key. */
const hideLast = (server: ODataServer): void => {
  server.intercept = (seen) =>
    isPage(seen) && isSecond(seen)
      ? json({ '@odata.count': 12, value: (server.records.get('Property') ?? []).slice(4, 8) })
      : undefined;
};

test('verify compares the stored records that its walk does not return', async (t) => {
  const { server, replica } = await scene(t);
  await replica.replicate();
  hideLast(server);
  const last = server.records.get('Property')?.at(-1) ?? {};
  Object.assign(last, { ListPrice: 77 });
  assert.deepEqual(await replica.verify(), [
    {
      resource: 'Property',
      atSource: 12,
      stored: 12,
      compared: 12,
      pending: 0,
      differences: [{ resource: 'Property', key: keyOf(12), kind: 'content', fields: ['ListPrice'] }],
    },
  ]);
});

test('verify reports that a source announces more records than it returns', async (t) => {
  const { server, replica } = await scene(t);
  hideLast(server);
  await replica.replicate();
  const [property] = await replica.verify();
  assert.deepEqual([property?.atSource, property?.announced, property?.differences], [8, 12, []]);
});

test('verify walks over the keys again if its walk was short, and finds what neither it nor the copy had', async (t) => {
  const { server, replica } = await scene(t);
  hideLast(server);
  await replica.replicate();
  let cuts = 0;
  server.intercept = (seen) =>
    isPage(seen) && isSecond(seen) && cuts++ === 0 ? cutShort(server) : undefined;
  const [property] = await replica.verify();
  assert.deepEqual(
    property?.differences.map(({ key, kind }) => [key, kind]),
    keysUpTo(4, 9).map((key) => [key, 'missing']),
  );
  assert.equal(property?.announced, undefined);
});

test('verify walks over the keys again if the source pages by offset, which hides rows beside a deletion', async (t) => {
  const { server, replica } = await scene(t, { links: 'none', counts: false });
  await replica.replicate();
  const records = server.records.get('Property') ?? [];
  records.push(...listings(13, testClock()).slice(12));
  let skipped = 0;
  // The last record moves forward by one while the second walk is at its last page.
  server.intercept = (seen) => {
    const isLast = isDownload(seen) && seen.query.get('$skip') === '12';
    return isLast && skipped++ === 0 ? json({ value: [] }) : undefined;
  };
  const [property] = await replica.verify();
  assert.equal(skipped, 1);
  assert.deepEqual(
    property?.differences.map(({ key, kind }) => [key, kind]),
    [[keyOf(13), 'missing']],
  );
});

test('a walk of keys that ends before the announced number is repeated, and nothing is deleted', async (t) => {
  const { server, replica } = await scene(t);
  await replica.replicate({ step: 'initial' });
  let cuts = 0;
  server.intercept = (seen) =>
    isKeys(seen) && isSecond(seen) && cuts++ === 0 ? cutShort(server) : undefined;
  assert.equal(await replica.replicate({ step: 'purge', force: true }), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(12));
  assert.deepEqual(replica.reported('again'), [
    { resource: 'Property', step: 'sweep', reason: 'The walk ended after 8 of 12 records' },
  ]);
  assert.deepEqual(replica.reported('short'), []);
});

test('two walks of keys that end at the same place count as complete: a wrong count does not block the purge for ever', async (t) => {
  const { server, replica } = await scene(t);
  await replica.replicate({ step: 'initial' });
  server.intercept = (seen) => (isKeys(seen) && isSecond(seen) ? cutShort(server) : undefined);
  assert.equal(await replica.replicate({ step: 'purge', force: true }), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(8));
  assert.deepEqual(replica.reported('short'), [
    { resource: 'Property', step: 'sweep', rows: 8, announced: 12 },
  ]);
});

test('a download that ends before the announced number is repeated', async (t) => {
  const at = await scene(t);
  const { server, replica } = at;
  let cuts = 0;
  server.intercept = (seen) =>
    isDownload(seen) && isSecond(seen) && cuts++ === 0 ? cutShort(server) : undefined;
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(12));
  assert.deepEqual(replica.reported('again'), [
    { resource: 'Property', step: 'initial', reason: 'The walk ended after 8 of 12 records' },
  ]);
  assert.equal(walks(at, isDownload), 2);
});

test('a download that ends twice at the same place counts as complete, and that is reported', async (t) => {
  const at = await scene(t);
  const { server, replica } = at;
  server.intercept = (seen) => (isPage(seen) && isSecond(seen) ? cutShort(server) : undefined);
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(8));
  assert.deepEqual(replica.reported('short'), [
    { resource: 'Property', step: 'initial', rows: 8, announced: 12 },
    { resource: 'Property', step: 'sweep', rows: 8, announced: 12 },
  ]);
  assert.equal(walks(at, isDownload), 2);
});

test('records that are deleted or added behind a walk do not cause another one', async (t) => {
  const at = await scene(t);
  const { server, replica } = at;
  const list = server.records.get('Property') ?? [];
  server.intercept = (seen) => {
    if (isDownload(seen) && isSecond(seen)) take(list, keyOf(11), keyOf(12));
    return undefined;
  };
  await replica.replicate({ step: 'initial' });
  let before: string | null | undefined;
  server.intercept = (seen) => {
    // One more record, with a key that the walk has already passed.
    if (isKeys(seen) && isSecond(seen) && before === undefined) {
      before = seen.query.get('$skiptoken');
      const [first = {}] = list;
      list.push({ ...first, ListingKey: '0001' });
      return json({ '@odata.count': 11, value: keysUpTo(6, 5).map((ListingKey) => ({ ListingKey })) });
    }
    return undefined;
  };
  assert.equal(await replica.replicate({ step: 'purge' }), 'done');
  assert.deepEqual([walks(at, isDownload), walks(at, isKeys)], [1, 1]);
  assert.deepEqual([replica.reported('again'), replica.reported('short')], [[], []]);
  assert.deepEqual(await replica.keys('Property'), keysUpTo(10));
});

test('a server with offset paging whose count covers only the page is read to its end', async (t) => {
  const { server, replica } = await scene(t, { links: 'none', page: 5 });
  server.intercept = (seen) => {
    if (!isPage(seen) || !seen.query.has('$count')) return undefined;
    const from = Number(seen.query.get('$skip') ?? 0);
    const value = (server.records.get('Property') ?? []).slice(from, from + 5);
    return json({ '@odata.count': value.length, value });
  };
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(12));
  assert.deepEqual(replica.reported('short'), []);
});

test('a source that announces no number is walked once', async (t) => {
  const at = await scene(t, { counts: false });
  await at.replica.replicate();
  assert.deepEqual([walks(at, isDownload), walks(at, isKeys)], [1, 1]);
});
