/** Requests to a source: which are repeated and after which wait, which are not, and how much of a response is read. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { mayPassIfSmaller } from '../../../src/replica/http/failure.ts';
import { sharedAllowance } from '../../../src/replica/http/rate-budget.ts';
import { tokenSourceOf } from '../../../src/replica/http/token-source.ts';
import { readJson } from '../../../src/replica/source/response.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { makeWorld } from '../../support/world.ts';
import { clientOf } from '../support/client.ts';
import { json, listen, type Reply } from '../support/loopback.ts';

const pem = (name: string): string =>
  readFileSync(new URL(`../../service/http/tls/${name}.pem`, import.meta.url), 'utf8');
const SELF_SIGNED = { cert: pem('certificate'), key: pem('key') };

const LARGE = Buffer.alloc(100_000_000, 'x');
const FINE: Reply = { body: 'fine' };
const busy = (headers: Record<string, string> = {}): Reply => ({ status: 503, headers, body: 'busy' });

test('sends the token, requests JSON, and reads the response', async (t) => {
  const server = await listen(t, () => FINE);
  assert.equal(await clientOf(t, server.origin).text('Property?$top=1'), 'fine');
  const [seen] = server.seen;
  assert.equal(seen?.path, '/feed/Property');
  assert.deepEqual(
    [seen?.headers.authorization, seen?.headers.accept, seen?.headers['accept-encoding']],
    ['Bearer secret', 'application/json', 'zstd, gzip'],
  );
});

const ENCODINGS: readonly [string, (text: string) => Uint8Array][] = [
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
  ['GZIP', gzipSync],
  ['gzip, br', (text) => brotliCompressSync(gzipSync(text))],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['deflate, gzip', (text) => gzipSync(deflateRawSync(text))],
  ['identity', (text) => Buffer.from(text)],
];
for (const [encoding, pack] of ENCODINGS) {
  test(`reads ${encoding} of ${pack.name}`, async (t) => {
    const body = pack('häuser');
    const server = await listen(t, () => ({ headers: { 'content-encoding': encoding }, body }));
    assert.equal(await clientOf(t, server.origin).text('x'), 'häuser');
  });
}

const TEXTS: readonly (readonly [type: string, body: Uint8Array, text: string])[] = [
  ['application/json', Buffer.from('\ufeffh\u00e4user'), 'h\u00e4user'],
  ['application/json; charset=ISO-8859-1', Buffer.from('h\u00e4user', 'latin1'), 'h\u00e4user'],
  ['application/json;charset="utf-16le"', Buffer.from('h\u00e4user', 'utf16le'), 'h\u00e4user'],
  ['application/json; charset=klingon', Buffer.from('h\u00e4user'), 'h\u00e4user'],
  // Bytes that are not UTF-8 are not taken for replacement characters that were sent.
  [
    'application/json',
    Buffer.from('h\u00c3\u00a4 \u00ef\u00bf\u00bd \u00e4 \u00e4', 'latin1'),
    'h\u00e4 \ufffd \udcff \udcff',
  ],
];
for (const [type, body, text] of TEXTS) {
  test(`reads ${body.length} bytes of ${type}`, async (t) => {
    const server = await listen(t, () => ({ headers: { 'content-type': type }, body }));
    assert.equal(await clientOf(t, server.origin).text('x'), text);
  });
}

for (const status of [408, 429, 500, 502, 503, 504]) {
  test(`${status} is retried, after a longer wait each time`, async (t) => {
    const server = await listen(t, (_, count) => (count < 4 ? { status, body: 'not now' } : FINE));
    const asked = clientOf(t, server.origin);
    assert.equal(await asked.text('x'), 'fine');
    assert.deepEqual(asked.slept, [500, 1000, 2000]);
    assert.deepEqual(
      asked.events,
      [500, 1000, 2000].map((wait, at) => ({
        kind: 'retry',
        reason: `${status}: not now`,
        attempt: at + 1,
        wait,
      })),
    );
  });
}

test('after all attempts the last failure is reported', async (t) => {
  const server = await listen(t, () => busy());
  const asked = clientOf(t, server.origin);
  assert.deepEqual(await asked.fault('x'), ['transient', '503: busy']);
  assert.equal(server.seen.length, 4);
});

test('a caller may limit the number of attempts', async (t) => {
  const server = await listen(t, () => busy());
  assert.deepEqual(await clientOf(t, server.origin).fault('x', 2), ['transient', '503: busy']);
  assert.equal(server.seen.length, 2);
});

test('INCIDENT retries hammered a throttled token: Retry-After is a minimum for every wait', async (t) => {
  const server = await listen(t, (_, count) => (count < 3 ? busy({ 'retry-after': '120' }) : FINE));
  const asked = clientOf(t, server.origin);
  assert.equal(await asked.text('x'), 'fine');
  assert.deepEqual(asked.slept, [120_500, 121_000]);
});

test('Retry-After may be a date', async (t) => {
  const at = new Date('2026-06-01T12:05:00Z').toUTCString();
  const server = await listen(t, (_, count) => (count < 2 ? busy({ 'retry-after': at }) : FINE));
  const asked = clientOf(t, server.origin);
  assert.equal(await asked.text('x'), 'fine');
  assert.deepEqual(asked.slept, [300_500]);
});

test('a Retry-After that is neither a number nor a date is ignored', async (t) => {
  const server = await listen(t, (_, count) => (count < 2 ? busy({ 'retry-after': 'soon' }) : FINE));
  const asked = clientOf(t, server.origin);
  await asked.text('x');
  assert.deepEqual(asked.slept, [500]);
});

const REFUSALS: readonly [string, Reply, string][] = [
  ['401', { status: 401, body: 'no' }, '401: no'],
  ['403', { status: 403, body: 'no' }, '403: no'],
  [
    'code 1021',
    json({ D: { Success: false, Code: 1021, Message: 'Use the replication host' } }, { status: 400 }),
    '400 (code 1021): Use the replication host',
  ],
  [
    'code 1500 behind a 503',
    json({ D: { Success: false, Code: 1500, Message: 'Not for you' } }, { status: 503 }),
    '503 (code 1500): Not for you',
  ],
];
for (const [name, reply, message] of REFUSALS) {
  test(`${name} is never retried`, async (t) => {
    const server = await listen(t, () => reply);
    const asked = clientOf(t, server.origin);
    assert.deepEqual(await asked.fault('x'), ['refused', message]);
    assert.deepEqual([server.seen.length, asked.slept], [1, []]);
  });
}

test('code 1550 is the rate limit, and is retried', async (t) => {
  const over = json({ D: { Success: false, Code: 1550, Message: 'Over the limit' } }, { status: 503 });
  const server = await listen(t, (_, count) => (count < 2 ? over : FINE));
  const asked = clientOf(t, server.origin);
  assert.equal(await asked.text('x'), 'fine');
  assert.deepEqual(asked.events, [
    { kind: 'retry', reason: '503 (code 1550): Over the limit', attempt: 1, wait: 500 },
  ]);
});

for (const status of [400, 404, 410, 414, 501]) {
  test(`${status} means that the request is wrong: it is reported at once, with the message of the server`, async (t) => {
    const body = { error: { code: 'X', message: 'No such field' } };
    const server = await listen(t, () => json(body, { status }));
    assert.deepEqual(await clientOf(t, server.origin).fault('x'), ['rejected', `${status}: No such field`]);
    assert.equal(server.seen.length, 1);
  });
}

test('a server may repeat the token, also in a URL: no message contains it', async (t) => {
  const token = 'a+b/c d==';
  const echoed = [token, encodeURIComponent(token), new URLSearchParams({ token }).toString()];
  const server = await listen(t, () => json({ error: { message: echoed.join(' ') } }, { status: 400 }));
  const { client } = clientOf(t, server.origin, { tokens: tokenSourceOf(token) });
  await assert.rejects(client.get('x', readJson), { message: '400: [hidden] [hidden] token=[hidden]' });
});

test('the circuit breaker: after 40 failures in a row nothing is retried', async (t) => {
  const server = await listen(t, () => busy());
  const asked = clientOf(t, server.origin);
  for (let request = 0; request < 10; request++) await asked.fault('x');
  assert.equal(server.seen.length, 40);
  assert.deepEqual(await asked.fault('x'), ['transient', '503: busy']);
  assert.equal(server.seen.length, 41, 'one attempt, no retry');
});

test('a response closes the circuit again', async (t) => {
  const server = await listen(t, (_, count) => (count === 41 ? FINE : busy()));
  const asked = clientOf(t, server.origin);
  for (let request = 0; request < 10; request++) await asked.fault('x');
  await asked.text('x');
  await asked.fault('x');
  assert.equal(server.seen.length, 45);
});

test('a redirect within the source is followed', async (t) => {
  const server = await listen(t, ({ path }) =>
    path === '/feed/old' ? { status: 302, headers: { location: '/feed/new' } } : FINE,
  );
  assert.equal(await clientOf(t, server.origin).text('old'), 'fine');
  assert.deepEqual(
    server.seen.map(({ path }) => path),
    ['/feed/old', '/feed/new'],
  );
});

for (const status of [301, 302, 303, 307, 308]) {
  test(`redirects to other hosts never get the token (${status})`, async (t) => {
    const other = await listen(t, () => FINE);
    const server = await listen(t, () => ({ status, headers: { location: `${other.origin}/feed/x` } }));
    assert.deepEqual(await clientOf(t, server.origin).fault('x'), [
      'refused',
      `The source redirects to ${other.origin}, which is not the origin of the token`,
    ]);
    assert.deepEqual([other.seen.length, server.seen.length], [0, 1]);
  });
}

test('a source that redirects for ever is reported after the limit', async (t) => {
  const server = await listen(t, () => ({ status: 302, headers: { location: '/feed/x' } }));
  const { origin } = server;
  assert.deepEqual(await clientOf(t, origin).fault('x'), [
    'rejected',
    `${origin}/feed/x redirects more than 5 times`,
  ]);
  assert.equal(server.seen.length, 6);
});

test('a link to another origin is rebased on the source, so that the token goes nowhere else', async (t) => {
  const other = await listen(t, () => FINE);
  const server = await listen(t, () => FINE);
  assert.equal(await clientOf(t, server.origin).text(`${other.origin}/feed/next?$skiptoken=1`), 'fine');
  assert.deepEqual([other.seen.length, server.seen[0]?.url], [0, '/feed/next?$skiptoken=1']);
});

test('TLS errors: an untrusted certificate is an error that is not retried', async (t) => {
  const server = await listen(t, () => FINE, { tls: SELF_SIGNED });
  const asked = clientOf(t, server.origin);
  const [kind, message] = await asked.fault('x');
  assert.deepEqual(
    [kind, message.split(';')[0]],
    ['refused', 'DEPTH_ZERO_SELF_SIGNED_CERT: self-signed certificate'],
  );
  assert.deepEqual(asked.slept, []);
});

test('a failure without a body says so', async (t) => {
  const server = await listen(t, () => ({ status: 302, body: ' ' }));
  assert.deepEqual(await clientOf(t, server.origin).fault('x'), ['rejected', '302: the response is empty']);
});

test('a refused connection is retried, since the service may be restarting', async (t) => {
  const asked = clientOf(t, 'http://127.0.0.1:1');
  const [kind, message] = await asked.fault('x', 2);
  const reason = 'ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:1';
  assert.match(message, /^Nothing answers at http:\/\/127\.0\.0\.1:1\/\S* \(/);
  assert.deepEqual([kind, message.endsWith(`(${reason})`)], ['transient', true]);
  assert.deepEqual(asked.slept, [500]);
});

test('an https address of a server without TLS says so, and is not retried', async (t) => {
  const server = await listen(t, () => FINE);
  const asked = clientOf(t, server.origin.replace('http:', 'https:'));
  const [kind, message] = await asked.fault('x');
  assert.equal(kind, 'refused');
  assert.match(
    message,
    /^ERR_SSL_\w+: the server does not answer in TLS; perhaps its address begins with http:$/,
  );
  assert.deepEqual(asked.slept, []);
});

test('a body that is shorter than its Content-Length is requested again', async (t) => {
  const server = await listen(t, (_, count) =>
    count < 2 ? { body: 'x'.repeat(5000), cutAfter: 100 } : FINE,
  );
  const asked = clientOf(t, server.origin);
  assert.equal(await asked.text('x'), 'fine');
  assert.equal(asked.events.length, 1);
});

test('a chunked response whose connection is closed is requested again', async (t) => {
  const server = await listen(t, (_, count) =>
    count < 2 ? { headers: { 'transfer-encoding': 'chunked' }, body: 'x'.repeat(5000), cutAfter: 100 } : FINE,
  );
  assert.equal(await clientOf(t, server.origin).text('x'), 'fine');
  assert.equal(server.seen.length, 2);
});

test('compressed content that is incomplete is requested again', async (t) => {
  const whole = gzipSync('x'.repeat(10_000));
  const server = await listen(t, (_, count) => ({
    headers: { 'content-encoding': 'gzip' },
    body: count < 2 ? whole.subarray(0, -12) : whole,
  }));
  const asked = clientOf(t, server.origin);
  assert.equal((await asked.text('x')).length, 10_000);
  assert.deepEqual(
    asked.events.map((event) => event.kind === 'retry' && event.reason),
    ['Z_BUF_ERROR: unexpected end of file'],
  );
});

test('content that is not in the encoding of its header is requested again', async (t) => {
  const server = await listen(t, (_, count) =>
    count < 2 ? { headers: { 'content-encoding': 'gzip' }, body: 'plain' } : FINE,
  );
  const asked = clientOf(t, server.origin);
  assert.equal(await asked.text('x'), 'fine');
  assert.deepEqual(asked.slept, [500]);
});

test('a source that sends no response in time is asked again', async (t) => {
  const server = await listen(t, (_, count) =>
    count < 2 ? new Promise<Reply>(() => undefined) : { body: 'fine' },
  );
  const asked = clientOf(t, server.origin, { timeout: 50 });
  assert.equal(await asked.text('x'), 'fine');
  assert.deepEqual(
    asked.events.map((event) => event.kind === 'retry' && event.reason),
    ['UND_ERR_HEADERS_TIMEOUT: Headers Timeout Error'],
  );
});

test('a response whose body stalls is requested again', async (t) => {
  const server = await listen(t, (_, count) => (count < 2 ? { body: 'beginning', stalls: true } : FINE));
  const asked = clientOf(t, server.origin, { timeout: 50 });
  assert.equal(await asked.text('x'), 'fine');
  assert.deepEqual(
    asked.events.map((event) => event.kind === 'retry' && event.reason),
    ['UND_ERR_BODY_TIMEOUT: Body Timeout Error'],
  );
});

const DRIPS: readonly [string, Reply][] = [
  ['a byte at a time', { body: 'x', drips: 5 }],
  // Empty gzip members, one after the other: the reader never gets a byte of content.
  [
    'compressed, and of no content',
    { headers: { 'content-encoding': 'gzip' }, body: gzipSync(''), drips: 5 },
  ],
];
for (const [name, reply] of DRIPS) {
  test(`a response that drips, ${name}, is abandoned after its time, even though data keeps coming`, async (t) => {
    const server = await listen(t, (_, count) => (count < 2 ? reply : FINE));
    const asked = clientOf(t, server.origin, { longest: 100 });
    assert.equal(await asked.text('x'), 'fine');
    assert.deepEqual(
      asked.events.map((event) => event.kind === 'retry' && event.reason),
      ['ANSWER_TIMEOUT: The response was not complete after 0.1 s'],
    );
  });
}

test('a response that drips counts as too much, so that the caller requests less', async (t) => {
  const server = await listen(t, () => ({ body: 'x', drips: 5 }));
  const asked = clientOf(t, server.origin, { longest: 50 });
  const failure = await asked.client.get('x', () => undefined, { attempts: 1 }).catch((error) => error);
  assert.equal(mayPassIfSmaller(failure), true);
});

test('100 MB pages: one with a Content-Length is rejected unread, and no connection stays open', async (t) => {
  const server = await listen(t, ({ path }) => (path === '/feed/large' ? { body: LARGE } : FINE));
  const asked = clientOf(t, server.origin);
  for (let request = 0; request < 5; request++) {
    assert.deepEqual(await asked.fault('large'), [
      'too-large',
      'The response has at least 100000000 bytes; plat reads at most 1000000',
    ]);
  }
  assert.equal(await asked.text('small'), 'fine');
  assert.deepEqual(asked.slept, []);
});

test('100 MB pages without a Content-Length: reading stops at the limit', async (t) => {
  const server = await listen(t, ({ path }) =>
    path === '/feed/large' ? { headers: { 'transfer-encoding': 'chunked' }, body: LARGE } : FINE,
  );
  const asked = clientOf(t, server.origin);
  for (let request = 0; request < 5; request++) {
    const [kind, message] = await asked.fault('large');
    assert.equal(kind, 'too-large');
    assert.match(message, /^The response has at least 1\d{6} bytes; plat reads at most 1000000$/);
  }
  assert.equal(await asked.text('small'), 'fine');
});

for (const [encoding, pack] of ENCODINGS) {
  test(`gzip bombs: ${encoding} that becomes 20 MB is abandoned at the limit, and no connection stays open`, async (t) => {
    const bomb = pack('\0'.repeat(20_000_000));
    const server = await listen(t, ({ path }) =>
      path === '/feed/bomb' ? { headers: { 'content-encoding': encoding }, body: bomb } : FINE,
    );
    const asked = clientOf(t, server.origin);
    for (let request = 0; request < 5; request++) {
      const [kind, message] = await asked.fault('bomb');
      assert.equal(kind, 'too-large');
      assert.match(message, /^The response has at least 1\d{6} bytes; plat reads at most 1000000$/);
    }
    assert.equal(await asked.text('small'), 'fine');
  });
}

test('HTML in place of JSON is retried, and reported with the beginning of its text', async (t) => {
  const html = { headers: { 'content-type': 'text/html' }, body: '<html><body>Maintenance</body></html>' };
  const server = await listen(t, () => html);
  const { origin } = server;
  const asked = clientOf(t, origin);
  await assert.rejects(asked.client.get('Property', readJson), {
    kind: 'transient',
    message: `${origin}/feed/Property did not respond with JSON but with text/html: "<html><body>Maintenance</body></html>"`,
  });
  assert.equal(server.seen.length, 4);
});

test('JSON other than an object is requested again', async (t) => {
  const server = await listen(t, (_, count) => json(count < 2 ? [1, 2] : { value: [] }));
  const asked = clientOf(t, server.origin);
  assert.deepEqual(await asked.client.get('Property', readJson), { value: [] });
  assert.deepEqual(
    asked.events.map((event) => event.kind === 'retry' && event.reason),
    [`${server.origin}/feed/Property responded with JSON that is not an object`],
  );
});

test('a budget that is used up causes a wait, which is reported', async (t) => {
  const server = await listen(t, () => FINE);
  const waits = [30_000, 500, 0];
  const noted: number[] = [];
  const asked = clientOf(t, server.origin, {
    allowance: {
      take: async () => waits.shift() ?? 0,
      recordResponse: async (bytes) => void noted.push(bytes),
    },
  });
  assert.equal(await asked.text('x'), 'fine');
  assert.deepEqual([asked.slept, noted], [[30_000, 500], [4]]);
  assert.deepEqual(asked.events, [{ kind: 'waiting', reason: 'the rate limit of the source', wait: 30_000 }]);
});

test('the limit in a response is recorded, even if the response is an error', async (t) => {
  const headers = { 'ratelimit-remaining': '0', 'ratelimit-reset': '60' };
  const server = await listen(t, (_, count) => (count < 2 ? busy(headers) : FINE));
  const blocked: number[] = [];
  const asked = clientOf(t, server.origin, {
    allowance: { take: async () => 0, recordResponse: async (_, until) => void blocked.push(until) },
  });
  await asked.text('x');
  assert.deepEqual(blocked, [Date.parse('2026-06-01T12:01:00Z'), 0]);
});

const LONG_BLOCKS: readonly [string, number, Record<string, string>][] = [
  ['429 with a Retry-After of 30 days', 429, { 'retry-after': '2592000' }],
  ['an end of the window in 30 days', 503, { 'ratelimit-remaining': '0', 'ratelimit-reset': '2592000' }],
];
for (const [name, status, headers] of LONG_BLOCKS) {
  test(`a token is blocked for a day at most, and a longer block is reported: ${name}`, async (t) => {
    const server = await listen(t, (_, count) => (count < 2 ? { status, headers, body: 'no' } : FINE));
    const blocked: number[] = [];
    const asked = clientOf(t, server.origin, {
      allowance: { take: async () => 0, recordResponse: async (_, until) => void blocked.push(until) },
    });
    assert.equal(await asked.text('x'), 'fine');
    assert.deepEqual(blocked, [Date.parse('2026-06-02T12:00:00Z'), 0]);
    assert.deepEqual(asked.events[0], {
      kind: 'waiting',
      reason: 'the source requests a pause of 30 days; plat waits one day at most',
      wait: 86_400_000,
    });
  });
}

test('after a Retry-After of 30 days the client waits for a day', async (t) => {
  const server = await listen(t, (_, count) => (count < 2 ? busy({ 'retry-after': '2592000' }) : FINE));
  const asked = clientOf(t, server.origin);
  await asked.text('x');
  assert.deepEqual(asked.slept, [86_400_500]);
});

test('bytes are counted as content: in UTF-8, after decompression, and of a response that was too large', async (t) => {
  const replies: readonly Reply[] = [
    { body: 'häuser' },
    { headers: { 'content-encoding': 'gzip' }, body: gzipSync('x'.repeat(10_000)) },
    { headers: { 'transfer-encoding': 'chunked' }, body: LARGE },
  ];
  const server = await listen(t, (_, count) => replies[count - 1] ?? FINE);
  const noted: number[] = [];
  const asked = clientOf(t, server.origin, {
    allowance: { take: async () => 0, recordResponse: async (bytes) => void noted.push(bytes) },
  });
  await asked.text('x');
  await asked.text('x');
  assert.equal((await asked.fault('x'))[0], 'too-large');
  assert.deepEqual(noted.slice(0, 2), [7, 10_000]);
  assert.ok((noted[2] ?? 0) > 1_000_000 && (noted[2] ?? 0) < 2_000_000);
});

test('INCIDENT retries hammered a throttled token: after a 429 no client with this token sends a request before the time', async (t) => {
  const { store } = await makeWorld(sqliteEngine(), t, { settings: { owner: 'replica' } });
  const server = await listen(t, (_, count) =>
    count < 2 ? { status: 429, headers: { 'retry-after': '60' }, body: 'slow down' } : FINE,
  );
  const allowance = (token: string) => ({ allowance: sharedAllowance(store.checkpoints, token, {}) });
  const first = clientOf(t, server.origin, allowance('one'));
  assert.deepEqual(await first.fault('x', 1), ['transient', '429: slow down']);
  const second = clientOf(t, server.origin, allowance('one'));
  assert.equal(await second.text('y'), 'fine');
  assert.deepEqual(second.slept, [60_000]);
  const other = clientOf(t, server.origin, allowance('two'));
  assert.equal(await other.text('y'), 'fine');
  assert.deepEqual(other.slept, []);
});

test('a consumer that is stopped sends no further requests', async (t) => {
  const stop = new AbortController();
  const server = await listen(t, () => {
    stop.abort();
    return busy();
  });
  const asked = clientOf(t, server.origin, { signal: stop.signal });
  assert.deepEqual(await asked.fault('x'), ['stopped', 'It was stopped']);
  assert.deepEqual(await asked.fault('x'), ['stopped', 'It was stopped']);
  assert.equal(server.seen.length, 1);
});
