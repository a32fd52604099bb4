/** `GET /events` as HTTP: methods, encodings, HTTP/2, Host headers, keys, and clients that do not read. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { StoreModel } from '../../../src/compile/model.ts';
import { EventStreams } from '../../../src/service/events/event-streams.ts';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { SEQUENCE_START } from '../../../src/store/changes/change-feed.ts';
import { listing } from '../../support/builders.ts';
import type { Scope } from '../../support/engine.ts';
import {
  changesIn,
  type EventClient,
  type FollowOptions,
  followEvents,
  isLevel,
  type ServerEvent,
} from '../../support/event-client.ts';
import { startTestService, type TestServiceOptions } from '../../support/service.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { PRIVATE, viewOf } from '../../support/views.ts';
import { makeWorld, TIME } from '../../support/world.ts';
import { readAnswer, sendRaw } from '../http/raw.ts';

async function served(t: Scope, options: TestServiceOptions = {}) {
  const service = await startTestService(t, options);
  const token = await service.key('replication');
  const clients: EventClient[] = [];
  t.after(() => {
    for (const client of clients) client.close();
  });
  return {
    ...service,
    token,
    follow: async (options: FollowOptions = {}): Promise<EventClient> => {
      const client = await followEvents(service.addresses.replication, { token, ...options });
      clients.push(client);
      return client;
    },
    metric: async (line: RegExp): Promise<number> =>
      Number(line.exec(await service.service.metrics.text())?.[1] ?? 0),
  };
}

test('/events accepts GET, HEAD and OPTIONS on the replication surface; HEAD opens no stream', async (t) => {
  const { get, token, key, follow, metric } = await served(t, { service: { streams: { perKey: 1 } } });
  const ask = (method: string, more = {}) => get('replication', '/events', { method, token, ...more });
  // If HEAD opened a stream, the first one would use up the only stream of the key.
  for (let time = 0; time < 3; time++) {
    const head = await ask('HEAD');
    assert.deepEqual([head.status, head.headers['content-type']], [200, 'text/event-stream']);
    assert.equal(head.headers['content-length'], undefined, 'a stream has no length');
  }
  assert.equal((await ask('HEAD', { token: undefined })).status, 401);
  const options = await ask('OPTIONS', { token: undefined });
  assert.deepEqual([options.status, options.headers.allow], [204, 'GET, HEAD, OPTIONS']);
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
    const refused = await ask(method);
    assert.equal(refused.status, 405, method);
    assert.equal(refused.headers.allow, 'GET, HEAD, OPTIONS', method);
    assert.match(refused.text, /"code":"methodNotAllowed"/);
  }
  assert.equal((await get('api', '/events', { token: await key('api') })).status, 404);
  const client = await follow();
  await client.next();
  assert.equal(await metric(/^plat_event_streams (\d+)$/m), 1);
  assert.equal((await ask('HEAD')).status, 429, 'as GET would be');
});

test('a stream is never compressed, and has the headers of the surface', async (t) => {
  const { follow, write, addresses, token } = await served(t);
  const client = await follow({
    headers: { 'accept-encoding': 'gzip, br', origin: 'https://elsewhere.example' },
  });
  const { headers } = client;
  assert.equal(headers['content-encoding'], undefined);
  assert.deepEqual(
    [headers['access-control-allow-origin'], headers['cache-control'], headers['x-content-type-options']],
    ['*', 'private, no-cache', 'nosniff'],
  );
  // A compressor would delay these events.
  await client.next();
  await write('Property', listing('A'));
  assert.deepEqual(changesIn(await client.changes(1)), ['created Property A']);
  const lines = [`Authorization: Bearer ${token}`, 'Connection: close', '', ''];
  const raw = async (...hosts: string[]) =>
    readAnswer(
      await sendRaw(addresses.replication, ['GET /events HTTP/1.1', ...hosts, ...lines].join('\r\n')),
    );
  assert.deepEqual((await raw()).status, 400);
  assert.deepEqual((await raw('Host: a', 'Host: b')).status, 400);
});

test('a stream over HTTP/2 shares its connection with other requests', async (t) => {
  const pem = (name: string): Buffer => readFileSync(new URL(`../http/tls/${name}.pem`, import.meta.url));
  const tls = { cert: pem('certificate'), key: pem('key') };
  const { addresses, token, write } = await served(t, { listen: { tls } });
  const session = connect(addresses.replication, { ca: tls.cert, servername: 'localhost' });
  t.after(() => session.destroy());
  const ask = (path: string) => session.request({ ':path': path, authorization: `Bearer ${token}` });
  const stream = ask('/events').setEncoding('utf8');
  let text = '';
  const until = async (words: string): Promise<void> => {
    while (!text.includes(words)) text += (await once(stream, 'data'))[0];
  };
  await until('event: position');
  await write('Property', listing('A'));
  await until('"key":"A"');
  const other = ask("/Reso/OData/Property('A')").resume();
  const [head] = await once(other, 'response');
  assert.equal(head[':status'], 200);
  await write('Property', listing('B'));
  await until('"key":"B"');
});

test('an invalid or unknown Last-Event-ID, an unknown resource and a key of another kind are refused', async (t) => {
  const { follow, key } = await served(t);
  const refused = async (options: FollowOptions): Promise<unknown[]> => {
    const client = await follow(options);
    const { code, target } = JSON.parse(await client.text()).error;
    return [client.status, code, target];
  };
  for (const id of ['x', '-1', '1.', '1.a.b', '99999999999999999', '1 2', '1.a!'])
    assert.deepEqual(
      await refused({ headers: { 'last-event-id': id } }),
      [400, 'optionInvalid', 'Last-Event-ID'],
      id,
    );
  // Well-formed, but never issued: a number beyond the end, and a commit that does not exist.
  for (const id of ['12345', '1.aaaaaaaaaaaa'])
    assert.deepEqual(
      await refused({ headers: { 'last-event-id': id } }),
      [410, 'positionGone', undefined],
      id,
    );
  // A client that had no id yet sends none, or an empty one (HTML, 9.2.4).
  assert.equal((await follow({ headers: { 'last-event-id': '' } })).status, 200);
  for (const resources of ['Propperty', 'Property,', '', 'Property,Propperty'])
    assert.deepEqual(
      await refused({ query: `?resources=${resources}` }),
      [400, 'optionInvalid', 'resources'],
      resources,
    );
  for (const kind of ['api', 'floorplans', 'admin'] as const)
    assert.deepEqual(
      (await refused({ token: await key(kind) })).slice(0, 2),
      [403, 'keyNotForSurface'],
      kind,
    );
  assert.deepEqual((await refused({ token: 'unknown' })).slice(0, 2), [401, 'tokenUnknown']);
});

/** Records of some 50 KB each: a few pages of them exceed the socket buffers of the operating system. */
const LONG = '界'.repeat(4000);
const long = (key: string) =>
  listing(key, {
    PublicRemarks: LONG,
    PrivateRemarks: LONG,
    ShowingInstructions: LONG,
    SyndicationRemarks: LONG,
  });

test('a client that stops reading is disconnected, and resumes by Last-Event-ID without loss or repetition', async (t) => {
  const { follow, write, metric } = await served(t, {
    service: { pace: { bytesPerSecond: 1, seconds: 0.2 } },
  });
  const keys = Array.from({ length: 300 }, (_, index) => `K${1000 + index}`);
  for (let at = 0; at < keys.length; at += 20) await write('Property', ...keys.slice(at, at + 20).map(long));
  /** The data of a client that commits events together with their position, and drops those after the last position. */
  const has: ServerEvent[] = [];
  let position = '0';
  let events: ServerEvent[] = [];
  const take = (event: ServerEvent): void => {
    events.push(event);
    if (event.id === undefined) return;
    has.push(...events);
    events = [];
    position = event.id;
  };
  const query = '?records=true&since=start';
  const lazy = await follow({ query });
  while (position === '0') {
    const event = await lazy.next();
    if (event === undefined) break; // the machine stalled so long that the client was disconnected here
    take(event);
  }
  // From now on the client reads nothing, until the service disconnects it.
  const cut = /^plat_clients_cut_total\{surface="replication"\} (\d+)$/m;
  while ((await metric(cut)) === 0) await setImmediate();
  for (let event = await lazy.next(); event !== undefined; event = await lazy.next()) take(event);
  assert.ok(!has.some(isLevel), 'it was disconnected before the end');
  events = [];
  for (let isDone = false; !isDone; ) {
    const client = await follow({ query, headers: { 'last-event-id': position } });
    assert.equal(client.status, 200);
    while (!isDone) {
      const event = await client.next();
      if (event === undefined) break;
      take(event);
      isDone = isLevel(event);
    }
    client.close();
    events = [];
  }
  assert.deepEqual(
    changesIn(has),
    keys.map((key) => `created Property ${key}`),
  );
  assert.ok(has.every(({ event, data }) => event !== 'change' || data.record !== undefined));
});

test('the bytes of events that a client has read do not accumulate in its budget', async (t) => {
  const budget = { ...SERVICE_DEFAULTS.budget, megabytes: 0.2 };
  const { follow, write, get, token, metric } = await served(t, { service: { budget } });
  const client = await follow({ query: '?records=true' });
  await client.next();
  for (let time = 0; time < 6; time++) {
    await write('Property', long(`K${time}`));
    assert.deepEqual(changesIn(await client.changes(1)), [`created Property K${time}`]);
    assert.equal(await metric(/^plat_answer_bytes_waiting (\d+)$/m), 0);
  }
  assert.equal((await get('replication', "/Reso/OData/Property('K1')", { token })).status, 200);
});

test('200 followers that do not read share the buffers of the pages that wait for them', async (t) => {
  const { store, write } = await makeWorld(sqliteEngine(), t);
  await write('Property', ...Array.from({ length: 100 }, (_, index) => listing(`K${index}`)));
  const ignore = () => undefined;
  const FOLLOWERS = 200;
  const streams = new EventStreams(store, {
    perKey: FOLLOWERS,
    metrics: {
      sent: ignore,
      lag: ignore,
      failed: (error) => assert.fail(String(error)),
      unannounced: ignore,
    },
  });
  const stop = new AbortController();
  t.after(() => {
    stop.abort();
    streams.close();
  });
  const pages = await Promise.all(
    Array.from({ length: FOLLOWERS }, async () => {
      const following = { id: 'all', viewBy: (model: StoreModel) => viewOf(model, PRIVATE) };
      const turn = () => Promise.resolve();
      const stream = await streams.open({ keyId: 'one', following, read: TIME, turn }, SEQUENCE_START);
      assert.equal(stream.kind, 'open');
      const events = stream.events(stop.signal);
      await events.next();
      return (await events.next()).value;
    }),
  );
  const [page] = pages;
  assert.ok(page instanceof Buffer && page.length > 100 * 80);
  // A page is kept for two seconds, in which all followers request it unless the machine stalls.
  assert.ok(new Set(pages).size <= 5, `${new Set(pages).size} pages are in memory`);
});
