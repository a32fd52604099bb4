/** Replication on the admin port: the walks of each key, and the reports and commands of a replica. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { ReplicaControls } from '../../../src/service/console/replication.ts';
import { Walks } from '../../../src/service/console/walks.ts';
import { listing, member } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { resoFault } from '../http/envelopes.ts';

const asked: unknown[] = [];
const desk: ReplicaControls = {
  report: async (now) => ({ sources: [{ source: 'feed', now }] }),
  quarantine: async (query) => ({ entries: [], total: 0, query }),
  retry: async (request) => {
    asked.push(request);
    return { stored: 0, wanted: 1, gone: 0, still: [] };
  },
};
const service = await startTestService(
  { after },
  {
    service: { replica: desk },
    fill: async ({ write }) => {
      await write('Property', listing('1'), listing('2'), listing('3'));
      await write('Member', member('A1'));
    },
  },
);
const token = await service.key('admin');
const walker = await service.key('replication');

test('the walks of a key are listed with their progress; single filters and requests of the console are not walks', async () => {
  const { clock } = service;
  const ask = async (path: string) => {
    const answer = await service.get('replication', path, { token: walker });
    assert.equal(answer.status, 200, answer.text);
    return answer;
  };
  const first = await ask('/Reso/OData/Property?$top=2');
  clock.advance(1000);
  const next = String(first.json['@odata.nextLink']);
  const walks = async () => {
    const { json } = await service.get('admin', '/replication', { token });
    return json;
  };
  const [{ key, current, ended }] = Object(await walks()).walks;
  assert.deepEqual(ended, []);
  assert.deepEqual(current, [
    {
      ...{ surface: 'replication', resource: 'Property', of: 'records' },
      ...{ began: clock.now() - 1000, last: clock.now() - 1000, pages: 1, rows: 2 },
      ...{ state: 'walking', isPart: false, pagesPerMinute: 1 },
    },
  ]);
  await ask(next.slice(service.addresses.replication.length));
  await ask('/v1/listings?_select=ListingKey&_limit=1');
  await ask('/v1/accounts');
  const window =
    'ModificationTimestamp ge 2020-01-01T00:00:00Z and ModificationTimestamp lt 2020-01-02T00:00:00Z';
  await ask(`/Reso/OData/Property?$filter=${window}`);
  await ask("/Reso/OData/Property?$filter=City eq 'X'");
  await service.get('admin', `/as/key/${key}/replication/Reso/OData/Member`, { token });
  const [mine, ...others] = Object(await walks()).walks;
  assert.deepEqual(others, []);
  const short = (
    list: readonly { resource: string; of: string; window?: string; rows: number; pages: number }[],
  ) => list.map(({ resource, of, window: bounds, rows, pages }) => [resource, of, bounds, rows, pages]);
  assert.deepEqual(short(mine.current), [['Property', 'keys', undefined, 1, 1]]);
  assert.deepEqual(short(mine.ended), [
    ['Property', 'records', undefined, 3, 2],
    ['accounts', 'records', undefined, 1, 1],
    ['Property', 'window', '2020-01-01T00:00:00Z/2020-01-02T00:00:00Z', 0, 1],
  ]);
});

test('the report of a replica is returned, and its quarantine page by page with a maximum size', async () => {
  const { json } = await service.get('admin', '/replication', { token });
  assert.deepEqual(json.sources, [{ source: 'feed', now: service.clock.now() }]);
  const part = await service.get('admin', '/replication/quarantine?source=feed&skip=50&limit=9999', {
    token,
  });
  assert.deepEqual(part.json.query, { source: 'feed', skip: 50, limit: 500 });
  const wrong = await service.get('admin', '/replication/quarantine?skip=-1', { token });
  assert.deepEqual(resoFault(wrong).slice(0, 2), [400, 'requestMalformed']);
  const without = await service.get('admin', '/replication');
  assert.equal(without.status, 401);
});

test('a retry applies to a source, or to one record of it', async () => {
  const retry = (body: unknown) =>
    service.get('admin', '/replication/quarantine/retry', {
      token,
      method: 'POST',
      body: JSON.stringify(body),
    });
  const done = await retry({ source: 'feed', resource: 'Property', key: '1' });
  assert.deepEqual([done.status, done.json.wanted], [200, 1]);
  assert.equal((await retry({ source: 'feed' })).status, 200);
  assert.deepEqual(asked, [{ source: 'feed', only: { resource: 'Property', key: '1' } }, { source: 'feed' }]);
  for (const body of [{}, { source: 'feed', key: '1' }, { source: 'feed', key: 1, resource: 'Property' }])
    assert.deepEqual(resoFault(await retry(body)).slice(0, 2), [400, 'requestMalformed']);
});

test('a walk is abandoned after an hour and removed after a day; walks and keys are limited in number', () => {
  const walks = new Walks();
  const page = (from: string, reached: string, ended = false) =>
    ({ resource: 'Property', of: 'records', step: { from, reached: [reached], ended } }) as const;
  walks.recordPage('k', 'replication', page('after 5', 'after 9'), 5, 0);
  assert.deepEqual(
    walks.all(1)[0]?.current.map(({ isPart, rows }) => [isPart, rows]),
    [[true, 5]],
  );
  walks.recordPage('k', 'replication', page('', 'after 3'), 3, 1000);
  assert.deepEqual(
    walks.all(1001)[0]?.ended.map(({ state, rows }) => [state, rows]),
    [['left', 5]],
  );
  assert.deepEqual(
    walks.all(62_000)[0]?.current.map(({ pagesPerMinute }) => pagesPerMinute),
    [0],
  );
  assert.deepEqual(
    walks.all(3_700_000)[0]?.ended.map(({ state }) => state),
    ['left', 'left'],
  );
  assert.deepEqual(walks.all(90_000_000), []);
  for (let at = 0; at < 400; at++) walks.recordPage('k', 'replication', page('', 'end', true), 1, 90_000_000);
  assert.equal(walks.all(90_000_000)[0]?.ended.length, 300);
  for (let at = 0; at < 300; at++) walks.recordPage(`k${at}`, 'replication', page('', 'x'), 1, 90_000_000);
  assert.equal(walks.all(90_000_000).length, 200);
});
