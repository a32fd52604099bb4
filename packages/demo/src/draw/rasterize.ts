/**
 * Turns a drawing into a JPEG or WebP file. Two libraries of WebAssembly do it, which need neither a compiler nor a
 * download when they are installed: resvg draws, mozjpeg and libwebp encode. The same drawing gives the same bytes.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import encodeJpeg, { init as initJpeg } from '@jsquash/jpeg/encode.js';
import encodeWebp, { init as initWebp } from '@jsquash/webp/encode.js';
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import type { PhotoFormat } from '../photo-shape.ts';

/** A picture to be made. */
export interface Drawing {
  readonly svg: string;
  readonly format: PhotoFormat;
  /** In pixels; the height follows from the drawing. */
  readonly width: number;
}

const { resolve } = createRequire(import.meta.url);
const wasm = (path: string): Uint8Array<ArrayBuffer> => new Uint8Array(readFileSync(resolve(path)));

let ready: Promise<unknown> | undefined;

const load = (): Promise<unknown> =>
  Promise.all([
    initWasm(wasm('@resvg/resvg-wasm/index_bg.wasm')),
    initJpeg({ wasmBinary: wasm('@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm').buffer }),
    initWebp({ wasmBinary: wasm('@jsquash/webp/codec/enc/webp_enc_simd.wasm').buffer }),
  ]);

/** Flat colors show rings around edges below this quality. */
const QUALITY = 82;

export async function rasterize({ svg, format, width }: Drawing): Promise<Uint8Array<ArrayBuffer>> {
  ready ??= load();
  await ready;
  const vectors = new Resvg(svg, { fitTo: { mode: 'width', value: width } });
  const image = vectors.render();
  try {
    const pixels = {
      data: new Uint8ClampedArray(image.pixels),
      width: image.width,
      height: image.height,
    };
    switch (format) {
      case 'jpeg':
        // What saves some of the bytes and takes half of the time is omitted.
        return new Uint8Array(
          await encodeJpeg(pixels, { quality: QUALITY, progressive: false, optimize_coding: false }),
        );
      case 'webp':
        return new Uint8Array(await encodeWebp(pixels, { quality: QUALITY, method: 2 }));
    }
  } finally {
    image.free();
    vectors.free();
  }
}
