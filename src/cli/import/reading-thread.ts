/**
 * Parses the texts of records: those of a small import on the calling thread, and most of a larger import on another thread, while
 * the calling thread stores earlier records. This module knows nothing about files.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { StoreModel } from '../../compile/model.ts';
import { failedError } from '../../errors/index.ts';
import { workerModuleUrl } from '../../shared/worker-module.ts';
import { type ReadingOptions, type ReadRecords, readRecordTexts } from './read-records.ts';
import type { ReadingRequest } from './reading-worker.ts';
import type { RawRecord } from './record-json.ts';
import { type SentBytes, unpackRecords } from './record-transfer.ts';

/** When another thread is worthwhile. Without a second processor, it never is. */
const WORTH = {
  /** The number of characters that the calling thread parses first. Starting a thread takes as long as parsing 3,000 listings. */
  characters: availableParallelism() > 1 ? 8 << 20 : Number.POSITIVE_INFINITY,
  /**
   * The minimum mean size of a record or child, in characters. Transferring a Media record of 500 characters takes as long as
   * parsing it.
   */
  each: 1000,
};

/** The maximum number of records and characters in a group. Both threads hold a group in memory while it is transferred. */
export const GROUP_LIMITS = { records: 40, characters: 1 << 20 };

/** The maximum number of groups in progress, about as many as are parsed while the calling thread stores a batch. */
const GROUPS = 50;

/**
 * The size of V8's young generation in the thread, in megabytes. Objects live only as long as a group, and V8's default is several
 * times as large.
 */
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
  /** How much the calling thread has parsed. */
  readonly #here = { characters: 0, records: 0 };
  #worker: Worker | undefined;
  /** The model that was last sent to the thread. */
  #model: StoreModel | undefined;
  /** The open requests, in the order in which the thread replies to them. */
  readonly #waiting: Waiting[] = [];
  #failure: Error | undefined;

  /** Tests override when the thread starts, and which module it runs. */
  constructor(options: ReadingOptions, { worth = WORTH, module = WORKER } = {}) {
    this.#options = options;
    this.#worth = worth;
    this.#module = module;
  }

  /** The maximum number of groups in progress; 0 while the calling thread itself parses. */
  get groupsAhead(): number {
    return this.#worker === undefined ? 0 : GROUPS;
  }

  /**
   * Begins to parse the texts of records.
   * @param resource the name of their resource
   * @returns a function that returns the result. Until it is called, the result of a thread takes no memory on the heap of V8. It
   * throws PlatError `failed` if the thread has ended
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
      this.#fail(failedError(`The thread that reads records ended with code ${code}.`));
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

  /** What has to be sent to the thread if it does not have the model yet. */
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
