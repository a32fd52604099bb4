import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, describe, it } from 'node:test';
import decodeJpeg, { init as initJpeg } from '@jsquash/jpeg/decode.js';
import decodeWebp, { init as initWebp } from '@jsquash/webp/decode.js';
import { rasterize } from 'plat-demo/rasterize';
import { drawFile } from '../../packages/demo/src/files.ts';
import { makeMarket } from '../../packages/demo/src/market.ts';
import { photoShape } from '../../packages/demo/src/photo-shape.ts';
import { childrenOf, numberOf, textOf } from '../../packages/demo/src/records.ts';
import { Rasterizer } from '../../src/cli/photos/market-files.ts';
import { platError } from '../../src/errors/index.ts';
import type { ReadCaller } from '../../src/store/read/lanes.ts';
import { ownFacts } from './plans.ts';

const { resolve } = createRequire(import.meta.url);
const wasm = (path: string): ArrayBuffer => new Uint8Array(readFileSync(resolve(path))).buffer;
await initJpeg({ wasmBinary: wasm('@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm') });
await initWebp({ wasmBinary: wasm('@jsquash/webp/codec/dec/webp_dec.wasm') });

const market = makeMarket({ seed: 4, listings: 60 });
const listings = Array.from({ length: 60 }, (_, serial) => market.listing(serial));

interface Picture {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8ClampedArray;
}

async function picture(format: 'jpeg' | 'webp', body: Uint8Array<ArrayBuffer>): Promise<Picture> {
  return format === 'jpeg' ? await decodeJpeg(body.slice().buffer) : await decodeWebp(body.slice().buffer);
}

/** The mean color of the upper or the lower third of a picture. */
function meanColor({ data, width, height }: Picture, lower: boolean): number[] {
  const from = lower ? Math.floor((height * 2) / 3) : 0;
  const sums = [0, 0, 0];
  const count = width * Math.floor(height / 3);
  for (let pixel = from * width; pixel < from * width + count; pixel++)
    for (const channel of [0, 1, 2]) sums[channel] = (sums[channel] ?? 0) + (data[pixel * 4 + channel] ?? 0);
  return sums.map((sum) => sum / count);
}

/** The photo of a scene of the first listing that has one and matches. */
async function drawingOf(scene: string, format: 'jpeg' | 'webp') {
  for (const listing of listings) {
    if (photoShape(textOf(listing, 'ListingKey') ?? '').format !== format) continue;
    const media = childrenOf(listing, 'Media').find(({ MediaKey }) => String(MediaKey).endsWith(`-${scene}`));
    if (media === undefined) continue;
    const file = await drawFile(String(media.MediaURL), {
      listing: async () => ownFacts(listing),
      rooms: async () => [],
    });
    assert.ok(file?.kind === 'photo');
    return { file, media };
  }
  throw new Error(`no ${scene} as ${format}`);
}

describe('a photo', () => {
  for (const format of ['jpeg', 'webp'] as const) {
    it(`${format}: is a file of its format, with the size of its record or rendition, always the same`, async () => {
      const { file, media } = await drawingOf('garden', format);
      assert.deepEqual(
        [media.MediaType, media.ImageWidth, media.ImageHeight],
        [format, file.width, file.height],
      );
      const body = await rasterize(file);
      const { width, height, data } = await picture(format, body);
      assert.deepEqual([width, height, data.length], [file.width, file.height, file.width * file.height * 4]);
      const small = await rasterize({ ...file, width: 300 });
      assert.deepEqual(small, await rasterize({ ...file, width: 300 }));
      const thumbnail = await picture(format, small);
      assert.equal(thumbnail.width, 300);
      assert.ok(Math.abs(thumbnail.height - (300 * file.height) / file.width) <= 1);
      assert.ok(small.length < 20_000 && body.length > 2 * small.length, `${small.length} ${body.length}`);
    });
  }

  it('shows its scene: a garden has a sky above grass, a kitchen neither', async () => {
    const colors = async (scene: string) => {
      const { file } = await drawingOf(scene, 'jpeg');
      const seen = await picture('jpeg', await rasterize({ ...file, width: 150 }));
      return [meanColor(seen, false), meanColor(seen, true)].map(([red = 0, , blue = 0]) => blue - red);
    };
    const [sky = 0] = await colors('garden');
    const [ceiling = 0, floor = 0] = await colors('kitchen');
    assert.ok(sky > 12, `the sky is blue by ${sky}`);
    assert.ok(Math.abs(ceiling) < 15 && floor < sky, `${ceiling} ${floor}`);
  });

  it('has one format and size within a listing, and several in a market', () => {
    const shapes = new Set<string>();
    for (const listing of listings) {
      const own = childrenOf(listing, 'Media')
        .filter(({ MediaCategory }) => MediaCategory === 'Photo')
        .map(
          (media) => `${media.MediaType} ${numberOf(media, 'ImageWidth')} ${numberOf(media, 'ImageHeight')}`,
        );
      assert.equal(new Set(own).size, 1);
      shapes.add(own[0] ?? '');
    }
    assert.ok(shapes.size >= 8, [...shapes].join());
    for (const format of ['jpeg', 'webp']) assert.ok([...shapes].some((shape) => shape.startsWith(format)));
  });
});

describe('the thread that draws photos', () => {
  const rasterizer = new Rasterizer();
  after(() => rasterizer.close());
  const drawing = (color: string) => ({
    svg: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 30 20"><rect width="30" height="20" fill="${color}"/></svg>`,
    format: 'webp' as const,
    width: 60,
  });

  const callerOf = (name: string, order: string[] = [], isGone = false): ReadCaller => ({
    name,
    begin: (lane) => {
      order.push(name);
      assert.equal(lane, 'pages', 'no time for searches');
      if (isGone) throw platError('clientGone', {});
    },
    made: () => undefined,
    spent: () => assert.fail('no time for searches'),
  });

  it('draws the same picture only once, for the first caller', async () => {
    const order: string[] = [];
    const bodies = await Promise.all([
      rasterizer.rasterize(drawing('#123456'), callerOf('a', order)),
      rasterizer.rasterize(drawing('#123456'), callerOf('b', order)),
    ]);
    assert.equal(bodies[0], bodies[1]);
    assert.deepEqual(order, ['a']);
  });

  it('delays only the caller with many requests', async () => {
    const order: string[] = [];
    const asked = Array.from({ length: 12 }, (_, index) =>
      rasterizer.rasterize(drawing(`#0000${(16 + index).toString(16)}`), callerOf('many', order)),
    );
    asked.push(rasterizer.rasterize(drawing('#abcdef'), callerOf('one', order)));
    await Promise.all(asked);
    assert.ok(order.indexOf('one') <= 2, order.join());
  });

  it('draws nothing for a caller that has gone, and reports an invalid drawing', async () => {
    const gone = callerOf('gone', [], true);
    await assert.rejects(rasterizer.rasterize(drawing('#fedcba'), gone), { code: 'clientGone' });
    await assert.rejects(rasterizer.rasterize({ ...drawing('#fedcba'), svg: '<svg' }), {
      message: /^A photo could not be made: /,
    });
    assert.ok((await rasterizer.rasterize(drawing('#fedcba'))).length > 0, 'the next picture is drawn');
  });
});
