/**
 * Checkpoints the write-ahead log of a file on a thread of its own while the calling thread prepares and writes the next
 * transaction. Otherwise the commits of an import copy every page into the file themselves, and wait for the disk twice as
 * often. This module knows nothing of what is written.
 */
import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';

/** Bounds of the log. */
const LOG = {
  /** The size in bytes from which a thread is worth its start. */
  worth: 32 << 20,
  /** The most pages that the log may hold when a transaction begins. A log begins anew only while no page is left in it. */
  pages: 4000,
};

/** The pages after which a commit checkpoints by itself: SQLite's own default, and never. */
const BY_ITSELF = { usually: 1000, never: 0 };

// The extension differs between the sources, which Node runs directly, and the published build.
const ENDING = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const WORKER = new URL(`./checkpoint-worker.${ENDING}`, import.meta.url);

export class Checkpointer implements AsyncDisposable {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #log: typeof LOG;
  readonly #module: URL;
  #worker: Worker | undefined;
  /** The checkpoint that the thread was asked for. */
  #running: PromiseWithResolvers<void> | undefined;
  /** Whether there was a commit since. */
  #isBehind = false;
  /** The pages that the log had at the last checkpoint; too many until the thread has started. */
  #pages = Number.POSITIVE_INFINITY;
  #hasEnded = false;

  /**
   * Tests set the bounds of the log, and what the thread runs.
   * @param database the connection that writes
   */
  constructor(database: DatabaseSync, path: string, { log = LOG, module = WORKER } = {}) {
    this.#database = database;
    this.#path = path;
    this.#log = log;
    this.#module = module;
  }

  /** Called after a commit: begins to copy its pages, or continues with them. */
  committed(): void {
    if (this.#hasEnded) return;
    if (this.#worker === undefined && this.#size() >= this.#log.worth) this.#worker = this.#start();
    if (this.#running === undefined) this.#ask();
    else this.#isBehind = true;
  }

  /**
   * Called before a transaction. Without a pause of the writer, the log would grow forever: when it has become too long, the
   * transaction waits until all of it has been copied, unless a reader still needs it.
   */
  async ready(): Promise<void> {
    if (this.#pages > this.#log.pages) while (this.#running !== undefined) await this.#running.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#hasEnded = true;
    await this.#worker?.terminate();
  }

  #size(): number {
    return statSync(`${this.#path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  }

  #start(): Worker {
    const worker = new Worker(this.#module, {
      workerData: this.#path,
      resourceLimits: { maxYoungGenerationSizeMb: 1 },
    });
    worker.on('message', (pages: number) => this.#done(pages));
    worker.on('error', () => undefined); // followed by `exit`
    worker.on('exit', () => {
      // Whoever writes checkpoints again, and reports what is wrong.
      if (!this.#hasEnded) this.#checkpointAfter(BY_ITSELF.usually);
      this.#hasEnded = true;
      this.#worker = undefined;
      this.#isBehind = false;
      this.#done(0);
    });
    this.#checkpointAfter(BY_ITSELF.never);
    return worker;
  }

  #ask(): void {
    if (this.#worker === undefined) return;
    this.#running = Promise.withResolvers();
    this.#isBehind = false;
    this.#worker.postMessage(undefined);
  }

  #done(pages: number): void {
    const running = this.#running;
    this.#running = undefined;
    this.#pages = pages;
    if (this.#isBehind) this.#ask();
    running?.resolve();
  }

  #checkpointAfter(pages: number): void {
    this.#database.exec(`PRAGMA wal_autocheckpoint = ${pages}`);
  }
}
