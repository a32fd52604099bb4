import type { FieldValues } from '../../dictionary/index.ts';
import type { Copy } from '../copy/copy.ts';
import { FILES } from '../copy/pending-fetches.ts';
import type { RequestFailure } from '../http/failure.ts';
import type { MediaFile, MediaFolder } from './folder.ts';
import type { HostLines } from './hosts.ts';

export const FIRST_WAIT = 15 * 60_000;
export const LONGEST_WAIT = 24 * 3_600_000;

/** Media of one listing whose file is to be fetched. */
export interface Job {
  readonly mediaKey: string;
  readonly listingKey: string;
  readonly url: string;
  readonly version: string;
  readonly failures: number;
  /** Whether the address is as new as the source can give it. */
  readonly isRenewed: boolean;
}

/** One round of fetching files. */
export interface FileRun {
  readonly copy: Copy;
  readonly folder: MediaFolder;
  readonly hosts: HostLines<Job>;
  /** Comes when the copy is to stop, or the round cannot go on. */
  readonly signal: AbortSignal;
  /** Files whose address may have expired, with what their host said. */
  readonly expired: { readonly job: Job; readonly failure: RequestFailure }[];
  /** Listings that were asked for anew in this round, of those with files to come. */
  readonly renewed: Set<string>;
  /** How many files of a listing are still to come. */
  readonly left: Map<string, number>;
  /** Listings of which none is left. */
  readonly finished: string[];
}

export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '');

/** What tells one version of a file from the next: an address without its signature does, where no stamp is given. */
export function versionOf({
  MediaURL,
  MediaModificationTimestamp,
  ModificationTimestamp,
}: FieldValues): string {
  const stamp = MediaModificationTimestamp ?? ModificationTimestamp;
  if (typeof stamp === 'string') return stamp;
  return String(MediaURL).replace(/[?#].*$/, '');
}

/**
 * Compares the media of listings with the files that are here, lets go of those that belong to none, and notes the
 * listings that have all of theirs. Nothing is stored meanwhile, so no change between the look and the note is lost.
 * @returns the files that are still to come
 */
export async function reconcile({ copy, folder }: FileRun, keys: readonly string[]): Promise<Job[]> {
  return copy.checkpoint.alone(async (commit) => {
    const jobs: Job[] = [];
    const whole: string[] = [];
    for (const key of keys) {
      const missing = await missingOf(copy, folder, key);
      jobs.push(...missing.jobs);
      if (missing.jobs.length === 0 && missing.waiting === 0) whole.push(key);
    }
    if (whole.length > 0) folder.sync();
    await commit({ got: [{ resource: 'Property', keys: whole, why: FILES }] });
    return jobs;
  });
}

async function missingOf(
  copy: Copy,
  folder: MediaFolder,
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
    if (file !== undefined && hasToWait(file, version, copy.environment.clock.now())) waiting++;
    else jobs.push({ mediaKey, listingKey, url, version, failures: file?.failures ?? 0, isRenewed: false });
  }
  for (const mediaKey of known.keys()) folder.forget(mediaKey);
  return { jobs, waiting };
}

/**
 * After a failure, unless that was another version's. A file that is here keeps its own, so it tells nothing of that.
 * What lies further off than any wait was noted by a clock that has been set back since.
 */
const hasToWait = (
  { notBefore, sha256, version: failed }: MediaFile,
  version: string,
  now: number,
): boolean =>
  notBefore > now && notBefore - now <= LONGEST_WAIT && (sha256 !== undefined || failed === version);

/** A file is here, or given up for now. */
export function end({ left, finished, renewed }: FileRun, { listingKey }: Job): void {
  const still = (left.get(listingKey) ?? 1) - 1;
  if (still > 0) {
    left.set(listingKey, still);
    return;
  }
  left.delete(listingKey);
  renewed.delete(listingKey);
  finished.push(listingKey);
}

/** The file failed by itself: it is tried again after a wait that grows. */
export function giveUp(run: FileRun, job: Job, { kind, message }: RequestFailure): void {
  const failures = job.failures + 1;
  // What is too large once is so the next time, and only read to find that out.
  const wait = kind === 'too-large' ? LONGEST_WAIT : Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (failures - 1));
  note(run, job, failures, wait, message);
}

/** Nobody asked for the file: its host is left alone. */
export function putOff(run: FileRun, job: Job): void {
  const host = hostOf(job.url);
  note(run, job, job.failures, FIRST_WAIT, `${host} failed ${run.hosts.failuresOf(host)} times`);
}

function note(run: FileRun, job: Job, failures: number, wait: number, reason: string): void {
  const { copy, folder } = run;
  const { mediaKey, listingKey } = job;
  const before: MediaFile | undefined = folder.ofListing(listingKey).get(mediaKey);
  // Hosts write what they like, also what a terminal would obey.
  const plain = reason.replace(/\p{Cc}+/gu, ' ');
  folder.note({
    mediaKey,
    listingKey,
    // The file of the version before is kept until there is a new one.
    ...(before?.sha256 === undefined ? {} : before),
    version: before?.sha256 === undefined ? job.version : before.version,
    failures,
    notBefore: copy.environment.clock.now() + wait,
    reason: plain,
  });
  copy.report({ kind: 'media', key: mediaKey, state: 'failed', reason: plain });
  end(run, job);
}
