/**
 * Applies the changes that a source reported to the copy: deletes removed records, and stores changed records as received or
 * requests them by key, so that stored data is never older than the change or than the data before it. The position is stored in
 * the same transaction. Data that cannot be read is handled as in every other step. This module does not know how the source
 * reports changes.
 */

import { chunked } from '../../shared/chunked.ts';
import type { CopyChange } from '../checkpoint/checkpoint.ts';
import type { Chain, Deletions } from '../checkpoint/notes.ts';
import type { Copy } from '../copy/copy.ts';
import { changedChildren, pendingFiles, quarantinedChildren } from '../copy/pending-fetches.ts';
import { type PendingFetch, RECORD } from '../copy/quarantine-entry.ts';
import { storePage } from '../copy/store-page.ts';
import { isDirectFailure } from '../http/failure.ts';
import { isDownloaded, type LoadState } from '../machine/states.ts';
import { EMPTY_PAGE, fetchRecords, joinPages } from '../source/pages.ts';
import type { ReportedChange, SourcePage } from '../source/source.ts';
import { fetchPending } from '../steps/fetch-pending.ts';
import { absentFrom } from '../steps/find-absent.ts';
import { refreshIfMasked } from '../steps/load.ts';
import { notesOfPages } from '../steps/witnesses.ts';
import { hasSwept, nextWindowStart, requireNewFoundation } from './chain.ts';

/** Records that are requested and stored together. */
const AT_ONCE = 200;
const ATTEMPTS = 2;
/** The number of deletions within a period that is never considered a mass deletion, however few records there are. */
const FEW = 10;
/** The period in which deletions are counted together, in milliseconds; about the interval between two purges. */
const COUNTED = 20 * 3_600_000;

/** The last of several changes of a record. */
type Change = Omit<ReportedChange, 'resource' | 'key'>;

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

function lastChangeByKey(changes: readonly ReportedChange[]): [string, Change][] {
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
  changes: readonly (readonly [string, Change])[],
  distinct: () => string,
  before: Chain,
  end: Partial<Chain>,
): Promise<Chain> {
  const { checkpoint, environment, feed, name, settings, store, report } = copy;
  const { reads } = checkpoint;
  const cursor = cursorOf(checkpoint.load(resource));
  const isTrusted = ({ isDeleted, at, found }: Change): boolean => {
    // The record that arrived with the change is current if nothing else has been requested and stored since.
    if (found !== undefined) return found.asOf === reads;
    // A record that was deleted before the cursor may have reappeared in a window since, so it is requested.
    return isDeleted && (at === undefined || at >= cursor);
  };
  const deleted = keys((change) => isTrusted(change) && change.isDeleted);
  const untrustedKeys = keys((change) => !isTrusted(change));
  const { pages, want } = await fetch(untrustedKeys);
  const page = joinPages([...pages, received()]);
  await refreshIfMasked(copy, resource, page);
  // Requested records that the source did not return have been deleted, or have left the view.
  const answered = untrustedKeys.filter((key) => !want.includes(key));
  const absent = [...deleted, ...absentFrom(page, resource, answered)];
  const { chain, removed, guarded } = await guard({ ...before, ...end }, absent);
  const pending: PendingFetch[] = want.length === 0 ? [] : [{ resource, keys: want, why: RECORD }];
  let hasPending = want.length > 0;
  const notesOf = await notesOfPages(copy, resource);
  const released = guarded ? [] : entriesOf(absent);
  await storePage(copy, page, async (intake): Promise<CopyChange> => {
    const moved = await changedChildren(copy, resource, intake);
    hasPending ||= intake.partial.length > 0 || moved.some(({ keys }) => keys.length > 0);
    const { state, ...notes } = notesOf(page);
    return {
      ...notes,
      // While records are pending, the next window must still cover them, so it does not begin later.
      ...(hasPending ? {} : load()),
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
  if (hasPending || untrustedKeys.length > 0) checkpoint.countRead();
  return chain;

  /** The records that arrived with the changes. */
  function received(): SourcePage {
    const found = changes.flatMap(([key, change]) => {
      const item = isTrusted(change) ? change.found?.item : undefined;
      return item === undefined ? [] : [{ item, key: { resource, key } }];
    });
    return { ...EMPTY_PAGE, items: found.map(({ item }) => item), keys: found.map(({ key }) => key) };
  }

  function keys(isWanted: (change: Change) => boolean): string[] {
    return changes.flatMap(([key, change]) => (isWanted(change) ? [key] : []));
  }

  /** Lets the next window begin after the reported changes. */
  function load(): Pick<CopyChange, 'load'> {
    const at = Math.max(...changes.map(([, change]) => change.at ?? Number.NEGATIVE_INFINITY));
    const upTo = Number.isFinite(at) ? nextWindowStart(checkpoint, resource, at) : undefined;
    return upTo === undefined ? {} : { load: { resource, event: { kind: 'reported', upTo } } };
  }

  /**
   * Requests the records of keys. Groups that the source fails to return become pending. Pending keys are requested again in ever
   * smaller groups, down to the key that causes the failure.
   * @throws RequestFailure if the source cannot be reached, or refuses the key
   */
  async function fetch(keys: readonly string[]): Promise<{ pages: SourcePage[]; want: string[] }> {
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
  function entriesOf(keys: readonly string[]): NonNullable<CopyChange['release']>[number][] {
    const absent = new Set(keys);
    const entries = checkpoint.quarantined(
      (of) => of.resource === resource && of.key !== undefined && absent.has(of.key),
    );
    const parts = quarantinedChildren(copy, resource, keys);
    return [
      ...entries.map((each) => ({ resource: each.resource, keys: [each.key] })),
      ...(parts.length === 0 ? [] : [{ resource, keys: parts }]),
    ];
  }

  /**
   * Decides which of the records that the source no longer has are deleted now. If more than the share that one purge may delete
   * would be deleted, all of them wait for the next purge, whose guard decides: the source may have reported them because the key
   * lost rights.
   */
  async function guard(
    chain: Chain,
    absent: readonly string[],
  ): Promise<{ readonly chain: Chain; readonly removed: string[]; readonly guarded: boolean }> {
    if (absent.length === 0) return { chain, removed: [], guarded: false };
    const missing = new Set(await store.checkpoints.missing(name, resource, absent));
    const removed = absent.filter((key) => !missing.has(key));
    if (removed.length === 0) return { chain, removed, guarded: false };
    const now = environment.clock.now();
    const lately = chain.deletions?.[resource];
    const isOver = lately === undefined || Math.abs(now - lately.since) >= COUNTED || isPurged(lately);
    const period = isOver
      ? { since: now, rows: 0, of: await store.checkpoints.stored(name, resource) }
      : lately;
    const rows = period.rows + removed.length;
    const isMass = rows > FEW && rows > settings.purgeShare * period.of && !settings.force;
    const keep = (deletions: Deletions): Chain => ({
      ...chain,
      deletions: { ...chain.deletions, [resource]: deletions },
    });
    if (!isMass) return { chain: keep({ ...period, rows }), removed, guarded: false };
    // The chain keeps the copy current again once a sweep that begins after this moment has compared all keys.
    await requireNewFoundation(copy);
    if (period.isGuarded !== true) {
      report({ kind: 'guarded', resource, rows, of: period.of });
      await checkpoint.requestPurge();
    }
    return { chain: keep({ ...period, isGuarded: true }), removed: [], guarded: true };
  }

  /** Whether a sweep has completed since these deletions were held back. */
  function isPurged({ isGuarded }: Deletions): boolean {
    const foundation = checkpoint.get('foundation');
    return (
      isGuarded === true &&
      foundation !== undefined &&
      hasSwept(foundation, resource, checkpoint.sweep(resource))
    );
  }
}
