/** Digests of key ranges, by which a replica is compared with its source: bounded, and computed from what the key may see. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { floorPlan, listing, photo, room } from '../../support/builders.ts';
import { postgresEngine } from '../../support/postgres-engine.ts';
import { startTestService } from '../../support/service.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import type { Json } from '../../support/world.ts';
import { resoFault } from '../http/envelopes.ts';

const PATH = '/Reso/OData/Property/$digests?$expand=Media,Rooms&$top=2';

const of = (key: string, fields: Json = {}): Json =>
  listing(key, {
    Media: [photo(`${key}p`), floorPlan(`${key}f`), photo(`${key}h`, { Permission: ['Private'] })],
    Rooms: [room(`${key}r`)],
    ...fields,
  });

test('$digests returns ranges of the records that the key sees, with counts, page by page', async (t) => {
  const service = await startTestService(t);
  await service.write('Property', of('A'), of('B'), of('C', { StandardStatus: 'Withdrawn' }), of('D'));
  const idx = { token: await service.key('replication', { role: 'idx' }) };
  const first = await service.get('replication', PATH, idx);
  assert.equal(first.status, 200, first.text);
  const ranges = ({ json }: { json: Json }): Json[] => Object(json).value;
  const facts = ({ Last, Rows, Members }: Json): unknown => [Last, Rows, Members];
  assert.deepEqual(ranges(first).map(facts), [
    ['B', 2, { Media: 4, Rooms: 2 }],
    ['D', 1, { Media: 2, Rooms: 1 }],
  ]);
  assert.equal('@odata.nextLink' in first.json, false);
  const rest = await service.get('replication', `${PATH}&$skiptoken=B`, idx);
  assert.deepEqual(ranges(rest), ranges(first).slice(1));

  // A change that the key does not see changes no digest; one that it sees changes the digest of its range.
  const digests = async (): Promise<unknown[]> =>
    ranges(await service.get('replication', PATH, idx)).map(({ Digest }) => Digest);
  const before = await digests();
  await service.store.remove('Property', ['C']);
  await service.write('Property', of('E', { StandardStatus: 'Withdrawn' }));
  assert.deepEqual(await digests(), before);
  await service.write('Media', photo('Ap', { ResourceRecordKey: 'A', ShortDescription: 'New' }));
  const after = await digests();
  assert.notEqual(after[0], before[0]);
  assert.equal(after[1], before[1]);
});

test('signed URLs of served files are not part of a digest; all other URLs and texts are', async (t) => {
  const service = await startTestService(t);
  await service.write('Property', of('A'));
  const token = await service.key('replication');
  const digest = async (): Promise<string> => (await service.get('replication', PATH, { token })).text;
  const before = await digest();
  service.clock.advance(5 * 3_600_000);
  assert.equal(await digest(), before);
  // Neither a foreign URL that looks like one nor a text is a signed URL.
  const signed = `media/a.1.${'0123456789abcdef'.repeat(2)}/x.jpg`;
  const digestWith = async (roof: string, host: string): Promise<string> => {
    const Media = [photo('Ap', { MediaURL: `https://${host}/${signed}` })];
    await service.write('Property', of('A', { PublicRemarks: `A ${roof} roof: see /${signed}`, Media }));
    return digest();
  };
  const sound = await digestWith('sound', 'one.example');
  assert.notEqual(await digestWith('broken', 'one.example'), sound);
  assert.notEqual(await digestWith('sound', 'two.example'), sound);
});

for (const engine of [sqliteEngine({ pageReaders: 1, searchReaders: 1 }), postgresEngine()]) {
  test(`${engine.name}: a stored text that is not valid JSON changes the digest, and its page is refused with 503`, async (t) => {
    const service = await startTestService(t, { engine });
    await service.write('Property', of('A'), of('B'), of('D'));
    const token = await service.key('replication');
    const ask = (path: string) => service.get('replication', path, { token });
    const digests = async (): Promise<unknown[]> => {
      const { status, json } = await ask(PATH);
      assert.equal(status, 200);
      return Object(json).value.map(({ Digest }: Json) => Digest);
    };
    const [first, second] = await digests();
    await service.damage(
      `UPDATE property_texts SET open_values = replace(open_values, '"', '') WHERE _key = 'D'`,
    );
    const [same, other] = await digests();
    assert.equal(same, first);
    assert.notEqual(other, second);
    assert.equal((await ask('/Reso/OData/Property?$top=2&$skiptoken=B')).status, 503);
  });
}

test('$digests exists on the replication surface only, and refuses other options', async (t) => {
  const service = await startTestService(t);
  await service.write('Property', of('A'));
  const token = await service.key('replication');
  const api = await service.key('api');
  const asked = async (path: string): Promise<[number, string]> => {
    const { status, json } = await service.get('replication', `/Reso/OData/${path}`, { token });
    return [status, String(Object(json.error).message)];
  };
  assert.equal((await service.get('api', PATH, { token: api })).status, 404);
  assert.equal((await service.get('replication', PATH)).status, 401);
  assert.deepEqual(await asked('Nothing/$digests'), [
    404,
    'There is nothing at /Reso/OData/Nothing/$digests.',
  ]);
  assert.deepEqual(await asked('Property/$digests?$filter=ListPrice gt 1'), [
    400,
    'The query option $filter is not known.',
  ]);
  assert.deepEqual(await asked('Property/$digests?$expand=Media($filter=Order eq 1)'), [
    400,
    '$expand is "Media", but takes names of collections.',
  ]);
  assert.deepEqual(await asked('Property/$digests?$expand=ListAgent'), [
    400,
    '$expand is "ListAgent", but takes names of collections.',
  ]);
});

test('digests are charged to the search time of the key, and finished ranges are returned', async (t) => {
  const budget = { ...SERVICE_DEFAULTS.budget, searchSeconds: 1e-9, windowSeconds: 600 };
  const service = await startTestService(t, { service: { budget } });
  await service.write('Property', of('A'), of('B'), of('C'));
  const token = await service.key('replication');
  const ask = (path: string) => service.get('replication', path, { token });
  const first = await ask('/Reso/OData/Property/$digests?$top=1');
  assert.equal(first.status, 200, first.text);
  const { value, '@odata.nextLink': next } = Object(first.json);
  assert.deepEqual(
    value.map(({ Last }: Json) => Last),
    ['A'],
  );
  const refused = await ask(String(next));
  assert.deepEqual(resoFault(refused).slice(0, 2), [429, 'searchedTooLong']);
  assert.ok(Number(refused.headers['retry-after']) > 500);
  assert.equal((await ask('/Reso/OData/Property?$top=1')).status, 200);
});
