/**
 * The photos and floor plans of a demo market, drawn on request. A single thread draws them one at a time, so drawing uses at
 * most one processor, and clients take turns. Drawing takes none of the time that a client has for searches: a person who looks
 * through a market on a slow machine would use it up. Results are cached within a limit.
 */
import { hash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { Drawing } from 'plat-demo';
import { platError } from '../../errors/index.ts';
import type { FileSource } from '../../service/options.ts';
import { BoundedCache } from '../../shared/bounded-cache.ts';
import { asError } from '../../shared/error-code.ts';
import { FairQueue } from '../../shared/fair-queue.ts';
import { workerModuleUrl } from '../../shared/worker-module.ts';
import type { ReadCaller } from '../../store/read/lanes.ts';
import type { Store } from '../../store/store.ts';
import type { RasterReply, RasterRequest } from './worker.ts';

const KEPT = 64 * 1024 * 1024;
/** The maximum number of queued drawings; beyond it, the client with the most is rejected. */
const WAITING = 200;
/** Milliseconds without work after which the thread is ended to free its memory. */
const IDLE = 60_000;

interface Job {
  readonly resolve: (body: Uint8Array<ArrayBuffer>) => void;
  readonly reject: (error: Error) => void;
}

export class Rasterizer {
  readonly #queue = new FairQueue({ turns: 1, long: false, waiting: WAITING });
  readonly #kept = new BoundedCache<Uint8Array<ArrayBuffer>>('photos', { bytes: KEPT });
  #worker: Worker | undefined;
  #jobs = new Map<number, Job>();
  #nextId = 0;
  #idle: NodeJS.Timeout | undefined;

  /** @param caller the client; absent: the operator of the store */
  async rasterize(drawing: Drawing, caller?: ReadCaller): Promise<Uint8Array<ArrayBuffer>> {
    const { svg, format, width } = drawing;
    const name = `${format} ${width} ${hash('sha256', svg, 'base64url')}`;
    const kept = this.#kept.get(name);
    if (kept !== undefined) return kept;
    using _ = await this.#queue.acquire(caller?.name ?? '');
    // Another client may have requested the same drawing in the meantime.
    const made = this.#kept.get(name);
    if (made !== undefined) return made;
    caller?.begin('pages');
    const body = await this.#make(drawing);
    return this.#kept.put(name, body, body.byteLength);
  }

  async close(): Promise<void> {
    const closed = () => platError('storeUnavailable', {});
    this.#queue.close(closed);
    this.#kept.close();
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#end(closed());
    await worker?.terminate();
  }

  #make(drawing: Drawing): Promise<Uint8Array<ArrayBuffer>> {
    clearTimeout(this.#idle);
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      this.#jobs.set(id, { resolve, reject });
      this.#worker ??= this.#start();
      this.#worker.postMessage({ id, ...drawing } satisfies RasterRequest);
    });
  }

  #start(): Worker {
    const worker = new Worker(workerModuleUrl(import.meta.url, 'worker'));
    worker.on('message', (reply: RasterReply) => {
      const job = this.#jobs.get(reply.id);
      this.#jobs.delete(reply.id);
      if ('body' in reply) job?.resolve(reply.body);
      else job?.reject(new Error(`A photo could not be made: ${reply.error}`));
      if (this.#jobs.size === 0) this.#idle = setTimeout(() => this.#rest(), IDLE).unref();
    });
    worker.on('error', (error) => worker === this.#worker && this.#end(asError(error)));
    worker.on(
      'exit',
      () => worker === this.#worker && this.#end(new Error('The thread of photos has ended')),
    );
    worker.unref();
    return worker;
  }

  #rest(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
  }

  /** Rejects all jobs, because the thread has ended. */
  #end(error: Error): void {
    this.#worker = undefined;
    const jobs = [...this.#jobs.values()];
    this.#jobs.clear();
    for (const { reject } of jobs) reject(error);
  }
}

/** The files of a market. */
export function marketFiles(store: Store, rasterizer: Pick<Rasterizer, 'rasterize'>): FileSource {
  return {
    open: async (path, { width, caller }) => {
      const { settings } = await store.model();
      if (settings.market === undefined) return undefined;
      // Loaded on demand, so that services without a market start without it.
      const { drawFile, RENDITIONS } = await import('plat-demo');
      const file = await drawFile(path, {
        listing: async (key) => (await store.contents('Property', { key }))[0],
        rooms: (key) => store.contents('PropertyRooms', { parent: key, parentResource: 'Property' }),
      });
      if (file === undefined || file.kind === 'whole') return file;
      const { svg, format } = file;
      const drawing = { svg, format, width: renditionOf(RENDITIONS, file.width, width) };
      return {
        type: `image/${format}`,
        version: `${format} ${drawing.width} ${svg}`,
        body: () => rasterizer.rasterize(drawing, caller),
      };
    },
  };
}

/** The narrowest rendition that is wide enough, or the photo itself. */
function renditionOf(renditions: readonly number[], own: number, shown = own): number {
  return renditions.find((width) => width >= shown && width < own) ?? own;
}
