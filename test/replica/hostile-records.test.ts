/** Records that are made to harm a consumer: each goes to the quarantine alone, and all records after it are stored. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import type { Transport } from '../../src/replica/http/transport.ts';
import { testClock } from '../support/clock.ts';
import type { Scope } from '../support/engine.ts';
import type { Json } from '../support/world.ts';
import { nativeServer } from './support/native-server.ts';
import { odataServer } from './support/odata-server.ts';
import { platFeed } from './support/plat-source.ts';
import { makeReplica } from './support/replica.ts';

/** A value with that many levels. JSON.parse builds them without recursion, as it does with the response of a source. */
const deep = (levels: number, open = '[', close = ']'): unknown =>
  JSON.parse(`${open.repeat(levels)}1${close.repeat(levels)}`);

const STAMP = '2026-05-01T12:00:00Z';
const record = (key: string, fields: Json = {}): Json => ({
  ListingKey: key,
  StandardStatus: 'Active',
  ModificationTimestamp: STAMP,
  ...fields,
});

const RECORDS: readonly Json[] = [
  record('10'),
  record('20', { City: deep(1000) }),
  record('21', { Unknown: deep(1000, '{"a":', '}') }),
  record('22', { Others: deep(500, '[{"a":', '}]') }),
  record('23', { City: 'a\0b' }),
  record('24', { City: 'a\ud800b' }),
  record('30', Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`Own${at}`, at]))),
  record('31', { PublicRemarks: `${'é😀 '.repeat(400_000)}`, City: 'c'.repeat(20_000) }),
  record('90'),
];
const REFUSED = ['20', '21', '22', '23', '24'];

async function copied(t: Scope, kind: 'reso' | 'native') {
  const clock = testClock('2026-06-01T12:00:00Z');
  const server =
    kind === 'reso'
      ? await odataServer(t, clock, { Property: [...RECORDS] })
      : await nativeServer(t, clock, RECORDS);
  const replica = await makeReplica(t, {
    from: server.root,
    interface: kind,
    clock,
    resources: ['Property'],
  });
  return { replica, result: await replica.replicate() };
}

for (const kind of ['reso', 'native'] as const) {
  test(`${kind}: each hostile record is quarantined alone, all others are stored, and a refresh changes nothing`, async (t) => {
    const { replica, result } = await copied(t, kind);
    assert.equal(result, 'done');
    assert.deepEqual(await replica.keys('Property'), ['10', '30', '31', '90']);
    const quarantine = await replica.quarantine();
    assert.deepEqual(
      quarantine.map(([, key]) => key),
      REFUSED,
    );
    for (const [, , reason] of quarantine) assert.ok(reason.length < 500, reason);
    const [, first] = quarantine;
    assert.match(first?.[2] ?? '', /nested more than 64 levels deep/);
    assert.equal(
      (await replica.record('Property', '31', '$select=PublicRemarks'))?.PublicRemarks,
      RECORDS[7]?.PublicRemarks,
    );
    assert.equal(await replica.replicate({ refresh: true }), 'done');
    assert.deepEqual(await replica.keys('Property'), ['10', '30', '31', '90']);
  });
}

/** Changes the text of responses. */
const rewritten =
  (change: (text: string) => string) =>
  (transport: Transport): Transport =>
  async (sent) => {
    const response = await transport(sent);
    const pieces: Uint8Array[] = [];
    for await (const piece of response.body) pieces.push(piece);
    const { 'content-length': _, ...headers } = response.headers;
    return {
      ...response,
      headers,
      body: Readable.from([Buffer.from(change(Buffer.concat(pieces).toString()))]),
    };
  };

for (const kind of ['reso', 'native'] as const) {
  test(`${kind}: a record with a member twice is quarantined alone with both values, unless they are the same`, async (t) => {
    const clock = testClock('2026-06-01T12:00:00Z');
    const records = ['1', '2', '3', '4'].map((key) =>
      record(key, { City: `City ${key}`, ListPrice: 12345678901.5 }),
    );
    const server =
      kind === 'reso'
        ? await odataServer(t, clock, { Property: records })
        : await nativeServer(t, clock, records);
    const between = rewritten((text) =>
      text
        .replaceAll('"City":"City 1"', '"City":"City 1", "City" : "City 1"')
        .replaceAll('"City":"City 2"', '"City":"\\\\","City":"Other","A\\\\":1')
        .replaceAll('"City":"City 4"', '"City":"City 4","City":"Other","City":"City 4"'),
    );
    const from = { from: server.root, interface: kind, clock, resources: ['Property'], between } as const;
    const replica = await makeReplica(t, from);
    assert.equal(await replica.replicate(), 'done');
    assert.deepEqual(await replica.keys('Property'), ['1', '3']);
    assert.equal((await replica.record('Property', '1'))?.City, 'City 1');
    const entries = await replica.store.checkpoints.quarantined('feed');
    const reason = 'City occurs more than once, with different values';
    assert.deepEqual(
      entries.map((entry) => [entry.key, entry.reason]),
      [
        ['2', reason],
        ['4', reason],
      ],
    );
    assert.match(entries[0]?.payload ?? '', /"City":"\\\\","City@plat.repeated2":"Other"/);
  });
}

/** More than the 32 MB that are read of one response. */
const HUGE = Buffer.alloc(36_000_000, 'x');
const huge = (before: string, after: string): Buffer =>
  Buffer.concat([Buffer.from(`${before}"PublicRemarks":"`), HUGE, Buffer.from(`"${after}`)]);
const media = (key: string): Json => ({
  MediaKey: `M${key}`,
  ResourceName: 'Property',
  ResourceRecordKey: key,
});

test('reso: discovery accepts a response that is too large to be read as proof that the request is supported', async (t) => {
  const clock = testClock('2026-06-01T12:00:00Z');
  const records = ['1', '2'].map((key) => record(key, { Media: [media(key)] }));
  const server = await odataServer(t, clock, { Property: records }, { expands: ['Media'], top: 'total' });
  const asked: string[] = [];
  const body = huge('{"value":[{"ListingKey":"1",', '}]}');
  server.intercept = ({ url, query }) => {
    const isProbe = ['1', '5'].includes(query.get('$top') ?? '') && !query.has('$select');
    if (!isProbe || query.has('$count')) return undefined;
    asked.push(decodeURIComponent(url.replace('/odata/Property', '')));
    const expand = query.get('$expand');
    // An error response, too, may be larger than what is read.
    const status = expand === null || expand === 'Media' ? 200 : 400;
    return { status, headers: { 'content-type': 'application/json' }, body };
  };
  const from = { from: server.root, clock, resources: ['Property'] };
  const replica = await makeReplica(t, { ...from, interface: 'reso' });
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(asked, [
    '?$top=1',
    '?$top=1&$expand=Media,Room,Unit,OpenHouse',
    '?$top=1&$expand=Media',
    '?$top=1&$expand=Room',
    '?$top=1&$expand=Unit',
    '?$top=1&$expand=OpenHouse',
    '?$top=5',
  ]);
  assert.deepEqual(await replica.keys('Property'), ['1', '2']);
  assert.deepEqual(await replica.keys('Media'), ['M1', 'M2']);
});

test('native: a first listing that is too large to be read does not keep discovery from recognizing the server', async (t) => {
  const clock = testClock('2026-06-01T12:00:00Z');
  const server = await nativeServer(t, clock, [record('1'), record('2')]);
  const body = huge('{"D":{"Success":true,"Results":[{', '}]}}');
  server.intercept = ({ query, path }) => {
    const isProbe = query.get('_limit') === '1' && !query.has('_select');
    return isProbe || path.endsWith('fields')
      ? { headers: { 'content-type': 'application/json' }, body }
      : undefined;
  };
  const from = { from: server.root, clock, resources: ['Property'] };
  const replica = await makeReplica(t, { ...from, interface: 'native' });
  assert.equal(await replica.replicate(), 'done');
  assert.deepEqual(await replica.keys('Property'), ['1', '2']);
});

const SPACES = Buffer.alloc(1_000_000, ' ');

/** Makes each response with the whole listing larger than what is read, by spaces after its JSON. */
const tooLargeWith =
  (key: string, isWhole: (url: string) => boolean) =>
  (transport: Transport): Transport =>
  async (sent) => {
    const response = await transport(sent);
    if (!isWhole(sent.url)) return response;
    const pieces: Uint8Array[] = [];
    for await (const piece of response.body) pieces.push(piece);
    const isThere = Buffer.concat(pieces).includes(`"${key}"`);
    const { 'content-length': _, 'content-encoding': __, ...headers } = response.headers;
    const more = isThere ? Array.from({ length: 36 }, () => SPACES) : [];
    return { ...response, headers, body: Readable.from([...pieces, ...more]) };
  };

const isExpanded = (url: string): boolean => !url.includes('$digests') && /[?&](?:\$|%24|_)expand=/.test(url);
const REFUSED_SIZE =
  /^The source cannot return (?:the record|its sub-resources): The response has at least \d+ bytes; plat reads at most 33554432$/;

interface Heavy {
  readonly kind: 'reso' | 'native';
  readonly is: 'plat' | 'foreign';
}

/** A source of one of the interfaces with one listing that is too large, and a replica of it. */
async function heavySource(t: Scope, { kind, is }: Heavy, keys: readonly string[]) {
  const clock = testClock('2026-06-01T12:00:00Z');
  const between = tooLargeWith('BIG', isExpanded);
  const options = { resources: ['Property'], between };
  if (is === 'plat') {
    const feed = await platFeed(t, { clock });
    const put = (names: readonly string[]): Promise<unknown> =>
      feed.write('Property', ...names.map((key) => ({ ListingKey: key, Media: [{ MediaKey: `M${key}` }] })));
    await put(keys);
    clock.advance(60_000);
    return { put, clock, replica: await feed.replica(t, kind, options) };
  }
  const whole = (key: string): Json =>
    record(key, {
      ...(kind === 'reso' ? { Media: [media(key)] } : {}),
      ModificationTimestamp: new Date(clock.now()).toISOString(),
    });
  const records = keys.map(whole);
  clock.advance(3_600_000); // before the first window begins
  if (kind === 'reso') {
    const server = await odataServer(t, clock, { Property: records }, { expands: ['Media'] });
    const put = async (names: readonly string[]): Promise<void> => {
      server.records.get('Property')?.push(...names.map(whole));
    };
    return {
      put,
      clock,
      replica: await makeReplica(t, { from: server.root, interface: kind, clock, ...options }),
    };
  }
  const server = await nativeServer(t, clock, records);
  const put = async (names: readonly string[]): Promise<void> => {
    server.listings.push(...names.map(whole));
  };
  return {
    put,
    clock,
    replica: await makeReplica(t, { from: server.root, interface: kind, clock, ...options }),
  };
}

for (const kind of ['reso', 'native'] as const) {
  for (const is of ['plat', 'foreign'] as const) {
    // If it is the only listing, discovery reads it as well.
    const isAlone = process.env.PLAT_FULL === '1' || (is === 'plat' && kind === 'reso');
    for (const keys of [...(isAlone ? [['BIG']] : []), ['A1', 'A2', 'BIG', 'C1', 'C2']]) {
      test(`${is} ${kind}: of ${keys}, BIG is too large to be read and is the only one in the quarantine`, async (t) => {
        const { replica, clock } = await heavySource(t, { kind, is }, keys);
        assert.equal(await replica.replicate(), 'done');
        // The next run requests quarantined records again, updates and purges.
        clock.advance(25 * 3_600_000);
        assert.equal(await replica.replicate(), 'done');
        const others = keys.filter((key) => key !== 'BIG');
        const stored = await replica.keys('Property');
        // The native download requests sub-data separately, so that the listing is stored.
        assert.deepEqual(stored, kind === 'native' ? keys : others);
        if (kind === 'reso' || is === 'plat')
          assert.deepEqual(
            await replica.keys('Media'),
            others.map((key) => `M${key}`),
          );
        const kept = await replica.quarantine();
        assert.deepEqual(
          kept.map(([resource, key]) => [resource, key]),
          [['Property', kind === 'native' ? 'BIG/children' : 'BIG']],
        );
        for (const [, , reason] of kept) assert.match(reason, REFUSED_SIZE);
        const verified = await replica.verify();
        const different = verified.flatMap(({ differences }) => differences.map(({ key }) => key));
        assert.deepEqual([...new Set(different)], [kind === 'native' ? 'BIG/children' : 'BIG']);
      });
    }

    test(`${is} ${kind}: a new listing that is too large is quarantined by an update, and the other new listings are stored`, async (t) => {
      const { replica, put, clock } = await heavySource(t, { kind, is }, ['A1', 'Z1']);
      assert.equal(await replica.replicate(), 'done');
      clock.advance(3_600_000);
      await put(['B1', 'BIG', 'C1', 'C2', 'C3']);
      clock.advance(600_000);
      assert.equal(await replica.replicate(), 'done');
      assert.deepEqual(await replica.keys('Property'), ['A1', 'B1', 'C1', 'C2', 'C3', 'Z1']);
      assert.deepEqual(
        (await replica.quarantine()).map(([resource, key]) => [resource, key]),
        [['Property', 'BIG']],
      );
    });
  }
}
