/**
 * A sweep over all keys that the source shows: deletes records that no longer exist, and fetches missing ones (specification 4.4,
 * rule 4). Its states are in machine/states.ts.
 */
import { hash } from 'node:crypto';
import { timestampFrom } from '../../dictionary/index.ts';
import { chunked } from '../../shared/chunked.ts';
import type { QuarantineEntry } from '../../store/checkpoint/checkpoints.ts';
import { type CopyChange, deleteMarks, type QuarantinedRecord } from '../checkpoint/checkpoint.ts';
import type { Copy } from '../copy/copy.ts';
import {
  pendingFiles,
  quarantinedChildren,
  reasonsToFetchSeparately,
  separateUnstorable,
} from '../copy/pending-fetches.ts';
import { nameOfPayload, type PendingFetch, RECORD, storableName } from '../copy/quarantine-entry.ts';
import { storePage } from '../copy/store-page.ts';
import { LostPosition, pagesFrom } from '../copy/walk.ts';
import type { ReplicaEvent } from '../events.ts';
import { RequestFailure } from '../http/failure.ts';
import { lowerTotal, type SweepEvent } from '../machine/states.ts';
import {
  ACCOUNTS,
  type BrokenItem,
  type KeyPage,
  type PageRequest,
  pagesReliably,
  resourcesIn,
  type SourcePage,
} from '../source/source.ts';
import { fetchPending } from './fetch-pending.ts';
import { shortfallOf, shortfallReason } from './load.ts';

/** The maximum number of walks of a sweep. Paging by offset misses rows, so two walks in a row have to agree (trap 4). */
const MOST_ROUNDS = 6;

export type SweepResult = 'done' | 'guarded' | 'unsure';

/** Begins a sweep, or continues where it stopped. */
export async function sweep(copy: Copy, collection: string): Promise<SweepResult> {
  const { checkpoint, feed, name, store, report } = copy;
  const before = checkpoint.sweep(collection).kind;
  const isNew = before === 'idle' || before === 'guarded';
  const step = { kind: 'step', resource: collection, step: 'sweep' } as const;
  report({ ...step, state: isNew ? 'begun' : 'resumed' });
  if (isNew) {
    const at = timestampFrom(await feed.serverTime());
    await checkpoint.commit({ sweep: { collection, event: { kind: 'begin', at } } });
  }
  for (;;) {
    const state = checkpoint.sweep(collection);
    switch (state.kind) {
      case 'walking':
        await walkOnce(copy, collection);
        break;
      case 'deleting':
        await deleteUnseen(copy, collection);
        break;
      case 'guarded':
        return 'guarded';
      case 'fetching': {
        for (const resource of resourcesIn(collection)) {
          // Not concurrently with a window: an older response would overwrite a newer one.
          await checkpoint.fetchInTurn(resource, () => fetchPending(copy, resource));
          await deleteMarks(store, name, resource, state.sweep);
        }
        await checkpoint.commit({ sweep: { collection, event: { kind: 'done' } } });
        report({ ...step, state: 'done' });
        return state.unsure ? 'unsure' : 'done';
      }
      case 'idle':
        return 'done';
    }
  }
}

async function walkOnce(copy: Copy, collection: string): Promise<void> {
  const { checkpoint, report } = copy;
  try {
    await walk(copy, collection);
  } catch (error) {
    if (!(error instanceof LostPosition)) throw error;
    const state = checkpoint.sweep(collection);
    if (state.kind === 'walking' && state.round >= MOST_ROUNDS) {
      throw new RequestFailure('transient', `The sweep was lost ${MOST_ROUNDS} times: ${error.message}`);
    }
    report({ kind: 'again', resource: collection, step: 'sweep', reason: error.message });
    await checkpoint.commit({ sweep: { collection, event: { kind: 'lost' } } });
  }
}

/** A page of keys, or of complete records for a collection that is copied by sweeps. */
type SweptPage = KeyPage | SourcePage;

async function walk(copy: Copy, collection: string): Promise<void> {
  const { checkpoint, feed, sizeOf, report } = copy;
  const begun = checkpoint.sweep(collection);
  if (begun.kind !== 'walking') return;
  // Accounts have no windows, so the first walk of each sweep reads the records.
  const fetchesRecords = collection === ACCOUNTS && begun.round === 1;
  const fetch = (request: PageRequest): Promise<SweptPage> =>
    fetchesRecords ? feed.page(collection, { kind: 'all' }, request) : feed.keys(collection, request);
  const size = sizeOf(fetchesRecords ? collection : `keys of ${collection}`);
  let { digest, keys: done } = begun;
  for await (const page of pagesFrom(fetch, begun.position, size)) {
    const rows = page.keys.length + namelessRows(page).length;
    for (const { resource, key } of page.keys)
      digest = hash('sha256', `${digest} ${resource} ${key}`, 'base64url');
    for (const { payload } of namelessRows(page))
      digest = hash('sha256', `${digest} ${payload}`, 'base64url');
    const { event, also } = eventOf(copy, collection, page, digest);
    await storeSweptPage(copy, page, { sweep: { collection, event } });
    done += rows;
    report({ kind: 'page', resource: collection, step: 'sweep', rows, done, total: page.total });
    if (also !== undefined) report(also);
  }
}

/** The rows of a page of keys whose key is not a key. */
const namelessRows = (page: SweptPage): readonly BrokenItem[] => ('keyless' in page ? page.nameless : []);

/** The quarantined records of a resource that have no key. */
const namelessEntries = ({ checkpoint }: Pick<Copy, 'checkpoint'>, resource: string) =>
  checkpoint.quarantined(({ key }) => key === undefined).filter((entry) => entry.resource === resource);

/**
 * The entries of a page's rows without a key, unless their records are in the quarantine already. A download or a window has
 * received them with all of their fields.
 */
function newNamelessEntries(copy: Copy, page: SweptPage): readonly QuarantineEntry[] {
  const fresh = namelessRows(page).filter(({ resource }) => namelessEntries(copy, resource).length === 0);
  // All rows with null look the same, and are one entry.
  const named = new Map(fresh.map((row) => [nameOfPayload(row.payload), row]));
  return [...named].map(([key, { resource, payload, reason }]) => ({ resource, key, payload, reason }));
}

/** Marks the keys of a page, and makes the records that are not stored pending. */
async function storeSweptPage(copy: Copy, page: SweptPage, change: CopyChange): Promise<void> {
  if ('items' in page) {
    await storePage(copy, page, () => change);
    return;
  }
  const { checkpoint, name, store } = copy;
  const state = change.sweep === undefined ? undefined : checkpoint.sweep(change.sweep.collection);
  if (state?.kind !== 'walking') return;
  const seen: NonNullable<CopyChange['seen']>[number][] = [];
  const missing: PendingFetch[] = [];
  for (const [resource, group] of Map.groupBy(page.keys, (each) => each.resource)) {
    const keys = group.map(({ key }) => key);
    seen.push({ resource, keys: keys.map(storableName), sweep: state.sweep });
    missing.push({ resource, keys: await store.checkpoints.missing(name, resource, keys), why: RECORD });
  }
  const { want, quarantine: unstorable } = await separateUnstorable(copy, missing);
  const nameless = newNamelessEntries(copy, page);
  for (const [resource] of Map.groupBy(page.nameless, (each) => each.resource)) {
    const keys = [...namelessEntries(copy, resource), ...nameless].map(({ key }) => key);
    seen.push({ resource, keys, sweep: state.sweep });
  }
  const quarantine = [...unstorable, ...nameless];
  await checkpoint.commit({ ...change, seen, want, quarantine });
  for (const { resource, key, reason } of quarantine)
    copy.report({ kind: 'quarantined', resource, key, reason });
}

/**
 * The event that a page is in the states of the sweep, and what to report. A walk by links or tokens with as many keys as announced
 * is complete. A walk by offset, or one that ended early, need not be, so two such walks in a row must have the same keys. A row
 * whose key is null must be that of a record that is already in the quarantine, and be in both walks: the next page may be broken.
 */
function eventOf(
  copy: Copy,
  collection: string,
  page: SweptPage,
  digest: string,
): { readonly event: SweepEvent; readonly also?: ReplicaEvent } {
  const { checkpoint, feed } = copy;
  const state = checkpoint.sweep(collection);
  if (state.kind !== 'walking') throw new Error(`A page of keys came while the sweep was ${state.kind}`);
  const { next, total } = page;
  const nameless = namelessRows(page).length > 0;
  const keys = page.keys.length + namelessRows(page).length;
  const keyless = ('keyless' in page && page.keyless > 0) || newNamelessEntries(copy, page).length > 0;
  if (next !== undefined) {
    return { event: { kind: 'page', next, keys, digest, keyless, nameless, total } };
  }
  const unsure = (reason: string) =>
    ({
      event: { kind: 'unsure', keys },
      also: { kind: 'unsure', resource: collection, reason },
    }) as const;
  if (keyless || state.keyless === true) return unsure('a row arrived without its key');
  // Not every account is a person or an office, so the announced number says nothing.
  const announced = collection === ACCOUNTS ? undefined : lowerTotal(state.total, total);
  const missed = shortfallOf(state.keys + keys, announced);
  const end: SweepEvent = { kind: 'end', keys };
  const isReliable = pagesReliably(feed.capabilities, collection) && !nameless && state.nameless !== true;
  if (isReliable && missed === undefined) return { event: end };
  const common = { resource: collection, step: 'sweep' } as const;
  if (state.previous === digest) {
    return { event: end, ...(missed === undefined ? {} : { also: { kind: 'short', ...common, ...missed } }) };
  }
  if (state.round >= MOST_ROUNDS) return unsure(`no two of ${MOST_ROUNDS} walks were the same`);
  return {
    event: { kind: 'agree', digest },
    ...(missed === undefined ? {} : { also: { kind: 'again', ...common, reason: shortfallReason(missed) } }),
  };
}

/** The number of records that are deleted in one transaction. */
const AT_ONCE = 500;
/**
 * The number of records that may be deleted whatever their share is, unless none would be left: one of four offices is not a mass
 * deletion.
 */
const FEW = 2;

/** Deletes records without a mark, unless they are too many. Nothing can be stored between reading the keys and deleting them. */
async function deleteUnseen(copy: Copy, collection: string): Promise<void> {
  const { checkpoint, name, settings, store, report } = copy;
  const begun = checkpoint.sweep(collection);
  if (begun.kind !== 'deleting') return;
  const resources = resourcesIn(collection);
  if (begun.deleted === 0 && !settings.force) {
    let rows = 0;
    let of = 0;
    for (const resource of resources) {
      rows += await store.checkpoints.unseenCount(name, resource, begun.base);
      of += await store.checkpoints.stored(name, resource);
    }
    if (rows > settings.purgeShare * of && (rows > FEW || rows === of)) {
      await checkpoint.commit({ sweep: { collection, event: { kind: 'guard', rows, of } } });
      report({ kind: 'guarded', resource: collection, rows, of });
      return;
    }
  }
  for (const resource of resources) {
    for (let after = ''; ; ) {
      const keys = await checkpoint.runExclusively(async (commit) => {
        const unseen = await store.checkpoints.unseen(name, resource, begun.base, after, AT_ONCE);
        if (unseen.length > 0) {
          await commit({
            remove: [{ resource, keys: unseen }],
            release: [{ resource, keys: [...unseen, ...quarantinedChildren(copy, resource, unseen)] }],
            want: pendingFiles(copy, [{ resource, keys: unseen }]),
            sweep: { collection, event: { kind: 'deleted', rows: unseen.length } },
          });
        }
        return unseen;
      });
      const last = keys.at(-1);
      if (last === undefined) break;
      after = last;
      report({ kind: 'deleted', resource, keys });
    }
    await releaseUnseen(copy, resource, begun.base);
  }
  await checkpoint.commit({ sweep: { collection, event: { kind: 'purged' } } });
}

/** Releases quarantine entries whose record a complete sweep did not see. */
async function releaseUnseen(copy: Copy, resource: string, base: number): Promise<void> {
  const { checkpoint, name, store, report } = copy;
  const entries = checkpoint.quarantined((of) => of.resource === resource);
  for (const some of chunked(entries, AT_ONCE)) {
    const released = await checkpoint.runExclusively(async (commit) => {
      const names = some.map(markName).filter((each) => each !== undefined);
      const marked = new Set(await store.checkpoints.marked(name, resource, base, names));
      const unseen = some.filter((each) => {
        const own = markName(each);
        // In the meantime, the record may have been stored, or the entry removed.
        return own !== undefined && !marked.has(own) && checkpoint.isQuarantined(each.resource, each.key);
      });
      const release = [...Map.groupBy(unseen, (each) => each.resource)].map(([of, group]) => ({
        resource: of,
        keys: group.map(({ key }) => key),
      }));
      const want = pendingAgain(
        copy,
        resource,
        some.filter((each) => !unseen.includes(each)),
      );
      if (release.length + want.length > 0) await commit({ release, want });
      return release;
    });
    for (const each of released) report({ kind: 'gone', ...each });
  }
}

/**
 * Fetches that become pending after a sweep: records that the source could not return earlier, and the records of quarantined
 * members, which no sweep sees. Their next response stores them or shows that they no longer exist.
 */
function pendingAgain(
  { feed }: Copy,
  resource: string,
  entries: readonly QuarantinedRecord[],
): readonly PendingFetch[] {
  const { capabilities } = feed;
  const apart = reasonsToFetchSeparately(capabilities, resource);
  return entries.flatMap((each): PendingFetch[] => {
    const { key } = each.subject;
    if (key === undefined) return [];
    if (each.pending !== undefined) return [{ resource, keys: [key], why: each.pending }];
    if (each.resource === resource || capabilities.children === 'none') return [];
    return (apart.length > 0 ? apart : [RECORD]).map((why) => ({ resource, keys: [key], why }));
  });
}

/** The name under which a sweep marks that it saw the record of an entry. */
const markName = ({ resource, key, subject }: QuarantinedRecord): string | undefined =>
  subject.key ?? (subject.resource === resource ? key : undefined);
