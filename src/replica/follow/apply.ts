/**
 * Applies the changes that a source reported to the copy: deletes removed records, and stores changed records as received or
 * requests them by key, so that stored data is never older than the change or than the data before it. The position is stored in
 * the same transaction. Data that cannot be read is handled as in every other step. This module does not know how the source
 * reports changes.
 */
import type { RecordName } from '../../records/record-name.ts';
import { chunked } from '../../shared/chunked.ts';
import type { Keys } from '../../store/checkpoint/checkpoints.ts';
import { nextWindowStart } from '../checkpoint/chain.ts';
import type { CopyChange } from '../checkpoint/checkpoint.ts';
import type { Chain } from '../checkpoint/notes.ts';
import type { Copy } from '../copy/copy.ts';
import { changedChildren, pendingFiles, quarantinedChildren } from '../copy/pending-fetches.ts';
import { type PendingFetch, RECORD } from '../copy/quarantine-entry.ts';
import { storePage } from '../copy/store-page.ts';
import { isDirectFailure } from '../http/failure.ts';
import { isDownloaded, type LoadState } from '../machine/states.ts';
import { EMPTY_PAGE, fetchRecords, joinPages } from '../source/pages.ts';
import type { ReportedChange, SourceItem, SourcePage } from '../source/source.ts';
import { fetchPending } from '../steps/fetch-pending.ts';
import { absentFrom } from '../steps/find-absent.ts';
import { refreshIfMasked } from '../steps/load.ts';
import { notesOfPages } from '../steps/witnesses.ts';
import { guardDeletions } from './deletion-guard.ts';

/** Records that are requested and stored together. */
const AT_ONCE = 200;
const ATTEMPTS = 2;
/** The last of several changes of a record. */
type Change = Omit<ReportedChange, 'resource' | 'key'>;
type KeyedChange = readonly [key: string, change: Change];

/**
 * Applies changes in order, in as many commits as necessary. Only the last commit stores the new position of the chain: if the
 * process dies before it, the next one starts again at the old position, and applies the same changes once more.
 * @param distinct makes requests differ from any earlier ones
 * @returns the chain as it was stored
 */
export async function applyChanges(
  copy: Copy,
  before: Chain,
  changes: readonly ReportedChange[],
  { position, isLevel, distinct }: { position: string; isLevel: boolean; distinct: () => string },
): Promise<Chain> {
  const groups = [...Map.groupBy(changes, ({ resource }) => resource)]
    .filter(([resource]) => before.resources.includes(resource))
    .flatMap(([resource, group]) =>
      [...chunked(lastChangeByKey(group), AT_ONCE)].map((some) => ({ resource, some })),
    );
  let chain = before;
  for (const [index, { resource, some }] of groups.entries()) {
    const isLast = index === groups.length - 1;
    const end = isLast ? chainEnd(copy, position, isLevel) : {};
    const apply = (): Promise<Chain> => applyGroup(copy, resource, some, distinct, chain, end);
    chain = await copy.checkpoint.applyInTurn(resource, apply);
  }
  if (groups.length > 0) return chain;
  chain = { ...chain, ...chainEnd(copy, position, isLevel) };
  await copy.checkpoint.commit({ state: { chain } });
  return chain;
}

/** The members of the chain that change once everything up to a position is in the copy. */
const chainEnd = (
  { environment }: Pick<Copy, 'environment'>,
  position: string,
  isLevel: boolean,
): Pick<Chain, 'position' | 'level'> => ({
  position,
  ...(isLevel ? { level: environment.clock.now() } : {}),
});

function lastChangeByKey(changes: readonly ReportedChange[]): KeyedChange[] {
  const last = new Map<string, Change>();
  for (const { key, resource: _, ...change } of changes) {
    last.delete(key); // keeps the map in the order of the last changes
    last.set(key, change);
  }
  return [...last];
}

const cursorOf = (load: LoadState): number =>
  isDownloaded(load) ? Date.parse(load.cursor) : Number.NEGATIVE_INFINITY;

/**
 * Applies changes of one resource in one transaction.
 * @param end the members of the chain that change with it
 */
async function applyGroup(
  copy: Copy,
  resource: string,
  changes: readonly KeyedChange[],
  distinct: () => string,
  before: Chain,
  end: Partial<Chain>,
): Promise<Chain> {
  const { checkpoint, report } = copy;
  const { deleted, found, untrusted } = divide(copy, resource, changes);
  const { pages, want } = await fetchChanged(copy, resource, untrusted, distinct);
  const page = joinPages([...pages, found]);
  await refreshIfMasked(copy, resource, page);
  // Requested records that the source did not return have been deleted, or have left the view.
  const answered = untrusted.filter((key) => !want.includes(key));
  const absent = [...deleted, ...absentFrom(page, resource, answered)];
  const { chain, removed, guarded } = await guardDeletions(copy, resource, { ...before, ...end }, absent);
  const pending: PendingFetch[] = want.length === 0 ? [] : [{ resource, keys: want, why: RECORD }];
  let hasPending = want.length > 0;
  const notesOf = await notesOfPages(copy, resource);
  const released = guarded ? [] : quarantinedOf(copy, resource, absent);
  await storePage(copy, page, async (intake): Promise<CopyChange> => {
    const moved = await changedChildren(copy, resource, intake);
    hasPending ||= intake.partial.length > 0 || moved.some(({ keys }) => keys.length > 0);
    const { state, ...notes } = notesOf(page);
    return {
      ...notes,
      // While records are pending, the next window must still cover them, so it does not begin later.
      ...(hasPending ? {} : loadAfter(copy, resource, changes)),
      ...(removed.length === 0 ? {} : { remove: [{ resource, keys: removed }] }),
      release: released,
      want: [...pending, ...moved, ...pendingFiles(copy, [{ resource, keys: removed }])],
      state: { ...state, chain },
    };
  });
  for (const each of released) report({ kind: 'gone', ...each });
  if (removed.length > 0) report({ kind: 'deleted', resource, keys: removed });
  report({ kind: 'changes', resource, rows: page.keys.length, deleted: removed.length });
  if (hasPending) await fetchPending(copy, resource);
  if (hasPending || untrusted.length > 0) checkpoint.countRead();
  return chain;
}

/**
 * Divides changes into the keys of deleted records, the records that arrived with their changes, and the keys of records that must
 * be requested.
 */
function divide(
  { checkpoint }: Copy,
  resource: string,
  changes: readonly KeyedChange[],
): { deleted: string[]; found: SourcePage; untrusted: string[] } {
  const { reads } = checkpoint;
  const cursor = cursorOf(checkpoint.load(resource));
  const isTrusted = ({ isDeleted, at, found }: Change): boolean => {
    // The record that arrived with the change is current if nothing else has been requested and stored since.
    if (found !== undefined) return found.asOf === reads;
    // A record that was deleted before the cursor may have reappeared in a window since, so it is requested.
    return isDeleted && (at === undefined || at >= cursor);
  };
  const deleted: string[] = [];
  const untrusted: string[] = [];
  const items: SourceItem[] = [];
  const keys: RecordName[] = [];
  for (const [key, change] of changes) {
    const item = change.found?.item;
    if (!isTrusted(change)) untrusted.push(key);
    else if (change.isDeleted) deleted.push(key);
    if (item === undefined || !isTrusted(change)) continue;
    items.push(item);
    keys.push({ resource, key });
  }
  return { deleted, found: { ...EMPTY_PAGE, items, keys }, untrusted };
}

/** Lets the next window begin after the reported changes. */
function loadAfter(
  { checkpoint }: Copy,
  resource: string,
  changes: readonly KeyedChange[],
): Pick<CopyChange, 'load'> {
  const at = Math.max(...changes.map(([, change]) => change.at ?? Number.NEGATIVE_INFINITY));
  const upTo = Number.isFinite(at) ? nextWindowStart(checkpoint, resource, at) : undefined;
  return upTo === undefined ? {} : { load: { resource, event: { kind: 'reported', upTo } } };
}

/**
 * Requests the records of keys. Groups that the source fails to return become pending. Pending keys are requested again in ever
 * smaller groups, down to the key that causes the failure.
 * @throws RequestFailure if the source cannot be reached, or refuses the key
 */
async function fetchChanged(
  { feed }: Copy,
  resource: string,
  keys: readonly string[],
  distinct: () => string,
): Promise<{ pages: SourcePage[]; want: string[] }> {
  const pages: SourcePage[] = [];
  const want: string[] = [];
  for (const some of chunked(keys, feed.someAtOnce)) {
    try {
      pages.push(await fetchRecords(feed, resource, some, ATTEMPTS, distinct()));
    } catch (error) {
      const isOfKeys = isDirectFailure(error) && error.status !== undefined && error.kind !== 'refused';
      if (!isOfKeys) throw error;
      want.push(...some);
    }
  }
  return { pages, want };
}

/** The quarantine entries that concern deleted records. */
function quarantinedOf(copy: Copy, resource: string, keys: readonly string[]): Keys[] {
  const absent = new Set(keys);
  const entries = copy.checkpoint.quarantined(
    (of) => of.resource === resource && of.key !== undefined && absent.has(of.key),
  );
  const parts = quarantinedChildren(copy, resource, keys);
  return [
    ...entries.map((each) => ({ resource: each.resource, keys: [each.key] })),
    ...(parts.length === 0 ? [] : [{ resource, keys: parts }]),
  ];
}
