import type { Store } from '../../store/store.ts';
import type { DriftPolicy } from '../copy/copy.ts';
import type { Environment } from '../environment.ts';
import type { Listener } from '../events.ts';
import type { BudgetLimits } from '../http/rate-budget.ts';

/** What is copied from where, and how. Durations are milliseconds. */
export interface ReplicateOptions {
  /** Root of the service: `…/Reso/OData` or `…/v1`. */
  readonly from: string;
  readonly interface: 'reso' | 'native';
  readonly token: string;
  /** A replica: `openStore` makes one. */
  readonly store: Store;
  /** Name of the source in the store; its host if it is not given. */
  readonly source?: string;
  /** Default: Property, and of Member and Office what the source has. */
  readonly resources?: readonly string[] | undefined;
  /** One step only, whether it is due or not. */
  readonly step?: 'initial' | 'update' | 'purge';
  /** Reads everything again first, for a copy in which a comparison found differences. */
  readonly refresh?: boolean;
  /** Goes on until the signal; else it does once what is due. */
  readonly watch?: boolean;
  readonly updateEvery?: number;
  readonly purgeEvery?: number;
  /** How often agents and offices are brought up to date while watching. */
  readonly accountsEvery?: number;
  /** Whether the native interface is asked for custom fields. */
  readonly customFields?: boolean;
  readonly pageSize?: number;
  /** The field that windows are on. */
  readonly windowField?: string;
  /** Fields with windows of their own beside it, for a source whose photos move no ModificationTimestamp. */
  readonly alsoWindow?: readonly string[];
  readonly drift?: DriftPolicy;
  /** What the source allows this token, beside what its answers tell. */
  readonly limits?: BudgetLimits;
  /** The largest share of the records that one purge deletes before it asks, from 0 to 1. */
  readonly purgeShare?: number;
  /** Deletes more than that, and takes the copy over to a source at another address. */
  readonly force?: boolean;
  /** Folder for the files of media; absent: records only. */
  readonly mediaFolder?: string;
  /** Whether files may lie in private networks though the source does not. */
  readonly mediaPrivateHosts?: boolean;
  readonly onEvent?: Listener;
  readonly signal?: AbortSignal;
  /** Clock, randomness and network; the real ones if it is not given. */
  readonly environment?: Environment;
}

export const DEFAULT_RESOURCES: readonly string[] = ['Property', 'Member', 'Office'];
/** Those that a source may lack when nobody named them. */
export const MAY_LACK: readonly string[] = ['Member', 'Office'];
export const EVERY = { update: 15 * 60_000, purge: 20 * 3_600_000, accounts: 3_600_000 } as const;
export const PAGE_SIZE = 1000;
export const PURGE_SHARE = 0.2;
