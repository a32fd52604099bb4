/** Threads that read a store in parallel, for an engine that runs statements on the calling thread. It knows no engine. */
import { Worker } from 'node:worker_threads';
import { platError } from '../../errors/index.ts';
import { Damage, DamagedRecord } from '../../records/damage.ts';
import type { CacheSize } from '../../shared/bounded-cache.ts';
import { Deadline } from '../../shared/deadline.ts';
import { asError } from '../../shared/error-code.ts';
import { FairQueue } from '../../shared/fair-queue.ts';
import { unlessGone } from '../read/abandoned.ts';
import { isSent, type Lane, type ReadCaller } from '../read/lanes.ts';
import { answerTooLargeError, type SharedBody } from '../read/page-memory.ts';
import type { ReadResult, ReadTask } from '../read/read-task.ts';
import type { CheckResult, CheckTask } from './check-task.ts';

type ThreadTask = ReadTask | CheckTask;
type ThreadResult = ReadResult | CheckResult;

/** The module that a thread runs (thread.ts), and the data that it receives. */
interface ThreadSource {
  readonly module: URL;
  readonly data: object;
}

/** What a thread receives in addition to its own data: the memory of the deadline of its tasks. */
export interface ThreadMemory {
  readonly deadline: SharedArrayBuffer;
}

export interface WorkerRequest {
  readonly id: number;
  readonly task: ThreadTask;
  /** The time limit of the statement. */
  readonly milliseconds: number;
  /** As in read/lanes.ts. */
  readonly isSent: boolean;
  /** Memory of an earlier response, for reuse. */
  readonly returned: SharedArrayBuffer | undefined;
}

/** A task, or the return of memory of an earlier response without a task. */
export type WorkerMessage = WorkerRequest | { readonly release: SharedArrayBuffer };

/** An error of a thread, reduced to what can be sent. */
export type WorkerError =
  | { readonly kind: 'damage'; readonly message: string }
  | { readonly kind: 'record'; readonly record: string }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'other'; readonly message: string; readonly errcode: number };

export type WorkerReply =
  /** The caches of the thread, reported from time to time. */
  { readonly caches: readonly CacheSize[] } | WorkerAnswer;

type WorkerAnswer =
  | {
      readonly id: number;
      readonly ok: true;
      readonly result: ThreadResult;
      /** The body of a page, if the result does not contain it. */
      readonly shared?: SharedBody;
    }
  | {
      readonly id: number;
      readonly ok: false;
      readonly error: WorkerError;
    };

interface Job {
  readonly id: number;
  readonly resolve: (result: ThreadResult) => void;
  readonly reject: (error: Error) => void;
}

/** One thread at a time, and its task. A thread that is not running, or has ended, is started for the next task. */
interface Thread {
  worker: Worker | undefined;
  job: Job | undefined;
  readonly deadline: Deadline;
  caches: readonly CacheSize[];
  /** Memory that returns to the worker with its next task: waking the worker only for that would cost more. */
  returned: SharedArrayBuffer | undefined;
}

/**
 * The number of tasks that may wait for a thread. Further ones are rejected, so that an overloaded service asks its
 * clients to retry.
 */
const LONGEST_QUEUE = 1000;

/** Identifies reads without a caller: the operator's commands. */
const NO_CALLER = '';

/** A task that is prepared when it leaves the queue. */
interface PooledRead {
  readonly task: () => ThreadTask;
  /** The time limit of the statement. */
  readonly milliseconds: number;
  readonly caller: ReadCaller | undefined;
}

/** Threads, shared fairly between callers. */
export class ReaderPool {
  readonly #source: ThreadSource;
  readonly #lane: Lane;
  readonly #threads: Thread[] = [];
  readonly #queue: FairQueue;
  #nextId = 1;
  #closed = false;

  constructor(source: ThreadSource, lane: Lane, size: number) {
    this.#source = source;
    this.#lane = lane;
    this.#queue = new FairQueue({ turns: size, waiting: LONGEST_QUEUE, long: lane === 'searches' });
    for (let index = 0; index < size; index++) {
      this.#threads.push({
        ...{ worker: undefined, job: undefined, caches: [], returned: undefined },
        deadline: new Deadline(),
      });
    }
    // One thread starts at once for the first task, the others when enough tasks are read at the same time: most stores
    // never need all threads they may have, and each takes memory and a tenth of a second of processor time to start.
    for (const thread of this.#threads.slice(0, 1)) thread.worker = this.#start(thread);
  }

  async run({ task, milliseconds, caller }: PooledRead): Promise<ThreadResult> {
    if (this.#closed) throw platError('storeUnavailable', {});
    using turn = await this.#queue.acquire(caller?.name ?? NO_CALLER);
    turn.onRelease((kept) => caller?.spent(this.#lane, kept));
    caller?.begin(this.#lane);
    const thread = this.#threads.find(({ job }) => job === undefined);
    if (this.#closed || thread === undefined) throw platError('storeUnavailable', {});
    const asked = { task: task(), milliseconds, isSent: isSent(caller) };
    const end = (): void => thread.deadline.set(Number.NEGATIVE_INFINITY);
    return await unlessGone(caller, end, () => this.#ask(thread, asked));
  }

  async read(what: PooledRead & { readonly task: () => ReadTask }): Promise<ReadResult> {
    const result = await this.run(what);
    if (result.kind === 'check') throw new Error('A read gives what was read');
    return result;
  }

  /** No time limit. */
  async check(task: CheckTask): Promise<CheckResult> {
    const { POSITIVE_INFINITY: milliseconds } = Number;
    const result = await this.run({ task: () => task, milliseconds, caller: undefined });
    if (result.kind !== 'check') throw new Error('A check gives what it found');
    return result;
  }

  caches(): readonly CacheSize[] {
    return this.#threads.flatMap(({ caches }) => caches);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#queue.close(() => platError('storeUnavailable', {}));
    await Promise.all(this.#threads.map(({ worker }) => worker?.terminate()));
  }

  #start(thread: Thread): Worker {
    const { module, data } = this.#source;
    const memory: ThreadMemory = { deadline: thread.deadline.memory };
    const worker = new Worker(module, { workerData: { ...data, ...memory } });
    worker.on('message', (reply: WorkerReply) => {
      if ('caches' in reply) thread.caches = reply.caches;
      else this.#finish(thread, worker, reply);
    });
    worker.on('messageerror', (error) => this.#fail(thread, error));
    let reason: unknown;
    worker.on('error', (error) => {
      reason = error;
    });
    // However a thread ends, only its own task fails with it.
    worker.on('exit', (code) => {
      if (thread.worker !== worker) return;
      thread.worker = undefined;
      thread.caches = [];
      thread.returned = undefined;
      this.#fail(thread, reason ?? new Error(`A thread that reads the store ended with ${code}`));
    });
    worker.unref();
    return worker;
  }

  #ask(thread: Thread, read: Omit<WorkerRequest, 'id' | 'returned'>): Promise<ThreadResult> {
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      thread.job = { id, resolve, reject };
      try {
        thread.worker ??= this.#start(thread);
        const { returned } = thread;
        thread.returned = undefined;
        thread.worker.postMessage({ id, ...read, returned } satisfies WorkerRequest);
        thread.worker.ref();
      } catch (error) {
        // The thread could not be started, or the task could not be sent.
        this.#free(thread)?.reject(asError(error));
      }
    });
  }

  #finish(thread: Thread, worker: Worker, reply: WorkerAnswer): void {
    if (thread.job?.id !== reply.id) return;
    const job = this.#free(thread);
    if (reply.ok) job?.resolve(withBody(reply, (memory) => takeBack(thread, worker, memory)));
    else job?.reject(deserializeError(reply.error));
  }

  #fail(thread: Thread, error: unknown): void {
    this.#free(thread)?.reject(this.#closed ? platError('storeUnavailable', {}) : asError(error));
  }

  /** Frees the thread for the next task. @returns the job that it had */
  #free(thread: Thread): Job | undefined {
    const { job, worker } = thread;
    thread.job = undefined;
    worker?.unref();
    return job;
  }
}

function deserializeError(error: WorkerError): Error {
  switch (error.kind) {
    case 'damage':
      return new Damage(error.message);
    case 'record':
      return new DamagedRecord(error.record);
    case 'too-large':
      return answerTooLargeError();
    case 'other':
      return Object.assign(new Error(error.message), { errcode: error.errcode });
  }
}

/** Makes a page whose body is in the thread's memory, which is returned after the page was sent. */
function withBody(
  { result, shared }: WorkerAnswer & { ok: true },
  give: (memory: SharedArrayBuffer) => void,
): ThreadResult {
  if (shared === undefined) return result;
  const { memory, length } = shared;
  // Memory that was returned twice would be given to two pages.
  let isOut = true;
  const release = (): void => {
    if (isOut) give(memory);
    isOut = false;
  };
  const given = { body: new Uint8Array(memory, 0, length), release };
  switch (result.kind) {
    case 'page':
      return { kind: 'page', page: { ...result.page, ...given } };
    case 'blocks':
      return { kind: 'blocks', page: { ...result.page, ...given } };
    default:
      return result;
  }
}

/** One piece of memory waits for the next task; of several, the thread decides which to keep. */
function takeBack(thread: Thread, worker: Worker, memory: SharedArrayBuffer): void {
  if (thread.worker !== worker) return;
  if (thread.returned === undefined) thread.returned = memory;
  else worker.postMessage({ release: memory } satisfies WorkerMessage);
}
