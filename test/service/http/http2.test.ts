/** HTTP/2 on the service's own TLS: the same responses and the same limits as with HTTP/1.1. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { get } from 'node:https';
import { type TestContext, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { SERVICE_DEFAULTS, type ServiceOptions } from '../../../src/service/options.ts';
import { listing } from '../../support/builders.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { objectOf } from '../../support/world.ts';
import { frame } from './frame.ts';

const pem = (name: string): Buffer => readFileSync(new URL(`./tls/${name}.pem`, import.meta.url));
const tls = { cert: pem('certificate'), key: pem('key') };
const CERTIFICATE = new URL('./tls/certificate.pem', import.meta.url).pathname;
const PAGE = '/Reso/OData/Property';

interface Options {
  readonly service?: Partial<ServiceOptions>;
  readonly listings?: number;
  readonly remarks?: number;
}

async function serve(
  t: TestContext,
  { service = {}, listings = 40, remarks = 0 }: Options = {},
): Promise<TestService> {
  return startTestService(t, {
    fill: async ({ write }) => {
      const long = 'x'.repeat(remarks);
      const make = (at: number) =>
        listing(`K${100 + at}`, { PublicRemarks: long, PrivateRemarks: long, City: 'Rome' });
      await write('Property', ...Array.from({ length: listings }, (_, at) => make(at)));
    },
    service,
    listen: { tls },
  });
}

function session(t: TestContext, address: string, settings = {}): ClientHttp2Session {
  const opened = connect(address, { ca: tls.cert, servername: 'localhost', settings });
  opened.on('error', () => undefined);
  t.after(() => opened.destroy());
  return opened;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

async function read(stream: ClientHttp2Stream): Promise<Answer> {
  const parts: Buffer[] = [];
  let headers: IncomingHttpHeaders = {};
  stream.on('response', (given) => {
    headers = given;
  });
  stream.on('data', (part: Buffer) => parts.push(part));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  stream.on('close', resolve).on('error', reject);
  await promise;
  return { status: Number(headers[':status']), headers, text: Buffer.concat(parts).toString() };
}

function ask(
  on: ClientHttp2Session,
  path: string,
  headers: OutgoingHttpHeaders,
  body?: string,
): Promise<Answer> {
  const stream = on.request({ ':path': path, ...headers }, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  return read(stream);
}

/** Sends a request over HTTP/1.1 to the same port. */
function askOld(address: string, path: string, token: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    get(`${address}${path}`, { ca: tls.cert, servername: 'localhost', headers }, async (response) => {
      const parts: Buffer[] = [];
      for await (const part of response) parts.push(part);
      resolve(`${response.httpVersion} ${response.statusCode} ${Buffer.concat(parts).toString()}`);
    }).on('error', reject);
  });
}

const bearer = (token: string): OutgoingHttpHeaders => ({ authorization: `Bearer ${token}` });

/** The value of a metric. */
async function metric({ service }: TestService, name: string): Promise<number> {
  const line = (await service.metrics.text()).split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
}

test('60 concurrent streams get the responses of HTTP/1.1, with links to the same address', async (t) => {
  const service = await serve(t);
  const token = await service.key('api');
  const address = service.addresses.api;
  const on = session(t, address);
  await once(on, 'remoteSettings');
  assert.equal(on.remoteSettings.maxConcurrentStreams, 100);
  const paths = [
    PAGE,
    `${PAGE}?$top=7&$orderby=City`,
    "/Reso/OData/Property('K101')",
    '/v1/listings',
    '/v1/none',
  ];
  const answers = await Promise.all(
    Array.from(
      { length: 60 },
      async (_, at) => [paths[at % 5] ?? '', await ask(on, paths[at % 5] ?? '', bearer(token))] as const,
    ),
  );
  assert.equal(await metric(service, 'plat_connections{of="keys"}'), 1);
  const old = new Map<string, string>();
  for (const path of paths) old.set(path, await askOld(address, path, token));
  for (const [path, { status, headers, text }] of answers) {
    assert.equal(old.get(path), `1.1 ${status} ${text}`);
    assert.equal(Number(headers['content-length']), Buffer.byteLength(text));
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.match(String(headers['x-request-id']), /^[\da-f-]{36}$/);
    assert.ok(headers.date);
  }
  const { text } = await ask(on, `${PAGE}?$top=50&$select=ListingKey`, {
    ...bearer(token),
    prefer: 'maxpagesize=3',
  });
  assert.ok(String(objectOf(text)['@odata.nextLink']).startsWith(`${address}/Reso/`), text);
});

test('HEAD, 304, compression, methods, bodies and errors work as over HTTP/1.1', async (t) => {
  const service = await serve(t, { remarks: 2000 });
  const token = await service.key('api');
  const on = session(t, service.addresses.api);
  const whole = await ask(on, PAGE, bearer(token));
  const head = await ask(on, PAGE, { ...bearer(token), ':method': 'HEAD' });
  assert.deepEqual(
    [head.status, head.text, head.headers['content-length']],
    [200, '', whole.headers['content-length']],
  );
  const one = await ask(on, "/Reso/OData/Property('K101')", bearer(token));
  const same = await ask(on, "/Reso/OData/Property('K101')", {
    ...bearer(token),
    'if-none-match': String(one.headers.etag),
  });
  assert.deepEqual([same.status, same.text], [304, '']);
  const packed = await ask(on, PAGE, { ...bearer(token), 'accept-encoding': 'gzip' });
  assert.equal(packed.headers['content-encoding'], 'gzip');
  const posted = await ask(
    on,
    `${PAGE}/$query`,
    { ...bearer(token), ':method': 'POST' },
    "$filter=City eq 'Rome'&$top=1",
  );
  assert.equal(posted.status, 200, posted.text);
  const large = await ask(on, `${PAGE}/$query`, { ...bearer(token), ':method': 'POST' }, 'x'.repeat(400_000));
  assert.equal(large.status, 413);
  for (const method of ['PUT', 'PROPFIND', 'POST']) {
    const { status, headers } = await ask(on, PAGE, { ...bearer(token), ':method': method }, 'x');
    assert.deepEqual([status, headers.allow], [405, 'GET, HEAD, OPTIONS']);
  }
  const tunnel = on.request({ ':method': 'CONNECT', ':authority': 'x:1' });
  assert.equal((await read(tunnel)).status, 405);
  const odd = await ask(on, PAGE, { ...bearer(token), expect: 'nothing' });
  assert.equal(odd.status, 200);
  assert.equal((await ask(on, PAGE, {})).status, 401);
  assert.equal((await ask(on, `/v1/listings?x=${'a'.repeat(20_000)}`, bearer(token))).status, 414);
  const twice = await ask(on, PAGE, { ...bearer(token), ':authority': 'a.example', host: 'b.example' });
  assert.equal(twice.status, 400, twice.text);
  const other = await ask(on, PAGE, { ...bearer(token), ':authority': 'evil.example' });
  assert.ok(other.status === 200 && !other.text.includes('evil'));
});

test('curl uses HTTP/2 by default, and HTTP/1.1 on request', async (t) => {
  const service = await serve(t);
  const token = await service.key('api');
  const run = (...args: readonly string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      const url = `${service.addresses.api}/v1/listings`;
      const all = ['-sS', '--cacert', CERTIFICATE, '-H', `Authorization: Bearer ${token}`, ...args, url];
      execFile('curl', [...all, '-o', '/dev/null', '-w', '%{http_version} %{http_code}'], (error, out) =>
        error === null ? resolve(out) : reject(error),
      );
    });
  assert.deepEqual(
    [await run(), await run('--http1.1'), await run('--http2-prior-knowledge')],
    ['2 200', '1.1 200', '2 200'],
  );
  assert.equal(
    await run('-X', 'POST', '--data-raw', '_limit=1', '-H', 'X-HTTP-Method-Override: GET'),
    '2 200',
  );
});

test('a client that keeps cancelling streams (rapid reset) is disconnected; others are answered', async (t) => {
  const service = await serve(t, { remarks: 500 });
  const token = await service.key('api');
  const on = session(t, service.addresses.api);
  await once(on, 'connect');
  const ended = new Promise((resolve) => on.once('close', resolve));
  let asked = 0;
  while (!on.destroyed && !on.closed && asked < 20_000) {
    for (let at = 0; at < 50 && !on.destroyed && !on.closed; at++, asked++) {
      const stream = on.request({ ':path': PAGE, ...bearer(token) });
      stream.on('error', () => undefined);
      stream.close(constants.NGHTTP2_CANCEL);
    }
    await new Promise(setImmediate);
  }
  await ended;
  assert.ok(asked < 5000, `${asked} requests were accepted`);
  const next = session(t, service.addresses.api);
  const { status } = await ask(next, PAGE, bearer(token));
  assert.ok(status === 200 || status === 429, String(status));
  while ((await metric(service, 'plat_requests_running')) > 0) await new Promise(setImmediate);
});

test('a stream whose response is not read is reset with an error; other streams of the connection continue', async (t) => {
  const pace = { bytesPerSecond: 100_000, seconds: 0.2 };
  const service = await serve(t, { remarks: 4000, listings: 300, service: { pace } });
  const token = await service.key('replication');
  const on = session(t, service.addresses.replication, { initialWindowSize: 1000 });
  const another = () => ask(on, "/Reso/OData/Property('K101')?$select=City", bearer(token));
  for (const [index, encoding] of ['identity', 'gzip', 'zstd'].entries()) {
    const stream = on.request({ ':path': PAGE, ...bearer(token), 'accept-encoding': encoding });
    const failed = once(stream, 'error');
    const [headers] = await once(stream, 'response');
    assert.equal(headers['content-encoding'] ?? 'identity', encoding);
    const waiting = await metric(service, 'plat_answer_bytes_waiting');
    assert.ok(waiting > (encoding === 'identity' ? 1_000_000 : 1000), `${waiting} bytes`);
    assert.equal((await another()).status, 200);
    const [error] = await failed;
    assert.equal(error.code, 'ERR_HTTP2_STREAM_ERROR', encoding);
    assert.equal(stream.rstCode, constants.NGHTTP2_INTERNAL_ERROR);
    assert.equal(await metric(service, 'plat_clients_cut_total{surface="replication"}'), index + 1);
    assert.equal(await metric(service, 'plat_answer_bytes_waiting'), 0);
    assert.equal((await another()).status, 200);
  }
});

test('unread bytes of streams count against the budget of their key, and other keys are not refused', async (t) => {
  const budget = { ...SERVICE_DEFAULTS.budget, megabytes: 3 };
  const service = await serve(t, { remarks: 4000, listings: 300, service: { budget } });
  const [greedy, modest] = [await service.key('replication'), await service.key('replication')];
  const on = session(t, service.addresses.replication, { initialWindowSize: 1000 });
  const statuses: number[] = [];
  for (let at = 0; at < 6; at++) {
    const stream = on.request({ ':path': PAGE, ...bearer(greedy) });
    stream.on('error', () => undefined);
    const [headers] = await once(stream, 'response');
    statuses.push(headers[':status']);
  }
  assert.deepEqual(statuses, [200, 200, 429, 429, 429, 429]);
  assert.equal((await ask(on, "/Reso/OData/Property('K101')?$select=City", bearer(modest))).status, 200);
  on.destroy();
});

test('a connection without requests is closed, even if it sends pings', async (t) => {
  const connections = { ...SERVICE_DEFAULTS.connections, requestSeconds: 0.2, idleSeconds: 0.3 };
  const service = await serve(t, { service: { connections } });
  const token = await service.key('api');
  const silent = session(t, service.addresses.api);
  const asking = session(t, service.addresses.api);
  await Promise.all([once(silent, 'connect'), once(asking, 'connect')]);
  const pinging = setInterval(() => {
    for (const each of [silent, asking]) if (!each.destroyed) each.ping(() => undefined);
  }, 20);
  t.after(() => clearInterval(pinging));
  const ends = [silent, asking].map((each) => once(each, 'close').then(() => performance.now()));
  assert.equal((await ask(asking, PAGE, bearer(token))).status, 200);
  const [first, second] = await Promise.all(ends);
  assert.ok(first !== undefined && second !== undefined && first < second);
});

test('a request that continues after its response is reset, and further frames on it do not keep the connection open', async (t) => {
  const connections = { ...SERVICE_DEFAULTS.connections, requestSeconds: 0.2, idleSeconds: 0.2 };
  const service = await serve(t, { service: { connections } });
  const token = await service.key('api');
  const on = session(t, service.addresses.api);
  const asked: readonly (readonly [path: string, method: string, status: number])[] = [
    [PAGE, 'GET', 200],
    [PAGE, 'PUT', 405],
    [`${PAGE}('none')`, 'GET', 404],
    [`${PAGE}/$query`, 'POST', 408],
  ];
  const ended = asked.map(async ([path, method, status]) => {
    const stream = on.request({ ':path': path, ':method': method, ...bearer(token) }, { endStream: false });
    stream.write('x');
    const { status: given, text } = await read(stream);
    assert.deepEqual([given, stream.rstCode], [status, constants.NGHTTP2_NO_ERROR], path);
    assert.ok(JSON.parse(text), path);
  });
  await Promise.all(ended);
  // If a client ignores the reset and continues to send frames, its connection is closed as idle.
  const options = { host: '127.0.0.1', port: Number(new URL(service.addresses.api).port), ca: tls.cert };
  const socket = connectTls({ ...options, servername: 'localhost', ALPNProtocols: ['h2'] });
  t.after(() => socket.destroy());
  socket.on('error', () => undefined).resume();
  await once(socket, 'secureConnect');
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  socket.write(Buffer.concat([frame(4, 0, 0, Buffer.alloc(0)), frame(1, 4, 1, OPENED)]));
  const sending = setInterval(() => socket.write(frame(0, 0, 1, Buffer.alloc(0))), 20);
  t.after(() => clearInterval(sending));
  await once(socket, 'close');
});

test('a closing service completes running streams, and closes idle connections at once', async (t) => {
  const service = await serve(t, { remarks: 4000, listings: 300 });
  const token = await service.key('replication');
  const [idle, busy] = [session(t, service.addresses.replication), session(t, service.addresses.replication)];
  await once(idle, 'connect');
  const stream = busy.request({ ':path': PAGE, ...bearer(token) });
  await once(stream, 'response');
  const closed = service.service.close();
  const idleEnded = once(idle, 'close');
  const answer = await read(stream);
  assert.equal(JSON.parse(answer.text).value.length, 300);
  const started = performance.now();
  await Promise.all([closed, idleEnded]);
  assert.ok(performance.now() - started < 4000);
});

/** The compressed headers of `GET https:/`, from the static table of HPACK. */
const OPENED = Buffer.from([0x82, 0x87, 0x84]);
const several = (count: number, make: (at: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, at) => make(at)));

/** The frames that each flood sends repeatedly, by the number of the round. */
const FLOODS: Readonly<Record<string, (round: number) => Buffer>> = {
  'headers that never end': (round) =>
    round === 0
      ? frame(1, 0, 1, OPENED)
      : several(20, () =>
          frame(9, 0, 1, Buffer.concat([Buffer.from([0, 1, 0x78, 0x7f, 0x81, 0x7e]), Buffer.alloc(255, 97)])),
        ),
  'pings whose acknowledgements are not read': () => several(200, () => frame(6, 0, 0, Buffer.alloc(8))),
  'settings whose acknowledgements are not read': () =>
    several(200, () => frame(4, 0, 0, Buffer.from([0, 4, 0, 1, 0, 0]))),
  'streams that the service must reset': (round) =>
    several(50, (at) => {
      const stream = 1 + 2 * (50 * round + at);
      return Buffer.concat([frame(1, 5, stream, OPENED), frame(8, 0, stream, Buffer.alloc(4))]);
    }),
  'more streams than the limit': (round) =>
    several(50, (at) => frame(1, 5, 1 + 2 * (50 * round + at), OPENED)),
};

/** More bytes than the buffers at both ends of a connection hold (37 MB here), since the service does not see those. */
const FLOOD = 64_000_000;

test('a flood of frames closes its own connection; others are answered', async (t) => {
  const service = await serve(t);
  const token = await service.key('api');
  const on = session(t, service.addresses.api);
  const { port } = new URL(service.addresses.api);
  for (const [name, flood] of Object.entries(FLOODS)) {
    const options = { host: '127.0.0.1', port: Number(port), ca: tls.cert, servername: 'localhost' };
    const socket = connectTls({ ...options, ALPNProtocols: ['h2'] });
    t.after(() => socket.destroy());
    socket.on('error', () => undefined).pause();
    await once(socket, 'secureConnect');
    let isOpen = true;
    const closed = new Promise<void>((resolve) => {
      socket.once('close', () => {
        isOpen = false;
        resolve();
      });
    });
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    socket.write(frame(4, 0, 0, Buffer.alloc(0)));
    let sent = 0;
    for (let round = 0; isOpen && sent < FLOOD; round++) {
      const part = flood(round);
      sent += part.length;
      if (socket.write(part)) await new Promise(setImmediate);
      else await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed]);
    }
    assert.equal(isOpen, false, `${name}: ${sent} bytes were accepted`);
    assert.equal((await ask(on, PAGE, bearer(token))).status, 200, name);
  }
});
