/**
 * Fetches the files of the media records of new and changed listings, and deletes the files of deleted listings. A file that cannot
 * be fetched is tried again later, and delays neither other files nor other hosts.
 */
import type { FieldValues, MediaKind } from '../../dictionary/index.ts';
import { mediaKind } from '../../records/media.ts';
import type { Copy } from '../copy/copy.ts';
import { FILES, makeStoredPending } from '../copy/pending-fetches.ts';
import { storePage } from '../copy/store-page.ts';
import { RequestFailure, stopped } from '../http/failure.ts';
import { fetchRecords } from '../source/pages.ts';
import { extensionOf, fetchFile } from './fetch-file.ts';
import { HostQueues } from './host-queues.ts';
import { folderFailure, type MediaFile, type MediaFolder } from './media-folder.ts';

/**
 * The number of listings that are examined or requested again together; the maximum number of queued files, and of concurrent
 * fetches.
 */
const LISTINGS = 50;
const QUEUED = 2000;
const AT_ONCE = 16;
/** The maximum size of a file, in bytes. */
const LARGEST_FILE = 200 * 1024 * 1024;
/** Milliseconds until a failed file is tried again: after its first failure, and at most. */
const FIRST_WAIT = 15 * 60_000;
const LONGEST_WAIT = 24 * 3_600_000;

/** The kinds of media that must be images. Others, such as virtual tours, may be HTML pages. */
const IMAGES: ReadonlySet<MediaKind> = new Set(['photo', 'plan']);

/** Media of one listing whose file is to be fetched. */
interface Job {
  readonly mediaKey: string;
  readonly listingKey: string;
  readonly url: string;
  readonly version: string;
  readonly isImage: boolean;
  readonly failures: number;
  /** Whether the URL was requested from the source just now, so that no newer one exists. */
  readonly isRenewed: boolean;
}

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
    await fetchRound(copy, folder, total);
  } catch (error) {
    // A full disk ends this round, but not the watch, which tries again later.
    throw folderFailure(folder.path, error);
  }
  if (signal.aborted) throw stopped();
  report({ ...step, state: 'done' });
}

/** Fetches what is pending in one round. @param total the number of listings with pending files */
async function fetchRound(copy: Copy, folder: MediaFolder, total: number): Promise<void> {
  const { checkpoint, environment, feed, filesEgress: egress = 'public', name, report, store } = copy;
  const { clock } = environment;
  const hosts = new HostQueues<Job>();
  const stop = new AbortController();
  /** Aborted when the copy stops, or when this round cannot continue. */
  const ending = AbortSignal.any([copy.signal, stop.signal]);
  const busy = new Set<Promise<void>>();
  /** Files whose URL may have expired, with the failure. */
  const expired: { readonly job: Job; readonly failure: RequestFailure }[] = [];
  /** The listings with pending files that this round has requested again. */
  const renewed = new Set<string>();
  /** Whether listings are being requested again. There is one such request at a time; meanwhile, further listings accumulate. */
  let isRenewing = false;
  /** The number of pending files of each listing. */
  const left = new Map<string, number>();
  /** The listings whose files have all been processed. */
  const finished: string[] = [];
  let done = 0;
  /** Why the round cannot continue. */
  let broken: { readonly error: unknown } | undefined;

  await walk().finally(async () => {
    // The caller closes the folder, so no fetch may still be running.
    stop.abort();
    await Promise.allSettled(busy);
  });
  await settle();

  /** Examines the listings in the order of their keys, and fetches files at the same time. */
  async function walk(): Promise<void> {
    let after = '';
    let isThrough = false;
    while (!copy.signal.aborted) {
      if (!isThrough && hosts.waiting < QUEUED) {
        const keys = await store.checkpoints.pending(name, 'Property', FILES, after, LISTINGS);
        after = keys.at(-1) ?? after;
        isThrough = keys.length === 0;
        await look(keys);
      }
      if (finished.length >= LISTINGS) await settle();
      // Nothing is awaited between this call and `#nextEnd` below, so what is still queued there waits for a running task or for
      // time to pass.
      begin();
      if (broken !== undefined) throw broken.error;
      if (!isThrough && hosts.waiting < QUEUED) continue;
      if (busy.size === 0 && hosts.waiting === 0 && expired.length === 0) return;
      await nextEnd();
    }
  }

  async function look(keys: readonly string[]): Promise<void> {
    const jobs = await reconcile(keys);
    for (const { listingKey } of jobs) left.set(listingKey, (left.get(listingKey) ?? 0) + 1);
    progress(keys.filter((key) => !left.has(key)).length);
    for (const job of jobs) queue(job);
  }

  /** Starts the queued fetches for which there are free slots. */
  function begin(): void {
    while (hosts.running < AT_ONCE) {
      const taken = hosts.take(clock.now());
      if (taken === undefined) break;
      keepBusy(fetch(taken.host, taken.job));
    }
    if (isRenewing || expired.length === 0) return;
    isRenewing = true;
    keepBusy(
      renew().finally(() => {
        isRenewing = false;
      }),
    );
  }

  function keepBusy(task: Promise<void>): void {
    const own: Promise<void> = task
      .catch((error: unknown) => {
        broken ??= { error };
      })
      .finally(() => busy.delete(own));
    busy.add(own);
  }

  /** Waits until a task ends, or a host may be requested again. */
  async function nextEnd(): Promise<void> {
    const awake = new AbortController();
    const wait = hosts.running < AT_ONCE ? hosts.readyIn(clock.now()) : undefined;
    const signal = AbortSignal.any([copy.signal, awake.signal]);
    await Promise.race([...busy, ...(wait === undefined ? [] : [clock.sleep(wait, signal)])]);
    awake.abort();
  }

  /** Records the listings whose files are complete; the others stay pending. */
  async function settle(): Promise<void> {
    const keys = finished.splice(0);
    if (keys.length === 0) return;
    await reconcile(keys);
    progress(keys.length);
  }

  function progress(rows: number): void {
    done += rows;
    const page = { kind: 'page', resource: 'Media', step: 'media' } as const;
    if (rows > 0) report({ ...page, rows, done, total });
  }

  /**
   * Compares the media of listings with the files in the folder, deletes files without a record, and records the listings whose
   * files are complete. Nothing else is committed during this, so that no change between the comparison and the commit is lost.
   * @returns the files that are pending
   */
  async function reconcile(keys: readonly string[]): Promise<Job[]> {
    return checkpoint.runExclusively(async (commit) => {
      const jobs: Job[] = [];
      const whole: string[] = [];
      for (const key of keys) {
        const missing = await missingOf(key);
        jobs.push(...missing.jobs);
        if (missing.jobs.length === 0 && missing.waiting === 0) whole.push(key);
      }
      if (whole.length > 0) folder.sync();
      await commit({ got: [{ resource: 'Property', keys: whole, why: FILES }] });
      return jobs;
    });
  }

  async function missingOf(listingKey: string): Promise<{ jobs: Job[]; waiting: number }> {
    const records = await store.contents('Media', { parent: listingKey, parentResource: 'Property' });
    const known = folder.filesOfListing(listingKey);
    const jobs: Job[] = [];
    let waiting = 0;
    for (const record of records) {
      const { MediaKey: mediaKey, MediaURL: url } = record;
      if (typeof mediaKey !== 'string' || typeof url !== 'string' || url === '') continue;
      const file = known.get(mediaKey);
      known.delete(mediaKey);
      const version = versionOf(record);
      if (file?.version === version && (await folder.has(file))) continue;
      if (file !== undefined && hasToWait(file, version, clock.now())) waiting++;
      else {
        const { failures = 0 } = file ?? {};
        const isImage = IMAGES.has(mediaKind(record));
        jobs.push({ mediaKey, listingKey, url, version, isImage, failures, isRenewed: false });
      }
    }
    for (const mediaKey of known.keys()) folder.deleteFile(mediaKey);
    return { jobs, waiting };
  }

  /** Queues a file, unless its host has been given up. */
  function queue(job: Job): void {
    const host = hostOf(job.url);
    if (hosts.isGivenUp(host)) putOff(job);
    else hosts.add(host, job);
  }

  /**
   * Fetches one file.
   * @throws errors of the disk, the store or the lease, but not those of the file or its host
   */
  async function fetch(host: string, job: Job): Promise<void> {
    const begun = clock.now();
    const { url: address, isImage } = job;
    const from = { address, signal: ending, egress, largest: LARGEST_FILE, isImage };
    try {
      const file = await fetchFile(environment, from, async (content, type) => ({
        ...(await folder.keep(content, extensionOf(type), LARGEST_FILE)),
        type,
      }));
      const { mediaKey, listingKey, version } = job;
      folder.recordFile({ mediaKey, listingKey, version, ...file, failures: 0, notBefore: 0 });
      hosts.recordDelivery(host, clock.now() - begun);
      // The last other record with the same content may have been deleted in the meantime, and the content with it.
      if (!(await folder.has(file))) {
        giveUp(job, new RequestFailure('transient', 'The file was deleted again'));
        return;
      }
      report({ kind: 'media', key: mediaKey, state: 'stored' });
      end(job);
    } catch (error) {
      if (ending.aborted) return;
      if (!(error instanceof RequestFailure)) throw error;
      const { kind, retryAfter, status = 0 } = error;
      const now = clock.now();
      if (kind !== 'transient') hosts.recordResponse(host);
      else {
        for (const each of hosts.recordFailure(host, { now, took: now - begun, retryAfter })) putOff(each);
      }
      const mayHaveExpired = kind !== 'transient' && status >= 400 && status < 500;
      if (!job.isRenewed && mayHaveExpired) expired.push({ job, failure: error });
      else giveUp(job, error);
    }
  }

  /** Requests the listings whose URLs may have expired again, many at once, and queues their files again. */
  async function renew(): Promise<void> {
    const keys = [...new Set(expired.map(({ job }) => job.listingKey))].slice(0, LISTINGS);
    const { true: mine = [], false: others = [] } = Object.groupBy(expired, ({ job }) =>
      String(keys.includes(job.listingKey)),
    );
    expired.splice(0, expired.length, ...others);
    const unasked = keys.filter((key) => !renewed.has(key));
    try {
      if (unasked.length > 0) {
        await checkpoint.fetchInTurn('Property', async () => {
          const page = await fetchRecords(feed, 'Property', unasked);
          return storePage(copy, page, () => ({}));
        });
      }
      for (const key of unasked) renewed.add(key);
    } catch (error) {
      if (ending.aborted) return;
      if (!(error instanceof RequestFailure)) throw error;
      // The next update reports the failure of the source. Here, it only means that there is no newer URL.
    }
    for (const { job, failure } of mine) {
      const [record] = await store.contents('Media', { key: job.mediaKey });
      const url = record?.MediaURL;
      if (record === undefined || typeof url !== 'string' || url === job.url) giveUp(job, failure);
      else queue({ ...job, url, version: versionOf(record), isRenewed: true });
    }
  }

  /** A file has been fetched, or given up for now. */
  function end({ listingKey }: Job): void {
    const still = (left.get(listingKey) ?? 1) - 1;
    if (still > 0) {
      left.set(listingKey, still);
      return;
    }
    left.delete(listingKey);
    renewed.delete(listingKey);
    finished.push(listingKey);
  }

  /** Records that a file itself failed. It is tried again after a wait that grows with each failure. */
  function giveUp(job: Job, { kind, message }: RequestFailure): void {
    const failures = job.failures + 1;
    const growing = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (failures - 1));
    // A file that is too large will be too large again, so it is not downloaded again soon.
    noteFailure(job, failures, kind === 'too-large' ? LONGEST_WAIT : growing, message);
  }

  /** Records that a file was not requested, because its host has been given up. */
  function putOff(job: Job): void {
    const host = hostOf(job.url);
    const reason = `${host} failed ${hosts.failuresOf(host)} times`;
    noteFailure(job, job.failures, FIRST_WAIT, reason);
  }

  function noteFailure(job: Job, failures: number, wait: number, message: string): void {
    const { mediaKey, listingKey } = job;
    // The file of the previous version is kept until there is a new one.
    const before = folder.filesOfListing(listingKey).get(mediaKey);
    const kept = before?.sha256 === undefined ? { version: job.version } : before;
    // A host can send anything, including control characters that a terminal would interpret.
    const reason = message.replace(/\p{Cc}+/gu, ' ');
    const notBefore = clock.now() + wait;
    folder.recordFile({ ...kept, mediaKey, listingKey, failures, notBefore, reason });
    report({ kind: 'media', key: mediaKey, state: 'failed', reason });
    end(job);
  }
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '');

/** The version of a file: its timestamp, or its URL without the signature if it has none. */
function versionOf({ MediaURL, MediaModificationTimestamp, ModificationTimestamp }: FieldValues): string {
  const timestamp = MediaModificationTimestamp ?? ModificationTimestamp;
  return typeof timestamp === 'string' ? timestamp : String(MediaURL).replace(/[?#].*$/, '');
}

/**
 * Whether a file has to wait after a failure of its current version. If an older file is stored, the entry has the version of that
 * file, and does not show which version failed. A time further ahead than any wait was recorded before the clock was set back.
 */
const hasToWait = (
  { notBefore, sha256, version: failed }: MediaFile,
  version: string,
  now: number,
): boolean =>
  notBefore > now && notBefore - now <= LONGEST_WAIT && (sha256 !== undefined || failed === version);
