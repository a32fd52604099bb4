import type { FieldValues } from '../../dictionary/index.ts';
import type { Copy } from '../copy/copy.ts';
import { FILES } from '../copy/files-wanted.ts';
import { storePage } from '../copy/store-page.ts';
import { asFailure, RequestFailure } from '../http/failure.ts';
import { fetchFile } from './fetch-file.ts';
import { endingOf, type MediaFile, type MediaFolder } from './folder.ts';

/** Listings that are looked at together, and files that are fetched at once. */
const LISTINGS = 50;
const AT_ONCE = 4;
const LARGEST_FILE = 200 * 1024 * 1024;
/** Failures of a host after which it is left alone until the next run. */
const HOST_PATIENCE = 5;
const FIRST_WAIT = 15 * 60_000;
const LONGEST_WAIT = 24 * 3_600_000;

interface Run {
  readonly copy: Copy;
  readonly folder: MediaFolder;
  readonly failuresOfHost: Map<string, number>;
}

/** Media of one listing whose file is to be fetched. */
interface Job {
  readonly mediaKey: string;
  readonly listingKey: string;
  readonly url: string;
  readonly version: string;
  readonly failures: number;
}

/**
 * Brings the files of the media records: of listings that are new or changed, and away with those of listings that are
 * gone. A file that cannot be fetched is tried again later, and nothing waits for it.
 */
export async function fetchFiles(copy: Copy, folder: MediaFolder): Promise<void> {
  const { name, store, tell, signal } = copy;
  await wantAll(copy);
  const total = await store.ledger.wantedCount(name, 'Property', FILES);
  if (total === 0) return;
  tell({ kind: 'step', resource: 'Media', step: 'media', state: 'begun' });
  const run: Run = { copy, folder, failuresOfHost: new Map() };
  let done = 0;
  for (let after = ''; ; ) {
    const keys = await store.ledger.wanted(name, 'Property', FILES, after, LISTINGS);
    const last = keys.at(-1);
    if (last === undefined) break;
    after = last;
    const whole: string[] = [];
    const jobs: Job[] = [];
    for (const key of keys) {
      const due = await reconcile(run, key);
      jobs.push(...due.jobs);
      if (due.jobs.length === 0 && due.waiting === 0) whole.push(key);
    }
    const failed = new Set(await fetchAll(run, jobs));
    const waiting = new Set(jobs.map(({ listingKey }) => listingKey));
    whole.push(...[...waiting].filter((key) => !failed.has(key)));
    await copy.book.commit({ got: [{ resource: 'Property', keys: whole, why: FILES }] });
    done += keys.length;
    tell({ kind: 'page', resource: 'Media', step: 'media', rows: keys.length, done, total });
    if (signal.aborted) throw new RequestFailure('stopped', 'It was told to stop');
  }
  tell({ kind: 'step', resource: 'Media', step: 'media', state: 'done' });
}

/** When files are wanted for the first time, they are wanted of every listing that is stored already. */
async function wantAll({ book, name, store }: Copy): Promise<void> {
  if (book.get('media') === FILES) return;
  for (let after = ''; ; ) {
    const keys = await store.ledger.storedKeys(name, 'Property', after, 1000);
    const last = keys.at(-1);
    if (last === undefined) break;
    after = last;
    await book.commit({ want: [{ resource: 'Property', keys, why: FILES }] });
  }
  await book.commit({ state: { media: FILES } });
}

/** Compares a listing's media with the files that are here, and lets go of those that belong to none. */
async function reconcile(
  { copy, folder }: Run,
  listingKey: string,
): Promise<{ jobs: Job[]; waiting: number }> {
  const records = await copy.store.contents('Media', { parent: listingKey, parentResource: 'Property' });
  const known = folder.ofListing(listingKey);
  const jobs: Job[] = [];
  let waiting = 0;
  for (const record of records) {
    const { MediaKey: mediaKey, MediaURL: url } = record;
    if (typeof mediaKey !== 'string' || typeof url !== 'string' || url === '') continue;
    const file = known.get(mediaKey);
    known.delete(mediaKey);
    const version = versionOf(record);
    if (file?.version === version && (await folder.has(file))) continue;
    if (file !== undefined && file.notBefore > copy.environment.clock.now()) waiting++;
    else jobs.push({ mediaKey, listingKey, url, version, failures: file?.failures ?? 0 });
  }
  for (const mediaKey of known.keys()) await folder.forget(mediaKey);
  return { jobs, waiting };
}

/** What tells one version of a file from the next: an address without its signature does, where no stamp is given. */
function versionOf({ MediaURL, MediaModificationTimestamp, ModificationTimestamp }: FieldValues): string {
  const stamp = MediaModificationTimestamp ?? ModificationTimestamp;
  if (typeof stamp === 'string') return stamp;
  return String(MediaURL).replace(/[?#].*$/, '');
}

/** @returns the listings of which a file is missing still */
async function fetchAll(run: Run, jobs: readonly Job[]): Promise<string[]> {
  const waiting = [...jobs];
  const failed: string[] = [];
  const work = async (): Promise<void> => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      if (!(await fetchOne(run, job))) failed.push(job.listingKey);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failed;
}

async function fetchOne(run: Run, job: Job): Promise<boolean> {
  const { copy, folder, failuresOfHost } = run;
  const { mediaKey, listingKey, version } = job;
  const host = URL.canParse(job.url) ? new URL(job.url).host : job.url;
  try {
    if ((failuresOfHost.get(host) ?? 0) >= HOST_PATIENCE) {
      throw new RequestFailure('transient', `${host} failed ${HOST_PATIENCE} times`);
    }
    const { body, type } = await open(run, job);
    const kept = await folder.keep(body, endingOf(type), LARGEST_FILE);
    await folder.note({ mediaKey, listingKey, version, ...kept, type, failures: 0, notBefore: 0 });
    // Another record may have let go of the same content meanwhile.
    if (!(await folder.has({ ...kept, type }))) throw new Error('The file was taken away again');
    failuresOfHost.delete(host);
    copy.tell({ kind: 'media', key: mediaKey, state: 'stored' });
    return true;
  } catch (error) {
    const failure = asFailure(error);
    if (copy.signal.aborted) throw failure;
    if (failure.status === undefined) failuresOfHost.set(host, (failuresOfHost.get(host) ?? 0) + 1);
    await noteFailure(run, job, failure.message);
    copy.tell({ kind: 'media', key: mediaKey, state: 'failed', reason: failure.message });
    return false;
  }
}

/** The file of a job; an address that has expired is asked for anew, with its listing. */
async function open({ copy }: Run, job: Job): Promise<{ body: AsyncIterable<Uint8Array>; type: string }> {
  const { environment, feed, signal, store } = copy;
  try {
    return await fetchFile(environment, job.url, signal);
  } catch (error) {
    const failure = asFailure(error);
    const hasExpired = failure.status !== undefined && failure.status >= 400 && failure.status < 500;
    if (!hasExpired || failure.status === 429) throw failure;
    await copy.book.inTurn('Property', async () =>
      storePage(copy, await feed.some('Property', [job.listingKey]), () => ({})),
    );
    const [record] = await store.contents('Media', { key: job.mediaKey });
    const url = record?.MediaURL;
    if (typeof url !== 'string' || url === job.url) throw failure;
    return fetchFile(environment, url, signal);
  }
}

async function noteFailure({ copy, folder }: Run, job: Job, reason: string): Promise<void> {
  const failures = job.failures + 1;
  const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (failures - 1));
  const before: MediaFile | undefined = folder.ofListing(job.listingKey).get(job.mediaKey);
  await folder.note({
    mediaKey: job.mediaKey,
    listingKey: job.listingKey,
    // The file of the version before is kept until there is a new one.
    ...(before?.sha256 === undefined ? {} : before),
    version: before?.sha256 === undefined ? job.version : before.version,
    failures,
    notBefore: copy.environment.clock.now() + wait,
    reason,
  });
}
