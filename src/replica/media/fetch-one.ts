import { storePage } from '../copy/store-page.ts';
import { RequestFailure } from '../http/failure.ts';
import { inHalves } from '../source/pages.ts';
import { endingOf } from './ending.ts';
import { fetchFile } from './fetch-file.ts';
import { end, type FileRun, giveUp, hostOf, type Job, putOff, versionOf } from './file-run.ts';

/** Bytes. */
const LARGEST_FILE = 200 * 1024 * 1024;
/** Listings that are asked for anew together. */
const LISTINGS = 50;

/**
 * Brings one file.
 * @throws what is wrong here, not with the file or its host: the disk, the store, the lease
 */
export async function fetchOne(run: FileRun, host: string, job: Job): Promise<void> {
  const { copy, folder, hosts, signal, expired } = run;
  const { clock } = copy.environment;
  const begun = clock.now();
  const wish = {
    address: job.url,
    signal,
    egress: copy.filesEgress ?? ('public' as const),
    largest: LARGEST_FILE,
  };
  try {
    const file = await fetchFile(copy.environment, wish, async (content, type) => ({
      ...(await folder.keep(content, endingOf(type), LARGEST_FILE)),
      type,
    }));
    const { mediaKey, listingKey, version } = job;
    folder.note({ mediaKey, listingKey, version, ...file, failures: 0, notBefore: 0 });
    hosts.delivered(host, clock.now() - begun);
    // Another record may have let go of the same content meanwhile.
    if (!(await folder.has(file))) {
      giveUp(run, job, new RequestFailure('transient', 'The file was taken away again'));
      return;
    }
    copy.report({ kind: 'media', key: mediaKey, state: 'stored' });
    end(run, job);
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof RequestFailure)) throw error;
    const now = clock.now();
    if (error.kind !== 'transient') hosts.answered(host);
    else {
      const { retryAfter } = error;
      for (const left of hosts.failed(host, { now, took: now - begun, retryAfter })) putOff(run, left);
    }
    if (!job.isRenewed && mayHaveExpired(error)) expired.push({ job, failure: error });
    else giveUp(run, job, error);
  }
}

const mayHaveExpired = ({ kind, status = 0 }: RequestFailure): boolean =>
  kind !== 'transient' && status >= 400 && status < 500;

/** Asks for listings anew whose addresses may have expired, many at once, and puts their files in line again. */
export async function renew(run: FileRun): Promise<void> {
  const { copy, expired, renewed, signal } = run;
  const keys = [...new Set(expired.map(({ job }) => job.listingKey))].slice(0, LISTINGS);
  const chosen = new Set(keys);
  const mine = expired.filter(({ job }) => chosen.has(job.listingKey));
  expired.splice(0, expired.length, ...expired.filter(({ job }) => !chosen.has(job.listingKey)));
  const unasked = keys.filter((key) => !renewed.has(key));
  try {
    if (unasked.length > 0) {
      await copy.checkpoint.inTurn('Property', async () =>
        storePage(
          copy,
          await inHalves('Property', unasked, (keys) => copy.feed.some('Property', keys)),
          () => ({}),
        ),
      );
    }
    for (const key of unasked) renewed.add(key);
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof RequestFailure)) throw error;
    // The source will be heard of by the next update; here it only means that there is no newer address.
  }
  for (const { job, failure } of mine) {
    const [record] = await copy.store.contents('Media', { key: job.mediaKey });
    const url = record?.MediaURL;
    if (record === undefined || typeof url !== 'string' || url === job.url) giveUp(run, job, failure);
    else line(run, { ...job, url, version: versionOf(record), isRenewed: true });
  }
}

/** Puts a file in line, unless its host is left alone. */
export function line(run: FileRun, job: Job): void {
  const host = hostOf(job.url);
  if (run.hosts.isGivenUp(host)) putOff(run, job);
  else run.hosts.add(host, job);
}
