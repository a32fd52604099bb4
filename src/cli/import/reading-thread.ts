/**
 * Reads the texts of records: those of a small import on the calling thread, and most of a larger one on another thread,
 * while the calling thread stores earlier ones. This module knows nothing of files.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { StoreModel } from '../../compile/model.ts';
import { platError } from '../../errors/index.ts';
import { workerModuleUrl } from '../../shared/module-beside.ts';
import { type ReadingOptions, type ReadRecords, readRecordTexts } from './read-records.ts';
import type { ReadingRequest } from './reading-worker.ts';
import type { RawRecord } from './record-json.ts';
import { type SentBytes, unpackRecords } from './sent-records.ts';

/** When a thread is worth its work; without a second processor it never is. */
const WORTH = {
  /** Characters that are read on the calling thread first. The start of a thread takes as long as reading 3,000 listings. */
  characters: availableParallelism() > 1 ? 8 << 20 : Number.POSITIVE_INFINITY,
  /** The mean of a record or child. It takes as long to send a medium of 500 characters as to read it. */
  each: 1000,
};

/** The most records and characters that are read at once; what is sent is in memory twice. */
export const GROUP_LIMITS = { records: 40, characters: 1 << 20 };

/** The number of groups of records that may be on their way: as many are read while the calling thread stores a batch. */
const GROUPS = 25;

/** Megabytes for young objects of the thread, which last as long as a group. V8 takes several times as much by default. */
const YOUNG_MEGABYTES = 16;

const WORKER = workerModuleUrl(import.meta.url, 'reading-worker');

interface Waiting {
  readonly resolve: (sent: SentBytes) => void;
  readonly reject: (error: Error) => void;
}

export class ReadingThread implements AsyncDisposable {
  readonly #options: ReadingOptions;
  readonly #worth: typeof WORTH;
  readonly #module: URL;
  /** What the calling thread has read. */
  readonly #here = { characters: 0, records: 0 };
  #worker: Worker | undefined;
  /** The model that the thread has. */
  #model: StoreModel | undefined;
  /** In the order of their requests, in which the thread replies. */
  readonly #waiting: Waiting[] = [];
  #failure: Error | undefined;

  /** Tests set when the thread starts, and what it runs. */
  constructor(options: ReadingOptions, { worth = WORTH, module = WORKER } = {}) {
    this.#options = options;
    this.#worth = worth;
    this.#module = module;
  }

  /** The number of groups of records that may be on their way; 0 while the calling thread reads. */
  get groupsAhead(): number {
    return this.#worker === undefined ? 0 : GROUPS;
  }

  /**
   * Begins to read the texts of some records.
   * @param resource the name of their resource
   * @returns a function that gives what was read. Until then, what a thread has read takes no memory of V8
   * @throws PlatError `failed`, by the function, if the thread has ended
   */
  read(model: StoreModel, resource: string, raws: readonly RawRecord[]): () => Promise<ReadRecords> {
    if (this.#worker === undefined) {
      const read = readRecordTexts(raws, resource, model, this.#options);
      this.#count(raws, read);
      const { characters, records } = this.#here;
      const { characters: first, each } = this.#worth;
      if (characters > first && characters > each * records) this.#worker = this.#start();
      return async () => read;
    }
    const sent = this.#ask(this.#worker, { resource, raws, ...this.#news(model) });
    sent.catch(() => undefined); // the function below throws it
    return async () => unpackRecords(await sent, resource, model.resource);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker?.terminate();
  }

  #count(raws: readonly RawRecord[], { results }: ReadRecords): void {
    const here = this.#here;
    for (const { text } of raws) here.characters += text.length;
    here.records += raws.length;
    for (const each of results) {
      if (typeof each !== 'string') for (const list of each.children.values()) here.records += list.length;
    }
  }

  #start(): Worker {
    const worker = new Worker(this.#module, {
      workerData: this.#options,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
    });
    worker.on('message', (sent: SentBytes) => this.#waiting.shift()?.resolve(sent));
    worker.on('error', (error) => this.#fail(error instanceof Error ? error : new Error(String(error))));
    worker.on('exit', (code) => {
      this.#fail(platError('failed', { reason: `The thread that reads records ended with code ${code}.` }));
    });
    return worker;
  }

  #ask(worker: Worker, request: ReadingRequest): Promise<SentBytes> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      worker.postMessage(request);
    });
  }

  /** What the thread must know of a model that it does not have. */
  #news(model: StoreModel): Pick<ReadingRequest, 'model'> {
    const before = this.#model;
    if (before?.generation === model.generation && before.settings === model.settings) return {};
    this.#model = model;
    const { generation, epoch, settings, profile, day: today, visibilityDay: day } = model;
    const source = { generation, epoch, profile, day, today };
    return { model: settings === before?.settings ? source : { ...source, settings } };
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
  }
}
