/** The contract of a store: what the rest of plat can ask of it, whatever its engine. */
import type { KeyRecord } from '../access/index.ts';
import type { DamagedRecords } from '../compile/damaged-records.ts';
import type { StoreModel } from '../compile/model.ts';
import type {
  BlocksRequest,
  Facets,
  FacetsRequest,
  ListPageRequest,
  MergedRequest,
  Page,
  PageRequest,
  RecordQuery,
  RecordRequest,
} from '../compile/read.ts';
import type { FieldValues } from '../dictionary/index.ts';
import type { ParsedRecord } from '../records/parsed-record.ts';
import type { StoreSettings } from '../records/settings.ts';
import type { CacheSize } from '../shared/bounded-cache.ts';
import type { Change, ChangesOptions, FeedPage, FeedRequest } from './changes/change-feed.ts';
import type { Changes } from './changes/change-follower.ts';
import type { WebhookStore } from './changes/webhooks.ts';
import type { Checks, FileFault, OnProgress } from './check/checks.ts';
import type { Checkpoints } from './checkpoint/checkpoints.ts';
import type { HistoryStore } from './history-store.ts';
import type { KeyStore } from './keys/key-store.ts';
import type { BlocksPage } from './read/blocks-task.ts';
import type { ReadCaller } from './read/lanes.ts';
import type { SharedState } from './shared.ts';
import type { NewEpoch } from './time/epoch.ts';
import type { OverdueDay } from './time/new-day.ts';
import type { Span } from './write/commit-timestamps.ts';
import type { WriteReport } from './write/report.ts';
import type { Ahead, RestampReport } from './write/restamp-store.ts';

/** Which part of the past can no longer change. */
export interface Horizon {
  /** Milliseconds since 1970 on the clock that sets timestamps; never before the last timestamp. */
  readonly now: number;
  /** No later commit uses a timestamp before this moment (I2). */
  readonly settled: number;
  /** Nor before this one once the clock has reached it: moments up to it can be promised without another request. */
  readonly standsUntil: number;
}

interface WriteOptions {
  /**
   * The span of the past over which the timestamps of the records and of their children are spread evenly, in the order
   * of the records: for records that are older than their import. Promises and order take precedence: timestamps are
   * after all existing ones of the resource and after all promises to readers, and never ahead of the clock.
   */
  readonly over?: Span;
  /**
   * Whether records that contain a child of another record are rejected; otherwise they take the child, and the report names both.
   */
  readonly rejectsTaken?: boolean;
}

/** The partition key of a server store's large tables. */
export type PartitionField = 'OriginatingSystemID';

/** What `plat status` reports about a store. */
export interface StoreStatus {
  readonly store: string;
  readonly engine: string;
  readonly owner: StoreSettings['owner'];
  readonly layout: number;
  readonly generation: number;
  /** The partition key of the large tables, and the number of originating systems; absent if not partitioned. */
  readonly partitions?: { readonly by: PartitionField; readonly systems: number };
  readonly bytes: number;
  readonly lastStamp: string;
  /** The sequence of changes: its last number, the number since which every entry is kept, and how many it has. */
  readonly changes: { readonly last: number; readonly since: number; readonly entries: number };
  readonly resources: readonly ResourceStatus[];
  /** Links from listings to records that are not stored, such as by `ListAgentKey`. */
  readonly danglingLinks: readonly {
    readonly link: string;
    readonly keys: number;
    readonly listings: number;
  }[];
}

export interface ResourceStatus {
  readonly resource: string;
  readonly rows: number;
  readonly lastModification: string | null;
  readonly deleted: number;
  /** Children whose parent is not stored. */
  readonly orphans: number;
}

/** A standby of the primary. */
export interface ReadStoreState {
  /** For messages; without a password. */
  readonly name: string;
  /** Whether it serves reads; a server that is unreachable or too far behind is skipped for the time being. */
  readonly used: boolean;
  /** Reads that it has served. */
  readonly reads: number;
}

export interface ReadOptions {
  /** The time limit of the read. */
  readonly milliseconds: number;
  /** Absent: the operator of the store. */
  readonly caller?: ReadCaller | undefined;
  /** Damaged records: a body that contains one of them is not returned to a caller. Absent: none is known. */
  readonly damaged?: DamagedRecords | undefined;
  /** The state that the request assumes, which the read confirms. @throws LookChanged from the read if the state has changed */
  readonly look?: AssumedLook | undefined;
}

/** Identifies records by their own key, or by their parent's. */
export type ContentKey =
  | { readonly key: string }
  | { readonly parent: string; readonly parentResource: string };

/** The state of a store that a request needs before it can be answered. */
export interface Look {
  /** The key whose token has the requested hash; undefined if there is none. */
  readonly key: KeyRecord | undefined;
  readonly model: StoreModel;
  /** The result of `Store.now`. */
  readonly now: number;
  /** A number that changes with each commit. Absent if the check does not reveal it. */
  readonly commit?: number | undefined;
}

/** The last known state, which the next read confirms in its own snapshot. */
export interface AssumedLook extends Look {
  readonly key: KeyRecord;
  /** Whether the state is still current; queries the store unless a read has confirmed it. Responses must wait for this. */
  holds(): Promise<boolean>;
}

/** Thrown by a read whose assumed state has changed: the request must be processed again with the current state. */
export class LookChanged extends Error {}

/** The place where records live: the contract that every engine fulfills, checked by one test suite. */
export interface Store extends Checks {
  /** For messages; without a password. */
  readonly name: string;
  /** The current settings, dictionary and rules, also when another process changed them. */
  model(): Promise<StoreModel>;
  /** The key of a token and the model as they are now: what one process changes applies in all processes at once. */
  look(tokenHash: string): Promise<Look>;
  /** The last known `Look`, for a store that is a round trip away; undefined if there is none. Absent if reading is free. */
  assume?(tokenHash: string): AssumedLook | undefined;
  /** The store's secret, for the signatures of served files. */
  readonly secret: string;
  readonly keys: KeyStore;
  /** The requests that the services of the store answered in the last day, by surface and key. */
  readonly history: HistoryStore;
  readonly webhooks: WebhookStore;
  /** The checkpoints of a replica. */
  readonly checkpoints: Checkpoints;
  /** The state that the processes of the store share; absent for an engine whose processes work separately. */
  readonly shared?: SharedState;
  /** The standbys that serve reads, if there are any. */
  readonly readStores?: () => readonly ReadStoreState[];
  /** The caches of the threads that read the store (bounded-cache.ts). */
  readonly caches?: () => readonly CacheSize[];

  page(request: PageRequest, options: ReadOptions): Promise<Page>;
  /** The page that `page` returns, for a caller that caches its blocks (read/blocks-task.ts). */
  blocks(request: BlocksRequest, options: ReadOptions): Promise<BlocksPage>;
  listPage(request: ListPageRequest, options: ReadOptions): Promise<Page>;
  /** Records of several resources in one collection; the body's records carry `@resource`. */
  mergedPage(request: MergedRequest, options: ReadOptions): Promise<Uint8Array>;
  record(request: RecordRequest, options: ReadOptions): Promise<Uint8Array | undefined>;
  count(query: RecordQuery, options: ReadOptions): Promise<number>;
  /** The number of matching records with each value of some fields, on one snapshot. */
  facets(request: FacetsRequest, options: ReadOptions): Promise<Facets>;
  /** The ids of all matching records, in the order of the query. */
  ids(query: RecordQuery, options: ReadOptions): Promise<Uint32Array>;
  /** The number of ids of a list in key order whose keys are at or before this one. */
  positionAfter(resource: string, ids: Uint32Array, key: string): Promise<number>;
  /** The changes since a position in the sequence of changes; `BEFORE_ALL` is the first position. */
  changesSince(since: number): Promise<Changes>;
  /** The sequence of changes as a reader receives it (changes/change-feed.ts). */
  feed(request: FeedRequest): Promise<FeedPage>;
  /** The part of the sequence of changes in which every entry is kept: it begins after `since`, and its last number is `last`. */
  changesKnown(): Promise<{ readonly since: number; readonly last: number }>;
  /**
   * The changes of the store, in order, followed on request by those of later commits. A slow reader delays nothing. Closing the
   * store ends all followers.
   * @throws PlatError `positionGone` if the changes since the position are no longer known; its message contains the position from
   * which to continue
   */
  changes(options?: ChangesOptions): AsyncIterable<Change>;
  /**
   * Calls `committed` soon after every commit to the sequence of changes, by any process, and sometimes when there was none.
   * @param lost called once when the commits of other processes are no longer announced, until they are again; in the meantime the
   * store polls for them
   * @returns a function that stops the calls
   */
  watch(committed: () => void, lost?: (error: unknown) => void): () => void;
  /** Whether a role sees a media record with this file. */
  showsFile(path: string, role: string): Promise<boolean>;
  /** @param needed a moment that the horizon must cover: if a promise covers it, an engine may return that promise */
  horizon(needed?: number): Promise<Horizon>;
  /** The current time, as in `Horizon.now`. */
  now(): Promise<number>;

  /** How far the newest timestamp is ahead of the clock; undefined if it is not. */
  ahead(): Promise<Ahead | undefined>;
  /** Milliseconds by which the clock was set ahead, if detectable, else 0. Nothing is written while it is above 0. */
  clockJump(): Promise<number>;
  /** Reports the time of another clock: if the store's own clock was set ahead to about the same time, it is right. */
  confirmClock(other: number): Promise<void>;
  /**
   * Moves timestamps that are ahead of the clock back, in order, and begins a new epoch.
   * @throws PlatError `clockJumped`, `clockSetBack` if the clock may be wrong; nothing has changed then
   */
  restamp(): Promise<RestampReport>;

  /** Stores records of one resource, each key at most once. */
  write(resource: string, records: readonly ParsedRecord[], options?: WriteOptions): Promise<WriteReport>;
  /** The number of records that `write` currently stores in one transaction, if they have no children. */
  recordsAtOnce(): number;
  remove(resource: string, keys: readonly string[]): Promise<WriteReport>;
  configure(change: (settings: StoreSettings) => StoreSettings): Promise<StoreModel>;

  /** Begins a new epoch, for a store that went back in time: consumers then read everything again. */
  beginEpoch(begin: NewEpoch): Promise<StoreModel>;

  /**
   * Why this process can no longer use the store, such as a deleted file or a damaged page that a read found; undefined
   * if no reason is known. Cheap. Absent for an engine that reports this by itself.
   */
  trouble?(): string | undefined;
  /** A day whose rules are not yet reflected in the stored visibility; undefined if there is none. Cheap. */
  overdue?(): OverdueDay | undefined;
  status(): Promise<StoreStatus>;
  /** The faults that the engine finds in the pages, tables and indexes that contain the records. */
  fileFaults(): Promise<readonly FileFault[]>;
  /** The number of rows that a check of resources reads, by the counters of the store; undefined if they cannot be read. */
  countedRows(resources: readonly string[]): Promise<number | undefined>;
  /** Rebuilds what is derived from the records: indexes, and missing tables. */
  mendFile(): Promise<void>;
  /**
   * Rewrites rows from the parts that agree.
   * @returns the keys of records that must be fetched from their source again
   */
  rewrite(resource: string, keys: readonly string[]): Promise<readonly string[]>;
  /**
   * Rebuilds what is stored in addition to the rows.
   * @param readWhole a resource of which every record of the source was just stored again, so that texts without
   * columns are deleted
   */
  mend(readWhole?: string): Promise<void>;
  /** Complete records as they are stored, regardless of roles: the record with a key, or the children of a record. */
  contents(resource: string, of: ContentKey): Promise<readonly FieldValues[]>;
  /** Every record as a line of JSON that `plat import` accepts, without nested children. */
  export(resource: string): AsyncIterable<string>;
  /** Writes a consistent copy of a live store, and checks it before it gets its name. */
  backup(file: string, onProgress?: OnProgress): Promise<void>;
  /**
   * Closes the store. Running reads are canceled.
   * @param patience milliseconds to wait for writes and the work of a new day, which are then canceled as well and rolled back;
   * absent: no limit
   */
  close(patience?: number): Promise<void>;
}
