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

/** A thread at a time, and what it is at work on. A thread that ended is started again with the next task. */
interface Lane {
  worker: Worker | undefined;
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
    for (let index = 0; index < size; index++) {
      const lane: Lane = { worker: undefined, job: undefined, caches: [] };
      this.#lanes.push(lane);
      lane.worker = this.#start(lane);
    }
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
    for (const { reject } of this.#queue.splice(0)) reject(platError('storeUnavailable', {}));
    await Promise.all(this.#lanes.map(({ worker }) => worker?.terminate()));
  }

  /** Threads that are not at work. */
  get free(): number {
    return this.#lanes.filter(({ job }) => job === undefined).length;
  }

  #start(lane: Lane): Worker {
    // The endings differ between the sources, which Node runs as they are, and the published build.
    const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    const worker = new Worker(new URL(`./worker.${ending}`, import.meta.url), { workerData: this.#options });
    worker.on('message', (reply: WorkerReply) => {
      if ('caches' in reply) lane.caches = reply.caches;
      else this.#finish(lane, worker, reply);
    });
    worker.on('messageerror', (error) => this.#fail(lane, error));
    let reason: unknown;
    worker.on('error', (error) => {
      reason = error;
    });
    // However a thread ends, its task ends with it, and no other.
    worker.on('exit', (code) => {
      if (lane.worker !== worker) return;
      lane.worker = undefined;
      lane.caches = [];
      this.#fail(lane, reason ?? new Error(`A thread that reads the store ended with ${code}`));
    });
    worker.unref();
    return worker;
  }

  #dispatch(): void {
    for (const lane of this.#lanes) {
      if (lane.job !== undefined) continue;
      const job = this.#queue.shift();
      if (job === undefined) return;
      lane.job = job;
      const { id, task, milliseconds } = job;
      try {
        lane.worker ??= this.#start(lane);
        lane.worker.postMessage({ id, task, milliseconds } satisfies WorkerRequest);
        lane.worker.ref();
      } catch (error) {
        // A thread that cannot be started, or a task that cannot travel.
        this.#free(lane)?.reject(asError(error));
      }
    }
  }

  #finish(lane: Lane, worker: Worker, reply: WorkerAnswer): void {
    if (lane.job?.id !== reply.id) return;
    const job = this.#free(lane);
    if (reply.ok) job?.resolve(withBody(worker, reply));
    else job?.reject(Object.assign(new Error(reply.error.message), { errcode: reply.error.errcode }));
    this.#dispatch();
  }

  #fail(lane: Lane, error: unknown): void {
    this.#free(lane)?.reject(this.#closed ? platError('storeUnavailable', {}) : asError(error));
    if (!this.#closed) this.#dispatch();
  }

  /** The lane takes the next task. @returns the one that it had */
  #free(lane: Lane): Job | undefined {
    const { job, worker } = lane;
    lane.job = undefined;
    worker?.unref();
    return job;
  }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/** A page whose body lies in the thread's memory, to be given back when it has been sent. */
function withBody(worker: Worker, { result, shared }: WorkerAnswer & { ok: true }): ReadResult {
  if (shared === undefined || result.kind !== 'page') return result;
  const { memory, length } = shared;
  // Memory that came back twice would be given to two pages.
  let isOut = true;
  const release = (): void => {
    if (isOut) worker.postMessage({ release: memory } satisfies WorkerMessage);
    isOut = false;
  };
  return { kind: 'page', page: { ...result.page, body: new Uint8Array(memory, 0, length), release } };
}
