/**
 * A feed of either interface: what the rest of the consumer may request from it, and what it returns. It knows nothing of
 * HTTP, nor of the copy.
 */
import type { Resource } from '../../dictionary/index.ts';
import type { JsonObject } from '../../shared/json.ts';
import { flag, kinds, listOf, number, object, oneOf, optional, type Shaped, text } from '../shape.ts';

/** Members and offices as the native interface returns them: in one collection, paged by offset. */
export const ACCOUNTS = 'accounts';

/** What replaces a value that the key may not see; never data (reference: consumer, trap 12). */
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

/** Where a walk continues. It does not change with the size of the pages. */
export const POSITION = kinds({
  /** Of a link from a page that was requested by offset: the rows before it, and the row at which such links end. */
  link: object({ url: text, skip: optional(number), end: optional(number) }),
  /** Keys of rows before it, with which the page begins unless rows have moved. */
  skip: object({ skip: number, after: optional(listOf(text)) }),
  token: object({ token: text }),
});
export type WalkPosition = Shaped<typeof POSITION>;

/** Which records a walk is over. Bounds are canonical timestamps, and part of the text that is sent. */
export type Walk =
  | { readonly kind: 'all' }
  | {
      readonly kind: 'window';
      readonly field: string;
      readonly lower: string;
      readonly upper: string;
    };

/** Which page of a walk, how large, and how often it is queried for before it is given up. */
export interface PageRequest {
  readonly position: WalkPosition | undefined;
  readonly size: number;
  readonly attempts?: number | undefined;
  /** Each record of the page in a request of its own: together they cannot be read. */
  readonly apart?: boolean;
  /** Keys of records that the source returned earlier: if it still does, a record at which it fails is at fault. */
  readonly known?: readonly string[];
}

/** A key of a resource; a page of accounts has keys of two. */
export interface SourceKey {
  readonly resource: string;
  readonly key: string;
}

/** A record as JSON under the dictionary's RESO names, whichever interface it came from. */
export interface SourceItem {
  readonly resource: string;
  readonly json: JsonObject;
  /** Only its collections were requested; the record itself is not changed. */
  readonly onlyChildren?: boolean;
}

/** A member of a page that is not a record, or a record of which only the key could be read. It is quarantined. */
export interface BrokenItem {
  readonly resource: string;
  /** Of a record that could not be read. */
  readonly key?: string;
  readonly payload: string;
  readonly reason: string;
}

/** What every page says. */
interface AnyPage {
  /** Keys of all records that have one, in the order of the page. */
  readonly keys: readonly SourceKey[];
  /** Absent: this is the last page. */
  readonly next?: WalkPosition | undefined;
  /** Milliseconds since 1970 on the source's clock, from its Date header. */
  readonly serverTime: number;
  /** How many records the walk has, if the source announces it. */
  readonly total?: number | undefined;
  /** Characters of the response. */
  readonly weight: number;
}

export interface SourcePage extends AnyPage {
  /**
   * On the last page of a walk through everything: the position from which later changes are reported, if there is one.
   */
  readonly delta?: string | undefined;
  readonly items: readonly SourceItem[];
  readonly broken: readonly BrokenItem[];
  /** Fields that the source masked in a record: it has them, but not for this key. */
  readonly masked: readonly string[];
  /** Fields that it showed in a record; only for an interface that masks. */
  readonly open: readonly string[];
}

/** Keys of a page, for a sweep. */
export interface KeyPage extends AnyPage {
  /** Rows of the page that have no key. */
  readonly keyless: number;
}

/** A field of the source that the dictionary does not have. */
export interface ForeignField {
  readonly resource: string;
  readonly name: string;
  /** As in the field tables: `string(50)`, `boolean`, … */
  readonly type: string;
  readonly group: string;
  readonly label: string;
}

/** Whether the standard dictionary lacks a field of the source, also if an earlier run declared it. */
export function isForeign({ fields, fieldAliases }: Resource, name: string): boolean {
  const field = fields.get(name);
  return field === undefined ? !fieldAliases.has(name) : field.custom !== undefined;
}

/** What a source can do, determined when it is opened. */
export const CAPABILITIES = object({
  interface: oneOf('reso', 'native'),
  /** Whether the source is a plat: its windows may be closer. */
  isPlat: flag,
  /** How sub-resources are fetched: with the listings, or in requests of its own. */
  children: oneOf('expanded', 'per-listing', 'none'),
  /** The collections of a listing, by the names that the source uses. */
  expansions: listOf(text),
  /** The field that the windows of listings are on. */
  windowField: text,
  /** Whether the source pages by links or tokens; else by offset, which can miss rows. */
  pagesByLink: flag,
  counts: flag,
  /** Whether many keys may be requested in one request. */
  asksForMany: flag,
  /** The copied collections: names of resources, or `accounts` for members and offices in one collection. */
  resources: listOf(text),
  /** How a single record is requested if many cannot be; `none`: the source returns records only in its walks. */
  byKey: optional(oneOf('path', 'filter', 'none')),
  hasNumericKeys: optional(flag),
  /** Where the sub-resources of a listing is: `Property('key')/Media`, or `Property/key/Media`. */
  childrenAt: optional(oneOf('key', 'segment')),
  /** False while the source had no record to find these out with: it is asked again. */
  isProbed: optional(flag),
  /** Resources that would have been copied if the source had them. */
  lacking: optional(listOf(text)),
});
export type Capabilities = Shaped<typeof CAPABILITIES>;

/** Whether listings have custom fields only where they are expanded with them (specification 4.3, rule 4). */
export const expandsCustomFields = ({ expansions }: Capabilities): boolean =>
  expansions.includes('CustomFields');

/** The methods by which a source may report its changes, the best first. */
export const CHANGE_METHODS = ['events', 'delta', 'entity-event'] as const;
export type ChangeMethod = (typeof CHANGE_METHODS)[number];

/** A record that was changed or deleted at the source, or that entered or left this key's view. */
export interface ReportedChange {
  readonly resource: string;
  readonly key: string;
  readonly isDeleted: boolean;
  /**
   * The moment of its commit, or a later one at which it was reported, in milliseconds since 1970 on the source's
   * clock.
   */
  readonly at: number | undefined;
  /**
   * The record that the source returned with the change: complete, as in a walk, or undefined for a deleted one. Absent: the source
   * only reported that the record has changed.
   */
  readonly found?: { readonly item: SourceItem | undefined; readonly asOf: number };
}

/** What a source reports of its changes, in order. */
export type FeedReport =
  | { readonly kind: 'changes'; readonly changes: readonly ReportedChange[] }
  /** Everything up to here was reported. `isLevel`: nothing has happened since. */
  | { readonly kind: 'position'; readonly position: string; readonly isLevel: boolean }
  /** The next changes are no longer known: everything is read again, and changes continue from the position, if there is one. */
  | { readonly kind: 'expired'; readonly position: string | undefined };

/** Where the changes of a source are now. */
export interface StartPosition {
  readonly position: string;
  /** Of the requested collections, those whose changes it does not report: windows cover these. */
  readonly unreported: readonly string[];
}

/** The delta links with which complete walks through collections have ended, by collection. */
type WalkedLinks = Readonly<Record<string, string>>;

/** One method by which a source reports its changes. Positions are specific to the method. */
export interface ChangeFeed {
  readonly way: ChangeMethod;
  /** Whether a feed that sends nothing is up to date: a failed one reports its failure. */
  readonly isPushed: boolean;
  /** The position of another way in its own terms; undefined where it cannot continue from there. */
  translatePosition(known: { readonly way: ChangeMethod; readonly position: string }): string | undefined;
  /** Where the changes are now. @throws RequestFailure `rejected` where the source does not offer this way */
  currentPosition(
    resources: readonly string[],
    signal: AbortSignal,
    walked: WalkedLinks,
  ): Promise<StartPosition>;
  /**
   * The changes that follow a position, until the source ends them.
   * @param asOf numbers the moment of a request: it is returned with the results of that request
   * @throws RequestFailure
   */
  changesSince(
    position: string,
    resources: readonly string[],
    signal: AbortSignal,
    asOf: () => number,
  ): AsyncIterable<FeedReport>;
}

/** Digests of what a source shows to this key now. */
export interface SourceFingerprints {
  /** Changes with every character of its metadata. */
  readonly revision: string;
  /**
   * Changes if the rights of the key change: a field appears, disappears or changes its type, or a plat source reports
   * that other records are visible. Undefined if the source does not show it, as with a proxy's page instead of
   * metadata.
   */
  readonly fingerprint: string | undefined;
  /** Only of a plat source: changes when its store goes back in time. Undefined if the source returns none. */
  readonly epoch: string | undefined;
}

/** The digest of a range of a collection, instead of its records (src/store/digest.ts). */
export interface SourceDigest {
  readonly last: string;
  readonly rows: number;
  /** By the name of the collection. */
  readonly members: Readonly<Record<string, number>>;
  readonly digest: string;
}

export interface Source {
  readonly capabilities: Capabilities;
  /** Fields of its own that the source declares. */
  readonly foreignFields: readonly ForeignField[];
  /** The address at which it says it is served: the URLs of its files begin with it. */
  servedAt(): Promise<string>;
  /** How many keys `recordsByKey` and `children` take at once. */
  readonly someAtOnce: number;
  /** The source's clock, asked now. Milliseconds since 1970. */
  serverTime(): Promise<number>;
  /**
   * What it showed when it was discovered. Its foreign fields were read then or later: a source that changes
   * between the two shows something else the next time it is asked, and is discovered again.
   */
  readonly discovered: SourceFingerprints;
  shown(): Promise<SourceFingerprints>;
  /** The field that a resource's windows are on. */
  windowField(resource: string): string;
  page(resource: string, walk: Walk, request: PageRequest): Promise<SourcePage>;
  keys(resource: string, request: PageRequest): Promise<KeyPage>;
  /**
   * Records by their keys, with their children; records that do not exist are omitted.
   * @param distinct a text that makes the request differ from any earlier one: a repeated filter may be answered from an index that
   * lacks newer records
   */
  recordsByKey(
    resource: string,
    keys: readonly string[],
    attempts?: number,
    distinct?: string,
  ): Promise<SourcePage>;
  /** The collections of listings, in requests of their own. */
  children(keys: readonly string[], collections: readonly string[], attempts?: number): Promise<SourcePage>;
  /** Absent where a source returns no digests. */
  readonly ranges?: SourceRanges;
  /** The methods by which it may report its changes, the best first; a request determines whether it does. */
  readonly changeFeeds: readonly ChangeFeed[];
}

/** What a source with digests returns, in the order of keys. */
export interface SourceRanges {
  /** Digests of ranges that follow a key, and whether more ranges do. */
  digests(
    resource: string,
    after: string,
    size: number,
  ): Promise<{ readonly ranges: readonly SourceDigest[]; readonly more: boolean }>;
  /** A page of complete records after a key, each in a request of its own if necessary. */
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

/** How single records are given, where that is unusual. */
const RECORDS: Readonly<Record<'path' | 'filter' | 'none', readonly string[]>> = {
  path: [],
  filter: ['returns a record by a filter on its key, not at its URL'],
  none: ['returns no single records, so a record that becomes visible with an old timestamp is not fetched'],
};

export function describeCapabilities(capabilities: Capabilities): string[] {
  const {
    isPlat,
    children,
    expansions,
    windowField,
    pagesByLink,
    counts,
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
    ...(lacking.length === 0 ? [] : [`has no ${lacking.join(', ')}`]),
    pagesByLink ? 'pages by link or token' : 'pages by offset, so sweeps are repeated until two agree',
    counts ? 'returns the number of its records' : 'does not return the number of its records',
    ...RECORDS[byKey],
    ways[children],
    `windows are on ${windowField}`,
  ];
}
