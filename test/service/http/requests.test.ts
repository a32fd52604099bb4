/** The requests that the service accepts (contract, Surfaces), and the headers of every response. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import type { SurfaceName } from '../../../src/service/surface.ts';
import { listing } from '../../support/builders.ts';
import { type Answer, startTestService } from '../../support/service.ts';
import { bothFaults, nativeFault, resoFault } from './envelopes.ts';
import { open, readAnswer, sendRaw } from './raw.ts';

const service = await startTestService(
  { after },
  {
    fill: async ({ write }) => void (await write('Property', listing('1'), listing('2'))),
    service: { connections: { ...SERVICE_DEFAULTS.connections, requestSeconds: 0.2 } },
  },
);
const { addresses, clock, store } = service;
const token = await service.key('api');
const PLACES: readonly (readonly [SurfaceName, string])[] = [
  ['api', '/v1/listings'],
  ['api', '/Reso/OData/Property'],
  ['replication', '/v1/listings'],
  ['floorplans', '/Reso/Media'],
  ['admin', '/live'],
];
const fault = (answer: Answer): unknown[] => ('D' in answer.json ? nativeFault(answer) : resoFault(answer));

test('GET, HEAD and OPTIONS are all that is allowed: 405 with Allow for anything else, on every surface', async () => {
  const methods = ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'MKCOL', 'PURGE', 'QUERY', 'LOCK'];
  for (const [surface, path] of PLACES) {
    for (const method of methods) {
      const answer = await service.get(surface, path, { method, token });
      const message = `${method} is not allowed. This service accepts GET and HEAD.`;
      const code = path.startsWith('/v1') ? 405 : 'methodNotAllowed';
      assert.deepEqual(fault(answer), [405, code, message], `${method} ${path}`);
      assert.equal(answer.headers.allow, 'GET, HEAD, OPTIONS');
    }
  }
});

test('a method that the HTTP parser does not know gets 405, too', async () => {
  for (const [surface, path] of PLACES) {
    const wire = await sendRaw(addresses[surface], `FETCH ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const answer = readAnswer(wire);
    const message = 'FETCH is not allowed. This service accepts GET and HEAD.';
    const code = path.startsWith('/v1') ? 405 : 'methodNotAllowed';
    assert.deepEqual(fault(answer), [405, code, message], path);
    assert.deepEqual([answer.reason, answer.headers.allow], ['Method Not Allowed', 'GET, HEAD, OPTIONS']);
  }
});

test('a body is ignored, whatever its type and size', async () => {
  const body = 'x'.repeat(3_000_000);
  for (const type of ['application/json', 'text/plain', 'multipart/form-data', '']) {
    const head = `POST /v1/listings HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${type === '' ? '' : `Content-Type: ${type}\r\n`}Content-Length: ${body.length}\r\n\r\n`;
    assert.deepEqual(fault(readAnswer(await sendRaw(addresses.api, head + body))).slice(0, 2), [405, 405]);
  }
  const broken = await service.get('api', '/v1/listings', {
    token,
    headers: { 'content-type': 'application/json' },
  });
  assert.equal(broken.status, 200); // an official client sends this header with GET
});

test('HEAD is GET without the body, errors and compressed pages included', async () => {
  const paths = [
    '/v1/listings',
    '/v1/listings/1',
    '/v1/none',
    '/Reso/OData/Property',
    '/Reso/OData/Property?$x=1',
  ];
  for (const path of paths) {
    for (const encoding of ['identity', 'gzip']) {
      const headers = { 'accept-encoding': encoding };
      const [get, head] = [
        await service.get('api', path, { token, headers }),
        await service.get('api', path, { token, headers, method: 'HEAD' }),
      ];
      assert.deepEqual([head.status, head.text], [get.status, '']);
      assert.deepEqual(lasting(head), lasting(get), path);
      assert.equal(Number(head.headers['content-length']), get.bytes.length);
    }
  }
});

/** The headers that do not differ between responses to the same request. */
function lasting({ headers }: Answer): unknown {
  const changing = new Set(['x-request-id', 'server-timing', 'ratelimit']);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !changing.has(name)));
}

test('CORS: pages of other origins may read the public surfaces, but not the admin port', async () => {
  for (const [surface, path] of PLACES) {
    const answer = await service.get(surface, path, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://portal.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization,prefer',
      },
    });
    assert.deepEqual([answer.status, answer.text], [204, '']);
    if (surface === 'admin') {
      // The console's session is a cookie, so pages of other origins must not read the admin port.
      const given = Object.keys(answer.headers).filter((name) => name.startsWith('access-control'));
      assert.deepEqual([answer.headers.allow, given], ['GET, HEAD, OPTIONS', []]);
      continue;
    }
    assert.equal(answer.headers['access-control-allow-origin'], '*');
    const allowed = 'GET, HEAD, POST, OPTIONS';
    assert.equal(answer.headers['access-control-allow-methods'], allowed);
    assert.equal(answer.headers['access-control-allow-headers'], '*, Authorization');
    assert.equal(answer.headers.allow, allowed);
  }
  for (const path of ['/v1/listings', '/Reso/OData/Property']) {
    for (const asked of [{ token }, {}]) {
      const answer = await service.get('api', path, {
        ...asked,
        headers: { origin: 'https://portal.example' },
      });
      assert.equal(answer.headers['access-control-allow-origin'], '*');
      assert.equal(answer.headers['access-control-expose-headers'], '*');
    }
  }
});

/** The paths that are those of an interface, but for capitals. */
const NEARLY: Readonly<Record<string, string>> = {
  '/v1/Listings': '/v1/listings',
  '/reso/OData/Property': '/Reso/OData/Property',
};
const hint = (path: string): string => (NEARLY[path] === undefined ? '' : ` Did you mean ${NEARLY[path]}?`);

test('an unknown path gets 404 in the envelope of the interface that its prefix suggests', async () => {
  const native = [
    '/v1',
    '/v1/',
    '/v1/none',
    '/v1/listings/',
    '/v1/listings/1/none',
    '/v1/listings/1/photos/x/y',
    '/v2/listings',
    '/v1/accounts/1/photos',
    '/v1/Listings',
    '/v1/system/x',
  ];
  for (const path of native) {
    const answer = await service.get('api', path, { token });
    if (path === '/v1/listings/') assert.equal(answer.status, 200);
    else assert.deepEqual(nativeFault(answer), [404, 404, `There is nothing at ${path}.${hint(path)}`]);
  }
  for (const path of [
    '/',
    '/v1listings',
    '/reso/OData/Property',
    '/Reso/Media',
    '/metrics',
    '/favicon.ico',
    '//',
  ]) {
    const answer = await service.get('api', path, { token });
    assert.deepEqual(resoFault(answer), [404, 'pathNotFound', `There is nothing at ${path}.${hint(path)}`]);
  }
  for (const path of ['/Reso/OData/Property', '/v1/listings', '/status/x']) {
    const admin = await service.get('admin', path, { token: await service.key('admin') });
    assert.equal(admin.status, 404, path);
  }
});

test('superfluous slashes, at the end or in the middle, are ignored', async () => {
  const ways = [
    ['/v1/listings', '/v1/listings/', '/v1//listings', '//v1/listings//'],
    ['/v1/listings/1/photos', '/v1/listings//1/photos/', '/v1//listings/1//photos'],
    ['/Reso/OData/Property', '/Reso/OData//Property', '/Reso//OData/Property/', '//Reso/OData/Property//'],
    ['/Reso/OData/', '/Reso/OData', '/Reso/OData//', '/Reso//OData'],
  ];
  for (const [path = '', ...others] of ways) {
    const { status, text } = await service.get('api', path, { token });
    assert.equal(status, 200, text);
    for (const other of others) {
      assert.equal((await service.get('api', other, { token })).text, text, other);
    }
  }
  for (const [path, other] of [
    ['/live', '//live/'],
    ['/openapi.json', '//openapi.json/'],
    ['/documents/odata.md', '/documents//odata.md/'],
  ] as const) {
    const { status, text } = await service.get('admin', path);
    assert.equal(status, 200, text);
    assert.equal((await service.get('admin', other)).text, text, other);
  }
  const open = await service.get('admin', '/status/');
  assert.equal(open.status, 401, open.text);
});

test('letters and digits of a path may be percent-encoded, once', async () => {
  const ways = [
    ['/v1/listings/1', '/%761/listings/1', '/v%31/listing%73/%31'],
    [
      '/Reso/OData/Property',
      '/%52eso/OData/Property',
      '/Res%6f/OD%61ta/Prop%65rty',
      '/Reso/OData/Propert%79',
    ],
  ] as const;
  for (const [path, ...others] of ways) {
    const { status, text } = await service.get('api', path, { token });
    assert.equal(status, 200, text);
    for (const other of others) {
      assert.equal((await service.get('api', other, { token })).text, text, other);
    }
  }
  assert.equal((await service.get('admin', '/l%69ve')).status, 200);
  for (const path of ['/%2561/listings', '/Reso%2FOData/Property', '/v1%2Flistings', '/%2E/v1/listings']) {
    assert.equal((await service.get('api', path, { token })).status, 404, path);
  }
  // Decoding must not complete a broken escape.
  for (const path of ['/v1/listings/%2%35', '/v1/listings/%%34%31']) {
    assert.equal((await service.get('api', path, { token })).status, 400, path);
  }
});

test('a URL of more than 16 KB gets 414', async () => {
  const path = `/v1/listings?x=${'a'.repeat(16_384 - '/v1/listings?x='.length)}`;
  assert.equal((await service.get('api', path, { token })).status, 200);
  const message = 'The URL is longer than 16384 bytes.';
  assert.deepEqual(nativeFault(await service.get('api', `${path}a`, { token })), [414, 1053, message]);
  const reso = await service.get('api', `/Reso/OData/Property?x=${'a'.repeat(40_000)}`, { token });
  assert.deepEqual(resoFault(reso), [414, 'uriTooLong', message]);
  const long = await service.get('api', `/v1/listings/${'a'.repeat(20_000)}`, { token });
  assert.deepEqual(nativeFault(long), [414, 1053, message]);
});

test('headers of more than 64 KB get 431 in the envelope of the interface, or in both if they are larger than what is read', async () => {
  const message = 'The request headers are too large.';
  const refused = async (path: string, size: number) => {
    const text = `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(size)}\r\nConnection: close\r\n\r\n`;
    const answer = readAnswer(await sendRaw(addresses.api, text));
    assert.equal(answer.reason, 'Request Header Fields Too Large');
    return answer;
  };
  for (const size of [66_000, 120_000]) {
    assert.deepEqual(nativeFault(await refused('/v1/listings', size)), [431, 1053, message]);
    assert.deepEqual(resoFault(await refused('/Reso/OData/', size)), [431, 'headersTooLarge', message]);
  }
  for (const path of ['/v1/listings', '/Reso/OData/']) {
    assert.deepEqual(bothFaults(await refused(path, 300_000)), [431, 1053, 'headersTooLarge', message]);
  }
  const headers = { 'x-long': 'a'.repeat(60_000) };
  assert.equal((await service.get('api', '/v1/listings', { token, headers })).status, 200);
});

test('invalid percent-encoding in a path or query gets 400', async () => {
  const bad = ['/v1/listings/%', '/v1/listings/%zz', '/v1/listings/%ff', '/v1/%E0%A4%A'];
  for (const path of bad) {
    const message = 'The request is malformed: the percent-encoding of the path is broken.';
    assert.deepEqual(nativeFault(await service.get('api', path, { token })), [400, 1053, message], path);
  }
  for (const path of [
    '/v1/listings?_filter=%',
    '/v1/listings?_filter=%ff',
    '/v1/accounts?_filter=%E0%A4%A',
  ]) {
    const message = 'The request is malformed: the percent-encoding of _filter is not valid UTF-8.';
    assert.deepEqual(nativeFault(await service.get('api', path, { token })), [400, 1053, message], path);
  }
  for (const path of ["/Reso/OData/Property('%')", "/Reso/OData/Property('%ff')", '/Reso/OData/%zz', '/%']) {
    const answer = await service.get('api', path, { token });
    assert.ok([400, 404].includes(answer.status), `${path} ${answer.text}`);
    assert.equal(typeof resoFault(answer)[2], 'string');
  }
});

test('bytes that are not HTTP get 400 in JSON, and the connection is closed', async () => {
  const message = 'The request is malformed: it is not HTTP/1.1.';
  const native = [400, 1053, message];
  const reso = [400, 'requestMalformed', message];
  const both = [400, 1053, 'requestMalformed', message];
  const inputs = {
    'hello\r\n\r\n': both,
    '\u0016\u0003\u0001\u0002\u0000': both,
    'GET / HTTP/9.9\r\n\r\n': reso,
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n': reso,
    'GET /v1/listings HTTP/1.1\r\nHost: x\r\nContent-Length: a\r\n\r\n': native,
    'GET /v1/listings HTTP/1.1\r\nno colon\r\n\r\n': native,
    'GET /Reso/OData/Property HTTP/1.1\r\nno colon\r\n\r\n': reso,
    'GET /v1/listings HTTP/3.1\r\n\r\n': native,
  };
  for (const [input, expected] of Object.entries(inputs)) {
    const answer = readAnswer(await sendRaw(addresses.api, input));
    const faults = { [native.length]: fault, [both.length]: bothFaults };
    assert.deepEqual(faults[expected.length]?.(answer), expected, JSON.stringify(input));
    assert.deepEqual([answer.reason, answer.headers.connection], ['Bad Request', 'close']);
    assert.equal(answer.headers.date, new Date(await store.now()).toUTCString());
    assert.match(answer.headers['x-request-id']?.toString() ?? '', /^[\da-f-]{36}$/);
    assert.equal(answer.headers['cache-control'], 'private, no-cache');
  }
  assert.equal((await service.get('api', '/v1/listings', { token })).status, 200);
});

test('a URL with characters that must be percent-encoded gets 400 with that reason, in the envelope of its interface', async () => {
  const message =
    'The request is malformed: its URL contains a space or another character that must be percent-encoded, such as %20 for a space.';
  const answerTo = async (url: string) =>
    readAnswer(await sendRaw(addresses.api, `GET ${url} HTTP/1.1\r\nHost: x\r\n\r\n`));
  for (const path of ["/v1/listings?_filter=City Eq 'Rome'", '/v1/listings?_filter=City%20Eq%20Ä']) {
    assert.deepEqual(nativeFault(await answerTo(path)), [400, 1053, message], path);
  }
  for (const path of [
    "/Reso/OData/Property?$filter=City eq 'Rome'",
    '/Reso/OData/Property?$filter=Ä',
    '/a b',
  ]) {
    assert.deepEqual(resoFault(await answerTo(path)), [400, 'requestMalformed', message], path);
  }
});

test('HTTP/1.1 without a Host header gets 400; HTTP/1.0 needs none', async () => {
  const authorization = `Authorization: Bearer ${token}\r\nConnection: close\r\n`;
  const message = 'The request is malformed: it has no Host header.';
  const native = await sendRaw(addresses.api, `GET /v1/listings HTTP/1.1\r\n${authorization}\r\n`);
  assert.deepEqual(nativeFault(readAnswer(native)), [400, 1053, message]);
  const reso = await sendRaw(addresses.api, `GET /Reso/OData/Property HTTP/1.1\r\n${authorization}\r\n`);
  assert.deepEqual(resoFault(readAnswer(reso)), [400, 'requestMalformed', message]);
  const old = await sendRaw(addresses.api, `GET /v1/listings HTTP/1.0\r\n${authorization}\r\n`);
  assert.equal(readAnswer(old).status, 200);
});

test('a request target in absolute form is treated as its path', async () => {
  const whole = `GET http://feed.example:99/v1/listings?_limit=1 HTTP/1.1\r\nHost: feed.example\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`;
  const { status, json } = readAnswer(await sendRaw(addresses.api, whole));
  assert.equal(status, 200);
  assert.match(JSON.stringify(json), /"SkipToken":"1"/);
});

test('a request that does not arrive in time gets 408', async () => {
  const message = 'The request did not arrive completely in time.';
  for (const part of [
    'GET /v1/listings HTTP/1.1\r\nHost: x\r\n',
    'GET /v1/listi',
    'POST /v1/listings HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab',
  ]) {
    const wire = await sendRaw(addresses.api, part);
    if (part.startsWith('POST')) assert.equal(readAnswer(wire).status, 405);
    else assert.deepEqual(bothFaults(readAnswer(wire)), [408, 1053, 'requestTimedOut', message]);
  }
});

test('200 slow clients do not delay a request of another', async () => {
  const slow = Array.from({ length: 200 }, () => open(addresses.api));
  const closed = slow.map((socket) => new Promise((resolve) => socket.on('close', resolve)));
  for (const socket of slow) {
    socket.on('error', () => undefined);
    socket.resume();
    socket.write('GET /v1/listings HTTP/1.1\r\nHost: x\r\n');
  }
  assert.equal((await service.get('api', '/v1/listings', { token })).status, 200);
  await Promise.all(closed);
});

test('every response has an X-Request-Id: the client’s if it is valid, otherwise a new one', async () => {
  const idOf = async (given?: string): Promise<string> => {
    const headers: Record<string, string> = given === undefined ? {} : { 'x-request-id': given };
    const answer = await service.get('api', '/v1/listings', { token, headers });
    return String(answer.headers['x-request-id']);
  };
  assert.equal(await idOf('walk-7:page/3'), 'walk-7:page/3');
  const own = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/;
  for (const given of [undefined, '', 'a b', '<script>', 'x'.repeat(129)])
    assert.match(await idOf(given), own);
  assert.notEqual(await idOf(), await idOf());
  for (const path of ['/v1/none', '/', '/Reso/OData/None']) {
    assert.match(String((await service.get('api', path)).headers['x-request-id']), own);
  }
});

test('every response has the headers of the contract', async () => {
  for (const [surface, path] of [...PLACES, ['api', '/nothing'], ['api', '/v1/nothing']] as const) {
    const answer = await service.get(surface, path, { token });
    assert.equal(answer.headers['cache-control'], 'private, no-cache', path);
    assert.equal(answer.headers.vary, 'Authorization, Accept, Accept-Encoding, Prefer', path);
    assert.equal(answer.headers['x-content-type-options'], 'nosniff', path);
  }
});

test('Server-Timing lists the steps of a request', async () => {
  const stepsOf = async (path: string): Promise<string> => {
    const { headers } = await service.get('api', path, { token });
    return String(headers['server-timing']).replaceAll(/;dur=\d+\.\d\d/g, '');
  };
  // Paths that were not requested before: a kept response is neither parsed nor encoded.
  assert.equal(await stepsOf('/v1/listings?_limit=7'), 'auth, parse, store, encode');
  assert.match(await stepsOf('/Reso/OData/Property?$top=7'), /^auth, parse, .*store/);
  assert.equal(await stepsOf('/v1/none'), 'auth, parse');
  const open = await service.get('api', '/nothing');
  assert.equal(open.headers['server-timing'], undefined);
});

test('Date is read from the clock that assigns timestamps, which never runs backwards', async () => {
  const dates = async (): Promise<unknown[]> => {
    const found = [];
    for (const path of ['/v1/listings', '/nothing', '/Reso/OData/Property']) {
      found.push((await service.get('api', path, { token })).headers.date);
    }
    return [...new Set(found)];
  };
  clock.set('2030-01-02T03:04:05.900Z');
  assert.deepEqual(await dates(), ['Wed, 02 Jan 2030 03:04:05 GMT']);
  await service.write('Property', listing('3'));
  clock.set('2029-01-01T00:00:00Z');
  assert.deepEqual(await dates(), ['Wed, 02 Jan 2030 03:04:05 GMT']);
});
