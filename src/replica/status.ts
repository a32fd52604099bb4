/** The state of the copies in a replica, for `plat status`, probes and callers of the library. It does not query any source. */
import { timestampFrom } from '../dictionary/index.ts';
import type { Quarantined } from '../store/checkpoint/checkpoints.ts';
import type { Store } from '../store/store.ts';
import { replicaSources } from './checkpoint/checkpoint.ts';
import { displayName } from './checkpoint/lease.ts';
import {
  type Following,
  readNote,
  readNoteIfValid,
  type Schedule,
  type TroubleEntry,
} from './checkpoint/notes.ts';
import type { WorkEntry } from './checkpoint/work-log.ts';
import { FILES } from './copy/pending-fetches.ts';
import { CHILDREN, RECORD } from './copy/quarantine-entry.ts';
import { isDownloaded, type LoadState, type SweepState } from './machine/states.ts';
import { ACCOUNTS, type ChangeMethod, describeCapabilities, resourcesIn } from './source/source.ts';

/** The status of the copy of one source. Times are canonical timestamps; durations are in milliseconds. */
export interface SourceStatus {
  readonly source: string;
  /** Interface and address, once the source has responded. */
  readonly identity?: string;
  readonly abilities: readonly string[];
  readonly collections: readonly CollectionStatus[];
  readonly lastUpdate?: string;
  readonly lastPurge?: string;
  readonly lastAccounts?: string;
  readonly quarantined: number;
  /** The number of listings whose media files are not all in the folder; 0 if only records are copied. */
  readonly withoutFiles: number;
  /** Fields of the source that the replica omits. */
  readonly ignored: readonly string[];
  /** The process that is currently working on the source. */
  readonly holder?: string;
  /** How the last watch learned of changes; absent if there was no watch. */
  readonly following?: FollowingStatus;
  /** What the last run, or the last attempt of a watch, failed to do. */
  readonly troubles: readonly TroubleStatus[];
  /** Why the copy is not fresh; absent if it is. */
  readonly stale?: string;
}

interface FollowingStatus {
  readonly way: ChangeMethod | 'windows';
  readonly since: string;
  /** Why no better method is in use. */
  readonly reason?: string;
  /** When the copy was last up to date with the source by reported changes alone. */
  readonly level?: string;
}

interface TroubleStatus {
  /** `watch` for failures before any step, `run` for those of a run without a watch. */
  readonly step: string;
  readonly since: string;
  readonly attempts: number;
  readonly reason: string;
  /** Whether the problem is not expected to resolve by itself. */
  readonly lasting: boolean;
}

interface CollectionStatus {
  readonly collection: string;
  readonly state: LoadState['kind'] | 'swept';
  readonly stored: number;
  /** The copy is complete up to this moment of the source's clock. */
  readonly cursor?: string;
  /** The lag of the cursor. */
  readonly lag?: number;
  readonly sweep: SweepState['kind'];
  /** The progress of work that has begun but not ended. */
  readonly progress: readonly Progress[];
  /** The last complete sweep. */
  readonly swept?: { readonly begun: string; readonly keys: number; readonly deleted: number };
  /** The number of records and sub-resources that still have to be requested. */
  readonly wanted: number;
}

interface Progress {
  readonly work: 'download' | 'window' | 'purge';
  /** Records, or keys of a purge, that have been received. */
  readonly done: number;
  /** The expected number, if the source announced it. */
  readonly total?: number;
  /** The bounds of a window, on the source's clock. */
  readonly from?: string;
  readonly to?: string;
}

/** The ages of the last update and the last purge beyond which a replica is not ready (reference: consumer, freshness). */
const UPDATE_LIMIT = 3_600_000;
const PURGE_LIMIT = 24 * 3_600_000;
/** How far a cursor may be ahead of this clock, in milliseconds. If it is further ahead, one of the two clocks is wrong. */
const AHEAD_LIMIT = 3_600_000;

/** @param now milliseconds since 1970 */
export async function sourceStatus(store: Store, source: string, now: number): Promise<SourceStatus> {
  const state = await store.checkpoints.state(source);
  const capabilities = readNote(state, 'capabilities');
  const schedule = readNote(state, 'schedule') ?? {};
  const identity = readNote(state, 'identity');
  const holder = await store.checkpoints.leaseHolder(source);
  const { settings } = await store.model();
  const collections: CollectionStatus[] = [];
  const whys = [RECORD, CHILDREN, ...(capabilities?.expansions ?? [])];
  for (const collection of capabilities?.resources ?? []) {
    collections.push(await collectionStatus(store, source, collection, state, now, whys));
  }
  const following = readNote(state, 'following');
  const level = levelBefore(state, now);
  const stale =
    staleness(schedule, now, level) ??
    collections.map((each) => aheadReason(each, now)).find((each) => each !== undefined);
  return {
    source,
    ...(identity === undefined ? {} : { identity }),
    abilities: capabilities === undefined ? [] : describeCapabilities(capabilities, settings),
    collections,
    ...(schedule.update === undefined ? {} : { lastUpdate: timestampFrom(schedule.update) }),
    ...(schedule.purge === undefined ? {} : { lastPurge: timestampFrom(schedule.purge) }),
    ...(schedule.accounts === undefined ? {} : { lastAccounts: timestampFrom(schedule.accounts) }),
    quarantined: await store.checkpoints.quarantinedCount(source),
    withoutFiles: await store.checkpoints.pendingCount(source, 'Property', FILES),
    ignored: readNote(state, 'ignored') ?? [],
    ...(following === undefined ? {} : { following: followingStatus(following, level) }),
    ...(holder === undefined || holder.expires <= now ? {} : { holder: displayName(holder.holder) }),
    troubles: Object.entries(readNote(state, 'troubles') ?? {}).map(([step, trouble]) => ({
      step,
      since: timestampFrom(trouble.since),
      attempts: trouble.attempts,
      reason: trouble.reason,
      lasting: trouble.lasting,
    })),
    ...(stale === undefined ? {} : { stale }),
  };
}

async function collectionStatus(
  store: Store,
  source: string,
  collection: string,
  state: Readonly<Record<string, unknown>>,
  now: number,
  whys: readonly string[],
): Promise<CollectionStatus> {
  const load = readNote(state, `load ${collection}`) ?? { kind: 'new' };
  const sweep = readNote(state, `sweep ${collection}`) ?? { kind: 'idle', sweep: 0 };
  const cursor = isDownloaded(load) ? load.cursor : undefined;
  let stored = 0;
  let wanted = 0;
  for (const resource of resourcesIn(collection)) {
    stored += await store.checkpoints.stored(source, resource);
    for (const why of whys) wanted += await store.checkpoints.pendingCount(source, resource, why);
  }
  return {
    collection,
    state: collection === ACCOUNTS ? 'swept' : load.kind,
    stored,
    ...(cursor === undefined ? {} : { cursor, lag: lagOf(cursor, collection, state, now) }),
    sweep: sweep.kind,
    progress: [...loadProgress(load), ...sweepProgress(sweep)],
    ...(sweep.kind === 'idle' && sweep.last !== undefined ? { swept: sweep.last } : {}),
    wanted,
  };
}

/**
 * When the copy was last up to date by reported changes. A time in the future was recorded before the clock was set back, and is
 * ignored.
 */
function levelBefore(state: Readonly<Record<string, unknown>>, now: number): number | undefined {
  const level = readNote(state, 'chain')?.level;
  return level !== undefined && level <= now ? level : undefined;
}

/** The lag: the time since the cursor, or since all reports of the source had been applied. */
function lagOf(
  cursor: string,
  collection: string,
  state: Readonly<Record<string, unknown>>,
  now: number,
): number {
  const isFollowed = readNote(state, 'chain')?.resources.includes(collection) === true;
  const level = isFollowed ? levelBefore(state, now) : undefined;
  return Math.max(0, now - Math.max(Date.parse(cursor), level ?? Number.NEGATIVE_INFINITY));
}

const totalOf = (total: number | undefined) => (total === undefined ? {} : { total });

function loadProgress(state: LoadState): Progress[] {
  switch (state.kind) {
    case 'initial':
      return [{ work: 'download', done: state.rows, ...totalOf(state.total) }];
    case 'updating':
      return [{ work: 'window', done: state.rows, from: state.cursor, to: state.upper }];
    case 'new':
    case 'filling':
    case 'current':
      return [];
  }
}

function sweepProgress(state: SweepState): Progress[] {
  switch (state.kind) {
    case 'walking':
      return [{ work: 'purge', done: state.keys, ...totalOf(state.total) }];
    case 'deleting':
    case 'fetching':
      return [{ work: 'purge', done: state.keys, total: state.keys }];
    case 'idle':
    case 'guarded':
      return [];
  }
}

const followingStatus = (
  { way, since, reason }: Following,
  level: number | undefined,
): NonNullable<SourceStatus['following']> => ({
  way,
  since: timestampFrom(since),
  ...(reason === undefined ? {} : { reason }),
  ...(level === undefined ? {} : { level: timestampFrom(level) }),
});

/**
 * Why a replica with this schedule is not ready; undefined if it is.
 * @param level when it was last up to date with its source by reported changes, in milliseconds since 1970
 */
export function staleness(schedule: Schedule, now: number, level?: number): string | undefined {
  const { update, purge, downloaded } = schedule;
  if (update !== undefined && level !== undefined && now - level <= UPDATE_LIMIT) return undefined;
  if (update === undefined) return 'the initial download is not complete';
  if (update - now > AHEAD_LIMIT) return `the last update lies ${hours(update - now)} in the future`;
  if (now - update > UPDATE_LIMIT) return `the last update was ${hours(now - update)} ago`;
  const since = purge ?? downloaded;
  if (since === undefined || now - Math.max(since, level ?? since) <= PURGE_LIMIT) return undefined;
  return purge === undefined
    ? `no purge was done since the download ended ${hours(now - since)} ago`
    : `the last purge was ${hours(now - since)} ago`;
}

function aheadReason({ collection, cursor }: CollectionStatus, now: number): string | undefined {
  const by = cursor === undefined ? 0 : Date.parse(cursor) - now;
  return by > AHEAD_LIMIT ? `the cursor of ${collection} lies ${hours(by)} in the future` : undefined;
}

const hours = (milliseconds: number): string => `${(milliseconds / 3_600_000).toFixed(1)} hours`;

/** A source with its work and problems of the last day, the oldest first. Times of entries are milliseconds since 1970. */
interface SourceReport extends SourceStatus {
  /** By collection. */
  readonly log: Readonly<Record<string, readonly WorkEntry[]>>;
  readonly lately: readonly TroubleEntry[];
}

interface ReplicaReport {
  readonly sources: readonly SourceReport[];
}

/** @param now milliseconds since 1970 */
export async function replicaReport(store: Store, now: number): Promise<ReplicaReport> {
  const sources: SourceReport[] = [];
  for (const source of await replicaSources(store)) {
    const status = await sourceStatus(store, source, now);
    const notes = await store.checkpoints.state(source);
    const log = status.collections.map(
      ({ collection }) => [collection, readNoteIfValid(notes, `log ${collection}`) ?? []] as const,
    );
    sources.push({
      ...status,
      log: Object.fromEntries(log),
      lately: readNoteIfValid(notes, 'lately') ?? [],
    });
  }
  return { sources };
}

interface QuarantinePage {
  readonly entries: readonly Quarantined[];
  readonly total: number;
}

export async function quarantinePage(
  { checkpoints }: Pick<Store, 'checkpoints'>,
  { source, skip, limit }: { readonly source?: string; readonly skip: number; readonly limit: number },
): Promise<QuarantinePage> {
  const entries = await checkpoints.quarantined(source, { skip, limit });
  return { entries, total: await checkpoints.quarantinedCount(source) };
}
