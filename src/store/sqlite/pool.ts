import { Worker } from 'node:worker_threads';
import { platError } from '../../errors/index.ts';
import type { CacheUse } from '../bounded-cache.ts';
import type { SharedBody } from './outbox.ts';
import type { ReadResult, ReadTask } from './tasks.ts';

export interface WorkerOptions {
  readonly path: string;
  readonly secret: string;
  readonly busyTimeout: number;
  readonly cacheMegabytes: number;
}

export interface WorkerRequest {
  readonly id: number;
  readonly task: ReadTask;
  /** How long the statement may take. */
  readonly milliseconds: number;
}

/** A task, or memory of an earlier answer that comes back. */
export type WorkerMessage = WorkerRequest | { readonly release: SharedArrayBuffer };

export type WorkerReply =
  /** What the thread keeps, told now and then. */
  { readonly caches: readonly CacheUse[] } | WorkerAnswer;

export type WorkerAnswer =
  | {
      readonly id: number;
      readonly ok: true;
      readonly result: ReadResult;
      /** The body of a page, where it is not in the result. */
      readonly shared?: SharedBody;
    }
  | {
      readonly id: number;
      readonly ok: false;
      readonly error: { readonly message: string; readonly errcode?: number };
    };

interface Job extends WorkerRequest {
  readonly resolve: (result: ReadResult) => void;
  readonly reject: (error: Error) => void;
}

interface Lane {
  readonly worker: Worker;
  job: Job | undefined;
  caches: readonly CacheUse[];
}

/** Tasks that may wait for a thread; more are refused, so that a crowd is told to come back. */
const LONGEST_QUEUE = 1000;

/** Threads that read a store side by side; tasks are taken in the order in which they came. */
export class ReaderPool {
  readonly #options: WorkerOptions;
  readonly #lanes: Lane[] = [];
  readonly #queue: Job[] = [];
  #nextId = 1;
  #closed = false;

  constructor(options: WorkerOptions, size: number) {
    this.#options = options;
    for (let index = 0; index < size; index++) this.#lanes.push(this.#start());
  }

  run(task: ReadTask, milliseconds: number): Promise<ReadResult> {
    if (this.#closed) return Promise.reject(platError('storeUnavailable', {}));
    if (this.#queue.length >= LONGEST_QUEUE) {
      return Promise.reject(platError('overloaded', { seconds: 5 }, { retryAfter: 5 }));
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ id: this.#nextId++, task, milliseconds, resolve, reject });
      this.#dispatch();
    });
  }

  /** What the threads keep. */
  caches(): readonly CacheUse[] {
    return this.#lanes.flatMap(({ caches }) => caches);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#lanes.map(({ worker }) => worker.terminate()));
  }

  #start(): Lane {
    // The endings differ between the sources, which Node runs as they are, and the published build.
    const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    const worker = new Worker(new URL(`./worker.${ending}`, import.meta.url), { workerData: this.#options });
    const lane: Lane = { worker, job: undefined, caches: [] };
    worker.on('message', (reply: WorkerReply) => {
      if ('caches' in reply) lane.caches = reply.caches;
      else this.#finish(lane, reply);
    });
    worker.on('error', (error) =>
      this.#replace(lane, error instanceof Error ? error : new Error(String(error))),
    );
    worker.unref();
    return lane;
  }

  #dispatch(): void {
    for (const lane of this.#lanes) {
      if (lane.job !== undefined) continue;
      const job = this.#queue.shift();
      if (job === undefined) return;
      lane.job = job;
      const { id, task, milliseconds } = job;
      lane.worker.ref();
      lane.worker.postMessage({ id, task, milliseconds } satisfies WorkerRequest);
    }
  }

  #finish(lane: Lane, reply: WorkerAnswer): void {
    const { job } = lane;
    lane.job = undefined;
    lane.worker.unref();
    if (job?.id === reply.id) {
      if (reply.ok) job.resolve(withBody(lane.worker, reply));
      else job.reject(Object.assign(new Error(reply.error.message), { errcode: reply.error.errcode }));
    }
    this.#dispatch();
  }

  /** A thread that died takes its task with it, no other. */
  #replace(lane: Lane, error: Error): void {
    lane.job?.reject(error);
    const index = this.#lanes.indexOf(lane);
    if (index >= 0 && !this.#closed) this.#lanes[index] = this.#start();
    this.#dispatch();
  }
}

/** A page whose body lies in the thread's memory, to be given back when it has been sent. */
function withBody(worker: Worker, { result, shared }: WorkerAnswer & { ok: true }): ReadResult {
  if (shared === undefined || result.kind !== 'page') return result;
  const { memory, length } = shared;
  const release = (): void => worker.postMessage({ release: memory } satisfies WorkerMessage);
  return { kind: 'page', page: { ...result.page, body: new Uint8Array(memory, 0, length), release } };
}
