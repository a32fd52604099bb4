/** Tokens of a token endpoint, and of a file: when they are requested and renewed, what fails, and what no message contains. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import type { ReplicaEvent } from '../../../src/replica/events.ts';
import { type ClientCredentials, clientCredentials } from '../../../src/replica/http/client-credentials.ts';
import {
  AuxiliaryFailure,
  isGone,
  mayPassIfSmaller,
  RequestFailure,
} from '../../../src/replica/http/failure.ts';
import { budgetName } from '../../../src/replica/http/rate-budget.ts';
import { type RequestContext, type TokenSource, tokenFile } from '../../../src/replica/http/token-source.ts';
import type { Transport } from '../../../src/replica/http/transport.ts';
import type { Scope } from '../../support/engine.ts';
import { temporaryFile } from '../../support/temporary.ts';
import { clientOf, type TestClient } from '../support/client.ts';
import { type Handler, json, type Loopback, listen, type Reply } from '../support/loopback.ts';
import { BASIC, CLIENT, type TokenEndpoint, tokenEndpoint } from '../support/token-endpoint.ts';

const FINE: Reply = { body: 'fine' };
const SECOND = 1000;

interface Feed {
  readonly endpoint: TokenEndpoint;
  readonly server: Loopback;
  readonly asked: TestClient;
  readonly tokens: TokenSource;
  /** The tokens of the requests to the source so far. */
  sent(): (string | undefined)[];
}

interface FeedOptions {
  readonly given?: Partial<ClientCredentials>;
  readonly accepts?: 'basic' | 'post';
  /** The response of the source to a request with a valid token. */
  readonly answer?: Handler;
}

/** A source that accepts only the tokens of its token endpoint, and a client that has their credentials. */
async function feed(
  scope: Scope,
  { given = {}, accepts, answer = () => FINE }: FeedOptions = {},
): Promise<Feed> {
  const endpoint = await tokenEndpoint(scope, accepts);
  const server = await listen(scope, (seen, count) => endpoint.rejects(seen) ?? answer(seen, count));
  const tokens = clientCredentials({ tokenUrl: endpoint.url, ...CLIENT, ...given });
  const asked = clientOf(scope, server.origin, { tokens });
  const sent = () => server.seen.map(({ headers }) => headers.authorization?.replace('Bearer ', ''));
  return { endpoint, server, asked, tokens, sent };
}

/** How a client sends requests for tokens. */
const contextOf = ({ clock, events, network }: TestClient): RequestContext => ({
  environment: { clock, random: () => 0.5, transport: network },
  listener: (event) => void events.push(event),
  backoff: { base: 1000, longest: 60_000, attempts: 4 },
  signal: new AbortController().signal,
});

/** Waits for the renewal of the first token that is in progress; begins one if there is none. */
const joinRenewal = (tokens: TokenSource, asked: TestClient): Promise<boolean> =>
  tokens.replace('issued-1', contextOf(asked));

const reasons = (events: readonly ReplicaEvent[]): string[] =>
  events.map((event) => ('reason' in event ? `${event.kind}: ${event.reason}` : event.kind));

test('a token is requested before the first request, and used for all of them', async (t) => {
  const { endpoint, asked, sent } = await feed(t, { given: { scope: 'api read', audience: 'https://feed' } });
  for (const path of ['a', 'b', 'c']) assert.equal(await asked.text(path), 'fine');
  assert.deepEqual(sent(), ['issued-1', 'issued-1', 'issued-1']);
  assert.deepEqual(endpoint.requests, [
    {
      authorization: BASIC,
      fields: { grant_type: 'client_credentials', scope: 'api read', audience: 'https://feed' },
    },
  ]);
  const { method, headers } = endpoint.seen[0] ?? assert.fail();
  assert.deepEqual(
    [method, headers.accept, headers['content-type']],
    ['POST', 'application/json', 'application/x-www-form-urlencoded'],
  );
});

test('a token is requested before the permission to send a request, so that a permitted request is sent at once', async (t) => {
  const { endpoint, server, tokens } = await feed(t);
  endpoint.facts = { expires_in: 60 };
  const permitted: number[] = [];
  const waits = [3_600_000, 0];
  const take = async (): Promise<number> => {
    permitted.push(endpoint.requests.length);
    return waits.shift() ?? 0;
  };
  const allowance = { take, recordResponse: async () => undefined };
  const asked = clientOf(t, server.origin, { tokens, allowance });
  assert.equal(await asked.text('a'), 'fine');
  // The first token has expired during the wait.
  assert.deepEqual([permitted, server.seen.length], [[1, 2], 1]);
});

test('a token is renewed five minutes before it expires, but not earlier', async (t) => {
  const { endpoint, asked, sent, tokens } = await feed(t);
  await asked.text('a');
  asked.clock.advance(3300 * SECOND - 1);
  await asked.text('b');
  asked.clock.advance(1);
  await asked.text('c');
  await joinRenewal(tokens, asked);
  await asked.text('d');
  assert.deepEqual(sent(), ['issued-1', 'issued-1', 'issued-1', 'issued-2']);
  assert.equal(endpoint.requests.length, 2);
});

test('a token that is valid for a minute is used for 54 seconds', async (t) => {
  const { endpoint, asked, sent, tokens } = await feed(t);
  endpoint.facts = { expires_in: '60' };
  await asked.text('a');
  asked.clock.advance(54 * SECOND - 1);
  await asked.text('b');
  asked.clock.advance(1);
  await asked.text('c');
  await joinRenewal(tokens, asked);
  await asked.text('d');
  assert.deepEqual(sent(), ['issued-1', 'issued-1', 'issued-1', 'issued-2']);
  assert.equal(endpoint.requests.length, 2);
});

for (const lifetime of [undefined, null, 0, -1, '0', 'soon', '3600s', {}]) {
  test(`a token whose expires_in is ${JSON.stringify(lifetime)} is used until the source rejects it`, async (t) => {
    const { endpoint, asked, sent } = await feed(t);
    endpoint.facts = { expires_in: lifetime };
    await asked.text('a');
    asked.clock.advance(365 * 86_400 * SECOND);
    await asked.text('b');
    endpoint.valid.clear();
    assert.equal(await asked.text('c'), 'fine');
    assert.deepEqual(sent(), ['issued-1', 'issued-1', 'issued-1', 'issued-2']);
    assert.deepEqual(asked.events, []);
  });
}

test('401 renews the token and repeats the request, without a failure', async (t) => {
  const { endpoint, server, asked, sent } = await feed(t);
  await asked.text('a');
  endpoint.valid.clear();
  assert.equal(await asked.text('b?$top=1'), 'fine');
  assert.deepEqual(
    server.seen.map(({ url }) => url),
    ['/feed/a', '/feed/b?$top=1', '/feed/b?$top=1'],
  );
  assert.deepEqual(sent(), ['issued-1', 'issued-1', 'issued-2']);
  assert.deepEqual([asked.slept, asked.events], [[], []]);
});

test('403 renews the token only if it says that the token is invalid', async (t) => {
  let header = 'Bearer realm="feed", error="invalid_token"';
  const isOld = new Set(['Bearer issued-1']);
  const { asked, sent } = await feed(t, {
    answer: ({ headers }) =>
      isOld.has(headers.authorization ?? '')
        ? { status: 403, headers: { 'www-authenticate': header }, body: 'no' }
        : FINE,
  });
  assert.equal(await asked.text('a'), 'fine');
  isOld.add('Bearer issued-2');
  header = 'Bearer error="insufficient_scope"';
  assert.deepEqual(await asked.fault('b'), ['refused', '403: no']);
  assert.deepEqual(sent(), ['issued-1', 'issued-2', 'issued-2']);
});

test('a request is repeated once: if its new token is rejected as well, it fails', async (t) => {
  const { endpoint, asked, sent } = await feed(t, { answer: () => ({ status: 401, body: 'Not this' }) });
  assert.deepEqual(await asked.fault('a'), ['refused', '401: Not this']);
  assert.deepEqual(sent(), ['issued-1', 'issued-2']);
  // The age of the token was not the reason. For a minute, the token is not renewed again.
  for (const path of ['b', 'c', 'd']) assert.deepEqual(await asked.fault(path), ['refused', '401: Not this']);
  assert.equal(endpoint.requests.length, 2);
  asked.clock.advance(60 * SECOND);
  assert.deepEqual(await asked.fault('e'), ['refused', '401: Not this']);
  assert.equal(endpoint.requests.length, 3);
});

test('a server that returns the same token again is not asked at each 401', async (t) => {
  const { endpoint, server, asked } = await feed(t);
  endpoint.intercept = () => json({ access_token: 'same', expires_in: 3600 });
  for (let request = 0; request < 5; request++) assert.equal((await asked.fault('a'))[0], 'refused');
  assert.deepEqual([endpoint.requests.length, server.seen.length], [2, 5]);
});

test('two processes whose server keeps one token of a client valid hinder each other, but both succeed', async (t) => {
  const { endpoint, asked, server } = await feed(t);
  endpoint.intercept = () => void endpoint.valid.clear();
  const tokens = clientCredentials({ tokenUrl: endpoint.url, ...CLIENT });
  const other = clientOf(t, server.origin, { tokens });
  for (let round = 0; round < 5; round++) {
    assert.equal(await asked.text('a'), 'fine');
    assert.equal(await other.text('b'), 'fine');
  }
});

test('concurrent requests share one renewal, before the first request and after 401', async (t) => {
  const { endpoint, asked, sent } = await feed(t);
  const paths = ['a', 'b', 'c', 'd', 'e'];
  const all = (): Promise<string[]> => Promise.all(paths.map((path) => asked.text(path)));
  assert.deepEqual(
    await all(),
    paths.map(() => 'fine'),
  );
  assert.equal(endpoint.requests.length, 1);
  endpoint.valid.clear();
  assert.deepEqual(
    await all(),
    paths.map(() => 'fine'),
  );
  assert.equal(endpoint.requests.length, 2);
  assert.equal(sent().filter((token) => token === 'issued-2').length, paths.length);
});

test('a 401 that arrives after another request has renewed the token renews nothing', async (t) => {
  const endpoint = await tokenEndpoint(t);
  const release = Promise.withResolvers<void>();
  const server = await listen(t, async (seen, count) => {
    const rejection = endpoint.rejects(seen);
    if (rejection !== undefined && seen.path === '/feed/slow' && count < 4) await release.promise;
    return rejection ?? FINE;
  });
  const asked = clientOf(t, server.origin, {
    tokens: clientCredentials({ tokenUrl: endpoint.url, ...CLIENT }),
  });
  await asked.text('a');
  endpoint.valid.clear();
  const slow = asked.text('slow');
  assert.equal(await asked.text('fast'), 'fine');
  release.resolve();
  assert.equal(await slow, 'fine');
  assert.deepEqual([endpoint.requests.length, server.seen.length], [2, 5]);
});

test('a redirect of the source within its origin counts no renewal, and keeps the new token', async (t) => {
  const { endpoint, asked, sent } = await feed(t, {
    answer: ({ path }) => (path === '/feed/old' ? { status: 302, headers: { location: '/feed/new' } } : FINE),
  });
  await asked.text('new');
  endpoint.valid.clear();
  assert.equal(await asked.text('old'), 'fine');
  assert.deepEqual(sent(), ['issued-1', 'issued-1', 'issued-2', 'issued-2']);
});

test('a stream is opened with a new token as well', async (t) => {
  const { endpoint, asked } = await feed(t);
  await asked.text('a');
  endpoint.valid.clear();
  const { signal } = new AbortController();
  const opened = await asked.client.openStream('events', { headers: {}, timeout: 1000, signal });
  const parts: Uint8Array[] = [];
  for await (const part of opened.body) parts.push(part);
  assert.equal(Buffer.concat(parts).toString(), 'fine');
});

const PASSING: readonly [string, Reply, waits: readonly number[]][] = [
  ['503', { status: 503, body: 'busy' }, [500]],
  ['500', { status: 500, body: '' }, [500]],
  ['429 with Retry-After', { status: 429, headers: { 'retry-after': '30' }, body: 'slow' }, [30_500]],
  ['HTML in place of JSON', { headers: { 'content-type': 'text/html' }, body: '<html>' }, [500]],
  ['a response that is cut', { body: '{"access_token": "abc"}', cutAfter: 9 }, [500]],
];
for (const [name, reply, waits] of PASSING) {
  test(`${name} of the token endpoint is retried by the rules of other requests`, async (t) => {
    const { endpoint, asked } = await feed(t);
    endpoint.intercept = (_, count) => (count < 2 ? reply : undefined);
    assert.equal(await asked.text('a'), 'fine');
    assert.deepEqual(asked.slept, waits);
    assert.match(reasons(asked.events).join(), new RegExp(`^retry: The token endpoint ${endpoint.url}: `));
  });
}

test('a timeout of the token endpoint is retried', async (t) => {
  const { endpoint, asked, tokens } = await feed(t);
  const context = contextOf(asked);
  const { transport: network } = context.environment;
  let posts = 0;
  const transport: Transport = async (request) => {
    if (++posts > 1) return network(request);
    throw Object.assign(new Error('Headers Timeout Error'), { code: 'UND_ERR_HEADERS_TIMEOUT' });
  };
  const environment = { ...context.environment, transport };
  assert.equal(await tokens.current({ ...context, environment }), 'issued-1');
  const reason = `The token endpoint ${endpoint.url}: UND_ERR_HEADERS_TIMEOUT: Headers Timeout Error`;
  assert.deepEqual(asked.events, [{ kind: 'retry', reason, attempt: 1, wait: 500 }]);
});

test('a token endpoint that stays unavailable fails after its own attempts, which are not multiplied', async (t) => {
  const { endpoint, server, asked } = await feed(t);
  endpoint.intercept = () => ({ status: 503, body: 'busy' });
  const reason = `The token endpoint ${endpoint.url}: 503: busy`;
  assert.deepEqual(await asked.fault('a'), ['transient', reason]);
  assert.deepEqual([endpoint.requests.length, server.seen.length], [4, 0]);
});

test('the failure of a token endpoint is not taken for a response of the source', async (t) => {
  for (const status of [400, 404, 410, 413, 500, 501]) {
    const { endpoint, asked } = await feed(t);
    endpoint.intercept = () => ({ status, body: 'no' });
    const failure: unknown = await asked.text('a').catch((error: unknown) => error);
    assert.ok(failure instanceof AuxiliaryFailure);
    assert.equal(failure.status, undefined);
    assert.equal(failure.kind, status === 500 ? 'transient' : 'refused');
    assert.equal(isGone(failure), false);
    assert.equal(mayPassIfSmaller(failure), false);
  }
});

test('INCIDENT ECONNREFUSED of a token endpoint names it', async (t) => {
  const tokens = clientCredentials({ tokenUrl: 'http://127.0.0.1:1/token?tenant=7', ...CLIENT });
  const server = await listen(t, () => FINE);
  const asked = clientOf(t, server.origin, { tokens });
  const [kind, message] = await asked.fault('a');
  assert.equal(kind, 'transient');
  assert.match(message, /^The token endpoint http:\/\/127\.0\.0\.1:1\/token: Nothing answers at /);
  assert.doesNotMatch(message, /tenant/);
});

const ERRORS: readonly [code: string, status: number, requests: number, remedy: string][] = [
  ['invalid_client', 401, 2, '; check --client-id and the client secret'],
  ['invalid_client', 400, 2, '; check --client-id and the client secret'],
  ['invalid_request', 400, 2, ''],
  ['invalid_scope', 400, 1, '; check --scope'],
  ['unauthorized_client', 400, 1, '; the client may not use the client credentials grant'],
  ['unsupported_grant_type', 400, 1, '; the server does not offer the client credentials grant'],
];
for (const [code, status, requests, remedy] of ERRORS) {
  test(`${status} ${code} is not retried, and its message names the endpoint and the code`, async (t) => {
    const { endpoint, server, asked } = await feed(t);
    endpoint.intercept = () => json({ error: code, error_description: 'No' }, { status });
    const reason = `The token endpoint ${endpoint.url}: ${status} (code ${code}): No${remedy}`;
    assert.deepEqual(await asked.fault('a'), ['refused', reason]);
    assert.deepEqual([endpoint.requests.length, server.seen.length, asked.slept], [requests, 0, []]);
  });
}

test('an error with status 200 is an error', async (t) => {
  const { endpoint, asked } = await feed(t);
  endpoint.intercept = () => json({ error: 'invalid_scope' });
  const reason = `The token endpoint ${endpoint.url}: 400 (code invalid_scope): no description; check --scope`;
  assert.deepEqual(await asked.fault('a'), ['refused', reason]);
});

for (const [name, body, reason] of [
  ['no token', { token_type: 'Bearer' }, 'the response has no access_token'],
  ['an empty token', { access_token: '' }, 'the response has no access_token'],
  ['a token with a line break', { access_token: 'a\r\nb' }, 'the response has no access_token'],
  [
    'a token of another type',
    { access_token: 'a', token_type: 'mac' },
    'the token is not a bearer token, and plat sends no others',
  ],
] as const) {
  test(`a response with ${name} is an error that is not retried`, async (t) => {
    const { endpoint, asked } = await feed(t);
    endpoint.intercept = () => json(body);
    assert.deepEqual(await asked.fault('a'), ['refused', `The token endpoint ${endpoint.url}: ${reason}`]);
    assert.deepEqual(asked.slept, []);
  });
}

for (const type of ['bearer', 'BEARER', undefined]) {
  test(`the type of a token may be ${type}`, async (t) => {
    const { endpoint, asked } = await feed(t);
    endpoint.facts = { token_type: type };
    assert.equal(await asked.text('a'), 'fine');
  });
}

test('a server that wants the secret in the body gets it there, after it has rejected the header once', async (t) => {
  const { endpoint, asked } = await feed(t, { accepts: 'post' });
  await asked.text('a');
  endpoint.valid.clear();
  await asked.text('b');
  const grant = { grant_type: 'client_credentials' };
  const inBody = {
    authorization: undefined,
    fields: { ...grant, client_id: CLIENT.clientId, client_secret: CLIENT.clientSecret },
  };
  assert.deepEqual(endpoint.requests, [{ authorization: BASIC, fields: grant }, inBody, inBody]);
});

test('--client-auth chooses one method', async (t) => {
  const post = await feed(t, { accepts: 'post', given: { authentication: 'post' } });
  assert.equal(await post.asked.text('a'), 'fine');
  assert.equal(post.endpoint.requests.length, 1);
  const basic = await feed(t, { accepts: 'post', given: { authentication: 'basic' } });
  assert.equal((await basic.asked.fault('a'))[0], 'refused');
  assert.equal(basic.endpoint.requests.length, 1);
});

test('if both methods are rejected, the message is that of the response which says most about the client', async (t) => {
  const { endpoint, asked } = await feed(t);
  endpoint.intercept = ({ authorization }) =>
    authorization === undefined
      ? json({ error: 'invalid_client', error_description: 'Wrong secret' }, { status: 401 })
      : json({ error: 'invalid_request', error_description: 'client_id is missing' }, { status: 400 });
  assert.match((await asked.fault('a'))[1], /401 \(code invalid_client\): Wrong secret/);
});

for (const status of [301, 302, 303, 307, 308]) {
  test(`a redirect of the token endpoint is not followed with the secret (${status})`, async (t) => {
    const other = await listen(t, () => json({ access_token: 'stolen' }));
    const { endpoint, server, asked } = await feed(t);
    endpoint.intercept = () => ({ status, headers: { location: `${other.origin}/token?s=1` } });
    assert.deepEqual(await asked.fault('a'), [
      'refused',
      `The token endpoint ${endpoint.url}: ${status}: it redirects to ${other.origin}/token, where the request is not sent`,
    ]);
    assert.deepEqual([other.seen.length, endpoint.requests.length, server.seen.length], [0, 1, 0]);
  });
}

test('no message and no event contains the secret or a token, even if a server repeats them', async (t) => {
  const { endpoint, asked } = await feed(t, { answer: () => ({ status: 400, body: 'fine' }) });
  const shown: string[] = [];
  const echo = (status: number) => {
    endpoint.intercept = ({ authorization = '', fields }) => ({
      status,
      body: JSON.stringify({
        error: 'invalid_client',
        error_description: [
          authorization,
          fields.client_secret,
          CLIENT.clientSecret,
          encodeURIComponent(CLIENT.clientSecret),
          BASIC,
        ].join(' '),
      }),
    });
  };
  for (const status of [503, 401, 400]) {
    echo(status);
    shown.push((await asked.fault('a'))[1]);
  }
  endpoint.intercept = () => undefined;
  await asked.fault('b');
  endpoint.valid.clear();
  endpoint.intercept = () => json({ access_token: 'never-valid' });
  const failure: unknown = await asked.text('c').catch((error: unknown) => error);
  assert.ok(failure instanceof RequestFailure);
  shown.push(failure.message, JSON.stringify(asked.events));
  assert.match(failure.message, /^401: The token \[hidden\] has expired$/);
  for (const text of shown) {
    for (const secret of [
      CLIENT.clientSecret,
      encodeURIComponent(CLIENT.clientSecret),
      'a%26b',
      BASIC.slice('Basic '.length),
      'issued-1',
      'never-valid',
    ]) {
      assert.equal(text.includes(secret), false, text);
    }
  }
});

test('a token that is still valid is used while its renewal fails', async (t) => {
  const { endpoint, server, sent, tokens } = await feed(t);
  const reported = Promise.withResolvers<ReplicaEvent>();
  const asked = clientOf(t, server.origin, { tokens, listener: reported.resolve });
  await asked.text('a');
  endpoint.intercept = () => ({ status: 503, body: 'busy' });
  asked.clock.advance(3300 * SECOND);
  assert.equal(await asked.text('b'), 'fine');
  const reason = `The token endpoint ${endpoint.url}: 503: busy`;
  assert.deepEqual(await reported.promise, { kind: 'retry', reason, attempt: 1, wait: 75_000 });
  assert.equal(await asked.text('c'), 'fine');
  assert.equal(endpoint.requests.length, 2, 'the next attempt is at a quarter of the rest');
  assert.deepEqual(asked.slept, []);
  endpoint.intercept = () => undefined;
  asked.clock.advance(75 * SECOND);
  await asked.text('d');
  await joinRenewal(tokens, asked);
  await asked.text('e');
  assert.deepEqual(sent(), ['issued-1', 'issued-1', 'issued-1', 'issued-1', 'issued-2']);
  assert.equal(endpoint.requests.length, 3);
});

test('no request waits for a token endpoint that hangs while its token is valid, and each waits once it has expired', async (t) => {
  const { endpoint, asked, sent } = await feed(t);
  await asked.text('a');
  const hanging = Promise.withResolvers<undefined>();
  endpoint.intercept = () => hanging.promise;
  asked.clock.advance(3300 * SECOND);
  for (const path of ['b', 'c']) assert.equal(await asked.text(path), 'fine');
  asked.clock.advance(300 * SECOND);
  const late = Promise.all(['d', 'e'].map((path) => asked.text(path)));
  assert.deepEqual([sent(), endpoint.requests.length], [['issued-1', 'issued-1', 'issued-1'], 2]);
  hanging.resolve(undefined);
  assert.deepEqual(await late, ['fine', 'fine']);
  assert.deepEqual(sent().slice(3), ['issued-2', 'issued-2']);
  assert.deepEqual([endpoint.requests.length, asked.events], [2, []]);
});

test('a stopped client reports no failure of the renewal that it began', async (t) => {
  const { endpoint, server, tokens } = await feed(t);
  const stop = new AbortController();
  const asked = clientOf(t, server.origin, { tokens, signal: stop.signal });
  const begun = Promise.withResolvers<void>();
  await asked.text('a');
  endpoint.intercept = () => {
    begun.resolve();
    return new Promise<Reply>(() => undefined);
  };
  asked.clock.advance(3300 * SECOND);
  assert.equal(await asked.text('b'), 'fine');
  await begun.promise;
  stop.abort();
  endpoint.intercept = () => undefined;
  const other = clientOf(t, server.origin, { tokens });
  assert.equal(await joinRenewal(tokens, other), true);
  assert.deepEqual([asked.events, other.events], [[], []]);
});

test('a request whose token was rejected does not rely on an early renewal, which has a single attempt', async (t) => {
  const { endpoint, asked, tokens } = await feed(t);
  const token = await tokens.current(contextOf(asked));
  asked.clock.advance(3300 * SECOND);
  endpoint.intercept = (_, count) => (count === 2 ? { status: 503, body: 'busy' } : undefined);
  const early = tokens.current(contextOf(asked));
  const replaced = tokens.replace(token, contextOf(asked));
  assert.deepEqual([await early, await replaced], ['issued-1', true]);
  assert.equal(await tokens.current(contextOf(asked)), 'issued-2');
});

test('a renewal that a stopped client began is begun again by the one that still runs', async (t) => {
  const endpoint = await tokenEndpoint(t);
  const server = await listen(t, (seen) => endpoint.rejects(seen) ?? FINE);
  const tokens = clientCredentials({ tokenUrl: endpoint.url, ...CLIENT });
  const stop = new AbortController();
  const first = clientOf(t, server.origin, { tokens, signal: stop.signal });
  const second = clientOf(t, server.origin, { tokens });
  const asked = Promise.withResolvers<void>();
  endpoint.intercept = (_, count) => {
    if (count > 1) return undefined;
    asked.resolve();
    return new Promise<Reply>(() => undefined);
  };
  const stopped = first.fault('a');
  await asked.promise;
  const running = second.text('b');
  stop.abort();
  assert.deepEqual(await stopped, ['stopped', 'It was stopped']);
  assert.equal(await running, 'fine');
});

test('a secret that is read for each token may be rotated', async (t) => {
  const secrets = ['old', CLIENT.clientSecret];
  const { asked } = await feed(t, { given: { clientSecret: async () => secrets.shift() ?? '' } });
  assert.equal((await asked.fault('a'))[0], 'refused');
  assert.equal(await asked.text('b'), 'fine');
});

test('a secret that cannot be read is a failure of its own', async (t) => {
  const clientSecret = () => Promise.reject(new Error('The file s cannot be read (ENOENT)'));
  const { asked } = await feed(t, { given: { clientSecret } });
  const reason = 'The client secret: The file s cannot be read (ENOENT)';
  assert.deepEqual(await asked.fault('a'), ['refused', reason]);
});

const URLS: readonly [string, string][] = [
  ['not a URL', 'takes the address of a token endpoint'],
  ['file:///etc/passwd', 'takes the address of a token endpoint'],
  ['https://id:secret@auth.example.com/token', 'without a user name'],
  ['http://auth.example.com/token', 'takes an https address'],
];
for (const [tokenUrl, reason] of URLS) {
  test(`${tokenUrl.slice(0, 20)} is no token endpoint`, () => {
    assert.throws(
      () => clientCredentials({ tokenUrl, ...CLIENT }),
      (error: Error) => {
        assert.ok(error.message.includes(reason));
        assert.doesNotMatch(error.message, /secret@|id:/);
        return true;
      },
    );
  });
}

test('the budget is named by the client, whatever its tokens are', () => {
  const of = (given: Partial<ClientCredentials>): string =>
    budgetName(clientCredentials({ tokenUrl: 'https://a.example/token', ...CLIENT, ...given }).identity);
  assert.equal(of({}), of({ clientSecret: 'other', scope: 'api' }));
  assert.notEqual(of({}), of({ clientId: 'other' }));
  assert.notEqual(of({}), of({ tokenUrl: 'https://b.example/token' }));
});

test('a token file is read again when the source rejects its token', async (t) => {
  const file = temporaryFile('token');
  writeFileSync(file, 'first\n');
  let valid = 'first';
  const server = await listen(t, ({ headers }) =>
    headers.authorization === `Bearer ${valid}` ? FINE : { status: 401, body: 'no' },
  );
  const asked = clientOf(t, server.origin, { tokens: tokenFile(file) });
  assert.equal(await asked.text('a'), 'fine');
  writeFileSync(file, 'second');
  assert.equal(await asked.text('b'), 'fine', 'the first token is still valid');
  valid = 'second';
  assert.deepEqual(await Promise.all(['c', 'd'].map((path) => asked.text(path))), ['fine', 'fine']);
  valid = 'third';
  assert.deepEqual(await asked.fault('e'), ['refused', '401: no']);
  assert.equal(server.seen.length, 7);
  rmSync(file);
  const reason = `The token: The file ${file} cannot be read (ENOENT)`;
  assert.deepEqual(await asked.fault('f'), ['refused', reason]);
  writeFileSync(file, 'third');
  assert.equal(await asked.text('g'), 'fine');
  assert.equal(budgetName(tokenFile(file).identity), budgetName(tokenFile(file).identity));
});
