/**
 * Sources that page by offset, but sort and filter by key: their records are read in the order of keys, so that no record is missed
 * and no offset is too large.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCopyEqual } from '../../../../src/replica/verify/results.ts';
import { listing, photo } from '../../../support/builders.ts';
import { testClock } from '../../../support/clock.ts';
import type { Scope } from '../../../support/engine.ts';
import type { Json } from '../../../support/world.ts';
import { change, keyOf, keysUpTo, listings, people, take } from '../../support/feed.ts';
import { json, type Seen } from '../../support/loopback.ts';
import { metadataOf, odataServer, type Traits } from '../../support/odata-server.ts';
import { makeReplica } from '../../support/replica.ts';

const KEYED = 'pages by filters on the key, instead of by offset';

/** A server with 150 listings in pages of 40, and a replica of it that is still empty. */
async function scene(scope: Scope, traits: Partial<Traits>) {
  const clock = testClock();
  const records = { Property: listings(150, clock) };
  const server = await odataServer(scope, clock, records, { page: 40, counts: true, sorts: true, ...traits });
  const resources = ['Property'];
  const replica = await makeReplica(scope, { from: server.root, interface: 'reso', clock, resources });
  return { server, replica, clock, list: server.records.get('Property') ?? [] };
}

/** Whether a request is for a later page of a walk in the order of keys. */
const isLaterPage = ({ path, query }: Seen): boolean =>
  path === '/odata/Property' && query.has('$count') && /ListingKey gt/.test(query.get('$filter') ?? '');

const KINDS: readonly Pick<Traits, 'links' | 'top'>[] = [
  { links: 'none', top: 'page' },
  { links: 'offset', top: 'page' },
  { links: 'offset', top: 'total' },
  { links: 'offset-token', top: 'page' },
  { links: 'offset-token', top: 'total' },
];

for (const { links, top } of KINDS) {
  const name = `links: ${links}, $top: ${top}`;

  test(`${name}: records that leave a window while it is read hide none of the others, and no window is read again`, async (t) => {
    const { server, replica, clock, list } = await scene(t, { links, top });
    await replica.replicate();
    for (const key of keysUpTo(150)) {
      clock.advance(1000);
      change(list, key, { ListPrice: 7 }, clock);
    }
    clock.advance(600_000);
    let changed = 0;
    server.intercept = (seen) => {
      if (isLaterPage(seen) && changed++ === 0) {
        clock.advance(120_000);
        for (const key of keysUpTo(12)) change(list, key, { ListPrice: 8 }, clock);
      }
      return undefined;
    };
    await replica.replicate({ step: 'update' });
    assert.ok(changed > 2, `${changed} later pages`);
    clock.advance(600_000);
    await replica.replicate({ step: 'update' });
    const rows = await replica.rows('Property', '$select=ListPrice&$top=200');
    assert.deepEqual(
      rows.map(({ ListPrice }) => ListPrice),
      Array.from({ length: 150 }, (_, at) => (at < 12 ? 8 : 7)),
    );
    assert.deepEqual(replica.reported('again'), []);
  });

  test(`${name}: a deletion during a sweep hides no record, and the sweep needs one walk`, async (t) => {
    const { server, replica, list } = await scene(t, { links, top });
    await replica.replicate();
    const before = server.seen.length;
    let deleted = 0;
    server.intercept = (seen) => {
      if (isLaterPage(seen) && deleted++ === 0) take(list, keyOf(2), keyOf(150));
      return undefined;
    };
    assert.equal(await replica.replicate({ step: 'purge' }), 'done');
    // The walk had seen the second record before it was deleted; the next sweep deletes it.
    assert.deepEqual(await replica.keys('Property'), keysUpTo(149));
    const firstPages = server.seen
      .slice(before)
      .filter(({ query }) => query.has('$count') && query.has('$orderby') && !query.has('$filter'));
    assert.equal(firstPages.length, 1);
    assert.deepEqual(replica.reported('again'), []);
    assert.ok((await replica.status()).abilities.includes(KEYED));
  });
}

test('a source that keeps the list of each filter: a sweep deletes no record that was added after an earlier walk', async (t) => {
  const { server, replica, clock, list } = await scene(t, { links: 'offset' });
  const kept = new Map<string, ReadonlySet<unknown>>();
  server.intercept = (seen) => {
    if (!isLaterPage(seen)) return undefined;
    const filter = seen.query.get('$filter') ?? '';
    const known = kept.get(filter);
    if (known === undefined) {
      kept.set(filter, new Set(list.map(({ ListingKey }) => ListingKey)));
      return undefined;
    }
    const [, last = ''] = /ListingKey gt '([^']*)'/.exec(filter) ?? [];
    const rows = list.filter(({ ListingKey }) => known.has(ListingKey) && String(ListingKey) > last);
    return json({ '@odata.count': rows.length, value: rows.slice(0, 40) });
  };
  assert.equal(await replica.replicate(), 'done');
  clock.advance(60_000);
  // It is on a page of the walk that does not end with another key than before.
  list.push(listing(`${keyOf(60)}5`, { ModificationTimestamp: clock.text() }));
  take(list, keyOf(61));
  clock.advance(60_000);
  assert.equal(await replica.replicate({ step: 'update' }), 'done');
  assert.equal(await replica.replicate({ step: 'purge' }), 'done');
  const expected = [...keysUpTo(150).filter((key) => key !== keyOf(61)), `${keyOf(60)}5`].toSorted();
  assert.deepEqual(await replica.keys('Property'), expected);
});

test('what a run has learned about the order of keys is checked with one request by the next ones, for a day', async (t) => {
  const { server, replica, clock, list } = await scene(t, { links: 'offset' });
  let before = 0;
  const probes = async (step: 'update' | 'verify' = 'update'): Promise<number> => {
    clock.advance(60_000);
    await (step === 'verify' ? replica.verify() : replica.replicate({ step }));
    const asked = server.seen.filter(({ query }) => query.get('$top') === '20' && query.has('$orderby'));
    const count = asked.length - before;
    before = asked.length;
    return count;
  };
  await replica.replicate({ step: 'initial' });
  before = 5;
  assert.deepEqual([await probes(), await probes('verify'), await probes()], [1, 1, 1]);
  take(list, keyOf(11));
  assert.equal(await probes(), 6, 'the key that followed another one is gone');
  assert.equal(await probes(), 1);
  clock.advance(86_400_000);
  assert.equal(await probes(), 5, 'a day later');
  server.traits.metadata = metadataOf({ ListPrice: 'Edm.Decimal' });
  assert.equal(await probes(), 5, 'the source shows something else');
  assert.equal(await probes(), 1);
  server.traits.sorts = false;
  await replica.replicate({ step: 'purge' });
  const offset = 'pages by offset, so sweeps are repeated until two agree';
  assert.ok((await replica.status()).abilities.includes(offset));
  assert.deepEqual(
    await replica.keys('Property'),
    keysUpTo(150).filter((key) => key !== keyOf(11)),
  );
});

test('a source that limits $skip is copied, and verified, in the order of keys', async (t) => {
  const { server, replica } = await scene(t, { links: 'offset', skips: 80 });
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(150));
  assert.ok(isCopyEqual(await replica.verify()));
  server.traits.sorts = false;
  await assert.rejects(replica.replicate({ step: 'purge' }), {
    message:
      /^Property may have more records than the 40 of its first page, .* filter and sort by ListingKey/,
  });
});

test('progress shows the number of all records on every page', async (t) => {
  const { replica } = await scene(t, { links: 'none' });
  await replica.replicate({ step: 'initial' });
  const pages = replica.reported('page');
  assert.deepEqual([...new Set(pages.map(({ total }) => total))], [150]);
  assert.equal(pages.at(-1)?.done, 150);
});

test('a download that an earlier run began by offset starts over in the order of keys', async (t) => {
  const { server, replica } = await scene(t, { links: 'offset', sorts: false });
  server.intercept = ({ query }) => (query.get('$skip') === '80' ? json({}, { status: 503 }) : undefined);
  await assert.rejects(replica.replicate());
  server.intercept = () => undefined;
  server.traits.sorts = true;
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(150));
  assert.deepEqual(
    replica.reported('again').map(({ reason }) => reason),
    ['The earlier part of the walk was by offset, and this one is in the order of keys'],
  );
});

test('a source that filters keys in another order than it sorts them, or fails at it, is read by offset', async (t) => {
  const { server, replica } = await scene(t, { links: 'offset' });
  const offset = 'pages by offset, so sweeps are repeated until two agree';
  // As text, '999' follows '1100'; as numbers, it does not.
  server.intercept = ({ query }) =>
    query.has('$orderby') && query.has('$filter') ? json({ value: [{ ListingKey: '999' }] }) : undefined;
  assert.equal(await replica.replicate(), 'done');
  assert.ok((await replica.status()).abilities.includes(offset));
  server.intercept = ({ query }) => (query.has('$orderby') ? json({}, { status: 500 }) : undefined);
  assert.equal(await replica.replicate({ step: 'purge' }), 'done');
  assert.ok((await replica.status()).abilities.includes(offset));
  assert.deepEqual(await replica.keys('Property'), keysUpTo(150));
});

test('windows of a source that combines the condition of a window with no other are read by offset', async (t) => {
  const { server, replica, clock, list } = await scene(t, { links: 'none' });
  server.intercept = ({ query }) =>
    /ModificationTimestamp.*ListingKey/.test(query.get('$filter') ?? '')
      ? json({ value: list.slice(0, 10) })
      : undefined;
  assert.equal(await replica.replicate(), 'done');
  for (const key of keysUpTo(150)) change(list, key, { ListPrice: 7 }, clock);
  clock.advance(600_000);
  assert.equal(await replica.replicate({ step: 'update' }), 'done');
  const rows = await replica.rows('Property', '$filter=ListPrice eq 7&$top=200');
  assert.equal(rows.length, 150);
  assert.ok((await replica.status()).abilities.includes(KEYED));
});

test('a source that ignores $top and $skip beside a filter: windows are whole, or the run says that they may not be', async (t) => {
  const traits = { links: 'none', sorts: false, counts: false, page: 1000, filters: 'all' } as const;
  const { server, replica, clock, list } = await scene(t, traits);
  const changed = async (price: number): Promise<number> => {
    for (const key of keysUpTo(60)) change(list, key, { ListPrice: price }, clock);
    clock.advance(3_600_000);
    await replica.replicate({ step: 'update', pageSize: 20 });
    return (await replica.rows('Property', `$filter=ListPrice eq ${price}&$top=200`)).length;
  };
  await replica.replicate({ step: 'initial', pageSize: 20 });
  assert.equal(await changed(7), 60);
  Object.assign(server.traits, { filters: 'largest', page: 40 });
  await assert.rejects(changed(8), {
    message: /^Property may have more records than the 40 of its first page/,
  });
  // The window stays open until it is whole.
  Object.assign(server.traits, { filters: 'pages' });
  assert.equal(await changed(9), 60);
});

const ACTRIS = "OriginatingSystemName eq 'actris'";

/** A server of two systems that requires a filter by one, and a replica of all resources. */
async function filtered(scope: Scope, traits: Partial<Traits> = {}) {
  const clock = testClock();
  const system = (number: number) => ({ OriginatingSystemName: number % 5 === 0 ? 'other' : 'actris' });
  const mark = (each: Readonly<Record<string, unknown>>) => ({ ...each, ...system(1) });
  const records = {
    Property: listings(60, clock, system),
    Member: people.Member.map(mark),
    Office: people.Office.map(mark),
  };
  const server = await odataServer(scope, clock, records, { page: 20, requires: ACTRIS, ...traits });
  const replica = await makeReplica(scope, { from: server.root, interface: 'reso', clock });
  const keys = keysUpTo(60).filter((_, at) => (at + 1) % 5 !== 0);
  return { server, replica, clock, keys, list: server.records.get('Property') ?? [] };
}

test('--filter: a source that requires a filter is copied with it: download, windows, sweeps, single records, verify', async (t) => {
  const { server, replica, clock, keys, list } = await filtered(t, {
    metadata: metadataOf({
      OriginatingSystemName: 'Edm.String',
      ModificationTimestamp: 'Edm.DateTimeOffset',
    }),
  });
  await assert.rejects(replica.replicate(), { message: `400: Filter by ${ACTRIS}` });
  const filter = ACTRIS;
  assert.equal(await replica.replicate({ filter }), 'done');
  assert.deepEqual(await replica.keys('Property'), keys);
  assert.deepEqual(await replica.keys('Member'), ['m1', 'm2', 'm3']);
  assert.ok((await replica.status()).abilities.includes(`copies only records with ${ACTRIS}`));
  clock.advance(3_600_000);
  change(list, keyOf(1), { ListPrice: 5 }, clock);
  change(list, keyOf(5), { ListPrice: 5 }, clock);
  take(list, keyOf(2));
  list.push(
    listing(keyOf(99), { OriginatingSystemName: 'actris', ModificationTimestamp: '2020-01-01T00:00:00Z' }),
  );
  clock.advance(3_600_000);
  assert.equal(await replica.replicate({ filter }), 'done');
  assert.equal(await replica.replicate({ filter, step: 'purge' }), 'done');
  assert.deepEqual(await replica.keys('Property'), [...keys.filter((key) => key !== keyOf(2)), keyOf(99)]);
  assert.equal((await replica.record('Property', keyOf(1)))?.ListPrice, 5);
  assert.deepEqual(
    (await replica.verify({ filter })).flatMap(({ differences }) => differences),
    [],
  );
  const windows = server.asked('Property').filter((url) => /ModificationTimestamp gt/.test(url));
  assert.ok(windows.length > 0 && windows.every((url) => url.includes(`$filter=${ACTRIS} and (Mod`)));
});

test('--filter: a source that keeps the list of each filter hides no newer record from a walk, although it pages by links', async (t) => {
  const { server, replica, clock, keys, list } = await filtered(t);
  const kept = new Map<string | null, Json[]>();
  server.intercept = ({ path, query }) => {
    if (path !== '/odata/Property') return undefined;
    const filter = query.get('$filter');
    server.records.set(
      'Property',
      kept.getOrInsertComputed(filter, () => [...list]),
    );
    return undefined;
  };
  await replica.replicate({ filter: ACTRIS, resources: ['Property'] });
  clock.advance(60_000);
  list.push(listing(keyOf(99), { OriginatingSystemName: 'actris', ModificationTimestamp: clock.text() }));
  take(list, keyOf(2));
  clock.advance(600_000);
  for (const step of ['update', 'purge'] as const)
    assert.equal(await replica.replicate({ filter: ACTRIS, resources: ['Property'], step }), 'done');
  assert.deepEqual(await replica.keys('Property'), [...keys.filter((key) => key !== keyOf(2)), keyOf(99)]);
});

test('--filter: a source that accepts no condition on the key beside the filter is copied without one', async (t) => {
  const { server, replica, keys } = await filtered(t);
  server.intercept = ({ query }) =>
    query.get('$filter')?.includes('ListingKey ne') ? json({}, { status: 400 }) : undefined;
  assert.equal(await replica.replicate({ filter: ACTRIS }), 'done');
  assert.deepEqual(await replica.keys('Property'), keys);
  const said = 'takes no condition on the key beside the filter, so every walk has the same filter';
  assert.ok((await replica.status()).abilities.includes(said));
});

test('--filter: another filter reads everything again', async (t) => {
  const { replica, server } = await filtered(t, { requires: undefined, metadata: metadataOf({}) });
  assert.equal(await replica.replicate({ filter: ACTRIS }), 'done');
  const other = "OriginatingSystemName eq 'other'";
  assert.equal(await replica.replicate({ filter: other, force: true, step: 'initial' }), 'done');
  assert.equal(replica.reported('refresh').length, 3); // one for each resource
  assert.equal(
    await replica.replicate({ filter: other, force: true, step: 'purge', resources: ['Property'] }),
    'done',
  );
  assert.deepEqual(
    await replica.keys('Property'),
    keysUpTo(60).filter((_, at) => (at + 1) % 5 === 0),
  );
  assert.ok(server.asked('Property').length > 0);
});

test('--filter: the native interface has another language', async (t) => {
  const { replica } = await filtered(t);
  await assert.rejects(replica.replicate({ interface: 'native', filter: ACTRIS }), { code: 'usage' });
});

test('collections that arrive unasked: a list that has become empty empties the stored one', async (t) => {
  const { server, replica, clock, list } = await scene(t, { sorts: false });
  const photos = (number: number) =>
    Array.from({ length: number }, (_, at) => photo(`${keyOf(1)}-${at}`, {}));
  const shown = new Map<unknown, unknown>([
    [keyOf(1), photos(3)],
    [keyOf(2), [photo(`${keyOf(2)}-0`, {})]],
  ]);
  // A server with a list of media in every record, and one of rooms that it never fills.
  server.intercept = ({ path, query }) => {
    if (path !== '/odata/Property' || query.has('$expand') || query.has('$orderby')) return undefined;
    const [, from = ''] = /ModificationTimestamp gt (\S+)/.exec(query.get('$filter') ?? '') ?? [];
    const value = list
      .filter(({ ModificationTimestamp }) => String(ModificationTimestamp) > from)
      .map((each) => ({ ...each, Media: shown.get(each.ListingKey) ?? [], Rooms: [] }));
    return json({ value: value.slice(Number(query.get('$skip') ?? 0)) });
  };
  assert.equal(await replica.replicate({ step: 'initial' }), 'done');
  assert.equal((await replica.keys('Media')).length, 4);
  assert.ok((await replica.status()).abilities.includes('sub-resources arrive with the listings (Media)'));
  for (const left of [2, 0]) {
    shown.set(keyOf(1), photos(left));
    clock.advance(3_600_000);
    change(list, keyOf(1), {}, clock);
    clock.advance(3_600_000);
    assert.equal(await replica.replicate({ step: 'update' }), 'done');
    assert.equal((await replica.keys('Media')).length, left + 1);
  }
});
