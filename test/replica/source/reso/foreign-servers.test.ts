/** Servers with fewer features or unusual ones: each gives the same copy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listing, photo } from '../../../support/builders.ts';
import { DAY, testClock } from '../../../support/clock.ts';
import { pick } from '../../../support/world.ts';
import { change, keyOf, keysUpTo, listings, people, take, withPhotos } from '../../support/feed.ts';
import { json } from '../../support/loopback.ts';
import { metadataOf, odataServer, type Traits } from '../../support/odata-server.ts';
import { makeReplica } from '../../support/replica.ts';

const DECLARED = { ListPrice: 'Edm.Decimal', ModificationTimestamp: 'Edm.DateTimeOffset' };

interface Server {
  readonly name: string;
  readonly traits: Partial<Traits>;
  /** The abilities that `status` lists. */
  readonly abilities: readonly string[];
}

const COPIES = 'copies Property, Member, Office';
const FOREIGN = 'a service of another kind';
const LINKS = 'pages by link or token';
const OFFSET = 'pages by offset, so sweeps are repeated until two agree';
const BY_KEY = 'pages by filters on the key, instead of by offset';
const COUNTS = 'returns the number of its records';
const NO_COUNTS = 'does not return the number of its records';
const WINDOWS = 'windows are on ModificationTimestamp';

const SERVERS: readonly Server[] = [
  {
    name: 'absolute links, $top is the size of a page, the names of the specification',
    traits: { links: 'absolute', top: 'page', page: 4, expands: ['Media', 'Unit', 'Room', 'OpenHouse'] },
    abilities: [
      FOREIGN,
      COPIES,
      LINKS,
      NO_COUNTS,
      'sub-resources arrive with the listings (Media, Room, Unit, OpenHouse)',
      WINDOWS,
    ],
  },
  {
    name: 'relative links, counts, collections by the names of its metadata',
    traits: {
      links: 'relative',
      top: 'page',
      page: 4,
      counts: true,
      expands: ['Media', 'Rooms'],
      metadata: metadataOf(DECLARED, ['Media', 'Rooms']),
    },
    abilities: [
      FOREIGN,
      COPIES,
      LINKS,
      COUNTS,
      'sub-resources arrive with the listings (Media, Rooms)',
      WINDOWS,
    ],
  },
  {
    name: 'links that are a query, relative to their page',
    traits: { links: 'query', top: 'page', page: 4, counts: true, expands: ['Media'] },
    abilities: [FOREIGN, COPIES, LINKS, COUNTS, 'sub-resources arrive with the listings (Media)', WINDOWS],
  },
  {
    name: 'links to a host of its own, behind a proxy',
    traits: { links: { origin: 'https://internal.example:8443' }, top: 'page', page: 4, expands: ['Media'] },
    abilities: [FOREIGN, COPIES, LINKS, NO_COUNTS, 'sub-resources arrive with the listings (Media)', WINDOWS],
  },
  {
    name: 'links without the prefix of the path that a proxy removes',
    traits: { links: { path: '/' }, top: 'page', page: 4, expands: ['Media'] },
    abilities: [FOREIGN, COPIES, LINKS, NO_COUNTS, 'sub-resources arrive with the listings (Media)', WINDOWS],
  },
  {
    name: 'links to another host and path, behind a proxy',
    traits: {
      links: { origin: 'https://internal.example:8443', path: '/api/v2/feed/' },
      top: 'total',
      page: 4,
      counts: true,
      expands: ['Media'],
    },
    abilities: [FOREIGN, COPIES, LINKS, COUNTS, 'sub-resources arrive with the listings (Media)', WINDOWS],
  },
  {
    name: 'no links, no expansion, no count: $skip, and collections listing by listing',
    traits: { links: 'none', top: 'page', page: 4, paths: true },
    abilities: [
      FOREIGN,
      COPIES,
      OFFSET,
      NO_COUNTS,
      'sub-resources are requested listing by listing (Media, Room, Unit, OpenHouse)',
      WINDOWS,
    ],
  },
  {
    name: '$top is the total, links only for the preference',
    traits: { links: 'absolute', top: 'total', page: 4, counts: true, expands: ['Media'] },
    abilities: [FOREIGN, COPIES, LINKS, COUNTS, 'sub-resources arrive with the listings (Media)', WINDOWS],
  },
  {
    name: '$top is the total and nothing links on',
    traits: { links: 'none', top: 'total', page: 4, counts: true, expands: ['Media'] },
    abilities: [FOREIGN, COPIES, OFFSET, COUNTS, 'sub-resources arrive with the listings (Media)', WINDOWS],
  },
];

for (const { name, traits, abilities } of SERVERS) {
  test(`${name}: download, update and purge give exactly what the source has`, async (t) => {
    const clock = testClock();
    const source = listings(25, clock, withPhotos);
    const server = await odataServer(t, clock, { Property: source, ...people }, traits);
    const list = server.records.get('Property') ?? [];
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock });

    assert.equal(await replica.replicate(), 'done');
    assert.deepEqual(await replica.keys('Property'), keysUpTo(25));
    assert.deepEqual(await replica.keys('Member'), ['m1', 'm2', 'm3']);
    assert.deepEqual(await replica.keys('Office'), ['o1', 'o2']);
    const media = source.flatMap(({ Media }) => (Array.isArray(Media) ? Media : []));
    assert.deepEqual(
      await replica.keys('Media'),
      media.map(({ MediaKey }) => MediaKey),
    );
    assert.deepEqual((await replica.status()).abilities, abilities);

    clock.advance(DAY);
    change(list, keyOf(3), { ListPrice: 33, PhotosChangeTimestamp: clock.text(), Media: [] }, clock);
    change(list, keyOf(4), { ListPrice: 44 }, clock);
    list.push(listing(keyOf(30), { ModificationTimestamp: clock.text(), ListPrice: 30 }));
    // A listing that became visible to the key keeps its old timestamps, so only the sweep finds it.
    const seenAgain = [photo(`${keyOf(28)}-0`)];
    list.push(listing(keyOf(28), { ModificationTimestamp: '2026-05-01T00:00:00Z', Media: seenAgain }));
    take(list, keyOf(7), keyOf(8));
    clock.advance(600_000);

    assert.equal(await replica.replicate(), 'done');
    const expected = [...keysUpTo(6), ...keysUpTo(17, 9), keyOf(28), keyOf(30)];
    assert.deepEqual(await replica.keys('Property'), expected);
    assert.deepEqual(
      (await replica.rows('Property', '$filter=ListPrice lt 50&$select=ListingKey,ListPrice')).map((row) =>
        pick(row, 'ListingKey', 'ListPrice'),
      ),
      [
        { ListingKey: keyOf(3), ListPrice: 33 },
        { ListingKey: keyOf(4), ListPrice: 44 },
        { ListingKey: keyOf(30), ListPrice: 30 },
      ],
    );
    const gone = [3, 7, 8].flatMap((number) => [`${keyOf(number)}-0`, `${keyOf(number)}-1`]);
    assert.deepEqual(
      await replica.keys('Media'),
      [...media, ...seenAgain].map(({ MediaKey }) => MediaKey).filter((key) => !gone.includes(key)),
    );
    const photos = (await replica.keys('Media')).length;
    const verified = (await replica.verify()).filter(({ atSource }) => atSource > 0);
    assert.deepEqual(
      verified.map((each) => [each.resource, each.atSource, each.stored, each.differences]),
      [
        ['Property', 25, 25, []],
        ['Member', 3, 3, []],
        ['Office', 2, 2, []],
        ['Media', photos, photos, []],
      ],
    );
    assert.deepEqual(await replica.quarantine(), []);
  });
}

for (const count of [1, 2, 10]) {
  test(`a source without next links and $skip is copied as long as one page has all ${count} records`, async (t) => {
    const clock = testClock();
    const traits: Partial<Traits> = {
      ...{ links: 'none', skips: false, sorts: true, comparesKeys: false, page: 10 },
      expands: ['Media'],
    };
    const server = await odataServer(t, clock, { Property: listings(count, clock, withPhotos) }, traits);
    const list = server.records.get('Property') ?? [];
    server.intercept = ({ query }) =>
      /ListingKey gt/.test(query.get('$filter') ?? '') ? json({}, { status: 400 }) : undefined;
    const replica = await makeReplica(t, {
      from: server.root,
      interface: 'reso',
      clock,
      resources: ['Property'],
    });
    assert.equal(await replica.replicate(), 'done');
    assert.deepEqual(await replica.keys('Property'), keysUpTo(count));
    clock.advance(DAY);
    for (let number = 1; number <= count; number++) {
      change(list, keyOf(number), { ListPrice: number }, clock);
      clock.advance(1000);
    }
    clock.advance(600_000);
    assert.equal(await replica.replicate(), 'done');
    assert.equal((await replica.record('Property', keyOf(count)))?.ListPrice, count);
    clock.advance(DAY);
    take(list, keyOf(1));
    assert.equal(await replica.replicate({ force: true }), 'done');
    assert.deepEqual(await replica.keys('Property'), keysUpTo(count - 1, 2));
    assert.deepEqual((await replica.verify())[0]?.differences, []);

    // With more records than a page has, none of the walks is complete.
    for (let number = 20; number < 31; number++) list.push(listing(keyOf(number), { ListPrice: number }));
    await assert.rejects(replica.replicate({ refresh: true }), { kind: 'refused', message: NO_WAY });
  });
}

const NO_WAY =
  'Property may have more records than the 10 of its first page, and the source offers no way to them: it returns no next links, ignores or rejects $skip, and does not filter and sort by ListingKey. Ask its operator for next links, or use a --page-size for which a page has all records.';

for (const skips of ['ignored', false] as const) {
  test(`a source whose $skip is ${skips === false ? 'rejected' : skips} is paged by keys`, async (t) => {
    const clock = testClock();
    const traits: Partial<Traits> = {
      ...{ links: 'none', skips, sorts: true, page: 4, counts: true },
      ...{ expands: ['Media'], paths: true },
    };
    const server = await odataServer(
      t,
      clock,
      { Property: listings(11, clock, withPhotos), ...people },
      traits,
    );
    const list = server.records.get('Property') ?? [];
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock });
    assert.equal(await replica.replicate(), 'done');
    assert.deepEqual(await replica.keys('Property'), keysUpTo(11));
    assert.deepEqual(
      [await replica.keys('Member'), await replica.keys('Office')],
      [people.Member.map(({ MemberKey }) => MemberKey), people.Office.map(({ OfficeKey }) => OfficeKey)],
    );
    assert.ok((await replica.status()).abilities.includes(BY_KEY));
    // A window of several pages, a deletion, and a record that becomes visible with its old timestamp.
    clock.advance(DAY);
    for (let number = 1; number <= 9; number++) {
      change(list, keyOf(number), { ListPrice: number }, clock);
      clock.advance(1000);
    }
    clock.advance(600_000);
    take(list, keyOf(3));
    list.push(listing(keyOf(20), { ModificationTimestamp: '2020-01-01T00:00:00Z' }));
    clock.advance(DAY);
    assert.equal(await replica.replicate({ force: true }), 'done');
    assert.deepEqual(await replica.keys('Property'), [...keysUpTo(2), ...keysUpTo(8, 4), keyOf(20)]);
    assert.equal((await replica.record('Property', keyOf(9)))?.ListPrice, 9);
    for (const { differences } of await replica.verify()) assert.deepEqual(differences, []);
    assert.deepEqual(await replica.quarantine(), []);
  });
}

test('a source whose keys are numbers is paged by keys as well', async (t) => {
  const clock = testClock();
  const numbers = listings(11, clock).map((each, at) => ({ ...each, ListingKey: 1001 + at }));
  const traits = { links: 'none', skips: 'ignored', sorts: true, page: 4 } as const;
  const server = await odataServer(t, clock, { Property: numbers }, traits);
  const resources = ['Property'];
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(
    await replica.keys('Property'),
    numbers.map(({ ListingKey }) => String(ListingKey)),
  );
  assert.ok(server.asked('Property').some((url) => decodeURIComponent(url).includes('ListingKey gt 1004')));
});

test('a source that ignores $skip and does not page by keys is copied if one page has as many records as it announces', async (t) => {
  const clock = testClock();
  const traits = { links: 'none', skips: 'ignored', page: 10, counts: true } as const;
  const server = await odataServer(t, clock, { Property: listings(10, clock) }, traits);
  const list = server.records.get('Property') ?? [];
  const resources = ['Property'];
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(10));
  assert.deepEqual((await replica.verify())[0]?.differences, []);
  list.push(listing(keyOf(11), {}));
  await assert.rejects(replica.replicate({ refresh: true }), { kind: 'refused', message: NO_WAY });
});

test('a source without next links and $skip that does not sort, or ignores $orderby, is not taken for complete', async (t) => {
  for (const sorts of [true, false]) {
    const clock = testClock();
    const traits = { links: 'none', skips: false, sorts, page: 10 } as const;
    const server = await odataServer(t, clock, { Property: listings(7, clock) }, traits);
    const replica = await makeReplica(t, {
      from: server.root,
      interface: 'reso',
      clock,
      resources: ['Property'],
    });
    server.intercept = ({ query }) =>
      sorts && query.has('$orderby')
        ? json({ value: keysUpTo(7).map((ListingKey) => ({ ListingKey })) })
        : undefined;
    await assert.rejects(replica.replicate(), { kind: 'refused' });
  }
});

test('filters use only gt, lt and and, so that servers without other operators work', async (t) => {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: listings(12, clock), ...people }, { page: 5 });
  const list = server.records.get('Property') ?? [];
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock });
  await replica.replicate();
  clock.advance(DAY);
  list.push(listing(keyOf(40), { ModificationTimestamp: '2020-01-01T00:00:00Z' }));
  await replica.replicate();
  assert.deepEqual(await replica.keys('Property'), [...keysUpTo(12), keyOf(40)]);
  const filters = server.seen.flatMap(({ query }) => query.get('$filter') ?? []);
  for (const filter of filters) assert.match(filter, /^\(\w+ gt \S+ and \w+ lt \S+\)$/);
  assert.ok(filters.length > 0);
});

test('a feed without records does not show how it pages, and is copied once it has records', async (t) => {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: [], Member: [], Office: [] }, { page: 4 });
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock });
  assert.equal(await replica.replicate(), 'done');
  server.records.set('Property', listings(9, clock));
  clock.advance(DAY);
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(9));
});

test('a record with a numeric key is copied under its digits', async (t) => {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: listings(3, clock), Member: [], Office: [] });
  const list = server.records.get('Property') ?? [];
  list[1] = { ...list[1], ListingKey: 1002 };
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock });
  await replica.replicate();
  assert.deepEqual([await replica.keys('Property'), await replica.quarantine()], [keysUpTo(3), []]);
});

test('a source with a timestamp of its own is read in windows on that field (--window-field)', async (t) => {
  const clock = testClock();
  const own = () => ({ BridgeModificationTimestamp: '2026-05-01T00:00:00Z', Appliances: 'Oven,Range' });
  const server = await odataServer(t, clock, { Property: listings(5, clock, own) });
  const list = server.records.get('Property') ?? [];
  const request = { windowField: 'BridgeModificationTimestamp', resources: ['Property'] };
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock });
  await replica.replicate(request);
  clock.advance(3_600_000);
  // The server's own timestamp moves, ModificationTimestamp does not.
  list[1] = { ...list[1], ListPrice: 5, BridgeModificationTimestamp: clock.text() };
  assert.deepEqual(
    (await replica.verify(request)).map(({ pending, differences }) => [pending, differences]),
    [[1, []]],
  );
  clock.advance(600_000);
  await replica.replicate(request);
  assert.equal((await replica.record('Property', keyOf(2)))?.ListPrice, 5);
  assert.deepEqual(
    (await replica.verify(request)).map(({ pending, differences }) => [pending, differences]),
    [[0, []]],
  );
  const filters = server.seen.flatMap(({ query }) => query.get('$filter') ?? []);
  for (const filter of filters) assert.match(filter, /^\(BridgeModificationTimestamp gt /);
});

test('undeclared fields are equal on both sides, whatever their values', async (t) => {
  const clock = testClock();
  const foreign = (number: number) => ({
    OwnFlag: number % 2 === 0,
    OwnScore: number / 3,
    OwnTags: ['a', `${number}`],
    OwnText: `text ${number}`,
    OwnThing: { deep: [number] },
    OwnMixed: number === 1 ? 'text first' : number,
    Media: [{ MediaKey: `p${number}`, OwnPart: { number } }],
  });
  const server = await odataServer(
    t,
    clock,
    { Property: listings(4, clock, foreign) },
    { expands: ['Media'] },
  );
  const resources = ['Property'];
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
  await replica.replicate();
  assert.deepEqual([await replica.keys('Property'), await replica.quarantine()], [keysUpTo(4), []]);
  assert.deepEqual(
    (await replica.verify()).flatMap(({ differences }) => differences),
    [],
  );
  assert.deepEqual(
    (await replica.rows('Property')).map((row) => pick(row, 'OwnFlag', 'OwnTags', 'OwnThing', 'OwnMixed'))[1],
    { OwnFlag: true, OwnTags: ['a', '2'], OwnThing: '{"deep":[2]}', OwnMixed: '2' },
  );
});

test('MlgCanView false in an update deletes the record', async (t) => {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: listings(6, clock), ...people });
  const list = server.records.get('Property') ?? [];
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock });
  await replica.replicate();
  clock.advance(3_600_000);
  change(list, keyOf(2), { MlgCanView: false }, clock);
  clock.advance(600_000);
  await replica.replicate();
  assert.deepEqual(
    await replica.keys('Property'),
    keysUpTo(6).filter((key) => key !== keyOf(2)),
  );
  assert.deepEqual(replica.reported('deleted'), [{ resource: 'Property', keys: [keyOf(2)] }]);
});

test('nested nextLinks: a collection that is only partly expanded is requested separately', async (t) => {
  const clock = testClock();
  const server = await odataServer(
    t,
    clock,
    { Property: listings(4, clock, withPhotos), Member: [], Office: [] },
    { expands: ['Media'], paths: true },
  );
  server.intercept = ({ path, query }) => {
    if (path !== '/odata/Property' || !query.has('$expand')) return undefined;
    const value = (server.records.get('Property') ?? []).map(({ Media, ...rest }) => ({
      ...rest,
      Media: Array.isArray(Media) ? Media.slice(0, 1) : [],
      ...(Array.isArray(Media) && Media.length > 1
        ? { 'Media@odata.nextLink': `${server.root}Property('x')/Media?$skip=1` }
        : {}),
    }));
    return { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ value }) };
  };
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock });
  await replica.replicate();
  assert.deepEqual(await replica.keys('Media'), ['1001-0', '1002-0', '1002-1', '1004-0']);
  assert.deepEqual(
    server.asked('Property').filter((url) => url.includes('/Media')),
    ["Property('1002')/Media"],
  );
});

test('a source whose photos do not move ModificationTimestamp is read in windows on PhotosChangeTimestamp as well (--also-window)', async (t) => {
  const clock = testClock();
  const server = await odataServer(
    t,
    clock,
    { Property: listings(5, clock, withPhotos), Member: [], Office: [] },
    { expands: ['Media'] },
  );
  const list = server.records.get('Property') ?? [];
  const request = { alsoWindow: ['PhotosChangeTimestamp'] };
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock });
  await replica.replicate(request);
  clock.advance(3_600_000);
  const at = list.findIndex(({ ListingKey }) => ListingKey === keyOf(2));
  list[at] = { ...list[at], Media: [], PhotosChangeTimestamp: clock.text() };
  clock.advance(600_000);
  await replica.replicate(request);
  assert.deepEqual(await replica.keys('Media'), ['1001-0', '1004-0', '1005-0', '1005-1']);
});
