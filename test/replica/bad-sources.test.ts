/** Faulty sources: each gives a clear error or a quarantined record, and everything else is stored. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { REPLICA_TIMESTAMP } from '../../src/dictionary/index.ts';
import { retryQuarantined } from '../../src/replica/quarantine.ts';
import { listing, openHouse, photo, room } from '../support/builders.ts';
import { DAY, SECOND, testClock } from '../support/clock.ts';
import type { Scope } from '../support/engine.ts';
import type { Json } from '../support/world.ts';
import { change, keyOf, keysUpTo, listings, people, take } from './support/feed.ts';
import { json, type Reply, type Seen } from './support/loopback.ts';
import { failure, nativeServer, success } from './support/native-server.ts';
import { metadataOf, type ODataServer, odataServer, PROBES } from './support/odata-server.ts';
import { makeReplica, SOURCE, type TestReplica } from './support/replica.ts';

const HOUR = 3600 * SECOND;
const LARGE = Buffer.alloc(100_000_000, ' ');

interface Scene {
  readonly server: ODataServer;
  readonly replica: TestReplica;
  readonly clock: ReturnType<typeof testClock>;
}

/** A server with twelve listings in pages of four, and a replica of it. */
async function scene(scope: Scope, count = 12): Promise<Scene> {
  const clock = testClock('2026-06-01T12:00:00Z');
  const server = await odataServer(scope, clock, { Property: listings(count, clock) }, { page: 4 });
  const resources = ['Property'];
  const replica = await makeReplica(scope, { from: server.root, interface: 'reso', clock, resources });
  return { server, replica, clock };
}

/** Changes the first listing, and checks that the next window copies it. */
async function mustCopyChange({ server, replica, clock }: Scene): Promise<void> {
  clock.advance(HOUR);
  const list = server.records.get('Property') ?? [];
  list[0] = { ...list[0], ListPrice: 5, ModificationTimestamp: clock.text() };
  clock.advance(HOUR);
  assert.equal(await replica.replicate(), 'done');
  assert.equal((await replica.record('Property', keyOf(1)))?.ListPrice, 5);
}

/** The number of the page of a walk that a request asks for (0 is the first); undefined: it asks for something else. */
function pageOf({ path, query }: Seen): number | undefined {
  if (path !== '/odata/Property' || PROBES.has(query.get('$top'))) return undefined;
  return Number(query.get('$skiptoken') ?? 0) / 4;
}

const failed = (kind: string, message: string | RegExp) => ({ name: 'RequestFailure', kind, message });

test('HTML in place of JSON: after all attempts the error quotes it, stored pages stay, and the next run continues at that page', async (t) => {
  const { server, replica } = await scene(t);
  const html: Reply = { headers: { 'content-type': 'text/html' }, body: '<html>Down for maintenance</html>' };
  server.intercept = (seen) => (pageOf(seen) === 2 ? html : undefined);
  await assert.rejects(
    replica.replicate(),
    failed(
      'transient',
      `${server.root}Property?$skiptoken=8.0 did not respond with JSON but with text/html: "<html>Down for maintenance</html>"`.replace(
        '?$skiptoken=8.0',
        '?%24top=1000&%24skiptoken=8.0',
      ),
    ),
  );
  assert.deepEqual(await replica.keys('Property'), keysUpTo(8));
  server.intercept = () => undefined;
  const before = server.seen.length;
  await replica.replicate();
  assert.deepEqual(await replica.keys('Property'), keysUpTo(12));
  const pages = server.seen
    .slice(before)
    .filter(({ query }) => !query.has('$filter') && !query.has('$select'));
  assert.deepEqual(
    pages.flatMap((seen) => pageOf(seen) ?? []),
    [2],
    'the pages before were not read again',
  );
});

test('HTML for a while: the request is repeated until JSON comes', async (t) => {
  const { server, replica } = await scene(t);
  let times = 0;
  server.intercept = (seen) =>
    pageOf(seen) === 1 && times++ < 4 ? { headers: { 'content-type': 'text/html' }, body: '<p>' } : undefined;
  await replica.replicate();
  assert.deepEqual(await replica.keys('Property'), keysUpTo(12));
});

test('JSON without a list of records is an error', async (t) => {
  const { server, replica } = await scene(t);
  server.intercept = (seen) => (pageOf(seen) === 0 ? json({ values: [] }) : undefined);
  await assert.rejects(
    replica.replicate(),
    failed(
      'transient',
      /^http:\/\/127\.0\.0\.1:\d+\/odata\/Property\?\$top=10&\$select=ListingKey responded without a list of records$/,
    ),
  );
});

test('an error with status 200 is an error with its message, also at the first contact', async (t) => {
  const { server, replica } = await scene(t);
  const error = { error: { code: 'Unauthorized', message: 'The token has expired' } };
  for (const isFirst of [true, false]) {
    server.intercept = (seen) => (isFirst || pageOf(seen) === 1 ? json(error) : undefined);
    await assert.rejects(
      replica.replicate(),
      failed('transient', /^http:\S+ responded with an error: The token has expired$/),
    );
    assert.equal((await replica.status()).identity === undefined, isFirst);
  }
});

test('bytes that are not UTF-8 cost only their record', async (t) => {
  const { server, replica } = await scene(t, 3);
  server.intercept = (seen) => {
    if (pageOf(seen) !== 0) return undefined;
    const records = (server.records.get('Property') ?? []).map((record, at) => ({
      ...record,
      City: at === 1 ? 'Orl\u00e9ans' : 'M\u00fcnchen',
    }));
    const text = JSON.stringify({ value: records }).replace('Orl\u00e9ans', 'Orl\u0000ans');
    const body = Buffer.from(text).map((byte) => (byte === 0 ? 0xe9 : byte));
    return { headers: { 'content-type': 'application/json' }, body };
  };
  assert.equal(await replica.replicate({ step: 'initial' }), 'done');
  assert.equal((await replica.record('Property', keyOf(3)))?.City, 'M\u00fcnchen');
  assert.deepEqual(await replica.quarantine(), [
    ['Property', keyOf(2), 'City contains bytes that are not UTF-8'],
  ]);
});

test('pages that a proxy cuts off are requested with fewer records', async (t) => {
  const { server, replica } = await scene(t, 100);
  server.traits.page = 100;
  server.intercept = (seen) => {
    const isPage = seen.path === '/odata/Property' && !PROBES.has(seen.query.get('$top'));
    const isLarge = Number(seen.query.get('$top')) > 20;
    return isPage && isLarge ? { body: 'x'.repeat(5000), cutAfter: 100 } : undefined;
  };
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(100));
});

test('native: a response without D.Results is an error', async (t) => {
  const clock = testClock();
  const server = await nativeServer(t, clock, listings(3, clock));
  const replica = await makeReplica(t, {
    from: server.root,
    interface: 'native',
    clock,
    resources: ['Property'],
  });
  server.intercept = ({ path, query }) =>
    path === '/v1/listings' && query.has('_skiptoken') ? json({ D: { Success: true } }) : undefined;
  await assert.rejects(
    replica.replicate(),
    failed(
      'transient',
      `${server.root}listings?_select=ListingKey&_limit=10&_skiptoken= responded without D.Results`,
    ),
  );
});

test('native: a success that is none is an error with the code and the message of the source', async (t) => {
  const clock = testClock();
  const server = await nativeServer(t, clock, listings(3, clock));
  const replica = await makeReplica(t, { from: server.root, interface: 'native', clock });
  const rejects = async (facts: object, why: string): Promise<void> => {
    const unable = json({ D: { Success: false, ...facts } });
    server.intercept = ({ path }) => (path === '/v1/accounts' ? unable : undefined);
    const message = `${server.root}accounts?_limit=10&_skip=0 responded without D.Results (${why})`;
    await assert.rejects(replica.replicate(), { kind: 'transient', message });
  };
  await rejects(
    { Code: 1500, Message: 'No accounts today' },
    'Success is false, code 1500: No accounts today',
  );
  await rejects({}, 'Success is false');
});

test('native: a source that returns fewer records at once than plat requests is verified and purged', async (t) => {
  const clock = testClock();
  const server = await nativeServer(t, clock, listings(130, clock));
  const from = { from: server.root, interface: 'native', clock, resources: ['Property'] } as const;
  const replica = await makeReplica(t, from);
  const tooMany = failure(400, 1053, '_limit is more than 50');
  server.intercept = ({ query }) => (Number(query.get('_limit') ?? 0) > 50 ? tooMany : undefined);
  assert.equal(await replica.replicate(), 'done');
  // All of them are requested again by their keys, before they count as missing.
  server.listings = [];
  const [verified] = await replica.verify();
  assert.deepEqual(
    [verified?.atSource, verified?.differences.map(({ key, kind }) => `${kind} ${key}`)],
    [0, keysUpTo(130).map((key) => `not-at-source ${key}`)],
  );
  assert.equal(await replica.replicate({ step: 'purge' }), 'guarded');
  assert.equal(await replica.replicate({ step: 'purge', force: true }), 'done');
  assert.deepEqual(await replica.keys('Property'), []);
});

test('a field for windows that the source lacks is an error, and the copy stays as it was', async (t) => {
  const { server, replica } = await scene(t);
  server.traits.metadata = metadataOf({ ModificationTimestamp: 'Edm.DateTimeOffset' });
  await assert.rejects(replica.replicate({ windowField: 'ModifiedAt' }), {
    code: 'usage',
    message: 'The source has no field ModifiedAt in Property, which --window-field names.',
  });
  await assert.rejects(replica.replicate({ alsoWindow: ['PhotosChangeTimestamp', 'PhotoChange'] }), {
    code: 'usage',
    message: 'There is no field PhotoChange in Property, which --also-window names.',
  });
  assert.deepEqual(await replica.keys('Property'), []);
  assert.equal(await replica.replicate({ windowField: 'ModificationTimestamp' }), 'done');
  assert.equal(server.records.get('Property')?.length, 12);
});

test('wrong types: the record goes to the quarantine with its reason and payload, the rest is stored', async (t) => {
  const { server, replica } = await scene(t);
  const list = server.records.get('Property') ?? [];
  const wrong = { ...list[4], ListPrice: { amount: 5 }, City: [7] };
  list[4] = wrong;
  await replica.replicate();
  assert.deepEqual(
    await replica.keys('Property'),
    keysUpTo(12).filter((key) => key !== keyOf(5)),
  );
  const [entry] = await replica.store.checkpoints.quarantined('feed');
  assert.deepEqual(
    [entry?.key, entry?.reason, entry?.payload],
    [
      keyOf(5),
      'ListPrice is {"amount":5}, but takes a number; City is [7], but takes a string',
      JSON.stringify(wrong),
    ],
  );
  assert.deepEqual((await replica.store.checkpoints.quarantined('feed')).length, 1);
});

test('an integer that JSON cannot represent exactly puts its record in the quarantine', async (t) => {
  const { server, replica } = await scene(t, 3);
  const list = server.records.get('Property') ?? [];
  list[1] = { ...list[1], LotSizeSquareFeet: 2 ** 60 };
  await replica.replicate();
  assert.deepEqual(await replica.quarantine(), [
    [
      'Property',
      keyOf(2),
      'LotSizeSquareFeet is 1152921504606847000, which is beyond the precision of a number',
    ],
  ]);
  const [verified] = await replica.verify();
  assert.deepEqual(
    verified?.differences.map(({ key, kind }) => [key, kind]),
    [[keyOf(2), 'quarantined']],
  );
});

test('records without a key, and members of a page that are not JSON objects, are quarantined under the hash of their content', async (t) => {
  const { server, replica } = await scene(t, 3);
  const good = server.records.get('Property') ?? [];
  server.intercept = (seen) =>
    pageOf(seen) === 0
      ? json({
          value: [
            good[0],
            { ListPrice: 1 },
            17,
            null,
            'text',
            [],
            { ListingKey: '' },
            { ListingKey: null },
            good[1],
            good[2],
          ],
        })
      : undefined;
  await replica.replicate();
  assert.deepEqual(await replica.keys('Property'), keysUpTo(3));
  const entries = await replica.store.checkpoints.quarantined('feed');
  assert.deepEqual(entries.map(({ payload, reason }) => `${payload} ${reason}`).toSorted(), [
    '"text" The record is not a JSON object',
    '17 The record is not a JSON object',
    '[] The record is not a JSON object',
    'null The record is not a JSON object',
    '{"ListPrice":1} The record has no ListingKey',
    '{"ListingKey":""} The record has no ListingKey',
    '{"ListingKey":null} The record has no ListingKey',
  ]);
  for (const { key } of entries) assert.match(key, /^#[\w-]{16}$/);
});

test('a record whose key has control characters, or more characters than a key may have, is quarantined', async (t) => {
  const { server, replica } = await scene(t, 2);
  const list = server.records.get('Property') ?? [];
  list.push(listing('a\u0001b'), listing('x'.repeat(256)));
  await replica.replicate();
  assert.deepEqual(await replica.keys('Property'), keysUpTo(2));
  assert.deepEqual(
    (await replica.quarantine()).map(([, , reason]) => reason),
    Array(2).fill('ListingKey takes at most 255 characters and no control characters'),
  );
});

test('records with thousands of unknown fields: all listings are stored, fields beyond the limit are left out and reported once, and the next run continues', async (t) => {
  const { server, replica, clock } = await scene(t);
  const list = server.records.get('Property') ?? [];
  for (const [at, length] of [
    [1, 1000],
    [5, 3000],
    [9, 3000],
  ] as const) {
    const many = Array.from({ length }, (_, number) => [`F${at}x${number}`, 'x']);
    list[at] = { ...list[at], ...Object.fromEntries(many) };
  }
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(12));
  assert.deepEqual((await replica.status()).ignored, ['Property.*']);
  assert.deepEqual(
    replica.reported('field').filter(({ taken }) => taken === 'ignored'),
    [{ resource: 'Property', name: '*', taken: 'ignored' }],
  );
  assert.deepEqual(await replica.quarantine(), []);
  clock.advance(HOUR);
  assert.equal(await replica.replicate(), 'done');
});

test('endless nextLinks: pages without a record', async (t) => {
  const { server, replica } = await scene(t);
  let page = 0;
  server.intercept = (seen) =>
    pageOf(seen) === undefined
      ? undefined
      : json({ value: [], '@odata.nextLink': `Property?$skiptoken=${++page}` });
  await assert.rejects(
    replica.replicate(),
    failed(
      'transient',
      'The walk was lost 5 times: The source gave 100 pages without a record: the walk would not end',
    ),
  );
  assert.equal(page, 500);
});

test('endless nextLinks: the same records for ever, each time under a new link', async (t) => {
  const { server, replica } = await scene(t);
  const list = server.records.get('Property') ?? [];
  let page = 0;
  server.intercept = (seen) =>
    pageOf(seen) === undefined
      ? undefined
      : json({ value: list, '@odata.nextLink': `Property?$skiptoken=${++page}` });
  await assert.rejects(
    replica.replicate(),
    failed(
      'transient',
      'The walk was lost 5 times: The source gave the same page twice: the walk would not end',
    ),
  );
  assert.deepEqual(await replica.keys('Property'), keysUpTo(12), 'pages read before are stored');
});

test('endless nextLinks: two pages that alternate under new links are detected at the third', async (t) => {
  const { server, replica } = await scene(t);
  const list = server.records.get('Property') ?? [];
  let page = 0;
  server.intercept = (seen) => {
    if (pageOf(seen) === undefined) return undefined;
    const value = list.slice(0, 12).filter((_, at) => at % 2 === page % 2);
    return json({ value, '@odata.nextLink': `Property?$skiptoken=${++page}` });
  };
  await assert.rejects(
    replica.replicate(),
    failed(
      'transient',
      'The walk was lost 5 times: The source gave the same page twice: the walk would not end',
    ),
  );
  assert.equal(page, 15);
  assert.deepEqual(await replica.keys('Property'), keysUpTo(12), 'pages read before are stored');
});

test('endless links of sub-data: each list is abandoned, and the listings are stored', async (t) => {
  const { server, replica } = await scene(t, 3);
  let page = 0;
  server.intercept = ({ path, url }) => {
    if (!path.endsWith('/Media')) return undefined;
    const [first = ''] = url.split('?');
    const value = [{ MediaKey: `m${++page}`, MediaURL: 'https://media.example/1.jpeg' }];
    return json({ value, '@odata.nextLink': `${first}?$skiptoken=${page}` });
  };
  await replica.replicate({ resources: ['Property'] }).catch(() => undefined);
  assert.deepEqual(await replica.keys('Property'), keysUpTo(3));
  assert.ok(page > 250 && page < 3 * 4 * 260, `${page} pages`);
});

test('a nextLink that comes twice ends the download with an error', async (t) => {
  const { server, replica } = await scene(t);
  const list = server.records.get('Property') ?? [];
  server.intercept = (seen) => {
    const page = pageOf(seen);
    if (page === undefined) return undefined;
    const next = [4, 8, 4][page];
    return json({
      value: list.slice(page * 4, page * 4 + 4),
      '@odata.nextLink': `Property?$skiptoken=${next}`,
    });
  };
  await assert.rejects(
    replica.replicate(),
    failed(
      'transient',
      `The walk was lost 5 times: The source gave the link ${server.root}Property?$skiptoken=4 twice: the walk would not end`,
    ),
  );
  const again = replica.reported('again');
  assert.equal(again.length, 4);
});

test('a skip token that comes twice ends the download with an error', async (t) => {
  const clock = testClock();
  const server = await nativeServer(t, clock, listings(6, clock));
  const replica = await makeReplica(t, {
    from: server.root,
    interface: 'native',
    clock,
    resources: ['Property'],
  });
  server.intercept = ({ query }) =>
    query.has('_skiptoken')
      ? success(
          server.listings.slice(0, 3).map((fields) => ({ Id: fields.ListingKey, StandardFields: fields })),
          keyOf(3),
        )
      : undefined;
  await assert.rejects(
    replica.replicate(),
    failed('transient', 'The walk was lost 5 times: The source gave the skip token 1003 twice'),
  );
});

test('a nextLink that is not a URL is an error', async (t) => {
  const { server, replica } = await scene(t);
  server.intercept = (seen) =>
    pageOf(seen) === 0 ? json({ value: [], '@odata.nextLink': 'http://' }) : undefined;
  await assert.rejects(
    replica.replicate(),
    failed('rejected', 'The source links to http://, which is not a URL'),
  );
});

test('a page that is truncated, by a closed connection or by incomplete JSON, is requested again', async (t) => {
  const { server, replica } = await scene(t);
  const list = server.records.get('Property') ?? [];
  const text = JSON.stringify({ value: list.slice(0, 4), '@odata.nextLink': 'Property?$skiptoken=4' });
  let times = 0;
  server.intercept = (seen) => {
    if (pageOf(seen) !== 0 || seen.query.has('$select')) return undefined;
    times++;
    const headers = { 'content-type': 'application/json' };
    if (times === 1) return { headers, body: text, cutAfter: 200 };
    if (times === 2) return { headers, body: text.slice(0, 300) };
    return undefined;
  };
  await replica.replicate();
  assert.equal(times, 3);
  assert.deepEqual(await replica.keys('Property'), keysUpTo(12));
  assert.deepEqual(await replica.quarantine(), []);
});

test('a page that is shorter than before and has no link ends the walk; the sweep finds the missing records', async (t) => {
  const { server, replica, clock } = await scene(t);
  const list = server.records.get('Property') ?? [];
  server.intercept = (seen) => (pageOf(seen) === 1 ? json({ value: list.slice(4, 6) }) : undefined);
  await replica.replicate({ step: 'initial' });
  assert.deepEqual(await replica.keys('Property'), keysUpTo(6));
  server.intercept = () => undefined;
  clock.advance(DAY);
  await replica.replicate();
  assert.deepEqual(await replica.keys('Property'), keysUpTo(12));
});

test('one or two deletions are no mass deletion, unless nothing would be left', async (t) => {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: listings(4, clock) });
  const replica = await makeReplica(t, {
    from: server.root,
    interface: 'reso',
    clock,
    resources: ['Property'],
  });
  await replica.replicate();
  const list = server.records.get('Property') ?? [];
  take(list, ...keysUpTo(1));
  assert.equal(await replica.replicate({ step: 'purge' }), 'done');
  take(list, ...keysUpTo(1, 2));
  assert.equal(await replica.replicate({ step: 'purge' }), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(2, 3));
  take(list, ...keysUpTo(2, 3));
  assert.equal(await replica.replicate({ step: 'purge' }), 'guarded');
  assert.deepEqual(replica.reported('guarded'), [{ resource: 'Property', rows: 2, of: 2 }]);
  assert.deepEqual(await replica.keys('Property'), keysUpTo(2, 3));
});

test('a sweep that suddenly ends early does not empty the replica: the guard stops it', async (t) => {
  const { server, replica, clock } = await scene(t);
  const list = server.records.get('Property') ?? [];
  await replica.replicate();
  clock.advance(DAY);
  server.intercept = (seen) =>
    pageOf(seen) === 0 && seen.query.has('$select') ? json({ value: list.slice(0, 4) }) : undefined;
  assert.equal(await replica.replicate(), 'guarded');
  assert.deepEqual(replica.reported('guarded'), [{ resource: 'Property', rows: 8, of: 12 }]);
  assert.deepEqual(await replica.keys('Property'), keysUpTo(12));
  const [status] = (await replica.status()).collections;
  assert.equal(status?.sweep, 'guarded');
  // The source is complete again.
  server.intercept = () => undefined;
  assert.equal(await replica.replicate({ step: 'purge' }), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(12));
});

test('100 MB pages are requested with fewer records', async (t) => {
  const { server, replica } = await scene(t);
  const sizes: number[] = [];
  server.traits.page = 1000;
  server.intercept = (seen) => {
    if (pageOf(seen) === undefined || seen.query.has('$select')) return undefined;
    const size = Number(seen.query.get('$top'));
    sizes.push(size);
    return size > 20 ? { body: LARGE } : undefined;
  };
  await replica.replicate();
  assert.deepEqual(await replica.keys('Property'), keysUpTo(12));
  assert.deepEqual(sizes, [50, 25, 12]);
});

test('100 MB pages however few records are requested: a clear error', async (t) => {
  const { server, replica } = await scene(t);
  server.intercept = (seen) => (pageOf(seen) === undefined ? undefined : { body: LARGE });
  await assert.rejects(
    replica.replicate({ pageSize: 8 }),
    failed('too-large', 'The response has at least 100000000 bytes; plat reads at most 33554432'),
  );
});

for (const status of [400, 413, 414, 422]) {
  test(`a source that rejects more than 20 records with ${status} gets smaller pages, and never a larger one again`, async (t) => {
    const { server, replica } = await scene(t, 100);
    server.traits.page = 1000;
    const sizes: number[] = [];
    server.intercept = (seen) => {
      if (pageOf(seen) === undefined) return undefined;
      const size = Number(seen.query.get('$top'));
      sizes.push(size);
      return size > 20 ? json({ error: { message: '$top is too large' } }, { status }) : undefined;
    };
    await replica.replicate({ step: 'initial' });
    assert.equal((await replica.keys('Property')).length, 100);
    assert.deepEqual(sizes, [50, 25, ...Array(9).fill(12)]);
  });
}

test('a page that is rejected at every size is requested with four sizes, and the error has the reason of the source', async (t) => {
  const { server, replica } = await scene(t);
  const sizes: (string | null)[] = [];
  server.intercept = (seen) => {
    if (pageOf(seen) === undefined) return undefined;
    sizes.push(seen.query.get('$top'));
    return json({ error: { message: 'No such collection' } }, { status: 400 });
  };
  await assert.rejects(replica.replicate(), failed('rejected', '400: No such collection'));
  assert.deepEqual(sizes, ['50', '25', '12', '10']);
});

test('a source that rejects first pages above 200 with 400: smaller sizes are tried, and the download completes', async (t) => {
  const { server, replica } = await scene(t, 600);
  server.traits.page = 1000;
  const rejected: number[] = [];
  server.intercept = (seen) => {
    const size = Number(seen.query.get('$top'));
    if (pageOf(seen) === undefined || size <= 200) return undefined;
    rejected.push(size);
    return json({ error: { message: '$top is at most 200' } }, { status: 400 });
  };
  await replica.replicate({ step: 'initial' });
  assert.equal((await replica.keys('Property')).length, 600);
  assert.deepEqual(rejected, [1000, 500, 250]);
});

test('gzip bombs are requested with fewer records, and the copy is complete', async (t) => {
  const { server, replica } = await scene(t);
  const bomb = gzipSync(Buffer.alloc(100_000_000, ' '));
  server.traits.page = 1000;
  server.intercept = (seen) =>
    pageOf(seen) !== undefined && Number(seen.query.get('$top')) > 100
      ? { headers: { 'content-encoding': 'gzip' }, body: bomb }
      : undefined;
  await replica.replicate();
  assert.deepEqual(await replica.keys('Property'), keysUpTo(12));
});

test('redirects to other hosts: the token is never sent there, and the error names the host', async (t) => {
  const { server, replica } = await scene(t);
  const other = await odataServer(t, testClock(), {});
  server.intercept = (seen) =>
    pageOf(seen) === 1 ? { status: 307, headers: { location: `${other.origin}/steal` } } : undefined;
  await assert.rejects(
    replica.replicate(),
    failed('refused', `The source redirects to ${other.origin}, which is not the origin of the token`),
  );
  assert.equal(other.seen.length, 0);
  assert.deepEqual(await replica.keys('Property'), keysUpTo(4), 'pages read before are stored');
});

test('INCIDENT a link of sub-data took the token to another host: the host of a malformed link gets no request', async (t) => {
  const { server, replica } = await scene(t, 2);
  const other = await odataServer(t, testClock(), {});
  const link = `x:@${new URL(other.origin).host}/steal`;
  server.intercept = ({ path }) =>
    path.endsWith('/Media') ? json({ value: [{ MediaKey: 'm' }], '@odata.nextLink': link }) : undefined;
  await replica.replicate().catch(() => undefined);
  assert.ok(server.seen.some(({ path }) => path.endsWith('/Media')));
  assert.equal(other.seen.length, 0);
});

test('a key that is revoked during the download: the error comes at once, and pages read before are stored', async (t) => {
  const { server, replica } = await scene(t);
  server.intercept = (seen) =>
    pageOf(seen) === 1 ? json({ error: { message: 'The key is disabled' } }, { status: 401 }) : undefined;
  await assert.rejects(replica.replicate(), failed('refused', '401: The key is disabled'));
  assert.deepEqual(await replica.keys('Property'), keysUpTo(4));
  assert.equal(server.seen.filter((seen) => pageOf(seen) === 1).length, 1);
});

test('a source without a Date header cannot bound a window', async (t) => {
  const { server, replica } = await scene(t);
  server.traits.dates = () => false;
  await assert.rejects(
    replica.replicate(),
    failed('refused', 'The source sends no Date header, so no window can be bounded'),
  );
});

test('single responses without a Date header do not end a run', async (t) => {
  const made = await scene(t, 30);
  const { server, replica } = made;
  // Every other response has no such header, that of the root never has one.
  server.traits.dates = ({ path }, count) => path !== '/odata/' && count % 2 === 0;
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(30));
  await mustCopyChange(made);
  assert.deepEqual(replica.reported('retry'), []);
});

const ROOTS: readonly [string, Reply][] = [
  ['is not there', { status: 404, body: 'Nothing here' }],
  ['is for others', { status: 403, body: 'Not for you' }],
  ['is a page for people', { headers: { 'content-type': 'text/html' }, body: '<h1>Our interface</h1>' }],
  ['is a text', { body: 'OK' }],
  ['is broken', { status: 500, body: 'Oh' }],
];
for (const [what, reply] of ROOTS) {
  test(`a root that ${what}: the Date of a list gives the time of the source and bounds the windows`, async (t) => {
    const made = await scene(t, 3);
    made.server.intercept = ({ path }) => (path === '/odata/' ? reply : undefined);
    assert.equal(await made.replica.replicate(), 'done');
    await mustCopyChange(made);
  });
}

test('native: without /v1/system, the Date of the listings gives the time of the source', async (t) => {
  const clock = testClock();
  const server = await nativeServer(t, clock, listings(3, clock));
  const replica = await makeReplica(t, { from: server.root, interface: 'native', clock });
  server.intercept = ({ path }) => (path === '/v1/system' ? { status: 404, body: '' } : undefined);
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(3));
});

test('an unavailable source is asked for its time no more often than for anything else', async (t) => {
  const { server, replica, clock } = await scene(t, 3);
  await replica.replicate();
  clock.advance(HOUR);
  let asked = 0;
  server.intercept = ({ path, query }) => {
    if (path !== '/odata/' && query.get('$top') !== '1') return undefined;
    asked++;
    return { status: 503, body: 'Later' };
  };
  await assert.rejects(replica.replicate(), failed('transient', '503: Later'));
  assert.ok(asked <= 2 * 8, `${asked} requests`);
});

test('metadata that changes between runs: new fields are declared, everything is read again, stored data is kept', async (t) => {
  const { server, replica, clock } = await scene(t, 3);
  const list = server.records.get('Property') ?? [];
  server.traits.metadata = metadataOf({ ListPrice: 'Edm.Decimal' });
  await replica.replicate();
  const at = list.findIndex(({ ListingKey }) => ListingKey === keyOf(2));
  list[at] = { ...list[at], WaterTemperature: 11.5 };
  server.traits.metadata = metadataOf({ ListPrice: 'Edm.Decimal', WaterTemperature: 'Edm.Decimal' });
  clock.advance(HOUR);
  await replica.replicate();
  assert.deepEqual(replica.reported('refresh').length, 1);
  assert.deepEqual(
    (await replica.rows('Property')).map(({ WaterTemperature }) => WaterTemperature),
    [null, 11.5, null],
  );
});

test('metadata that is broken at a later run is ignored: the update continues, and nothing is read again', async (t) => {
  const { server, replica, clock } = await scene(t, 3);
  server.traits.metadata = metadataOf({ ListPrice: 'Edm.Decimal' });
  await replica.replicate();
  server.traits.metadata = '<html>Gateway</html>';
  clock.advance(HOUR);
  take(server.records.get('Property') ?? [], keyOf(9));
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(replica.reported('refresh'), []);
  assert.deepEqual(await replica.keys('Property'), keysUpTo(3));
});

test('two sources with the same key: the second one is quarantined, and a purge deletes only rows of its own source', async (t) => {
  const { server, replica, clock } = await scene(t, 3);
  await replica.replicate();
  const other = await odataServer(t, clock, {
    Property: [listing(keyOf(2), { ListPrice: 1 }), listing('77')],
  });
  await replica.replicate({ from: other.root, source: 'other' });
  assert.equal((await replica.record('Property', keyOf(2)))?.ListPrice, 2000);
  assert.deepEqual(await replica.keys('Property'), [...keysUpTo(3), '77']);
  const [entry] = await replica.store.checkpoints.quarantined('other');
  assert.equal(entry?.key, keyOf(2));
  assert.match(entry?.reason ?? '', /feed/);
  clock.advance(DAY);
  server.records.set('Property', []);
  assert.equal(await replica.replicate({ force: true }), 'done');
  assert.deepEqual(await replica.keys('Property'), ['77'], 'a purge deletes only rows of its own source');
});

/** A copy of three listings of which some have a part in common. */
async function shared(scope: Scope, kind: 'reso' | 'native', having: readonly number[]) {
  const clock = testClock('2026-06-01T12:00:00Z');
  const parts: Json =
    kind === 'reso'
      ? { Media: [photo('m')], Room: [room('r')], OpenHouse: [openHouse('h')] }
      : { Photos: [{ Id: 'm', Uri800: 'https://img.example/1' }] };
  const none: Json = kind === 'reso' ? { Media: [], Room: [], OpenHouse: [] } : { Photos: [] };
  const records = listings(3, clock, (number) => (having.includes(number) ? parts : none));
  const expands = ['Media', 'Room', 'OpenHouse'];
  const server =
    kind === 'reso'
      ? await odataServer(scope, clock, { Property: records }, { expands })
      : await nativeServer(scope, clock, records);
  const resources = ['Property'];
  const replica = await makeReplica(scope, { from: server.root, interface: kind, clock, resources });
  const own = 'records' in server ? (server.records.get('Property') ?? []) : server.listings;
  const all = kind === 'reso' ? ['Media', 'OpenHouse', 'PropertyRooms'] : ['Media'];
  const update = async (...changes: readonly (readonly [number, Json])[]): Promise<[string, string][]> => {
    clock.advance(HOUR);
    for (const [number, fields] of changes) change(own, keyOf(number), fields, clock);
    clock.advance(HOUR);
    assert.equal(await replica.replicate(), 'done');
    return (await replica.quarantine()).map(([resource, , reason]) => [resource, reason]);
  };
  const differences = async () => (await replica.verify()).flatMap((each) => each.differences);
  return { replica, clock, all, parts, none, update, differences };
}

const under = (from: number, by: number): string =>
  `The source has it under Property ${keyOf(from)} and under Property ${keyOf(by)}; it is stored under the latter`;

for (const kind of ['reso', 'native'] as const) {
  test(`${kind}: what a source has under two listings is in the quarantine, and verify names both`, async (t) => {
    const { replica, clock, all, parts, update, differences } = await shared(t, kind, [1]);
    assert.equal(await replica.replicate(), 'done');
    const entries = all.map((resource) => [resource, under(1, 2)]);
    assert.deepEqual(await update([2, parts]), entries);
    assert.deepEqual(
      await update([2, { ...parts, ListPrice: 1 }]),
      entries,
      'the holder alone proves nothing',
    );
    const found = await differences();
    const missing = found.filter(({ key }) => key === keyOf(1)).flatMap(({ fields }) => fields);
    assert.equal(missing.length, all.length);
    for (const field of missing) assert.match(field, /\) is missing: it is stored under Property 1002$/);
    const named = found.filter((each) => each.kind === 'quarantined');
    assert.deepEqual(named.map(({ resource, fields }) => [resource, ...fields]).toSorted(), entries);

    // A retry takes nothing from a listing: the other one is asked again.
    const { stored, wanted } = await replica.retry();
    assert.deepEqual([stored, wanted], [0, all.length]);
    assert.deepEqual(await update(), entries);
    // The listing that the source changed last keeps them, whichever is read last.
    const stamps = () => replica.rows('Property', `$select=ListingKey,${REPLICA_TIMESTAMP}`);
    const before = await stamps();
    for (const refresh of [false, false, true]) {
      clock.advance(DAY);
      assert.equal(await replica.replicate({ refresh }), 'done');
      const reasons = (await replica.quarantine()).map(([resource, , reason]) => [resource, reason]);
      assert.deepEqual(reasons, entries);
      assert.deepEqual(await stamps(), before, 'nothing has changed');
    }
    assert.deepEqual(
      await update([1, { ...parts, ListPrice: 2 }]),
      all.map((resource) => [resource, under(2, 1)]),
    );
  });

  test(`${kind}: what moves to another listing is in no quarantine once both have been read`, async (t) => {
    const { replica, parts, none, update, differences } = await shared(t, kind, [2]);
    assert.equal(await replica.replicate(), 'done');
    assert.equal((await update([1, parts])).length > 0, true);
    assert.deepEqual(await update([2, none]), []);
    assert.deepEqual(await differences(), []);
    const before = replica.reported('quarantined').length;
    assert.deepEqual(await update([3, parts], [1, none]), []);
    assert.deepEqual(await differences(), []);
    assert.equal(replica.reported('quarantined').length, before);
  });
}

test('the reason why the last run failed is in the status until a run begins well', async (t) => {
  const { server, replica, clock } = await scene(t);
  assert.equal(await replica.replicate(), 'done');
  clock.advance(HOUR);
  server.intercept = () => ({ status: 401, body: 'no' });
  await assert.rejects(replica.replicate(), { kind: 'refused' });
  const [trouble, ...others] = (await replica.status()).troubles;
  assert.deepEqual(others, []);
  assert.deepEqual(
    [trouble?.step, trouble?.since, trouble?.attempts, trouble?.lasting],
    ['run', '2026-06-01T13:00:00Z', 1, true],
  );
  assert.match(trouble?.reason ?? '', /401/);
  server.intercept = () => undefined;
  clock.advance(HOUR);
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual((await replica.status()).troubles, []);
});

test('agents and offices that cannot be filtered by their timestamp are read completely at each update', async (t) => {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: listings(9, clock), ...people }, { page: 2 });
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock });
  const cannotFilter: Reply = json({ error: { message: 'Cannot filter so' } }, { status: 400 });
  let windows = 0;
  server.intercept = ({ path, query }) => {
    if (!/\/(Member|Office)$/.test(path) || !query.has('$filter')) return undefined;
    windows++;
    return cannotFilter;
  };
  assert.equal(await replica.replicate(), 'done');
  const { Member: [agent, ...others] = [] } = people;
  for (const hours of [1, 1, 21]) {
    clock.advance(hours * HOUR);
    const name = `Renamed at ${clock.text()}`;
    server.records.set('Member', [{ ...agent, MemberFullName: name }, ...others]);
    windows = 0;
    assert.equal(await replica.replicate({ step: 'update' }), 'done');
    assert.equal((await replica.record('Member', 'm1'))?.MemberFullName, name);
    const isAsked = windows > 0;
    assert.equal(isAsked, replica.reported('doubt').length > 0, 'windows are requested again after a day');
    replica.events.length = 0;
  }
  server.records.set('Member', others);
  clock.advance(DAY);
  assert.equal(await replica.replicate({ force: true }), 'done');
  assert.deepEqual(await replica.keys('Member'), ['m2', 'm3']);
  for (const { differences } of await replica.verify()) assert.deepEqual(differences, []);
  server.intercept = () => undefined;
  clock.advance(DAY);
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual((await replica.status()).troubles, []);

  // Listings are too many for that.
  server.intercept = ({ query }) => (query.has('$filter') ? cannotFilter : undefined);
  clock.advance(DAY);
  await assert.rejects(replica.replicate(), failed('rejected', '400: Cannot filter so'));
});

for (const how of ['an empty list', '404']) {
  test(`a record that the source lists, but returns nothing for its key (${how}), stays in the quarantine until it is listed no more`, async (t) => {
    const clock = testClock();
    const server = await odataServer(t, clock, { Property: listings(3, clock) });
    const list = server.records.get('Property') ?? [];
    const resources = ['Property'];
    const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
    assert.equal(await replica.replicate(), 'done');
    const nothing: Reply =
      how === '404' ? json({ error: { message: 'None' } }, { status: 404 }) : json({ value: [] });
    server.intercept = ({ path }) => (path === `/odata/Property('${keyOf(9)}')` ? nothing : undefined);
    // It becomes visible with an old timestamp, so it is requested by its key.
    list.push({
      ...listings(1, clock)[0],
      ListingKey: keyOf(9),
      ModificationTimestamp: '2020-01-01T00:00:00Z',
    });
    const listed: [string, string, string] = [
      'Property',
      keyOf(9),
      'The source lists the record, but returns nothing for its key',
    ];
    const mustAgree = async (): Promise<void> => {
      assert.deepEqual(await replica.quarantine(), [listed]);
      const [{ differences } = { differences: [] }] = await replica.verify();
      assert.deepEqual(
        differences.map(({ key }) => key),
        [keyOf(9)],
      );
    };
    for (let day = 0; day < 2; day++) {
      clock.advance(DAY);
      assert.equal(await replica.replicate(), 'done');
      await mustAgree();
    }
    const [, , reason] = listed;
    const still = [{ source: SOURCE, resource: 'Property', key: keyOf(9), reason }];
    assert.deepEqual(await replica.retry(), { stored: 0, wanted: 0, gone: 0, still });
    await mustAgree();
    // A retry that leaves the request to the next run.
    assert.deepEqual(await retryQuarantined(replica.store, { clock }), {
      ...{ stored: 0, wanted: 1, gone: 0, still: [] },
    });
    clock.advance(HOUR);
    assert.equal(await replica.replicate({ step: 'update' }), 'done');
    await mustAgree();
    take(list, keyOf(9));
    if (how === '404') assert.equal((await replica.retry()).gone, 1);
    else {
      clock.advance(DAY);
      assert.equal(await replica.replicate(), 'done');
    }
    assert.deepEqual(await replica.quarantine(), []);
    for (const { differences } of await replica.verify()) assert.deepEqual(differences, []);
  });
}

test('a source that returns a record for its key in a list is copied as others are', async (t) => {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: listings(3, clock) });
  const list = server.records.get('Property') ?? [];
  const resources = ['Property'];
  const replica = await makeReplica(t, { from: server.root, interface: 'reso', clock, resources });
  const old = {
    ...listings(1, clock)[0],
    ListingKey: keyOf(9),
    ModificationTimestamp: '2020-01-01T00:00:00Z',
  };
  server.intercept = ({ path }) =>
    path === `/odata/Property('${keyOf(9)}')` ? json({ value: [old] }) : undefined;
  assert.equal(await replica.replicate(), 'done');
  list.push(old);
  clock.advance(DAY);
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.keys('Property'), [...keysUpTo(3), keyOf(9)]);
  assert.deepEqual(await replica.quarantine(), []);
});
