/**
 * Where the photos of a market are made when they are asked for: on one thread beside the service, one at a time, so that
 * no more than one processor is ever busy with them. Who asks waits for their own pictures, not for those of others, and
 * the time counts as that of searches: who has used it up is refused. What was made is kept within a bound.
 */
import { hash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { Drawing } from 'plat-demo';
import { platError } from '../../errors/index.ts';
import { BoundedCache } from '../../shared/bounded-cache.ts';
import { FairQueue } from '../../shared/fair-queue.ts';
import type { ReadCaller } from '../../store/lanes.ts';
import type { RasterReply, RasterRequest } from './worker.ts';

const KEPT = 64 * 1024 * 1024;
/** Pictures that may wait; beyond it the one who waits for the most is told to come again. */
const WAITING = 200;
/** Milliseconds without a picture to make after which the thread gives its memory back. */
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

  /** @param caller who asks; absent: the operator of the store */
  async rasterize(drawing: Drawing, caller?: ReadCaller): Promise<Uint8Array<ArrayBuffer>> {
    const { svg, format, width } = drawing;
    const name = `${format} ${width} ${hash('sha256', svg, 'base64url')}`;
    const kept = this.#kept.get(name);
    if (kept !== undefined) return kept;
    using turn = await this.#queue.enter(caller?.name ?? '');
    // Another asked for the same, and had the turn before.
    const made = this.#kept.get(name);
    if (made !== undefined) return made;
    turn.onEnd((milliseconds) => caller?.spent('searches', milliseconds));
    caller?.begin('searches');
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
    // The endings differ between the sources, which Node runs as they are, and the published build.
    const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    const worker = new Worker(new URL(`./worker.${ending}`, import.meta.url));
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

  /** The thread is gone, and with it what it was making. */
  #end(error: Error): void {
    this.#worker = undefined;
    const jobs = [...this.#jobs.values()];
    this.#jobs.clear();
    for (const { reject } of jobs) reject(error);
  }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
