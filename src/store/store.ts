import type { DamagedRecords } from '../compile/damaged-records.ts';
import type { StoreModel } from '../compile/model.ts';
import type {
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
import type { CacheUse } from '../shared/bounded-cache.ts';
import type { Checks, FileFault } from './check/checks.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { NewEpoch } from './epoch.ts';
import type { KeyStore } from './key-store.ts';
import type { ReadCaller } from './lanes.ts';
import type { OverdueDay } from './new-day.ts';
import type { Shared } from './shared.ts';
import type { Span } from './write/allot-timestamps.ts';
import type { Ahead, RestampReport } from './write/bring-back.ts';
import type { WriteReport } from './write/report.ts';

/** How far back in time the store is settled. */
export interface Horizon {
  /** Milliseconds since 1970 on the clock that stamps; never before the last stamp. */
  readonly now: number;
  /** No record will ever get a stamp before this moment any more (I2). */
  readonly settled: number;
  /** Nor before this one, once the clock is there: whoever reads may be told moments up to it without asking again. */
  readonly standsUntil: number;
}

/** What may be wished for records that are written. */
export interface WriteOptions {
  /**
   * A span of the past over which their timestamps are to lie, evenly, in the order of the records, and so those of their
   * children: for records that are older than their import. It moves no promise and no order: timestamps lie after all
   * that the resource has and all that a reader was told, and never ahead of the clock, whatever is wished.
   */
  readonly over?: Span;
}

/** By what the large tables of a store on a server may be laid apart. */
export type PartitionField = 'OriginatingSystemID';

/** What `plat status` tells of a store. */
export interface StoreStatus {
  readonly store: string;
  readonly engine: string;
  readonly owner: StoreSettings['owner'];
  readonly layout: number;
  readonly generation: number;
  /** How large tables are laid apart, and for how many originating systems; absent where they are whole. */
  readonly partitions?: { readonly by: PartitionField; readonly systems: number };
  readonly bytes: number;
  readonly lastStamp: string;
  readonly resources: readonly ResourceStatus[];
  /** Links of listings that name no stored record, such as `ListAgentKey`. */
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

/** A server that follows the one that is written to. */
export interface ReadStoreState {
  /** For messages; without passwords. */
  readonly name: string;
  /** Whether it is asked; one that cannot be reached, or is too far behind, is left out for the time being. */
  readonly used: boolean;
  /** Reads that it has answered. */
  readonly reads: number;
}

export interface ReadOptions {
  /** How long the read may take. */
  readonly milliseconds: number;
  /** For whom; absent: for the operator of the store. */
  readonly caller?: ReadCaller | undefined;
  /** No body with one of them is given to a caller. Absent: none is known. */
  readonly damaged?: DamagedRecords | undefined;
}

/** Records by their own key, or by their parent's. */
export type ContentKey =
  | { readonly key: string }
  | { readonly parent: string; readonly parentResource: string };

/** Where records live. Both engines are this, and one suite of tests holds them to it. */
export interface Store extends Checks {
  /** For messages; without passwords. */
  readonly name: string;
  /** Settings, dictionary and rules as they are now, also when another process changed them. */
  model(): Promise<StoreModel>;
  /** Secret of the store, for the signatures of served files. */
  readonly secret: string;
  readonly keys: KeyStore;
  /** The account of a replica. */
  readonly checkpoints: Checkpoints;
  /** What the processes of the store share; absent where each is by itself. */
  readonly shared?: Shared;
  /** The servers that follow the store's own and are read from, where there are such. */
  readonly readStores?: () => readonly ReadStoreState[];
  /** What the threads keep that read the store, beside the calling one (bounded-cache.ts). */
  readonly caches?: () => readonly CacheUse[];

  page(request: PageRequest, options: ReadOptions): Promise<Page>;
  listPage(request: ListPageRequest, options: ReadOptions): Promise<Page>;
  /** Records of several resources in one collection; the body's records carry `@resource`. */
  mergedPage(request: MergedRequest, options: ReadOptions): Promise<Uint8Array>;
  record(request: RecordRequest, options: ReadOptions): Promise<Uint8Array | undefined>;
  count(query: RecordQuery, options: ReadOptions): Promise<number>;
  /** The ids of all matching records, in the order of the query. */
  ids(query: RecordQuery, options: ReadOptions): Promise<Uint32Array>;
  /** How many ids of a list in key order are of keys up to and including this one. */
  positionAfter(resource: string, ids: Uint32Array, key: string): Promise<number>;
  /** Whether a role sees a media record whose file this is. */
  showsFile(path: string, role: string): Promise<boolean>;
  horizon(): Promise<Horizon>;
  /** Milliseconds since 1970 on the clock that stamps; never before the last stamp. */
  now(): Promise<number>;

  /** How far the youngest timestamp lies ahead of the clock; undefined when all is well. */
  ahead(): Promise<Ahead | undefined>;
  /** Milliseconds by which the clock was set ahead, as far as that can be noticed; 0: it was not. Nothing is written then. */
  clockJump(): Promise<number>;
  /** Notes what a clock elsewhere says: the store's own, where it was set ahead to about the same, is right. */
  confirmClock(other: number): Promise<void>;
  /**
   * Brings timestamps that lie ahead of the clock back, in order, and begins a new epoch.
   * @throws PlatError `clockJumped`, `clockSetBack` where the clock may be wrong: nothing was changed
   */
  restamp(): Promise<RestampReport>;

  /** Stores records of one resource; no key twice. */
  write(resource: string, records: readonly ParsedRecord[], options?: WriteOptions): Promise<WriteReport>;
  remove(resource: string, keys: readonly string[]): Promise<WriteReport>;
  configure(change: (settings: StoreSettings) => StoreSettings): Promise<StoreModel>;

  /** Begins a new epoch, for a store that went back in time: consumers then read everything again. */
  beginEpoch(begin: NewEpoch): Promise<StoreModel>;

  /**
   * What makes the store unfit to be used by this process, such as a file that was deleted, or a damaged page that some
   * read has met; undefined while nothing is known. Cheap. Absent where the engine says so by itself.
   */
  trouble?(): string | undefined;
  /** A day whose rules the stored visibility does not follow; undefined when all is well. Cheap. */
  overdue?(): OverdueDay | undefined;
  status(): Promise<StoreStatus>;
  /** What the engine finds wrong beneath the records: pages, tables, indexes. */
  fileFaults(): Promise<readonly FileFault[]>;
  /** Rebuilds what lies beneath the records and follows from them: indexes, and tables that are missing. */
  mendFile(): Promise<void>;
  /**
   * Writes rows anew, from those of their parts that agree.
   * @returns the keys of records that have to come from their source again
   */
  rewrite(resource: string, keys: readonly string[]): Promise<readonly string[]>;
  /**
   * Makes what is kept beside the rows agree with them.
   * @param readWhole a resource of which every record of the source was stored anew, so that texts without columns go
   */
  mend(readWhole?: string): Promise<void>;
  /** Whole records as they are stored, whoever asks: of a key, or the children of a record. */
  contents(resource: string, of: ContentKey): Promise<readonly FieldValues[]>;
  /** Every record as a line of JSON in the form that `plat import` takes, children not nested. */
  export(resource: string): AsyncIterable<string>;
  /**
   * A consistent copy of a live store, checked before it gets its name.
   * @param told after each step of the check, with the rows that were read
   */
  backup(file: string, told?: (resource: string, rows: number) => void): Promise<void>;
  close(): Promise<void>;
}
