/** Access, errors and limits (specification 4, 5, 7, 8, 9). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { SurfaceName } from '../../src/service/surface.ts';
import { listing } from '../support/builders.ts';
import { startTestService } from '../support/service.ts';
import { nativeFault, resoFault } from './http/envelopes.ts';
import { nativeAsker } from './native/asker.ts';
import { asker } from './reso/asker.ts';

const service = await startTestService(
  { after },
  {
    fill: async ({ write }) => {
      const status = (index: number): string => (index % 2 === 0 ? 'Active' : 'Withdrawn');
      const records = Array.from({ length: 1200 }, (_, index) =>
        listing(String(10_000 + index), { StandardStatus: status(index) }),
      );
      await write('Property', ...records);
    },
  },
);
const { addresses } = service;

const PATHS: Readonly<Record<Exclude<SurfaceName, 'admin'>, readonly string[]>> = {
  api: ['/Reso/OData/Property', '/Reso/OData/$metadata', '/Reso/OData/', '/v1/listings', '/v1/accounts'],
  replication: ['/Reso/OData/Property', "/Reso/OData/Member('1')", '/v1/listings', '/v1/system'],
  floorplans: ['/Reso/Media', '/Reso/$metadata', '/Reso/'],
};

test('5.1 a request without a valid Authorization: Bearer is refused with 401', async () => {
  for (const surface of ['api', 'replication', 'floorplans'] as const) {
    for (const path of PATHS[surface]) {
      for (const token of [undefined, 'plat_not-a-token']) {
        const { status, headers } = await service.get(surface, path, { token });
        assert.deepEqual([status, headers['www-authenticate']], [401, 'Bearer'], `${surface} ${path}`);
      }
    }
  }
});

test('5.3 7.1 a replication key must use the replication host; a request to the regular endpoint fails and says so', async () => {
  const token = await service.key('replication');
  const message = `A replication key must use the replication host: ${addresses.replication}`;
  for (const path of PATHS.api) {
    const answer = await service.get('api', path, { token });
    if (path.startsWith('/v1')) assert.deepEqual(nativeFault(answer), [403, 1021, message]);
    else assert.deepEqual(resoFault(answer), [403, 'replicationKeyOnApi', message]);
  }
  for (const path of ['/Reso/OData/Property', '/v1/listings', '/v1/system']) {
    assert.equal((await service.get('replication', path, { token })).status, 200, path);
  }
});

test('5.6 a key without replication permission is refused on the replication host', async () => {
  const token = await service.key('api');
  const message = 'The replication interface is not available to a key of kind api.';
  const native = await service.get('replication', '/v1/listings', { token });
  assert.deepEqual(nativeFault(native), [403, 1500, message]);
  const reso = await service.get('replication', '/Reso/OData/Property', { token });
  assert.deepEqual(resoFault(reso), [403, 'keyNotForSurface', message]);
});

test('5.4 the role of the key decides which records it sees, in both interfaces and for any kind of key', async () => {
  for (const [role, count] of [
    ['idx', 600],
    ['private', 1200],
  ] as const) {
    const replication = await service.key('replication', { role });
    const { count: counted } = await asker(service, 'replication', replication).page(
      'Property?$count=true&$top=1',
    );
    const { pagination } = await nativeAsker(service, 'replication', replication).page(
      'listings?_pagination=count',
    );
    const api = asker(service, 'api', await service.key('api', { role }));
    assert.deepEqual([counted, (await api.page('Property?$count=true&$top=1')).count], [count, count]);
    assert.match(JSON.stringify(pagination), new RegExp(`"TotalRows":${count}\\b`));
  }
});

test('8 a page has at most 1000 records: a larger $top is cut to it, a larger _limit refused', async () => {
  const token = await service.key('replication');
  const reso = asker(service, 'replication', token);
  const native = nativeAsker(service, 'replication', token);
  for (const top of ['', '&$top=1000', '&$top=1200', '&$top=999999']) {
    const page = await reso.page(`Property?$select=ListingKey${top}`);
    assert.deepEqual([page.rows.length, page.next !== undefined], [1000, true], top);
  }
  assert.equal((await native.keys('listings?_limit=1000')).length, 1000);
  const [status, code] = await native.fault('listings?_limit=1001');
  assert.deepEqual([status, code], [400, 1053]);
});

test('8 polling once an hour and purging once a day are far below the limits of a key', async () => {
  const { headers } = await service.get('replication', '/v1/listings', {
    token: await service.key('replication'),
  });
  const [, limit = '', seconds = ''] = /q=(\d+);w=(\d+)/.exec(String(headers['ratelimit-policy'])) ?? [];
  assert.deepEqual([Number(limit), Number(seconds)], [4000, 300]);
});

test('9.1 the native interface has its version, v1, in the path; other versions do not exist', async () => {
  const token = await service.key('api');
  assert.equal((await service.get('api', '/v1/listings', { token })).status, 200);
  for (const path of ['/v2/listings', '/listings', '/v1.0/listings']) {
    assert.equal((await service.get('api', path, { token })).status, 404, path);
  }
});

test('9.2 the RESO interface is under /Reso/OData, floor plans under /Reso', async () => {
  const token = await service.key('api');
  assert.equal((await service.get('api', '/Reso/OData/Property', { token })).status, 200);
  assert.equal((await service.get('api', '/Reso/Property', { token })).status, 404);
  const plans = await service.key('floorplans', { systems: ['X'] });
  assert.equal((await service.get('floorplans', '/Reso/Media', { token: plans })).status, 200);
  assert.equal((await service.get('floorplans', '/Reso/OData/Media', { token: plans })).status, 404);
});

test('4 all requests are GET: other methods get 405 with Allow', async () => {
  const token = await service.key('replication');
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const { status, headers } = await service.get('replication', '/v1/listings', { token, method });
    assert.deepEqual([status, headers.allow], [405, 'GET, HEAD, OPTIONS']);
  }
});
