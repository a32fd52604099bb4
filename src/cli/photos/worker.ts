/** The thread that draws the photos of a demo market. */
import { parentPort } from 'node:worker_threads';
import { type Drawing, rasterize } from 'plat-demo/rasterize';

export interface RasterRequest extends Drawing {
  readonly id: number;
}

export type RasterReply =
  | { readonly id: number; readonly body: Uint8Array<ArrayBuffer> }
  | { readonly id: number; readonly error: string };

parentPort?.on('message', async ({ id, ...drawing }: RasterRequest) => {
  try {
    const body = await rasterize(drawing);
    parentPort?.postMessage({ id, body } satisfies RasterReply, [body.buffer]);
  } catch (error) {
    parentPort?.postMessage({ id, error: String(error) } satisfies RasterReply);
  }
});
