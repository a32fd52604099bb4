/** Contract, Served files: the media URLs in the RESO interface. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { FileSource } from '../../../src/service/options.ts';
import { floorPlan, listing, photo } from '../../support/builders.ts';
import { startTestService } from '../../support/service.ts';
import { asker } from './asker.ts';

const files: FileSource = {
  open: async (path) =>
    path.startsWith('plans/') ? { type: 'image/svg+xml', body: `<svg id="${path}"/>` } : undefined,
};
const HOUR = 3_600_000;

const service = await startTestService(
  { after },
  {
    service: { files: [files] },
    fill: async ({ write }) => {
      await write(
        'Property',
        listing('1', {
          Media: [photo('P1'), floorPlan('F1'), floorPlan('F 2/ü', { MediaURL: 'plans/F 2/ü.svg' })],
        }),
        listing('2', { Media: [floorPlan('F3', { Permission: ['Private'] })] }),
      );
    },
  },
);
const feed = asker(service, 'replication', await service.key('replication'));
const idx = asker(service, 'api', await service.key('api', { role: 'idx' }));
const open = (url: unknown) => service.get('replication', String(url));

test('the MediaURL of a served file is absolute, has the address of its surface, and works without a token', async () => {
  const { MediaURL } = await feed.record("Media('F1')");
  assert.match(
    String(MediaURL),
    /^http:\/\/127\.0\.0\.1:\d+\/media\/private\.\d+\.[0-9a-f]{32}\/plans\/F1\.svg$/,
  );
  assert.ok(String(MediaURL).startsWith(`${service.addresses.replication}/media/`));
  const file = await open(MediaURL);
  assert.deepEqual([file.status, file.text], [200, '<svg id="plans/F1.svg"/>']);
  assert.match(String(file.headers['content-type']), /^image\/svg\+xml/);
  assert.deepEqual(
    [file.headers['content-security-policy'], file.headers['x-content-type-options']],
    ["sandbox; default-src 'none'; style-src 'unsafe-inline'", 'nosniff'],
  );
  const { MediaURL: ofApi } = await idx.record("Media('F1')");
  assert.ok(String(ofApi).startsWith(`${service.addresses.api}/media/idx.`));
  assert.equal((await open(ofApi)).status, 200);
});

test('the MediaURL is the same in every representation', async () => {
  const { MediaURL } = await feed.record("Media('F1')");
  assert.equal((await feed.record("Media('F1')?$select=MediaURL")).MediaURL, MediaURL);
  assert.equal((await feed.get("Media('F1')/MediaURL/$value")).text, MediaURL);
  assert.equal((await feed.page("Media?$filter=MediaKey eq 'F1'")).rows[0]?.MediaURL, MediaURL);
  assert.equal((await feed.page('Property/1/Media?$top=2')).rows[1]?.MediaURL, MediaURL);
  const { Media } = await feed.record("Property('1')?$expand=Media($filter=MediaKey eq 'F1')");
  assert.deepEqual(Media, [await feed.record("Media('F1')")]);
  const { Media: selected } = await feed.record(
    "Property('1')?$expand=Media($filter=MediaKey eq 'F1';$select=MediaURL)",
  );
  assert.deepEqual(selected, [{ MediaURL }]);
});

test('a path with spaces and non-ASCII letters is percent-encoded and works', async () => {
  const { MediaURL } = await feed.record("Media('F%202%2F%C3%BC')");
  assert.match(String(MediaURL), /\/plans\/F%202\/%C3%BC\.svg$/);
  assert.equal((await open(MediaURL)).text, '<svg id="plans/F 2/ü.svg"/>');
});

test('media with an absolute URL keep it', async () => {
  assert.equal((await feed.record("Media('P1')")).MediaURL, 'https://images.example/P1.jpg');
});

test('a MediaURL is valid for 24 to 25 hours', async () => {
  const { MediaURL } = await feed.record("Media('F1')");
  service.clock.advance(24 * HOUR - 1000);
  assert.equal((await open(MediaURL)).status, 200);
  service.clock.advance(HOUR + 1000);
  assert.equal((await open(MediaURL)).status, 404);
  const { MediaURL: renewed } = await feed.record("Media('F1')");
  assert.notEqual(renewed, MediaURL);
  assert.equal((await open(renewed)).status, 200);
});

test('a MediaURL stays the same for a while, so that caches and ETags remain valid', async () => {
  const first = await feed.get("Media('F1')");
  service.clock.advance(60_000);
  const second = await feed.get("Media('F1')", { headers: { 'if-none-match': String(first.headers.etag) } });
  assert.equal(second.status, 304);
});

test('a forged MediaURL, or one whose record was deleted, gets 404', async () => {
  const { MediaURL } = await feed.record("Media('F3')");
  assert.equal((await open(MediaURL)).status, 200);
  const forged = String(MediaURL).replace('/private.', '/idx.');
  assert.equal((await open(forged)).status, 404);
  assert.equal((await open(String(MediaURL).replace('F3.svg', 'F1.svg'))).status, 404);
  await service.write('Property', listing('2', { Media: [] }));
  assert.equal((await open(MediaURL)).status, 404, 'the record was deleted');
});

test('behind a trusted proxy, media URLs and links have the forwarded host and scheme', async () => {
  const behind = await startTestService(
    { after },
    {
      service: { files: [files], trustProxy: true },
      fill: async ({ write }) => {
        await write('Property', listing('1', { Media: [floorPlan('F1'), floorPlan('F2')] }));
      },
    },
  );
  const proxied = asker(behind, 'replication', await behind.key('replication'));
  const headers = { 'x-forwarded-host': 'feed.example', 'x-forwarded-proto': 'https' };
  const { rows, next, context } = await proxied.page('Media?$top=1&$select=MediaURL', headers);
  assert.match(String(rows[0]?.MediaURL), /^https:\/\/feed\.example\/media\/private\./);
  assert.equal(next, 'https://feed.example/Reso/OData/Media?$select=MediaURL&$top=1&$skiptoken=F1');
  assert.equal(context, 'https://feed.example/Reso/OData/$metadata#Media(MediaURL)');
});
