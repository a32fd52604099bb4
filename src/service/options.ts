/** The components and limits of a service. Everything except the store has a default. */
import type { Logger } from 'pino';
import type { DamagedRecords } from '../compile/damaged-records.ts';
import type { Clock } from '../shared/clock.ts';
import type { ReadCaller } from '../store/read/lanes.ts';
import type { Store } from '../store/store.ts';
import type { WebhookControls } from '../webhooks/controls.ts';
import type { BudgetLimits } from './access/budget.ts';
import type { ConnectionLimits } from './access/connections.ts';
import type { CacheFileLocation } from './cache/block-cache-file.ts';
import { NO_OUTLINES, type Outlines } from './console/outlines.ts';
import type { ReplicaControls } from './console/replication.ts';
import type { PaceLimits } from './reply/read-pace.ts';
import type { EventTimes } from './reply/send-events.ts';
import type { SurfaceName } from './surface.ts';

/** Files that this service serves at `/media/…`, by the path in the MediaURL of a record. */
export interface FileSource {
  open(path: string, options: FileOptions): Promise<ServedFile | undefined>;
}

interface FileOptions {
  /** The width in pixels at which an image will be shown; a source without such a rendition returns the original. */
  readonly width?: number;
  /** The caller to charge, if producing the file takes time. */
  readonly caller: ReadCaller;
}

export interface ServedFile {
  readonly type: string;
  /** Identifies the content, if that is known before the file is produced. */
  readonly version?: string;
  readonly body: Uint8Array | string | (() => Promise<Uint8Array>);
}

export interface RateLimit {
  readonly requests: number;
  readonly seconds: number;
}

/** How the RESO interface represents values of lookups: as strings that `Lookup` lists, or as members of enumeration types. */
export type LookupForm = 'strings' | 'enumerations';

export interface ServiceOptions {
  readonly store: Store;
  readonly files: readonly FileSource[];
  readonly clock: Clock;
  readonly log: Logger;
  /** The address of a surface as clients reach it, if it differs from the address on which it listens. */
  readonly publicUrls: Readonly<Partial<Record<SurfaceName, string>>>;
  /** Whether to trust `Host` and `X-Forwarded-*` headers about the address that clients use. */
  readonly trustProxy: boolean;
  readonly limits: Readonly<Record<SurfaceName, RateLimit>>;
  /** The resources that a key may use, in addition to its number of requests. */
  readonly budget: BudgetLimits;
  /** How many connections may be open, and how long they may be idle. */
  readonly connections: ConnectionLimits;
  /** The minimum rate at which a client must read its responses. */
  readonly pace: PaceLimits;
  /** How often a stream of events sends a heartbeat and checks that its key is still valid. */
  readonly events: EventTimes;
  /** Compressed blocks of pages, cached for clients that accept gzip. With 0 megabytes, none are cached in memory. */
  readonly keptPages: {
    readonly megabytes: number;
    /** The file that also stores them, and next to which text-file.ts stores texts of pages; absent: no file. */
    readonly file?: CacheFileLocation & { readonly megabytes: number };
  };
  readonly filterIndex: { readonly minutes: number; readonly megabytes: number };
  /** The number of event streams that one key may have open at once. */
  readonly streams: { readonly perKey: number };
  /** How long one read of the store may take, in seconds. */
  readonly querySeconds: number;
  readonly fileHours: number;
  readonly lookups: LookupForm;
  /** Returns the records that are known to be damaged, which responses omit. Absent, or undefined: no damage is known. */
  readonly damaged?: () => DamagedRecords | undefined;
  /** Called when a request was refused because of damage that is not among the known damaged records. */
  readonly onUnknownDamage?: () => void;
  /**
   * The outlines of places that the console's map draws below its points. If there are none, the map draws an outline around the
   * listings of each city.
   */
  readonly outlines: Outlines;
  /** In a replica, the activity of its copies, for the console. */
  readonly replica?: ReplicaControls;
  /** The process's deliveries to webhooks; absent if this process delivers none. */
  readonly webhooks?: WebhookControls;
}

export const SERVICE_DEFAULTS = {
  files: [],
  publicUrls: {},
  trustProxy: false,
  limits: {
    api: { requests: 1500, seconds: 300 },
    replication: { requests: 4000, seconds: 300 },
    floorplans: { requests: 1500, seconds: 300 },
    admin: { requests: 1500, seconds: 300 },
  },
  budget: { requests: 250, megabytes: 128, totalMegabytes: 512, searchSeconds: 120, windowSeconds: 300 },
  connections: { total: 4000, perAddress: 1000, requestSeconds: 30, idleSeconds: 75 },
  pace: { bytesPerSecond: 8192, seconds: 30 },
  events: { beat: 10_000, look: 2000, trust: 1000 },
  keptPages: { megabytes: 64 },
  filterIndex: { minutes: 10, megabytes: 64 },
  streams: { perKey: 100 },
  querySeconds: 30,
  fileHours: 24,
  lookups: 'strings',
  outlines: NO_OUTLINES,
} as const satisfies Omit<ServiceOptions, 'store' | 'clock' | 'log'>;
