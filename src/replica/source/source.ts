/** Members and offices as the native interface gives them: in one collection, paged by offset. */
export const ACCOUNTS = 'accounts';

/** Where a walk goes on. It never changes with the size of the pages. */
export type Position =
  | { readonly kind: 'link'; readonly url: string }
  | { readonly kind: 'skip'; readonly skip: number }
  | { readonly kind: 'token'; readonly token: string };

/** What is asked of a resource. Bounds are canonical timestamps, both part of the text that is sent. */
export type Walk =
  | { readonly kind: 'all' }
  | {
      readonly kind: 'window';
      readonly field: string;
      readonly lower: string;
      readonly upper: string;
    };

/** Which page of a walk, how large, and how often it is asked for before it is given up. */
export interface Place {
  readonly position: Position | undefined;
  readonly size: number;
  readonly attempts?: number;
  /** Each record of the page in a request of its own: together they are too large to be read. */
  readonly apart?: boolean;
}

/** A key of a resource; accounts give two kinds in one page. */
export interface SourceKey {
  readonly resource: string;
  readonly key: string;
}

/** A record as JSON under the dictionary's RESO names, whatever interface it came from. */
export interface SourceItem {
  readonly resource: string;
  readonly json: Readonly<Record<string, unknown>>;
  /** Only the collections in it are given; the record itself stays as it is. */
  readonly onlyChildren?: boolean;
}

/** A member of a page that is no record, and goes to the quarantine as it came, or of which only the key could be read. */
export interface BrokenItem {
  readonly resource: string;
  /** Of a record that could not be read. */
  readonly key?: string;
  readonly payload: string;
  readonly reason: string;
}

export interface SourcePage {
  readonly items: readonly SourceItem[];
  readonly broken: readonly BrokenItem[];
  /** Absent: this is the last page. */
  readonly next?: Position | undefined;
  /** Milliseconds since 1970 on the source's clock, from its Date header. */
  readonly serverTime: number;
  /** How many records the walk has, if the source tells. */
  readonly total?: number | undefined;
  /** Characters of the answer. */
  readonly weight: number;
  /** Keys of all records that have one, in the order of the page. */
  readonly keys: readonly SourceKey[];
  /** Fields that the source masked in a record: it has them, but not for this key. */
  readonly masked: readonly string[];
  /** Fields that it showed in a record; only for an interface that masks. */
  readonly open: readonly string[];
}

/** Keys of a page, for a sweep. */
export interface KeyPage {
  readonly weight: number;
  readonly keys: readonly SourceKey[];
  /** Rows of the page that have no key. */
  readonly keyless: number;
  readonly next?: Position | undefined;
  readonly serverTime: number;
  readonly total?: number | undefined;
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

/** What a source can do, found out once and shown. */
export interface Capabilities {
  readonly interface: 'reso' | 'native';
  /** Whether the source is a plat: its windows may be closer. */
  readonly isPlat: boolean;
  /** How sub-data is fetched: with the listings, or in requests of its own. */
  readonly children: 'expanded' | 'per-listing' | 'none';
  /** The collections of a listing, by the names that the source uses. */
  readonly expansions: readonly string[];
  /** The field that the windows of listings are on. */
  readonly windowField: string;
  /** Whether the source pages by links or tokens; else by offset, which can miss rows. */
  readonly pagesByLink: boolean;
  readonly counts: boolean;
  /** Many keys may be asked for in one request. */
  readonly asksForMany: boolean;
  /** What is copied: names of resources, or `accounts` for members and offices in one collection. */
  readonly resources: readonly string[];
  /** How a single record is asked for where many are not; `none`: the source gives a record in its walks alone. */
  readonly byKey?: 'path' | 'filter' | 'none';
  readonly hasNumericKeys?: boolean;
  /** Where the sub-data of a listing are: `Property('key')/Media`, or `Property/key/Media`. */
  readonly childrenAt?: 'key' | 'segment';
  /** False while the source had no record to find these out with: it is asked again. */
  readonly isProbed?: boolean;
  /** Resources that would have been copied if the source had them. */
  readonly lacking?: readonly string[];
}

/** Whether listings come with custom fields only where they are expanded with them (specification 4.3, rule 4). */
export const givesCustomFields = ({ expansions }: Capabilities): boolean =>
  expansions.includes('CustomFields');

/** What a source shows to this key now, as digests. */
export interface Shown {
  /** Another one with every word of its metadata. */
  readonly revision: string;
  /**
   * Another one when the key may see something else than before: a field comes, goes or changes its type, or a plat says
   * that other records are in sight. Undefined when nothing was told, as by a proxy's page in the place of the metadata.
   */
  readonly fingerprint: string | undefined;
  /** Of a plat: another one where its store went back in time. Undefined when none was told. */
  readonly epoch: string | undefined;
}

/** What a source tells of a range of a collection in place of its records (src/store/digest.ts). */
export interface SourceDigest {
  readonly last: string;
  readonly rows: number;
  /** By the name of the collection. */
  readonly members: Readonly<Record<string, number>>;
  readonly digest: string;
}

/** A feed, whatever interface it speaks. */
export interface Source {
  readonly capabilities: Capabilities;
  /** Fields of its own that the source declares. */
  readonly foreignFields: readonly ForeignField[];
  /** The source's clock, asked now. Milliseconds since 1970. */
  serverTime(): Promise<number>;
  shown(): Promise<Shown>;
  /** The field that a resource's windows are on. */
  windowField(resource: string): string;
  page(resource: string, walk: Walk, place: Place): Promise<SourcePage>;
  keys(resource: string, place: Place): Promise<KeyPage>;
  /**
   * Digests of ranges in the order of keys, up to some that follow a key, and whether more do. Absent where a source
   * gives none.
   */
  digests?(
    resource: string,
    after: string,
    size: number,
  ): Promise<{ readonly ranges: readonly SourceDigest[]; readonly more: boolean }>;
  /** A page of whole records that follow a key, each in a request of its own if need be; only with digests. */
  after?(resource: string, key: string, size: number, apart?: boolean): Promise<SourcePage>;
  /** Records by their keys, with their children; those that are not there are left out. */
  some(resource: string, keys: readonly string[], attempts?: number): Promise<SourcePage>;
  /** Where it is asked: scheme, host and port. */
  readonly origin: string;
  /** How many keys `some` and `children` take at once. */
  readonly someAtOnce: number;
  /** The collections of listings, in requests of their own. */
  children(keys: readonly string[], collections: readonly string[], attempts?: number): Promise<SourcePage>;
}

/** Settle time and overlap of windows (reference: consumer, window edges), in milliseconds. */
export interface WindowEdges {
  readonly settle: number;
  readonly overlap: number;
}

const PLAT_EDGES: WindowEdges = { settle: 10_000, overlap: 1000 };
const FOREIGN_EDGES: WindowEdges = { settle: 60_000, overlap: 600_000 };

export function edgesOf({ isPlat, interface: kind }: Capabilities): WindowEdges {
  if (!isPlat) return FOREIGN_EDGES;
  return kind === 'native' ? { ...PLAT_EDGES, overlap: 0 } : PLAT_EDGES;
}
