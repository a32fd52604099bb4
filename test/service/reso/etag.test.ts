/** Contract, Surfaces: ETags of single records and of `$metadata`. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { listing, photo } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { asker } from './asker.ts';

const service = await startTestService(
  { after },
  {
    fill: async ({ write }) => {
      await write('Property', listing('1', { ListPrice: 5, Media: [photo('P1')] }), listing('2'));
    },
  },
);
const feed = asker(service, 'replication', await service.key('replication'));

const tagOf = async (path: string): Promise<string> => String((await feed.get(path)).headers.etag);
const statusFor = async (path: string, tag: string): Promise<number> =>
  (await feed.get(path, { headers: { 'if-none-match': tag } })).status;

test('a record has a weak ETag; If-None-Match with it gets 304 without a body', async () => {
  const tag = await tagOf("Property('1')");
  assert.match(tag, /^W\/"[\w-]+"$/);
  const answer = await feed.get("Property('1')", { headers: { 'if-none-match': tag } });
  assert.deepEqual([answer.status, answer.text, answer.headers.etag], [304, '', tag]);
  assert.equal(answer.headers['content-type'], undefined);
  assert.equal(answer.headers['content-length'], undefined);
});

test('If-None-Match accepts lists, a star and the strong form of the tag', async () => {
  const tag = await tagOf("Property('1')");
  assert.equal(await statusFor("Property('1')", `"x", ${tag}, "y"`), 304);
  assert.equal(await statusFor("Property('1')", '*'), 304);
  assert.equal(await statusFor("Property('1')", tag.replace('W/', '')), 304);
  assert.equal(await statusFor("Property('1')", 'W/"x"'), 200);
  assert.equal(await statusFor("Property('1')", ''), 200);
  assert.equal(await statusFor("Property('2')", tag), 200);
});

test('If-Match with another tag gets 412 in both interfaces, also from a kept reply', async () => {
  for (const path of ["Property('1')", "Property('1')?$select=City", '$metadata', '/v1/listings/1']) {
    const get = (tag?: string) => {
      const url = path.startsWith('/') ? `${service.addresses.replication}${path}` : path;
      return feed.get(url, tag === undefined ? {} : { headers: { 'if-match': tag } });
    };
    for (let turn = 0; turn < 3; turn++) {
      const tag = String((await get()).headers.etag);
      assert.deepEqual(
        [(await get(tag)).status, (await get(`"x", ${tag}`)).status, (await get('*')).status],
        [200, 200, 200],
        path,
      );
      const other = await get('W/"x"');
      assert.equal(other.status, 412, path);
      const message = 'The requested resource has another version than the one in If-Match.';
      assert.deepEqual(
        other.json,
        path.startsWith('/')
          ? { D: { Success: false, Code: 1053, Message: message } }
          : { error: { code: 'preconditionFailed', message } },
      );
    }
  }
  const both = { 'if-match': 'W/"x"', 'if-none-match': await tagOf("Property('1')") };
  assert.equal((await feed.get("Property('1')", { headers: both })).status, 412, 'If-Match comes first');
});

test('the ETag depends on selection and expansion', async () => {
  const paths = ["Property('1')", "Property('1')?$select=ListPrice", "Property('1')?$expand=Media"];
  const tags = [];
  for (const path of paths) tags.push(await tagOf(path));
  assert.equal(new Set(tags).size, 3);
});

test('a change of a child changes the ETags of the child and its listing, but not of other listings', async () => {
  const paths = ["Property('1')", "Property('1')?$expand=Media", "Media('P1')", "Property('2')"];
  const before = await Promise.all(paths.map(tagOf));
  service.clock.advance(1000);
  await service.write('Property', listing('1', { ListPrice: 5, Media: [photo('P1', { Order: 9 })] }));
  const now = await Promise.all(paths.map(tagOf));
  assert.deepEqual(
    now.map((tag, index) => tag === before[index]),
    [false, false, false, true],
  );
});

test('$metadata has an ETag for each format, which changes when a field comes into use', async () => {
  const [xml, json] = [await tagOf('$metadata'), await tagOf('$metadata?$format=json')];
  assert.notEqual(xml, json);
  assert.equal(await statusFor('$metadata', xml), 304);
  assert.equal(await statusFor('$metadata', json), 200);
  assert.equal(await statusFor('$metadata?$format=json', json), 304);
  await service.write('Property', listing('1', { ListPrice: 6 }));
  assert.equal(await statusFor('$metadata', xml), 304);
  await service.write('Property', listing('1', { ListPrice: 6, YearBuilt: 1900 }));
  assert.equal(await statusFor('$metadata', xml), 200);
  assert.match((await feed.get('$metadata')).text, /Name="YearBuilt"/);
});

test('collections have no ETag', async () => {
  assert.equal((await feed.get('Property')).headers.etag, undefined);
});
