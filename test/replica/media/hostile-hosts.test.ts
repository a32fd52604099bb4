/** Media hosts, URLs and names that are meant to harm the replica. */
import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { networkTransport, type Transport } from '../../../src/replica/http/transport.ts';
import { replicate } from '../../../src/replica/run/replicate.ts';
import { listing, photo } from '../../support/builders.ts';
import { SECOND } from '../../support/clock.ts';
import { listen } from '../support/loopback.ts';
import { makeReplica, SOURCE } from '../support/replica.ts';
import { manualClock } from './manual-clock.ts';
import { bytes, mediaReplica, sha256, url } from './media-replica.ts';

const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test(
  'hosts that drip hold up no file of a working host, even one that was unknown before',
  { timeout: 20_000 },
  async (t) => {
    const { folder, host, feed, replica, rows } = await mediaReplica(t);
    const slow = Array.from({ length: 9 }, (_, at) =>
      [0, 1, 2].map((each) => photo(`x${at}-${each}`, { MediaURL: `https://slow${at}.example/${each}.jpg` })),
    );
    async function* drip(signal: AbortSignal): AsyncGenerator<Uint8Array> {
      for (;;) {
        yield Buffer.from('x');
        await turn();
        signal.throwIfAborted();
      }
    }
    for (const { MediaURL } of slow.flat()) {
      host.files.set(String(MediaURL), ({ signal }) => ({ status: 200, headers: {}, body: drip(signal) }));
    }
    const good = Array.from({ length: 12 }, (_, at) => photo(`y${at}`, { MediaURL: url(`y${at}`) }));
    for (const { MediaURL } of good) host.files.set(String(MediaURL), String(MediaURL));
    await feed.write(
      'Property',
      ...slow.map((media, at) => listing(`1${at}`, { Media: media })),
      listing('2', { Media: good }),
    );
    feed.clock.advance(HOUR);

    const clock = manualClock(feed.clock);
    const network = networkTransport();
    t.after(() => network.close());
    let stored = 0;
    let isOver = false;
    // The clock stands still until every file of the working host is stored.
    const pump = async (): Promise<void> => {
      for (; !isOver; await turn()) if (stored === good.length) await clock.advance(SECOND);
    };
    void pump();
    const result = await replicate({
      from: feed.root('reso'),
      interface: 'reso',
      token: feed.token,
      store: replica.store,
      source: SOURCE,
      resources: ['Property'],
      mediaFolder: folder,
      environment: { clock, random: () => 0.5, transport: host.between(network) },
      onEvent: (event) => {
        if (event.kind === 'media' && event.state === 'stored') stored++;
      },
    });
    isOver = true;
    assert.equal(result, 'done');
    const failed = rows().filter(({ sha256: content }) => content === null);
    assert.equal(failed.length, 27);
    for (let at = 0; at < 9; at++) {
      const reasons = failed
        .filter(({ media_key }) => String(media_key).startsWith(`x${at}`))
        .map(({ reason }) => String(reason).replace(/\d+ bytes/, 'N bytes'));
      assert.deepEqual(reasons.toSorted(), [
        'The file arrived too slowly: N bytes in 60 s',
        'The file arrived too slowly: N bytes in 60 s',
        `slow${at}.example failed 2 times`,
      ]);
    }
  },
);

test('a stop during downloads ends the run as stopped, and completed files are stored', async (t) => {
  const { host, feed, replica, run, rows } = await mediaReplica(t);
  const stop = new AbortController();
  async function* hanging(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    yield Buffer.from('x');
    while (!signal.aborted) await turn();
    throw signal.reason;
  }
  host.files.set(url('a'), 'picture').set(url('b'), ({ signal }) => ({
    status: 200,
    headers: {},
    body: hanging(signal),
  }));
  await feed.write('Property', listing('1', { Media: [photo('a')] }), listing('2', { Media: [photo('b')] }));
  feed.clock.advance(HOUR);
  const result = await run({
    signal: stop.signal,
    onEvent: ({ kind }: { kind: string }) => {
      if (kind === 'media') stop.abort();
    },
  });
  assert.equal(result, 'stopped');
  assert.deepEqual(rows(), [{ media_key: 'a', sha256: sha256('picture'), failures: 0, reason: null }]);
  assert.equal(
    await replica.store.checkpoints.pendingCount(SOURCE, 'Property', 'files'),
    1,
    'only listing 2',
  );
  host.files.set(url('b'), 'another');
  assert.equal(await run(), 'done');
  assert.deepEqual(
    host.asked.map(({ url: asked }) => asked),
    [url('b')],
  );
});

test('a folder that cannot be written ends the round with an error, and no host counts as failed', async (t) => {
  const { folder, host, feed, run, rows } = await mediaReplica(t);
  const keys = Array.from({ length: 8 }, (_, at) => `a${at}`);
  for (const key of keys) {
    host.files.set(url(key), () => {
      rmSync(join(folder, 'partial'), { recursive: true, force: true });
      return { status: 200, headers: {}, body: bytes(key) };
    });
  }
  await feed.write('Property', listing('1', { Media: keys.map((key) => photo(key)) }));
  feed.clock.advance(HOUR);
  await assert.rejects(run(), (error: Error) => {
    assert.equal(error.name, 'RequestFailure');
    assert.ok(error.message.startsWith(`${folder} cannot be written: ENOENT`), error.message);
    return true;
  });
  assert.deepEqual(rows(), []);
  for (const key of keys) host.files.set(url(key), key);
  await run();
  assert.equal(rows().length, 8, 'no file has to wait a quarter of an hour');
});

test('URLs that a host answers with 404 are requested again once per listing, many listings in one request', async (t) => {
  const { host, feed, replica, run, rows } = await mediaReplica(t);
  const listings = ['1', '2', '3', '4', '5', '6'].map((key) =>
    listing(key, { Media: [photo(`${key}a`), photo(`${key}b`)] }),
  );
  await feed.write('Property', ...listings);
  feed.clock.advance(HOUR);
  await replica.replicate();
  replica.requests.length = 0;
  await run();
  // Before it fetches files, the replica checks whether its newest records have changed at the source.
  const files = replica.requests.findIndex((request) => request.startsWith('https://images.example/'));
  const asked = replica.requests
    .slice(files)
    .flatMap((request) => [...request.matchAll(/ListingKey in \(([^)]*)\)/g)]);
  const keys = asked.flatMap(([, list = '']) => list.split(',')).toSorted();
  assert.deepEqual(keys, ["'1'", "'2'", "'3'", "'4'", "'5'", "'6'"]);
  assert.ok(asked.length < 6, `${asked.length} requests`);
  assert.equal(host.asked.length, 12, 'a URL that stays the same is not tried again');
  assert.ok(rows().every(({ reason }) => reason === '404: no such file'));
});

test('a photo that gets another URL after a failure is fetched at once', async (t) => {
  const { host, feed, run, rows } = await mediaReplica(t);
  await feed.write('Property', listing('1', { Media: [photo('a')] }));
  feed.clock.advance(HOUR);
  await run();
  assert.equal(rows()[0]?.reason, '404: no such file');
  host.files.set(url('new'), 'picture');
  await feed.write('Property', listing('1', { Media: [photo('a', { MediaURL: url('new') })] }));
  feed.clock.advance(6 * MINUTE);
  await run();
  assert.deepEqual(rows(), [{ media_key: 'a', sha256: sha256('picture'), failures: 0, reason: null }]);
});

test('a photo that changes while its file is fetched is fetched again', async (t) => {
  const { host, feed, replica, run, rows } = await mediaReplica(t);
  const elsewhere = 'https://elsewhere.example/b.jpg';
  const changed = [photo('a', { MediaURL: url('a2') }), photo('b', { MediaURL: url('b2') })];
  const isStored = async (): Promise<boolean> =>
    (await replica.store.contents('Media', { key: 'a' }))[0]?.MediaURL === url('a2');
  // The old URL of b gives 404, so the listing is requested again while the old file of a is being fetched.
  host.files
    .set(url('a'), async () => {
      while (!(await isStored())) await turn();
      return { status: 200, headers: {}, body: bytes('old') };
    })
    .set(elsewhere, async () => {
      await feed.write('Property', listing('1', { Media: changed }));
      return { status: 404, headers: {}, body: bytes('gone') };
    })
    .set(url('a2'), 'new')
    .set(url('b2'), 'b');
  await feed.write('Property', listing('1', { Media: [photo('a'), photo('b', { MediaURL: elsewhere })] }));
  feed.clock.advance(HOUR);
  await run();
  assert.deepEqual(
    rows().map(({ sha256: content }) => content),
    [sha256('old'), sha256('b')],
  );
  assert.equal(await replica.store.checkpoints.pendingCount(SOURCE, 'Property', 'files'), 1);
  await run();
  assert.equal(rows()[0]?.sha256, sha256('new'));
});

test('a host that sends a Retry-After of an hour is not asked again in this round', async (t) => {
  const { host, feed, run, rows } = await mediaReplica(t);
  const keys = Array.from({ length: 20 }, (_, at) => `a${10 + at}`);
  for (const key of keys) {
    host.files.set(url(key), () => ({
      status: 429,
      headers: { 'retry-after': '3600' },
      body: bytes('too much'),
    }));
  }
  await feed.write('Property', listing('1', { Media: keys.map((key) => photo(key)) }));
  feed.clock.advance(HOUR);
  assert.equal(await run(), 'done');
  assert.equal(host.asked.length, 1);
  assert.deepEqual(
    rows().map(({ reason, failures }) => [reason, failures]),
    [['429: too much', 1], ...keys.slice(1).map(() => ['images.example failed 1 times', 0])],
  );
});

test('no key leads out of the folder, and no control character of a host reaches the terminal', async (t) => {
  const { folder, host, feed, replica, run, files, fileOf } = await mediaReplica(t);
  const keys = ['../../../escaped', '/etc/escaped', '..', 'a\\..\\b'];
  for (const [at, key] of keys.entries()) host.files.set(url(`k${at}`), `picture of ${key}`);
  host.files.set(url('rude'), () => ({ status: 404, headers: {}, body: bytes('\u001b[2J\u0007gone') }));
  await feed.write(
    'Property',
    listing('1', { Media: keys.map((key, at) => photo(key, { MediaURL: url(`k${at}`) })) }),
    listing('2', { Media: [photo('rude')] }),
  );
  feed.clock.advance(HOUR);
  await run();
  assert.deepEqual(files(), keys.map((key) => fileOf(`picture of ${key}`)).toSorted());
  assert.deepEqual(
    readdirSync(folder).filter((name) => !/^[\da-f]{2}$/.test(name) && !name.startsWith('index.db')),
    ['partial'],
  );
  assert.deepEqual(
    replica.reported('media').filter(({ state }) => state === 'failed'),
    [{ key: 'rude', state: 'failed', reason: '404:  [2J gone' }],
  );
});

test('a feed on the public internet causes no request to a private network, unless that is allowed', async (t) => {
  const { folder, host, feed, rows } = await mediaReplica(t);
  const inside = await listen(t, () => ({ headers: { 'content-type': 'image/jpeg' }, body: 'secret' }));
  const { port } = new URL(inside.origin);
  const named = `http://localhost:${port}/metrics`;
  host.files
    .set(url('ok'), 'picture')
    .set(url('redirect'), () => ({ status: 302, headers: { location: named }, body: bytes('') }));
  const media = [
    photo('address', { MediaURL: `http://127.0.0.1:${port}/metrics` }),
    photo('name', { MediaURL: named }),
    photo('ok'),
    photo('redirect'),
  ];
  await feed.write('Property', listing('1', { Media: media }));
  feed.clock.advance(HOUR);
  const outside = 'http://1.1.1.1';
  const between = (transport: Transport): Transport =>
    host.between((sent) =>
      transport({ ...sent, url: sent.url.replace(outside, feed.addresses.replication) }),
    );
  const replica = await makeReplica(t, {
    from: feed.root('reso').replace(feed.addresses.replication, outside),
    interface: 'reso',
    token: feed.token,
    clock: feed.clock,
    resources: ['Property'],
    between,
  });
  assert.equal(await replica.replicate({ mediaFolder: folder }), 'done');
  const refused = 'is in a private network; --media-private-hosts allows it';
  assert.deepEqual(
    rows().map(({ media_key, reason }) => [media_key, reason]),
    [
      ['address', `127.0.0.1 ${refused}`],
      ['name', `localhost ${refused}`],
      ['ok', null],
      ['redirect', `localhost ${refused}`],
    ],
  );
  assert.deepEqual(inside.seen, []);
  feed.clock.advance(HOUR);
  await replica.replicate({ mediaFolder: folder, mediaPrivateHosts: true });
  assert.ok(rows().every(({ reason }) => reason === null));
  assert.equal(inside.seen.length, 3);
});
