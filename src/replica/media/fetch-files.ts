import type { Copy } from '../copy/copy.ts';
import { FILES } from '../copy/pending-fetches.ts';
import { RequestFailure } from '../http/failure.ts';
import { fetchOne, line, renew } from './fetch-one.ts';
import { type FileRun, type Job, reconcile } from './file-run.ts';
import { folderFailure, type MediaFolder } from './folder.ts';
import { HostLines } from './hosts.ts';

/** Listings that are looked at together, files in line, and files that are fetched at once. */
const LISTINGS = 50;
const IN_LINE = 2000;
const AT_ONCE = 16;

/** What is at work in a round. */
interface Work {
  readonly run: FileRun;
  readonly busy: Set<Promise<void>>;
  /** Whether listings are asked for anew; one request at a time, while others gather. */
  isRenewing: boolean;
  /** Why the round cannot go on. */
  broken: { readonly error: unknown } | undefined;
  /** Told: so many listings are done. */
  readonly done: (listings: number) => void;
}

/**
 * Brings the files of the media records: of listings that are new or changed, and away with those of listings that are
 * gone. A file that cannot be fetched is tried again later, and nothing waits for it, or for its host.
 * @throws RequestFailure `stopped`, with everything noted that came until then; `transient` when the folder takes no
 * files
 */
export async function fetchFiles(copy: Copy, folder: MediaFolder): Promise<void> {
  const { name, store, report } = copy;
  await wantAll(copy);
  const total = await store.ledger.wantedCount(name, 'Property', FILES);
  if (total === 0) return;
  report({ kind: 'step', resource: 'Media', step: 'media', state: 'begun' });
  let done = 0;
  const stop = new AbortController();
  const run: FileRun = {
    copy,
    folder,
    hosts: new HostLines<Job>(),
    signal: AbortSignal.any([copy.signal, stop.signal]),
    expired: [],
    renewed: new Set(),
    left: new Map(),
    finished: [],
  };
  const work: Work = {
    run,
    busy: new Set(),
    isRenewing: false,
    broken: undefined,
    done: (rows) => {
      done += rows;
      if (rows > 0) report({ kind: 'page', resource: 'Media', step: 'media', rows, done, total });
    },
  };
  try {
    await walk(work).finally(async () => {
      // Nobody writes into a folder that is closed.
      stop.abort();
      await Promise.allSettled(work.busy);
    });
    await settle(work);
  } catch (error) {
    // A full disk ends the round, not a watch: it is tried again after a while.
    throw folderFailure(folder.path, error);
  }
  if (copy.signal.aborted) throw new RequestFailure('stopped', 'It was told to stop');
  report({ kind: 'step', resource: 'Media', step: 'media', state: 'done' });
}

/** When files are wanted for the first time, they are wanted of every listing that is stored already. */
async function wantAll({ checkpoint, name, store }: Copy): Promise<void> {
  if (checkpoint.get('media') === FILES) return;
  for (let after = ''; ; ) {
    const keys = await store.ledger.storedKeys(name, 'Property', after, 1000);
    const last = keys.at(-1);
    if (last === undefined) break;
    after = last;
    await checkpoint.commit({ want: [{ resource: 'Property', keys, why: FILES }] });
  }
  await checkpoint.commit({ state: { media: FILES } });
}

/** Looks at the listings in the order of their keys, and fetches meanwhile. */
async function walk(work: Work): Promise<void> {
  const { run, busy } = work;
  const { copy, hosts, finished, expired } = run;
  let after = '';
  let isThrough = false;
  while (!copy.signal.aborted) {
    if (!isThrough && hosts.waiting < IN_LINE) {
      const keys = await copy.store.ledger.wanted(copy.name, 'Property', FILES, after, LISTINGS);
      after = keys.at(-1) ?? after;
      isThrough = keys.length === 0;
      await look(work, keys);
    }
    begin(work);
    if (finished.length >= LISTINGS) await settle(work);
    if (work.broken !== undefined) throw work.broken.error;
    if (!isThrough && hosts.waiting < IN_LINE) continue;
    if (busy.size === 0 && hosts.waiting === 0 && expired.length === 0) return;
    await nextEnd(work);
  }
}

async function look({ run, done }: Work, keys: readonly string[]): Promise<void> {
  const jobs = await reconcile(run, keys);
  for (const { listingKey } of jobs) run.left.set(listingKey, (run.left.get(listingKey) ?? 0) + 1);
  done(keys.filter((key) => !run.left.has(key)).length);
  for (const job of jobs) line(run, job);
}

/** Begins whatever has a place now. */
function begin(work: Work): void {
  const { run } = work;
  const { clock } = run.copy.environment;
  while (run.hosts.running < AT_ONCE) {
    const taken = run.hosts.take(clock.now());
    if (taken === undefined) break;
    keepBusy(work, fetchOne(run, taken.host, taken.job));
  }
  if (work.isRenewing || run.expired.length === 0) return;
  work.isRenewing = true;
  keepBusy(
    work,
    renew(run).finally(() => {
      work.isRenewing = false;
    }),
  );
}

function keepBusy(work: Work, task: Promise<void>): void {
  const busy: Promise<void> = task
    .catch((error: unknown) => {
      work.broken ??= { error };
    })
    .finally(() => work.busy.delete(busy));
  work.busy.add(busy);
}

/** Waits until something ended, or a host may be asked again. */
async function nextEnd({ run, busy }: Work): Promise<void> {
  const { clock } = run.copy.environment;
  const awake = new AbortController();
  const wait = run.hosts.running < AT_ONCE ? run.hosts.readyIn(clock.now()) : undefined;
  const sleeping =
    wait === undefined ? [] : [clock.sleep(wait, AbortSignal.any([run.copy.signal, awake.signal]))];
  await Promise.race([...busy, ...sleeping]);
  awake.abort();
}

/** Notes the listings whose files are all here; of the others they are wanted still. */
async function settle({ run, done }: Work): Promise<void> {
  const keys = run.finished.splice(0);
  if (keys.length === 0) return;
  await reconcile(run, keys);
  done(keys.length);
}
