/**
 * Fetches the files of the media records of new and changed listings, and deletes the files of deleted listings. A file that cannot
 * be fetched is tried again later, and delays neither other files nor other hosts.
 */
import type { Clock } from '../../shared/clock.ts';
import type { Copy } from '../copy/copy.ts';
import { FILES, makeStoredPending } from '../copy/pending-fetches.ts';
import { storePage } from '../copy/store-page.ts';
import { RequestFailure, stopped } from '../http/failure.ts';
import { fetchRecords } from '../source/pages.ts';
import { extensionOf, fetchFile } from './fetch-file.ts';
import { HostQueues } from './host-queues.ts';
import { folderFailure, type MediaFolder } from './media-folder.ts';
import { type FileJob, LONGEST_WAIT, missingFiles, versionOf } from './missing-files.ts';

/**
 * The number of listings that are examined or requested again together; the maximum number of queued files, and of concurrent
 * fetches.
 */
const LISTINGS = 50;
const QUEUED = 2000;
const AT_ONCE = 16;
/** The maximum size of a file, in bytes. */
const LARGEST_FILE = 200 * 1024 * 1024;
/** Milliseconds until a failed file is tried again after its first failure. */
const FIRST_WAIT = 15 * 60_000;

/**
 * Fetches all pending files.
 * @throws RequestFailure `stopped`, after all fetched files have been recorded; `transient` if the folder cannot be written
 */
export async function fetchFiles(copy: Copy, folder: MediaFolder): Promise<void> {
  const { checkpoint, name, report, signal, store } = copy;
  // The first time, the files of all stored listings become pending.
  if (checkpoint.get('media') !== FILES) {
    await makeStoredPending(copy, 'Property', [FILES]);
    await checkpoint.commit({ state: { media: FILES } });
  }
  const total = await store.checkpoints.pendingCount(name, 'Property', FILES);
  if (total === 0) return;
  const step = { kind: 'step', resource: 'Media', step: 'media' } as const;
  report({ ...step, state: 'begun' });
  // The files of the first listing may take a while.
  report({ ...step, kind: 'page', rows: 0, done: 0, total });
  try {
    await new FileRound(copy, folder, total).run();
  } catch (error) {
    // A full disk ends this round, but not the watch, which tries again later.
    throw folderFailure(folder.path, error);
  }
  if (signal.aborted) throw stopped();
  report({ ...step, state: 'done' });
}

/** Fetches what is pending in one round. */
class FileRound {
  readonly #copy: Copy;
  readonly #folder: MediaFolder;
  readonly #clock: Clock;
  /** The number of listings with pending files. */
  readonly #total: number;
  readonly #hosts = new HostQueues<FileJob>();
  readonly #stop = new AbortController();
  /** Aborted when the copy stops, or when this round cannot continue. */
  readonly #ending: AbortSignal;
  readonly #busy = new Set<Promise<void>>();
  /** Files whose URL may have expired, with the failure. */
  #expired: { readonly job: FileJob; readonly failure: RequestFailure }[] = [];
  /** The listings with pending files that this round has requested again. */
  readonly #renewed = new Set<string>();
  /** Whether listings are being requested again. There is one such request at a time; meanwhile, further listings accumulate. */
  #isRenewing = false;
  /** The number of pending files of each listing. */
  readonly #left = new Map<string, number>();
  /** The listings whose files have all been processed. */
  readonly #finished: string[] = [];
  #done = 0;
  /** Why the round cannot continue. */
  #broken: { readonly error: unknown } | undefined;

  constructor(copy: Copy, folder: MediaFolder, total: number) {
    this.#copy = copy;
    this.#folder = folder;
    this.#clock = copy.environment.clock;
    this.#total = total;
    this.#ending = AbortSignal.any([copy.signal, this.#stop.signal]);
  }

  async run(): Promise<void> {
    await this.#walk().finally(async () => {
      // The caller closes the folder, so no fetch may still be running.
      this.#stop.abort();
      await Promise.allSettled(this.#busy);
    });
    await this.#recordFinished();
  }

  /** Examines the listings in the order of their keys, and fetches files at the same time. */
  async #walk(): Promise<void> {
    const { name, signal, store } = this.#copy;
    let after = '';
    let isThrough = false;
    while (!signal.aborted) {
      if (!isThrough && this.#hosts.waiting < QUEUED) {
        const keys = await store.checkpoints.pending(name, 'Property', FILES, after, LISTINGS);
        after = keys.at(-1) ?? after;
        isThrough = keys.length === 0;
        await this.#examine(keys);
      }
      if (this.#finished.length >= LISTINGS) await this.#recordFinished();
      // Nothing is awaited between this call and `#nextEnd` below, so what is still queued there waits for a running task or for
      // time to pass.
      this.#startFetches();
      if (this.#broken !== undefined) throw this.#broken.error;
      if (!isThrough && this.#hosts.waiting < QUEUED) continue;
      if (this.#busy.size === 0 && this.#hosts.waiting === 0 && this.#expired.length === 0) return;
      await this.#nextEnd();
    }
  }

  async #examine(keys: readonly string[]): Promise<void> {
    const jobs = await this.#reconcile(keys);
    for (const { listingKey } of jobs) this.#left.set(listingKey, (this.#left.get(listingKey) ?? 0) + 1);
    this.#progress(keys.filter((key) => !this.#left.has(key)).length);
    for (const job of jobs) this.#queue(job);
  }

  /** Starts the queued fetches for which there are free slots. */
  #startFetches(): void {
    while (this.#hosts.running < AT_ONCE) {
      const taken = this.#hosts.take(this.#clock.now());
      if (taken === undefined) break;
      this.#keepBusy(this.#fetch(taken.host, taken.job));
    }
    if (this.#isRenewing || this.#expired.length === 0) return;
    this.#isRenewing = true;
    this.#keepBusy(
      this.#renew().finally(() => {
        this.#isRenewing = false;
      }),
    );
  }

  #keepBusy(task: Promise<void>): void {
    const own: Promise<void> = task
      .catch((error: unknown) => {
        this.#broken ??= { error };
      })
      .finally(() => this.#busy.delete(own));
    this.#busy.add(own);
  }

  /** Waits until a task ends, or a host may be requested again. */
  async #nextEnd(): Promise<void> {
    const awake = new AbortController();
    const wait = this.#hosts.running < AT_ONCE ? this.#hosts.readyIn(this.#clock.now()) : undefined;
    const signal = AbortSignal.any([this.#copy.signal, awake.signal]);
    await Promise.race([...this.#busy, ...(wait === undefined ? [] : [this.#clock.sleep(wait, signal)])]);
    awake.abort();
  }

  /** Records the listings whose files are complete; the others stay pending. */
  async #recordFinished(): Promise<void> {
    const keys = this.#finished.splice(0);
    if (keys.length === 0) return;
    await this.#reconcile(keys);
    this.#progress(keys.length);
  }

  #progress(rows: number): void {
    this.#done += rows;
    const page = { kind: 'page', resource: 'Media', step: 'media' } as const;
    if (rows > 0) this.#copy.report({ ...page, rows, done: this.#done, total: this.#total });
  }

  /**
   * Compares the media of listings with the files in the folder, deletes files without a record, and records the listings whose
   * files are complete. Nothing else is committed during this, so that no change between the comparison and the commit is lost.
   * @returns the files that are pending
   */
  async #reconcile(keys: readonly string[]): Promise<FileJob[]> {
    return this.#copy.checkpoint.runExclusively(async (commit) => {
      const jobs: FileJob[] = [];
      const whole: string[] = [];
      for (const key of keys) {
        const missing = await missingFiles(this.#copy.store, this.#folder, key, this.#clock.now());
        jobs.push(...missing.jobs);
        if (missing.jobs.length === 0 && missing.waiting === 0) whole.push(key);
      }
      if (whole.length > 0) this.#folder.sync();
      await commit({ got: [{ resource: 'Property', keys: whole, why: FILES }] });
      return jobs;
    });
  }

  /** Queues a file, unless its host has been given up. */
  #queue(job: FileJob): void {
    const host = hostOf(job.url);
    if (this.#hosts.isGivenUp(host)) this.#putOff(job);
    else this.#hosts.add(host, job);
  }

  /**
   * Fetches one file.
   * @throws errors of the disk, the store or the lease, but not those of the file or its host
   */
  async #fetch(host: string, job: FileJob): Promise<void> {
    const begun = this.#clock.now();
    const { url: address, isImage } = job;
    const { environment, filesEgress: egress = 'public' } = this.#copy;
    const from = { address, signal: this.#ending, egress, largest: LARGEST_FILE, isImage };
    try {
      const file = await fetchFile(environment, from, async (content, type) => ({
        ...(await this.#folder.keep(content, extensionOf(type), LARGEST_FILE)),
        type,
      }));
      const { mediaKey, listingKey, version } = job;
      this.#folder.recordFile({ mediaKey, listingKey, version, ...file, failures: 0, notBefore: 0 });
      this.#hosts.recordDelivery(host, this.#clock.now() - begun);
      // The last other record with the same content may have been deleted in the meantime, and the content with it.
      if (!(await this.#folder.has(file))) {
        this.#giveUp(job, new RequestFailure('transient', 'The file was deleted again'));
        return;
      }
      this.#copy.report({ kind: 'media', key: mediaKey, state: 'stored' });
      this.#finish(job);
    } catch (error) {
      if (this.#ending.aborted) return;
      if (!(error instanceof RequestFailure)) throw error;
      const { kind, retryAfter, status = 0 } = error;
      const now = this.#clock.now();
      if (kind !== 'transient') this.#hosts.recordResponse(host);
      else {
        const dropped = this.#hosts.recordFailure(host, { now, took: now - begun, retryAfter });
        for (const each of dropped) this.#putOff(each);
      }
      const mayHaveExpired = kind !== 'transient' && status >= 400 && status < 500;
      if (!job.isRenewed && mayHaveExpired) this.#expired.push({ job, failure: error });
      else this.#giveUp(job, error);
    }
  }

  /** Requests the listings whose URLs may have expired again, many at once, and queues their files again. */
  async #renew(): Promise<void> {
    const keys = [...new Set(this.#expired.map(({ job }) => job.listingKey))].slice(0, LISTINGS);
    const mine = this.#expired.filter(({ job }) => keys.includes(job.listingKey));
    this.#expired = this.#expired.filter((each) => !mine.includes(each));
    const unasked = keys.filter((key) => !this.#renewed.has(key));
    try {
      if (unasked.length > 0) {
        await this.#copy.checkpoint.fetchInTurn('Property', async () => {
          const page = await fetchRecords(this.#copy.feed, 'Property', unasked);
          return storePage(this.#copy, page, () => ({}));
        });
      }
      for (const key of unasked) this.#renewed.add(key);
    } catch (error) {
      if (this.#ending.aborted) return;
      if (!(error instanceof RequestFailure)) throw error;
      // The next update reports the failure of the source. Here, it only means that there is no newer URL.
    }
    for (const { job, failure } of mine) {
      const [record] = await this.#copy.store.contents('Media', { key: job.mediaKey });
      const url = record?.MediaURL;
      if (record === undefined || typeof url !== 'string' || url === job.url) this.#giveUp(job, failure);
      else this.#queue({ ...job, url, version: versionOf(record), isRenewed: true });
    }
  }

  /** A file has been fetched, or given up for now. */
  #finish({ listingKey }: FileJob): void {
    const still = (this.#left.get(listingKey) ?? 1) - 1;
    if (still > 0) {
      this.#left.set(listingKey, still);
      return;
    }
    this.#left.delete(listingKey);
    this.#renewed.delete(listingKey);
    this.#finished.push(listingKey);
  }

  /** Records that a file itself failed. It is tried again after a wait that grows with each failure. */
  #giveUp(job: FileJob, { kind, message }: RequestFailure): void {
    const failures = job.failures + 1;
    const growing = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (failures - 1));
    // A file that is too large will be too large again, so it is not downloaded again soon.
    this.#noteFailure(job, failures, kind === 'too-large' ? LONGEST_WAIT : growing, message);
  }

  /** Records that a file was not requested, because its host has been given up. */
  #putOff(job: FileJob): void {
    const host = hostOf(job.url);
    const reason = `${host} failed ${this.#hosts.failuresOf(host)} times`;
    this.#noteFailure(job, job.failures, FIRST_WAIT, reason);
  }

  #noteFailure(job: FileJob, failures: number, wait: number, message: string): void {
    const { mediaKey, listingKey } = job;
    // The file of the previous version is kept until there is a new one.
    const before = this.#folder.filesOfListing(listingKey).get(mediaKey);
    const kept = before?.sha256 === undefined ? { version: job.version } : before;
    // A host can send anything, including control characters that a terminal would interpret.
    const reason = message.replace(/\p{Cc}+/gu, ' ');
    const notBefore = this.#clock.now() + wait;
    this.#folder.recordFile({ ...kept, mediaKey, listingKey, failures, notBefore, reason });
    this.#copy.report({ kind: 'media', key: mediaKey, state: 'failed', reason });
    this.#finish(job);
  }
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '');
