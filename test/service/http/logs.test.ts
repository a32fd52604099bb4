/** The log of the service: it identifies each request and never contains a token (contract, Command line). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { pino } from 'pino';
import { hashToken } from '../../../src/access/index.ts';
import { listing } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { type Json, objectOf } from '../../support/world.ts';
import { nativeFault, resoFault } from './envelopes.ts';
import { sendRaw } from './raw.ts';

const lines: string[] = [];
let broken = false;
const service = await startTestService(
  { after },
  {
    fill: async ({ write }) => void (await write('Property', listing('1'))),
    service: {
      log: pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }),
      files: [
        {
          open: async () => {
            if (broken) throw new Error('cannot read /secret/place: SELECT 1');
            return undefined;
          },
        },
      ],
    },
  },
);
const logged = (): Json[] => lines.splice(0).map((line) => objectOf(line));

test('each request is logged with its id, path and status, but without its query', async () => {
  const token = await service.key('api');
  const headers = { 'x-request-id': 'walk-1' };
  const { bytes } = await service.get('api', '/v1/listings?_limit=1', { token, headers });
  const [line = {}] = logged();
  const { time: _, pid: __, hostname: ___, seconds, ...rest } = line;
  assert.equal(typeof seconds, 'number');
  assert.deepEqual(rest, {
    level: 20,
    requestId: 'walk-1',
    surface: 'api',
    method: 'GET',
    path: '/v1/listings',
    status: 200,
    bytes: bytes.length,
    msg: 'request',
  });
});

test('a token is never logged, wherever a client puts it', async () => {
  const token = await service.key('api');
  lines.splice(0);
  const asks: readonly (readonly [string, Record<string, string>])[] = [
    ['/v1/listings', { authorization: `Bearer ${token}` }],
    ['/v1/listings', { authorization: `OAuth ${token}` }],
    ['/v1/listings', { authorization: `Basic ${token}` }],
    ['/v1/listings', { authorization: token }],
    [`/v1/listings?access_token=${token}`, {}],
    [`/v1/listings?_filter=${token}`, { authorization: `Bearer ${token}` }],
    [`/Reso/OData/Property?$filter=${token}`, { authorization: `Bearer ${token}` }],
    ['/Reso/OData/Property', { authorization: `Bearer ${token}x` }],
  ];
  for (const [path, headers] of asks) await service.get('api', path, { headers });
  for (const surface of ['replication', 'floorplans', 'admin'] as const) {
    await service.get(surface, '/Reso/Media', { token });
  }
  await sendRaw(service.addresses.api, `GET /${'a'.repeat(70_000)} ${token}\r\n\r\n`);
  await sendRaw(service.addresses.api, `${token}\r\n\r\n`);
  assert.equal(lines.length, asks.length + 3);
  const text = lines.join('');
  assert.ok(!text.includes(token) && !text.includes(token.slice(5)));
  assert.ok(!text.includes(hashToken(token)));
});

test('an internal error is logged in full, and its response has no stack, path or SQL', async () => {
  const token = await service.key('api');
  await service.write('Property', {
    ListingKey: '2',
    StandardStatus: 'Active',
    Media: [{ MediaKey: 'M1', MediaCategory: 'Photo', MediaURL: 'a.svg' }],
  });
  const { text } = await service.get('api', '/v1/listings/2/photos', { token });
  const [, url = ''] = /"UriThumb":"([^"]*)"/.exec(text) ?? [];
  broken = true;
  lines.splice(0);
  const answer = await service.get('api', url, { headers: { 'x-request-id': 'find-me' } });
  const message = 'The request failed inside the service. Its id is find-me.';
  assert.deepEqual(resoFault(answer), [500, 'internal', message]);
  const [line = {}] = logged();
  assert.deepEqual([line.level, line.requestId, line.msg], [50, 'find-me', message]);
  assert.match(JSON.stringify(line.err), /secret/);
});

test('an unsupported feature (501) is logged as a request, without a stack', async () => {
  const token = await service.key('api');
  lines.splice(0);
  const { status } = await service.get('api', '/Reso/OData/Property?$apply=x', { token });
  assert.equal(status, 501);
  const [line = {}, more] = logged();
  assert.deepEqual(
    [line.level, line.msg, line.status, line.err, more],
    [20, 'request', 501, undefined, undefined],
  );
});

test('a refused request is logged as a request, not as an error', async () => {
  lines.splice(0);
  const answer = await service.get('api', '/v1/listings');
  assert.deepEqual(nativeFault(answer).slice(0, 2), [401, 1000]);
  assert.deepEqual(
    logged().map(({ level, status }) => [level, status]),
    [[20, 401]],
  );
});
