/** Drawn photos of a demo market as they are served: formats, renditions, tags, and that drawing them takes no time of searches. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { CUSTOM_FIELDS, CUSTOM_LOOKUPS, makeMarket } from 'plat-demo';
import { marketFiles, Rasterizer } from '../../../src/cli/photos/market-files.ts';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { startTestService } from '../../support/service.ts';
import { nativeAsker } from './asker.ts';

const MARKET = { seed: 7, listings: 3 };
const [first, second] = [0, 1].map((serial) => makeMarket(MARKET).listing(serial));
const rasterizer = new Rasterizer();
after(() => rasterizer.close());
/** The widths that were requested from the rasterizer, drawn or cached. */
const widths: number[] = [];
const watched: Pick<Rasterizer, 'rasterize'> = {
  rasterize: (drawing, caller) => {
    widths.push(drawing.width);
    return rasterizer.rasterize(drawing, caller);
  },
};

const service = await startTestService(
  { after },
  {
    settings: { declarations: { customFields: CUSTOM_FIELDS, lookups: CUSTOM_LOOKUPS }, market: MARKET },
    service: (store) => ({
      files: [marketFiles(store, watched)],
      // Drawing one photo of any size takes longer than this.
      budget: { ...SERVICE_DEFAULTS.budget, searchSeconds: 0.001, windowSeconds: 60 },
    }),
    fill: async ({ write }) => {
      await write('Property', { ...first }, { ...second });
    },
  },
);
const feed = nativeAsker(service, 'replication', await service.key('replication', { role: 'private' }));
const KEY = String(first?.ListingKey);
const open = (url: unknown, headers = {}) => service.get('replication', String(url), { headers });

test('a photo has a URL for each rendition; drawing takes no time of searches, and a 304 draws nothing', async () => {
  const [photo] = (await feed.page(`listings/${KEY}/photos`)).rows;
  assert.ok(photo !== undefined);
  const { UriThumb, UriLarge } = photo;
  assert.match(String(UriLarge), /\/media\/private\.\d+\.[0-9a-f]{32}\/photo\/\d+-P01-\w+\.(jpg|webp)$/);
  assert.deepEqual(
    ['UriThumb', 'Uri300', 'Uri640', 'Uri800', 'Uri1024', 'Uri1280', 'Uri1600', 'Uri2048'].map((name) =>
      String(photo[name]).replace(String(UriLarge), ''),
    ),
    [150, 300, 640, 800, 1024, 1280, 1600, 2048].map((width) => `?width=${width}`),
  );
  const selected = (await feed.page(`listings/${KEY}/photos?_select=Uri640,UriLarge`)).rows[0];
  assert.deepEqual([selected?.Uri640, selected?.UriLarge], [photo.Uri640, UriLarge]);

  const thumbnail = await open(UriThumb);
  const type = String(UriLarge).endsWith('.jpg') ? 'image/jpeg' : 'image/webp';
  assert.deepEqual([thumbnail.status, thumbnail.headers['content-type']], [200, type]);
  const magic = type === 'image/jpeg' ? [0xff, 0xd8, 0xff] : [...Buffer.from('RIFF')];
  assert.deepEqual([...thumbnail.bytes.subarray(0, magic.length)], magic);

  // A width between two renditions gets the next one.
  const again = await open(`${UriLarge}?width=149`);
  assert.ok(again.bytes.equals(thumbnail.bytes));
  const { etag = '' } = thumbnail.headers;
  const known = await open(UriThumb, { 'if-none-match': etag });
  assert.deepEqual([known.status, known.bytes.length], [304, 0]);

  assert.deepEqual(widths.splice(0), [150, 150]);
  for (const url of [photo.Uri300, photo.Uri640]) assert.equal((await open(url)).status, 200);
  const document = await open(UriLarge, { 'if-none-match': etag });
  assert.equal(document.status, 200, 'the tag of one rendition is not that of another');
  assert.deepEqual(widths.splice(0), [300, 640, 1280]);
});

test('an invalid width requests the full-size photo', async () => {
  const [photo] = (await feed.page(`listings/${second?.ListingKey}/photos`)).rows;
  const own = (await open(photo?.UriLarge)).headers.etag;
  widths.splice(0);
  for (const width of ['', '0', '99999', '1e3', '-5', '300px'])
    assert.equal((await open(`${photo?.UriLarge}?width=${width}`)).headers.etag, own);
});
