/** Limits per key (contract, Access; native-v1, published limits). */
import assert from 'node:assert/strict';
import { after, describe, it, test } from 'node:test';
import { RateLimiter, rateLimited, rateLimitHeaders } from '../../../src/service/access/rate-limits.ts';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { listing } from '../../support/builders.ts';
import { type Answer, type AskOptions, startTestService } from '../../support/service.ts';
import { nativeFault, resoFault } from './envelopes.ts';

const service = await startTestService(
  { after },
  {
    fill: async ({ write }) => void (await write('Property', listing('1'))),
    service: {
      limits: {
        api: { requests: 3, seconds: 300 },
        replication: { requests: 2, seconds: 600 },
        floorplans: { requests: 1, seconds: 60 },
        admin: { requests: 1, seconds: 60 },
      },
    },
  },
);

const LIMIT = { requests: 2, seconds: 300 };

describe('RateLimiter', () => {
  it('counts each key separately, in windows that begin with its first request', () => {
    const limiter = new RateLimiter();
    const take = (key: string, second: number): unknown[] => {
      const { remaining, exceeded, reset } = limiter.countRequest(key, LIMIT, second * 1000);
      return [remaining, exceeded, reset];
    };
    assert.deepEqual(take('a', 1000), [1, false, 300]);
    assert.deepEqual(take('b', 1100), [1, false, 300]);
    assert.deepEqual(take('a', 1100.5), [0, false, 200]);
    assert.deepEqual(take('a', 1200), [0, true, 100]);
    assert.deepEqual(take('a', 1299.999), [0, true, 1]);
    assert.deepEqual(take('a', 1300), [1, false, 300]);
    assert.deepEqual(take('b', 1300), [0, false, 100]);
  });

  it('reports the limit, the remaining requests and the end of the window in headers', () => {
    const allowance = new RateLimiter().countRequest('a', { requests: 1500, seconds: 300 }, 0);
    assert.deepEqual(rateLimitHeaders(allowance), {
      'ratelimit-policy': '"requests";q=1500;w=300',
      ratelimit: '"requests";r=1499;t=300',
    });
  });

  it('reports no more seconds than the window has, whatever the rounding error of its end', () => {
    const now = 847_433.7369372327;
    assert.ok(now + LIMIT.seconds * 1000 - now > LIMIT.seconds * 1000);
    assert.equal(new RateLimiter().countRequest('a', LIMIT, now).reset, LIMIT.seconds);
  });

  it('refuses with the number of seconds to wait', () => {
    const limiter = new RateLimiter();
    for (const second of [0, 0]) limiter.countRequest('a', LIMIT, second);
    const { code, retryAfter, message } = rateLimited(limiter.countRequest('a', LIMIT, 12_000));
    assert.deepEqual([code, retryAfter], ['rateLimited', 288]);
    assert.equal(message, 'More than 2 requests in 300 s. Try again in 288 s.');
  });

  it('defaults to 1,500 requests in 5 minutes for api keys, and 4,000 for replication keys', () => {
    assert.deepEqual(SERVICE_DEFAULTS.limits.api, { requests: 1500, seconds: 300 });
    assert.deepEqual(SERVICE_DEFAULTS.limits.replication, { requests: 4000, seconds: 300 });
  });
});

const allowanceOf = (answer: Answer): unknown => allowanceList(answer);

const allowanceList = ({ headers }: Answer): unknown[] => [
  headers['ratelimit-policy'],
  String(headers.ratelimit).replace(/;t=\d+$/, ''),
];

test('every response to a known key reports its remaining limit, even an error', async () => {
  const token = await service.key('api');
  const paths = ['/v1/listings', '/v1/listings?_limit=0', '/Reso/OData/Nothing'];
  const answers = [];
  for (const path of paths) answers.push(await service.get('api', path, { token }));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 400, 404],
  );
  assert.deepEqual(answers.map(allowanceOf), [
    ['"requests";q=3;w=300', '"requests";r=2'],
    ['"requests";q=3;w=300', '"requests";r=1'],
    ['"requests";q=3;w=300', '"requests";r=0'],
  ]);
  const over = await service.get('api', '/v1/listings', { token });
  assert.deepEqual(allowanceOf(over), ['"requests";q=3;w=300', '"requests";r=0']);
});

test('a request above the limit gets 429, 1550 and Retry-After, in both envelopes', async () => {
  const token = await service.key('replication');
  for (const _ of [1, 2]) await service.get('replication', '/v1/listings', { token });
  const native = await service.get('replication', '/v1/listings', { token });
  const reso = await service.get('replication', '/Reso/OData/Property', { token });
  const wait = Number(native.headers['retry-after']);
  assert.ok(wait > 590 && wait <= 600, String(wait));
  const message = `More than 2 requests in 600 s. Try again in ${wait} s.`;
  assert.deepEqual(nativeFault(native), [429, 1550, message]);
  assert.deepEqual(resoFault(reso).slice(0, 2), [429, 'rateLimited']);
  assert.ok(Number(reso.headers['retry-after']) <= 600);
});

test('other kinds of keys have limits of their own, and keys of one kind do not share a limit', async () => {
  for (const [surface, path] of [
    ['floorplans', '/Reso/Media'],
    ['admin', '/status'],
  ] as const) {
    const [first, second] = [await service.key(surface, { systems: ['M1'] }), await service.key(surface)];
    assert.equal((await service.get(surface, path, { token: first })).status, 200);
    assert.equal((await service.get(surface, path, { token: first })).status, 429);
    assert.equal((await service.get(surface, path, { token: second })).status, 200);
  }
});

test('every response to a known key counts, even a refusal, and reports the remaining limit', async (t) => {
  const limits = { ...SERVICE_DEFAULTS.limits, api: { requests: 100, seconds: 300 } };
  const own = await startTestService(t, {
    fill: async ({ write }) => void (await write('Property', listing('1'))),
    service: { limits },
  });
  const token = await own.key('api');
  const replication = await own.key('replication');
  const etag = String((await own.get('api', '/v1/listings/1', { token })).headers.etag);
  const asks: readonly (readonly [number, Parameters<typeof own.get>[0], string, AskOptions?])[] = [
    [200, 'api', '/v1/listings'],
    [304, 'api', '/v1/listings/1', { headers: { 'if-none-match': etag } }],
    [400, 'api', '/Reso/OData/Property?$top=x'],
    [400, 'api', '/v1/listings?api_key=x'],
    [400, 'api', '/Reso/OData/Property', { headers: { 'odata-version': '9' } }],
    [403, 'replication', '/v1/listings'],
    [403, 'floorplans', '/Reso/Media'],
    [403, 'admin', '/status'],
    [404, 'api', '/nothing'],
    [404, 'api', '/v1/nothing'],
    [404, 'api', '/Reso/OData/Nothing'],
    [405, 'api', '/v1/listings', { method: 'DELETE' }],
    [405, 'api', '/nothing', { method: 'PATCH' }],
    [406, 'api', '/Reso/OData/Property?$format=xml'],
    [414, 'api', `/v1/listings?_filter=${'x'.repeat(17_000)}`],
    [204, 'api', '/v1/listings', { method: 'OPTIONS' }],
    [501, 'api', '/Reso/OData/Property?$apply=x'],
  ];
  for (const [index, [status, surface, path, options]] of asks.entries()) {
    const answer = await own.get(surface, path, { token, ...options });
    const expected = ['"requests";q=100;w=300', `"requests";r=${100 - 2 - index}`];
    assert.deepEqual([answer.status, ...expected], [status, ...allowanceList(answer)], path);
  }
  const elsewhere = await own.get('api', '/v1/listings', { token: replication });
  const usual = ['"requests";q=4000;w=300', '"requests";r=3999'];
  assert.deepEqual([elsewhere.status, ...allowanceList(elsewhere)], [403, ...usual]);
  const revoked = await own.key('api', { expiresAt: '2020-01-01T00:00:00Z' });
  const expired = await own.get('api', '/v1/listings', { token: revoked });
  assert.deepEqual([expired.status, allowanceList(expired)[1]], [401, '"requests";r=99']);
});

test('invalid requests use up the limit', async () => {
  const token = await service.key('api');
  const statuses = [];
  for (const path of [
    '/nothing',
    '/Reso/OData/Property?$top=x',
    '/v1/listings?key=1',
    '/nothing',
    '/v1/listings',
  ]) {
    statuses.push((await service.get('api', path, { token })).status);
  }
  assert.deepEqual(statuses, [404, 400, 400, 429, 429]);
});

test('requests without a key and probes are not limited', async () => {
  for (const _ of [1, 2, 3, 4]) {
    const answer = await service.get('api', '/v1/listings');
    assert.equal(answer.status, 401);
    assert.equal(answer.headers.ratelimit, undefined);
    assert.equal((await service.get('admin', '/live')).status, 200);
  }
});
