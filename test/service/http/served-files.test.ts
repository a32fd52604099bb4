/** Files that the service serves (contract, Served files): a URL is signed for one file, one role and a day. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fileSignature } from '../../../src/store/files/file-signature.ts';
import { floorPlan, listing, photo } from '../../support/builders.ts';
import { DAY } from '../../support/clock.ts';
import { type Answer, startTestService } from '../../support/service.ts';
import { resoFault } from './envelopes.ts';

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><text>Küche</text></svg>';
const PDF = Buffer.from([0x25, 0x50, 0x44, 0x46, 0x00, 0xff]);
const FILES: Readonly<Record<string, { type: string; body: Uint8Array | string }>> = {
  'plans/F1.svg': { type: 'image/svg+xml', body: SVG },
  'plans/F2.svg': { type: 'image/svg+xml', body: SVG },
  'plans/F3.svg': { type: 'image/svg+xml', body: SVG },
  'docs/a b.pdf': { type: 'application/pdf', body: PDF },
  'plans/unnamed.svg': { type: 'image/svg+xml', body: SVG },
};

const service = await startTestService(
  { after },
  {
    fill: async ({ write }) => {
      const own = { OriginatingSystemID: 'M1' };
      await write(
        'Property',
        listing('1', {
          ...own,
          Media: [
            floorPlan('F1'),
            floorPlan('F2', { Permission: ['Private'] }),
            photo('P1', { MediaURL: 'https://images.example/elsewhere.jpg' }),
            photo('P2', { MediaURL: 'docs/a b.pdf' }),
            photo('P4', { MediaURL: 'plans/gone.svg' }),
          ],
        }),
        listing('2', { ...own, StandardStatus: 'Withdrawn', Media: [floorPlan('F3')] }),
      );
    },
    service: { files: [{ open: async () => undefined }, { open: async (path) => FILES[path] }] },
  },
);
const { store, clock, addresses } = service;
const tokens = {
  private: await service.key('api'),
  idx: await service.key('api', { role: 'idx' }),
  plans: await service.key('floorplans', { systems: ['M1'] }),
};

/** The media URLs of a listing by media key, as a role gets them. */
async function mediaOf(key: string, role: 'private' | 'idx'): Promise<ReadonlyMap<string, string>> {
  const path = `/Reso/OData/Property/${key}/Media?$select=MediaKey,MediaURL`;
  const { json } = await service.get('api', path, { token: tokens[role] });
  assert.ok(Array.isArray(json.value), JSON.stringify(json));
  return new Map(json.value.map((each) => [String(each.MediaKey), String(each.MediaURL)]));
}

const get = (url: string | undefined, headers: Record<string, string> = {}): Promise<Answer> =>
  service.get('api', url ?? '', { headers });

/** Asserts the response for any refused file, which does not reveal the reason. */
function missing(answer: Answer, path: string): void {
  assert.deepEqual(resoFault(answer), [404, 'pathNotFound', `There is nothing at ${path}.`]);
}
const pathOf = (url: string): string => url.slice(addresses.api.length);

test('the URL in a record returns the file unchanged, without a token', async () => {
  const media = await mediaOf('1', 'private');
  const plan = await get(media.get('F1'));
  assert.equal(plan.status, 200);
  assert.equal(plan.text, SVG);
  assert.equal(plan.headers['content-type'], 'image/svg+xml');
  assert.equal(plan.headers['cache-control'], 'private, no-cache');
  const policy = "default-src 'none'; style-src 'unsafe-inline'";
  assert.equal(plan.headers['content-security-policy'], `sandbox; ${policy}`);
  const document = await get(media.get('P2'));
  assert.ok(document.bytes.equals(PDF));
  assert.equal(document.headers['content-type'], 'application/pdf');
  assert.equal(document.headers['content-security-policy'], policy);
  const head = await service.get('api', media.get('P2') ?? '', { method: 'HEAD' });
  assert.deepEqual([head.status, head.headers['content-length'], head.text], [200, '6', '']);
});

test('media with an absolute URL keep it', async () => {
  assert.equal((await mediaOf('1', 'idx')).get('P1'), 'https://images.example/elsewhere.jpg');
});

test('a signed URL is valid for at least 24 h, and stays the same for an hour', async () => {
  clock.set('2026-06-02T10:00:00Z');
  const url = (await mediaOf('1', 'private')).get('F1') ?? '';
  assert.match(pathOf(url), /^\/media\/private\.\d+\.[\da-f]{32}\/plans\/F1\.svg$/);
  clock.set('2026-06-02T10:59:59Z');
  assert.equal((await mediaOf('1', 'private')).get('F1'), url);
  clock.set('2026-06-03T10:59:59Z');
  assert.equal((await get(url)).status, 200);
  clock.set('2026-06-03T11:00:00Z');
  missing(await get(url), pathOf(url));
  assert.notEqual((await mediaOf('1', 'private')).get('F1'), url);
});

test('a signature is valid only for its file, role and expiry', async () => {
  const media = await mediaOf('1', 'private');
  const url = pathOf(media.get('F1') ?? '');
  const [, signature = '', file = ''] = /^\/media\/([^/]+)\/(.+)$/.exec(url) ?? [];
  const [role = '', expires = '', digest = ''] = signature.split('.');
  const wrong = [
    `/media/${signature}/plans/F2.svg`,
    `/media/idx.${expires}.${digest}/${file}`,
    `/media/${role}.${Number(expires) + 1}.${digest}/${file}`,
    `/media/${role}.${expires}.${digest.slice(0, -1)}/${file}`,
    `/media/${role}.${expires}.${'0'.repeat(32)}/${file}`,
    `/media/${signature.toUpperCase()}/${file}`,
    `/media/${signature}/`,
    `/media/${signature}`,
    `/media/${signature}/plans/../plans/F1.svg`,
    `/media/${signature}/plans/%2e%2e/plans/F1.svg`,
    `/media/${signature}//plans/F1.svg`,
    `/media/${signature}/%zz`,
    `/media/${file}`,
    '/media/',
    '/media//',
  ];
  for (const path of wrong) missing(await get(`${addresses.api}${path}`), path);
  assert.equal((await get(`${addresses.api}${url}?x=1`)).status, 200);
});

test('a file is served only while the role sees a record that names it', async () => {
  const seconds = Math.floor(clock.now() / 1000) + DAY / 1000;
  const signed = (role: string, file: string): string =>
    `/media/${fileSignature(store.secret, role, seconds, file)}/${file}`;
  const status = async (role: string, file: string): Promise<number> =>
    (await get(`${addresses.api}${signed(role, file)}`)).status;
  assert.equal(await status('private', 'plans/F2.svg'), 200);
  assert.equal(await status('idx', 'plans/F1.svg'), 200);
  for (const [role, file] of [
    ['idx', 'plans/F2.svg'], // not permitted
    ['idx', 'plans/F3.svg'], // of a listing that the role does not see
    ['private', 'plans/unnamed.svg'], // no record names it
    ['private', 'plans/gone.svg'], // no such file
    ['nobody', 'plans/F1.svg'],
  ] as const) {
    missing(await get(`${addresses.api}${signed(role, file)}`), signed(role, file));
  }
  const media = [photo('P1')];
  await service.write('Property', listing('1', { OriginatingSystemID: 'M1', Media: media }));
  assert.equal(await status('private', 'plans/F1.svg'), 404);
});

test('files are served on all three public surfaces, with URLs of the surface, and not on the admin port', async () => {
  await service.write('Property', listing('1', { OriginatingSystemID: 'M1', Media: [floorPlan('F1')] }));
  const { json } = await service.get('floorplans', '/Reso/Media', { token: tokens.plans });
  assert.ok(Array.isArray(json.value));
  const url = String(json.value.find(({ MediaKey }) => MediaKey === 'F1')?.MediaURL);
  assert.ok(url.startsWith(`${addresses.floorplans}/media/`), url);
  const path = url.slice(addresses.floorplans.length);
  for (const surface of ['api', 'replication', 'floorplans'] as const) {
    assert.equal((await service.get(surface, path)).text, SVG, surface);
  }
  const admin = await service.get('admin', path);
  assert.equal(admin.status, 401);
});

test('If-None-Match with the ETag of a file gets 304, and If-Match with another one 412', async () => {
  const url = (await mediaOf('1', 'private')).get('F1');
  const { headers } = await get(url);
  const again = await get(url, { 'if-none-match': headers.etag ?? '' });
  assert.deepEqual([again.status, again.text, again.headers.etag], [304, '', headers.etag]);
  assert.equal((await get(url, { 'if-none-match': 'W/"other"' })).status, 200);
  assert.equal((await get(url, { 'if-match': headers.etag ?? '' })).status, 200);
  // A client that continues a download must not join parts of two versions.
  const rest = { 'if-match': 'W/"other"', range: 'bytes=1-' };
  assert.equal((await get(url, rest)).status, 412);
});

test('a Range request gets 206, 416 beyond the end, or the whole file if the range or If-Range does not apply', async () => {
  const Media = [photo('P9', { MediaURL: 'docs/a b.pdf' }), photo('S9', { MediaURL: 'plans/F1.svg' })];
  await service.write('Property', listing('9', { Media }));
  const media = await mediaOf('9', 'private');
  const [pdf, svg] = [media.get('P9'), media.get('S9')];
  const whole = await get(pdf);
  const size = PDF.length;
  assert.deepEqual([whole.status, whole.headers['accept-ranges']], [200, 'bytes']);
  const tag = String(whole.headers.etag);
  assert.match(tag, /^"[\w-]{22}"$/);
  const parts = [
    ['bytes=0-0', 0, 0],
    ['bytes=1-3', 1, 3],
    ['BYTES = 2 -', 2, size - 1],
    ['bytes=4-99999999', 4, size - 1],
    ['bytes=-2', size - 2, size - 1],
    ['bytes=-999', 0, size - 1],
  ] as const;
  for (const [range, first, last] of parts) {
    const answer = await get(pdf, { range, 'accept-encoding': 'gzip' });
    assert.deepEqual(
      [answer.status, answer.headers['content-range'], answer.headers['content-length']],
      [206, `bytes ${first}-${last}/${size}`, String(last - first + 1)],
      range,
    );
    assert.deepEqual(answer.bytes, PDF.subarray(first, last + 1));
    assert.deepEqual([answer.headers.etag, answer.headers['content-type']], [tag, 'application/pdf']);
  }
  for (const range of [`bytes=${size}-`, 'bytes=999-1000', 'bytes=-0']) {
    const answer = await get(pdf, { range });
    const message = `The range begins after the end of the file, which has ${size} bytes.`;
    assert.deepEqual(resoFault(answer), [416, 'rangeOutside', message], range);
    assert.equal(answer.headers['content-range'], `bytes */${size}`);
  }
  for (const range of ['bytes=3-1', 'bytes=-', 'bytes=a-b', 'lines=0-1', 'bytes=0-1,3-4', 'bytes=1', '']) {
    const answer = await get(pdf, { range });
    assert.deepEqual([answer.status, answer.bytes], [200, PDF], range);
  }
  const conditions = [
    [tag, 206],
    [`W/${tag}`, 200],
    ['"other"', 200],
    ['Wed, 21 Oct 2015 07:28:00 GMT', 200],
  ] as const;
  for (const [condition, status] of conditions) {
    assert.equal((await get(pdf, { range: 'bytes=0-1', 'if-range': condition })).status, status, condition);
  }
  const known = await get(pdf, { range: 'bytes=0-1', 'if-none-match': tag });
  assert.equal(known.status, 304);
  const head = await service.get('api', pdf ?? '', { method: 'HEAD', headers: { range: 'bytes=0-1' } });
  assert.deepEqual([head.status, head.headers['content-length']], [200, String(size)]);
  // A range is never compressed, since a client could not continue from compressed bytes.
  const drawn = await get(svg, { range: 'bytes=0-3', 'accept-encoding': 'gzip' });
  assert.deepEqual([drawn.status, drawn.text, drawn.headers['content-encoding']], [206, '<svg', undefined]);
  const weak = String(drawn.headers.etag);
  assert.match(weak, /^W\//);
  assert.equal((await get(svg, { range: 'bytes=0-3', 'if-range': weak })).status, 200);
  const past = await get(`${pdf}x`, { range: 'bytes=0-1' });
  assert.equal(past.status, 404);
});
