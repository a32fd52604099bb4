/** Hostile clients: invalid bytes, request smuggling, random queries, huge responses, and clients that do not read. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { listing, member, photo, room } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import type { World } from '../../support/world.ts';
import { resoFault } from './envelopes.ts';
import { open, readAnswer, sendRaw } from './raw.ts';

const remarks = 'A house with a view. '.repeat(150);
async function fillListings({ write }: World): Promise<void> {
  await write('Member', member('A1'));
  const make = (index: number) =>
    listing(String(1000 + index), {
      ListPrice: index,
      City: `City ${index % 5}`,
      ListAgentKey: 'A1',
      PublicRemarks: remarks,
      Media: [photo(`M${index}`)],
      Rooms: [room(`R${index}`)],
    });
  await write('Property', ...Array.from({ length: 200 }, (_, index) => make(index)));
}

const service = await startTestService(
  { after },
  {
    fill: fillListings,
    service: {
      limits: unlimited(),
      connections: { ...SERVICE_DEFAULTS.connections, requestSeconds: 0.3 },
    },
  },
);
const token = await service.key('replication');
const address = service.addresses.replication;
const head = (line: string, ...more: readonly string[]): string =>
  [`${line} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${token}`, ...more, '', ''].join('\r\n');

function unlimited() {
  const limit = { requests: 1_000_000, seconds: 60 };
  return { api: limit, replication: limit, floorplans: limit, admin: limit };
}

/** Splits the received bytes into responses (status and body) by their Content-Length. */
function responses(wire: string): [status: number, body: string][] {
  const found: [number, string][] = [];
  for (let rest = wire; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n') + 4;
    const [, status = ''] = /^HTTP\/1\.1 (\d{3}) /.exec(rest) ?? [];
    const [, length = ''] = /\r\ncontent-length: (\d+)\r\n/i.exec(rest.slice(0, end)) ?? [];
    assert.ok(status !== '' && length !== '' && end > 3, `no response: ${rest.slice(0, 100)}`);
    found.push([Number(status), rest.slice(end, end + Number(length))]);
    rest = rest.slice(end + Number(length));
  }
  return found;
}

test('invalid bytes after pipelined requests get 400 after the complete responses before them', async () => {
  const page = head('GET /v1/listings?_limit=200');
  const whole = (await service.get('replication', '/v1/listings?_limit=200', { token })).text;
  assert.ok(whole.length > 500_000);
  const message = 'The request is malformed: it is not HTTP/1.1.';
  const native = { D: { Success: false, Code: 1053, Message: message } };
  const both = { error: { code: 'requestMalformed', message }, ...native };
  const wire = await sendRaw(address, `${page}${page}no request\r\n\r\n`);
  assert.deepEqual(responses(wire), [
    [200, whole],
    [200, whole],
    [400, JSON.stringify(native)],
  ]);
  const late = await new Promise<string>((resolve) => {
    const socket = open(address);
    const parts: Buffer[] = [];
    socket.on('data', (part: Buffer) => {
      if (parts.push(part) === 1) socket.write('no request\r\n\r\n');
    });
    socket.on('error', () => undefined).on('close', () => resolve(Buffer.concat(parts).toString()));
    socket.write(page);
  });
  assert.deepEqual(responses(late), [
    [200, whole],
    [400, JSON.stringify(both)],
  ]);
});

test('CONNECT gets 405 like any other method', async () => {
  const answer = readAnswer(await sendRaw(address, 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n'));
  const message = 'CONNECT is not allowed. This service accepts GET and HEAD.';
  assert.deepEqual(resoFault(answer), [405, 'methodNotAllowed', message]);
  assert.equal(answer.headers.allow, 'GET, HEAD, OPTIONS');
});

test('an unknown Expect header is ignored', async () => {
  const answer = readAnswer(
    await sendRaw(address, head('GET /v1/system', 'Expect: much', 'Connection: close')),
  );
  assert.equal(answer.status, 200);
});

test('two Host headers get 400; offers to upgrade the protocol are ignored', async () => {
  const two = readAnswer(await sendRaw(address, head('GET /v1/system', 'Host: y', 'Connection: close')));
  assert.equal(two.status, 400);
  assert.match(two.text, /The request is malformed: it has two Host headers\./);
  for (const offer of ['websocket', 'h2c']) {
    const wire = await sendRaw(
      address,
      head('GET /v1/system', `Upgrade: ${offer}`, 'Connection: Upgrade, close'),
    );
    assert.equal(responses(wire)[0]?.[0], 200, offer);
  }
});

test('a smuggled request inside a body is not answered', async () => {
  const inner = 'GET /v1/system HTTP/1.1\r\nHost: x\r\n\r\n';
  const smuggled = head('POST /v1/system', `Content-Length: ${inner.length}`, 'Transfer-Encoding: chunked');
  assert.deepEqual(
    responses(await sendRaw(address, `${smuggled}0\r\n\r\n${inner}`)).map(([status]) => status),
    [400],
  );
});

test('a malformed or late body is an error of its own request, which gets exactly one response', async () => {
  const chunked = ['Content-Type: text/plain', 'Transfer-Encoding: chunked'];
  const query = head('POST /Reso/OData/Property/$query', ...chunked);
  const broken = async (text: string) =>
    responses(await sendRaw(address, text)).map(([status, body]) => [
      status,
      status === 200 ? '' : Object(JSON.parse(body)).error.message,
    ]);
  const refused = [400, 'The request is malformed: it is not HTTP/1.1.'];
  assert.deepEqual(await broken(`${query}ZZ\r\n`), [refused]);
  assert.deepEqual(await broken(`${query}4\r\n$top=1\r\n0\r\n\r\n`), [refused]);
  const before = head('GET /Reso/OData/Property/$count');
  assert.deepEqual(await broken(`${before}${query}ZZ\r\n`), [[200, ''], refused]);
  // A malformed body that is not read only ends the connection.
  const unread = head('GET /Reso/OData/Property/$count', ...chunked);
  assert.deepEqual(await broken(`${unread}ZZ\r\n${before}`), [[200, '']]);
  // A body that arrives too slowly gets one response, too.
  const slow = head('POST /Reso/OData/Property/$query', 'Content-Type: text/plain', 'Content-Length: 10');
  assert.deepEqual(await broken(`${slow}$top`), [[408, 'The request did not arrive completely in time.']]);
});

test('headers of the maximum length are parsed within 1.5 s', async () => {
  const long: Readonly<Record<string, string>> = {
    accept: 'a/b;q=0.1,'.repeat(5000),
    'accept-encoding': 'a;q=0.1,'.repeat(6000),
    prefer: 'a="b\\"c",'.repeat(5000),
    'if-none-match': 'W/"x",'.repeat(8000),
    'odata-maxversion': '9'.repeat(40_000),
    'x-request-id': 'x'.repeat(40_000),
    host: 'h'.repeat(40_000),
  };
  for (const [name, value] of Object.entries(long)) {
    const started = performance.now();
    const { status } = await service.get('replication', '/Reso/OData/Property?$top=1', {
      token,
      headers: { [name]: value },
    });
    assert.ok([200, 400, 406].includes(status), `${name} ${status}`);
    assert.ok(performance.now() - started < 1500, name);
  }
});

test('names of members of Object.prototype are unknown names', async () => {
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    const paths = [
      `/Reso/OData/${name}`,
      `/Reso/OData/Property?$select=${name}`,
      `/Reso/OData/Property?$expand=${name}`,
      `/Reso/OData/Property?$filter=${name} eq 1`,
      `/Reso/OData/Property('1000')/${name}`,
      `/Reso/OData/Property?$orderby=${name}`,
      `/v1/${name}`,
      `/v1/listings/1000/${name}`,
      `/v1/listings?_select=${name}`,
      `/v1/listings?_expand=${name}`,
      `/v1/listings?_orderby=${name}`,
      `/v1/listings?_filter=${name} Eq 1`,
      `/v1/standardfields/${name}`,
      `/v1/customfields/${name}`,
    ];
    for (const path of paths) {
      const { status } = await service.get('replication', path, { token });
      assert.ok(status === 400 || status === 404, `${path} ${status}`);
    }
  }
});

const words = fc.constantFrom(
  ...['City', 'ListPrice', 'Media', 'Rooms', 'ListAgent', 'ListAgentKey', 'ModificationTimestamp', 'Nothing'],
  ...['eq', 'ne', 'and', 'or', 'not', 'in', 'any', 'all', 'contains', 'Eq', 'Bt', 'And', 'Or', 'Not'],
  ...[
    '(',
    ')',
    "'",
    "''",
    ',',
    '/',
    ':',
    ';',
    '$',
    '@',
    '*',
    '=',
    '-',
    '.',
    ' ',
    '%27',
    '%00',
    '%ff',
    '\\',
    '"',
  ],
  ...[
    '1',
    '-1',
    '1e400',
    '0x1',
    '99999999999999999999',
    '2026-01-01',
    '2026-01-01T00:00:00Z',
    'null',
    'true',
  ],
  ...['$it', '$count', '$ref', '$value', '$each', '$select', '$expand', '$levels=max', 'now()', 'days(1)'],
  ...['\u{1F3E0}', 'é', "duration'P1D'", "geography'POINT(1 2)'", 'radius(', 'x:x', "'A*'", 'a'.repeat(200)],
);
const text = fc.array(words, { maxLength: 12 }).map((parts) => parts.join(''));
const spaced = fc.array(words, { maxLength: 12 }).map((parts) => parts.join(' '));
const options = [
  '$filter',
  '$select',
  '$expand',
  '$orderby',
  '$compute',
  '$search',
  '$top',
  '$skip',
  '$skiptoken',
];
const parameters = ['_filter', '_select', '_expand', '_orderby', '_limit', '_skip', '_page', '_skiptoken'];
const request = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('Property', 'Media', 'Member', "Property('1000')/Rooms"),
      fc.constantFrom(...options),
      fc.oneof(text, spaced),
    )
    .map(([path, name, value]) => `/Reso/OData/${path}?${name}=${value}`),
  fc
    .tuple(
      fc.constantFrom('listings', 'accounts', 'listings/1000/photos'),
      fc.constantFrom(...parameters),
      fc.oneof(text, spaced),
    )
    .map(([path, name, value]) => `/v1/${path}?${name}=${value}`),
  text.map((path) => `/Reso/OData/Property${path}`),
  text.map((path) => `/v1/listings/${path}`),
);

test('random queries get a proper response within 3 s, never a 500', async () => {
  const runs = process.env.PLAT_FULL === '1' ? 20_000 : 700;
  await fc.assert(
    fc.asyncProperty(request, async (path) => {
      const started = performance.now();
      const { status, text: body } = await service.get('replication', path.replaceAll('#', '%23'), { token });
      assert.ok([200, 204, 400, 404, 406, 414, 501].includes(status), `${status} ${body}`);
      if (body !== '' && !path.includes('/$value')) JSON.parse(body);
      assert.ok(performance.now() - started < 3000, 'the response takes too long');
    }),
    { seed: 20260607, numRuns: runs },
  );
});

test('a response above 256 MB is refused with 503, and the service continues', async () => {
  const twice = (name: string, as: string): string => `concat(${name},${name}) as ${as}`;
  const names = ['PublicRemarks', ...Array.from({ length: 10 }, (_, index) => `X${index}`)];
  const doubled = names.slice(1).map((as, index) => twice(names[index] ?? '', as));
  const path = `/Reso/OData/Property?$select=X9&$compute=${doubled.join()}`;
  const message =
    'The response would be larger than 256 MB. Request fewer records at a time, or fewer expansions.';
  const ask = (top: number) => service.get('replication', `${path}&$top=${top}`, { token });
  assert.deepEqual(resoFault(await ask(200)), [503, 'answerTooLarge', message]);
  const { status, bytes } = await ask(2);
  assert.equal(status, 200);
  assert.ok(bytes.length > 2 * 1024 * remarks.length);
});

test('responses that clients do not read are limited in total: beyond it, requests get 503 with Retry-After', async (t) => {
  const bounded = await startTestService(t, {
    fill: fillListings,
    service: { budget: { ...SERVICE_DEFAULTS.budget, totalMegabytes: 6 } },
  });
  const key = await bounded.key('replication');
  const page = `GET /v1/listings?_limit=200 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  const ask = () => bounded.get('replication', '/v1/system', { token: key });
  const idle = [];
  // Bytes in the socket buffers count as read, so several clients are needed.
  while ((await ask()).status === 200) {
    const socket = open(bounded.addresses.replication);
    socket.on('error', () => undefined).pause();
    socket.write(page.repeat(10));
    idle.push(socket);
    assert.ok(idle.length < 500, 'the limit is never reached');
  }
  const refused = await ask();
  assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '5']);
  assert.match(refused.text, /"Code":1510,"Message":"The service is at its limit. Try again in 5 s."/);
  assert.equal((await fetch(`${bounded.addresses.admin}/live`)).status, 200);
  for (const socket of idle) socket.destroy();
  while ((await ask()).status === 503);
});
