/**
 * A feed of either interface: what the rest of the consumer can request from it, and what it returns. This module knows nothing
 * about HTTP or the copy.
 */
import type { CustomFieldDeclaration, Resource } from '../../dictionary/index.ts';
import type { RecordName } from '../../records/record-name.ts';
import type { StoreSettings } from '../../records/settings.ts';
import type { JsonObject } from '../../shared/json.ts';
import { flag, kinds, listOf, mapOf, number, object, oneOf, optional, type Shaped, text } from '../shape.ts';

/** Members and offices as the native interface returns them: in one collection, paged by offset. */
export const ACCOUNTS = 'accounts';

/** Replaces a value that the key may not see. It is never data (reference: consumer, trap 12). */
export const MASK = '********';

/** The resources whose records are in a collection of the source. */
export const resourcesIn = (collection: string): readonly string[] =>
  collection === ACCOUNTS ? ['Member', 'Office'] : [collection];

/** The collection of the source that contains a resource's records. */
export const collectionOf = ({ resources }: Capabilities, resource: string): string =>
  resources.includes(resource) ? resource : ACCOUNTS;

/** Agents and offices have a schedule of their own (specification 4.4, rule 5). */
export const isAboutAccounts = (collection: string): boolean =>
  collection === ACCOUNTS || collection === 'Member' || collection === 'Office';

/** Where a walk continues, regardless of the page size. */
export const POSITION = kinds({
  /**
   * `skip` and `end` are for a link from a page that was requested by offset: the number of rows before the linked page, and the
   * row at which such links are expected to end.
   */
  link: object({ url: text, skip: optional(number), end: optional(number) }),
  /** `after`: the keys of the rows in the overlap, with which the page begins unless rows have moved. */
  skip: object({ skip: number, after: optional(listOf(text)) }),
  token: object({ token: text }),
  /** The records whose keys follow this key, in the order of keys. `skip`: the number of rows before the page. */
  key: object({ key: text, skip: number }),
});
export type WalkPosition = Shaped<typeof POSITION>;

/** The records of a walk: all, or those of a window. Bounds are canonical timestamps, which are sent unchanged. */
export type Walk =
  | { readonly kind: 'all' }
  | {
      readonly kind: 'window';
      readonly field: string;
      readonly lower: string;
      readonly upper: string;
    };

/** A request for a page of a walk: its position, its size, and the number of attempts. */
export interface PageRequest {
  readonly position: WalkPosition | undefined;
  readonly size: number;
  readonly attempts?: number | undefined;
  /** Requests each record of the page separately, because they cannot be read together. */
  readonly apart?: boolean;
  /** Keys of records that the source returned earlier. If it still returns them, a failure is due to the requested record. */
  readonly known?: readonly string[];
}

/** A record as JSON under the dictionary's RESO names, whichever interface it came from. */
export interface SourceItem {
  readonly resource: string;
  readonly json: JsonObject;
  /** Only the collections of the record were requested; the record itself is not changed. */
  readonly onlyChildren?: boolean;
}

/** A member of a page that is not a record, or a record of which only the key could be read. It is quarantined. */
export interface BrokenItem {
  readonly resource: string;
  /** The key of a record that could not be read. */
  readonly key?: string;
  readonly payload: string;
  readonly reason: string;
}

/** What every page contains. */
export interface AnyPage {
  /** Keys of all records that have one, in the order of the page. */
  readonly keys: readonly RecordName[];
  /** Absent: this is the last page. */
  readonly next?: WalkPosition | undefined;
  /** Milliseconds since 1970 on the source's clock, from its Date header; 0 for a response without one. */
  readonly serverTime: number;
  /** The number of records of the walk, if the source announces it. */
  readonly total?: number | undefined;
  /** The number of characters of the response. */
  readonly weight: number;
}

export interface SourcePage extends AnyPage {
  /** On the last page of a walk over all records: the delta link, from which later changes are reported, if there is one. */
  readonly delta?: string | undefined;
  readonly items: readonly SourceItem[];
  readonly broken: readonly BrokenItem[];
  /** Fields that the source masked in a record: they have values, but this key may not see them. */
  readonly masked: readonly string[];
  /** Fields that the source showed in a record; only for an interface that masks fields. */
  readonly open: readonly string[];
}

/** A page of keys, for a sweep. */
export interface KeyPage extends AnyPage {
  /** The number of rows on the page that do not show their keys. Each may be that of any stored record. */
  readonly keyless: number;
  /** Rows whose key is null or empty. No stored record is one of them. */
  readonly nameless: readonly BrokenItem[];
}

/** A field of the source that the dictionary does not have. */
export type ForeignField = Pick<CustomFieldDeclaration, 'resource' | 'name' | 'type' | 'group' | 'label'>;

/** Whether the standard dictionary lacks a field of the source, even if an earlier run has declared it. */
export function isForeign({ fields, fieldAliases }: Resource, name: string): boolean {
  const field = fields.get(name);
  return field === undefined ? !fieldAliases.has(name) : field.custom !== undefined;
}

/**
 * Two keys that followed each other when a source was found to sort and filter by key, and when that was, in milliseconds since 1970
 * on the consumer's clock.
 */
const KEY_PROOF = object({ at: number, after: text, next: text });
export type KeyProof = Shaped<typeof KEY_PROOF>;

/** The capabilities of a source, which are determined when it is opened. */
export const CAPABILITIES = object({
  interface: oneOf('reso', 'native'),
  /** Whether the source is a plat, whose windows may end closer to the present. */
  isPlat: flag,
  /** How sub-resources are fetched: with their listings, or in separate requests. */
  children: oneOf('expanded', 'per-listing', 'none'),
  /** The collections of a listing, by the names that the source uses. */
  expansions: listOf(text),
  /** Whether the collections arrive with the listings although no request names them. */
  unasked: optional(flag),
  /** The window field of listings. */
  windowField: text,
  /** Whether the source pages by links, tokens or keys. Otherwise, it pages by offset, which can miss rows. */
  pagesByLink: flag,
  /** The resources of a source that pages by offset whose records can be read in the order of their keys instead. */
  keyed: optional(listOf(text)),
  /** Those of them whose windows can be read in the order of keys as well. */
  keyedWindows: optional(listOf(text)),
  /** The proof for each of `keyed`, and the address and options for which they hold: later runs need not repeat all requests. */
  proofs: optional(object({ of: text, keys: mapOf(KEY_PROOF) })),
  /** Whether it returns no next links, and ignores or rejects `$skip`. */
  lacksOffsets: optional(flag),
  /** The same for windows: some sources ignore `$top` and `$skip` in a request with a filter. */
  lacksOffsetsInWindows: optional(flag),
  /** The OData filter that every copied record meets. */
  filter: optional(text),
  /** The resources that can be filtered by key as well, so that no walk needs the same filter as an earlier one. */
  takesKeys: optional(listOf(text)),
  /** Whether its timestamps without a time zone are read as UTC. */
  assumesUtc: optional(flag),
  counts: flag,
  /** Whether many keys may be requested in one request. */
  asksForMany: flag,
  /** The copied collections: names of resources, or `accounts` for members and offices in one collection. */
  resources: listOf(text),
  /**
   * How a single record is requested if the source does not support requests for many; `none`: the source returns records only in
   * walks.
   */
  byKey: optional(oneOf('path', 'filter', 'none')),
  hasNumericKeys: optional(flag),
  /** The form of the URL of a listing's sub-resources: `Property('key')/Media`, or `Property/key/Media`. */
  childrenAt: optional(oneOf('key', 'segment')),
  /** False if the source had no record to determine these with; they are then determined again later. */
  isProbed: optional(flag),
  /** Resources that would have been copied if the source had them. */
  lacking: optional(listOf(text)),
});
export type Capabilities = Shaped<typeof CAPABILITIES>;

/** Whether a walk through a collection misses no record even if records are deleted meanwhile. */
export const pagesReliably = ({ pagesByLink, keyed = [] }: Capabilities, collection: string): boolean =>
  collection !== ACCOUNTS && (pagesByLink || keyed.includes(collection));

/** Whether listings contain custom fields only if the request expands them (specification 4.3, rule 4). */
export const expandsCustomFields = ({ expansions }: Capabilities): boolean =>
  expansions.includes('CustomFields');

/** The methods by which a source may report its changes, the best first. */
export const CHANGE_METHODS = ['events', 'delta', 'entity-event'] as const;
export type ChangeMethod = (typeof CHANGE_METHODS)[number];

/** A record that was changed or deleted at the source, or that entered or left the view of this key. */
export interface ReportedChange extends RecordName {
  readonly isDeleted: boolean;
  /** The time of the commit or of the later report, in milliseconds since 1970 on the source's clock. */
  readonly at: number | undefined;
  /**
   * The record that the source returned with the change: complete, as in a walk, or undefined for a deleted one. Absent: the source
   * only reported that the record has changed.
   */
  readonly found?: { readonly item: SourceItem | undefined; readonly asOf: number };
}

/** A report of a source about its changes. Reports arrive in order. */
export type FeedReport =
  | { readonly kind: 'changes'; readonly changes: readonly ReportedChange[] }
  /** All changes up to this position have been reported. `isLevel`: there are no later ones yet. */
  | { readonly kind: 'position'; readonly position: string; readonly isLevel: boolean }
  /**
   * The next changes are no longer available: everything has to be read again, and changes continue from the position, if there is
   * one.
   */
  | { readonly kind: 'expired'; readonly position: string | undefined };

/** The current position in the changes of a source. */
export interface StartPosition {
  readonly position: string;
  /** The requested collections whose changes the source does not report. Windows cover these. */
  readonly unreported: readonly string[];
}

/** The delta link with which a complete walk through a collection ended, by collection. */
type WalkedLinks = Readonly<Record<string, string>>;

/** A method by which a source reports its changes. Positions are specific to the method. */
export interface ChangeFeed {
  readonly way: ChangeMethod;
  /**
   * Whether the source sends changes by itself. A feed that sends nothing is then up to date, because a failed one reports its
   * failure.
   */
  readonly isPushed: boolean;
  /** Translates the position of another method; undefined if this method cannot continue from it. */
  translatePosition(known: { readonly way: ChangeMethod; readonly position: string }): string | undefined;
  /** Requests the current position. @throws RequestFailure `rejected` if the source does not offer this method */
  currentPosition(
    resources: readonly string[],
    signal: AbortSignal,
    walked: WalkedLinks,
  ): Promise<StartPosition>;
  /**
   * The changes that follow a position, until the source ends them.
   * @param asOf called before each request; its result is returned with the results of that request
   * @throws RequestFailure
   */
  changesSince(
    position: string,
    resources: readonly string[],
    signal: AbortSignal,
    asOf: () => number,
  ): AsyncIterable<FeedReport>;
}

/** Digests of what a source currently shows to this key. */
export interface SourceFingerprints {
  /** Changes with every character of its metadata. */
  readonly revision: string;
  /**
   * Changes if the rights of the key change: a field appears, disappears or changes its type, or a plat source reports that other
   * records are visible. Undefined if it cannot be determined, for instance because the source has no metadata.
   */
  readonly fingerprint: string | undefined;
  /** Only of a plat source: changes if its store is restored to an earlier state. Undefined if the source returns none. */
  readonly epoch: string | undefined;
}

/** The digest of a range of a collection, instead of its records (src/store/digest.ts). */
export interface SourceDigest {
  readonly last: string;
  readonly rows: number;
  /** The number of members of each collection, by its name. */
  readonly members: Readonly<Record<string, number>>;
  readonly digest: string;
}

export interface Source {
  readonly capabilities: Capabilities;
  /** The source's own fields. */
  readonly foreignFields: readonly ForeignField[];
  /** The URL under which the source says it is served, and with which the URLs of its files begin. */
  servedAt(): Promise<string>;
  /** The maximum number of keys of `recordsByKey` and `children`. */
  readonly someAtOnce: number;
  /** Requests the current time of the source's clock, in milliseconds since 1970. */
  serverTime(): Promise<number>;
  /**
   * What the source showed when its capabilities were determined. `foreignFields` were read then or later: if the source changes in
   * between, it shows something else the next time it is queried, and its capabilities are determined again.
   */
  readonly discovered: SourceFingerprints;
  shown(): Promise<SourceFingerprints>;
  windowField(resource: string): string;
  page(resource: string, walk: Walk, request: PageRequest): Promise<SourcePage>;
  keys(resource: string, request: PageRequest): Promise<KeyPage>;
  /**
   * Requests records by their keys, with their sub-resources; records that do not exist are omitted.
   * @param distinct a text that makes the request different from every earlier one: a repeated filter may be answered from an index
   * that lacks newer records
   */
  recordsByKey(
    resource: string,
    keys: readonly string[],
    attempts?: number,
    distinct?: string,
  ): Promise<SourcePage>;
  /** Requests collections of listings separately from the listings. */
  children(keys: readonly string[], collections: readonly string[], attempts?: number): Promise<SourcePage>;
  /**
   * Requests all collections of many listings, at most `someAtOnce`, in as few requests as possible. Absent for a source that may need
   * a request for each of them. @returns undefined if this source needs one
   */
  childrenOfMany?(keys: readonly string[], attempts?: number): Promise<SourcePage | undefined>;
  /** Absent if the source returns no digests. */
  readonly ranges?: SourceRanges;
  /** The methods by which the source may report its changes, the best first. Only a request shows whether it does. */
  readonly changeFeeds: readonly ChangeFeed[];
}

/** Requests in key order to a source with digests. */
export interface SourceRanges {
  /** The digests of ranges that follow a key, and whether further ranges follow. */
  digests(
    resource: string,
    after: string,
    size: number,
  ): Promise<{ readonly ranges: readonly SourceDigest[]; readonly more: boolean }>;
  /** A page of complete records after a key. @param apart requests each record separately */
  recordsAfter(resource: string, key: string, size: number, apart?: boolean): Promise<SourcePage>;
}

/** Settle time and overlap of windows (reference: consumer, window edges), in milliseconds. */
interface WindowEdges {
  readonly settle: number;
  readonly overlap: number;
}

const PLAT_EDGES: WindowEdges = { settle: 10_000, overlap: 1000 };
const FOREIGN_EDGES: WindowEdges = { settle: 60_000, overlap: 600_000 };

export function windowEdges({ isPlat, interface: kind }: Capabilities): WindowEdges {
  if (!isPlat) return FOREIGN_EDGES;
  return kind === 'native' ? { ...PLAT_EDGES, overlap: 0 } : PLAT_EDGES;
}

/** Descriptions of how a source returns single records, if that is unusual. */
const RECORDS: Readonly<Record<'path' | 'filter' | 'none', readonly string[]>> = {
  path: [],
  filter: ['returns a record by a filter on its key, not at its URL'],
  none: ['returns no single records, so a record that becomes visible with an old timestamp is not fetched'],
};

function describePaging(capabilities: Capabilities): string {
  const { pagesByLink, lacksOffsets, resources } = capabilities;
  if (pagesByLink) return 'pages by link or token';
  const others = resources.filter((name) => !pagesReliably(capabilities, name));
  if (others.length === 0) return 'pages by filters on the key, instead of by offset';
  const of = others.length === resources.length ? '' : ` of ${others.join(', ')}`;
  return lacksOffsets === true
    ? `does not page, so no collection${of} may have more records than a page`
    : `pages by offset, so sweeps${of} are repeated until two agree`;
}

/** Whether walks through a collection have the same filter each time, since nothing can be added to it. */
const repeatsFilter = (
  { filter, isPlat, keyed = [], takesKeys = [] }: Capabilities,
  collection: string,
): boolean => filter !== undefined && ![...keyed, ...takesKeys].includes(collection) && !isPlat;

/** @param settings those of the store that has the copy */
export function describeCapabilities(
  capabilities: Capabilities,
  { agentsFrom }: Pick<StoreSettings, 'agentsFrom'>,
): string[] {
  const {
    isPlat,
    children,
    expansions,
    windowField,
    counts,
    filter,
    assumesUtc,
    resources,
    byKey = 'path',
    lacking = [],
  } = capabilities;
  const ways: Readonly<Record<Capabilities['children'], string>> = {
    expanded: `sub-resources arrive with the listings (${expansions.join(', ')})`,
    'per-listing': `sub-resources are requested listing by listing (${expansions.join(', ')})`,
    none: 'the source returns no sub-resources',
  };
  return [
    isPlat ? 'a plat service' : 'a service of another kind',
    `copies ${resources.join(', ')}`,
    ...(filter === undefined ? [] : [`copies only records with ${filter}`]),
    ...(resources.some((name) => repeatsFilter(capabilities, name))
      ? ['takes no condition on the key beside the filter, so every walk has the same filter']
      : []),
    ...(assumesUtc === true ? ['timestamps without a time zone are read as UTC'] : []),
    ...(lacking.length === 0 ? [] : [`has no ${lacking.join(', ')}`]),
    ...(agentsFrom === 'payload' && resources.includes('Property')
      ? ['agent and office fields of listings are those that the source sent']
      : []),
    describePaging(capabilities),
    counts ? 'returns the number of its records' : 'does not return the number of its records',
    ...RECORDS[byKey],
    ways[children],
    `windows are on ${windowField}`,
  ];
}
