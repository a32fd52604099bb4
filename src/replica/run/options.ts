/** The options of a replication: the source, the store, and how to copy. */
import { usageError } from '../../errors/index.ts';
import type { Store } from '../../store/store.ts';
import type { DriftPolicy } from '../copy/copy.ts';
import type { Environment } from '../environment.ts';
import type { Listener } from '../events.ts';
import type { BudgetLimits } from '../http/rate-budget.ts';
import type { TokenSource } from '../http/token-source.ts';
import type { ChangeMethod } from '../source/source.ts';

/** How a watch learns of changes: `auto` for the best method that the source offers, one specific method, or `windows` for none. */
export type FollowMethod = 'auto' | ChangeMethod | 'windows';

/** Durations are in milliseconds. */
export interface ReplicateOptions {
  /** Root of the service: `…/Reso/OData` or `…/v1`. */
  readonly from: string;
  readonly interface: 'reso' | 'native';
  /** The token of the source, or the object that provides its tokens: `clientCredentials(…)`, `tokenFile(…)`. */
  readonly token: string | TokenSource;
  /** The replica, as `openStore` returns it. */
  readonly store: Store;
  /** Name of the source in the store; its host by default. */
  readonly source?: string;
  /** Default: Property, and Member and Office as far as the source has them. */
  readonly resources?: readonly string[] | undefined;
  /** An OData filter that every copied record has to meet; only over the RESO interface. */
  readonly filter?: string | undefined;
  /** Whether timestamps without a time zone, which are otherwise invalid, are in UTC. */
  readonly assumeUtc?: boolean | undefined;
  /** One step only, whether it is due or not. */
  readonly step?: 'initial' | 'update' | 'purge';
  /** Reads everything again first, for a copy in which verify found differences. */
  readonly refresh?: boolean;
  /** Runs until the signal is aborted; otherwise once. */
  readonly watch?: boolean;
  readonly updateEvery?: number;
  readonly purgeEvery?: number;
  /** How often agents and offices are brought up to date while watching. */
  readonly accountsEvery?: number;
  /** How a watch learns of changes; by default, by the best method that the source offers. */
  readonly follow?: FollowMethod;
  /**
   * The interval of requests for entity events or deltas; by default half a second if the source is a plat, otherwise ten seconds.
   */
  readonly pollEvery?: number | undefined;
  /** How often all keys are compared even though the source reports every change. */
  readonly proofEvery?: number;
  /** Whether custom fields are requested over the native interface. */
  readonly customFields?: boolean;
  readonly pageSize?: number;
  readonly windowField?: string;
  /**
   * Fields with windows of their own in addition to `windowField`, for a source in which a changed photo does not move
   * ModificationTimestamp.
   */
  readonly alsoWindow?: readonly string[];
  readonly drift?: DriftPolicy;
  /** The limits of the source for this token, in addition to those that its responses state. */
  readonly limits?: BudgetLimits;
  /** The largest share of the records that one purge may delete without `force`, from 0 to 1. */
  readonly purgeShare?: number;
  /** Permits a purge to exceed `purgeShare`, and the source to have another address than before. */
  readonly force?: boolean;
  /** Folder for the files of media; absent: records only. */
  readonly mediaFolder?: string;
  /** Whether files may be fetched from private networks although the source is not in one. */
  readonly mediaPrivateHosts?: boolean;
  readonly onEvent?: Listener;
  readonly signal?: AbortSignal;
  /** Clock, randomness and network; the real ones by default. */
  readonly environment?: Environment;
}

const HOUR = 3_600_000;

/**
 * The shortest interval between the polling requests of a watch, in milliseconds, such that they use at most half of the limits.
 */
export const shortestPollInterval = ({ requestsPerHour, requestsPerDay }: BudgetLimits): number =>
  Math.max(0, (2 * HOUR) / (requestsPerHour ?? HOUR), (48 * HOUR) / (requestsPerDay ?? 24 * HOUR));

export const DEFAULT_RESOURCES: readonly string[] = ['Property', 'Member', 'Office'];
/** Resources that a source may lack, unless they were requested. */
export const OPTIONAL_RESOURCES: readonly string[] = ['Member', 'Office'];
export const DEFAULT_INTERVALS = {
  update: 15 * 60_000,
  purge: 20 * 3_600_000,
  accounts: 3_600_000,
  proof: 7 * 86_400_000,
} as const;
export const PAGE_SIZE = 1000;
export const PURGE_SHARE = 0.2;

/** The root of a service, ending in `/`. @throws PlatError `usage` for an invalid URL */
export function rootOf(from: string): URL {
  const root = URL.canParse(from) ? new URL(from) : undefined;
  if (root === undefined || !/^https?:$/.test(root.protocol)) {
    throw usageError(`--from takes the http(s) address of a service, not ${from}.`);
  }
  // These parts of the URL would be ignored. The message does not quote them, because they may contain secrets.
  const ignored =
    root.search !== '' ? 'a query' : root.username !== '' || root.password !== '' ? 'a user name' : '';
  if (ignored !== '')
    throw usageError(
      `--from takes the root of a service without ${ignored}; the token of the source is --token.`,
    );
  root.hash = '';
  root.pathname = `${root.pathname.replace(/\/+$/, '')}/`;
  return root;
}

/** The name of a source is part of messages, URLs and the names of SQL views. */
const NAME = /^[\w.-]{1,100}$/;

/** @throws PlatError `usage` */
export function sourceName({ source, from }: Pick<ReplicateOptions, 'source' | 'from'>): string {
  const name = source ?? rootOf(from).hostname.replace(/[^\w.-]/g, '');
  if (NAME.test(name)) return name;
  throw usageError(`A source has a name of letters, digits, "_", "." and "-", not ${name}.`);
}

/** The interface, host and path of the source, by which a copy recognizes it. */
export function identityOf(options: Pick<ReplicateOptions, 'from' | 'interface'>): string {
  const { host, pathname } = rootOf(options.from);
  return `${options.interface} ${host}${pathname}`;
}
