import type { ParsedRecord } from '../../store/record/parsed-record.ts';

/** Where a walk goes on. It never changes with the size of the pages. */
export type Position =
  | { readonly kind: 'link'; readonly url: string }
  | { readonly kind: 'skip'; readonly skip: number }
  | { readonly kind: 'token'; readonly token: string };

/** What is asked of a resource. Bounds of a window are canonical timestamps; its upper one is the next one's lower. */
export type Walk =
  | { readonly kind: 'all' }
  | { readonly kind: 'window'; readonly lower: string; readonly upper: string }
  /** Keys alone, of everything that the key may see. */
  | { readonly kind: 'keys' };

/** A record as the source gave it, ready to be stored or not. */
export type SourceRecord =
  | { readonly ok: true; readonly record: ParsedRecord }
  | { readonly ok: false; readonly key: string; readonly reason: string; readonly payload: string };

export interface SourcePage {
  readonly records: readonly SourceRecord[];
  /** Absent: this is the last page. */
  readonly next?: Position | undefined;
  /** Milliseconds since 1970 on the source's clock, from its Date header. */
  readonly serverTime: number;
  /** How many records the walk has, if the source tells. */
  readonly total?: number | undefined;
  /** Fields that the source masked in this page: it has them, but not for this key. */
  readonly masked: readonly string[];
  /** Fields that the dictionary does not know, with an example of their value each. */
  readonly unknown: ReadonlyMap<string, unknown>;
}

/** Keys of a page, for a sweep. */
export interface KeyPage {
  readonly keys: readonly string[];
  readonly next?: Position | undefined;
  readonly serverTime: number;
  readonly total?: number | undefined;
}

/** What a source can do, found out once and shown. */
export interface Capabilities {
  readonly interface: 'reso' | 'native';
  /** Whether the source is a plat: windows may then be closer, and its own stamp may be there. */
  readonly isPlat: boolean;
  /** How the sub-data of changed listings is fetched. */
  readonly children: 'expanded' | 'per-listing' | 'none';
  /** Expansions by the names that the source uses. */
  readonly expansions: readonly string[];
  /** The field that windows are on. */
  readonly windowField: string;
  /** Whether the source pages by links; else by `$skip`, which can miss rows. */
  readonly pagesByLink: boolean;
  readonly counts: boolean;
  /** What the source showed of its fields: when it changes, the key may see something else than before. */
  readonly fingerprint: string;
  readonly resources: readonly string[];
}

/** A feed, whatever interface it speaks. */
export interface Source {
  readonly capabilities: Capabilities;
  /** The source's clock, asked now. Milliseconds since 1970. */
  serverTime(): Promise<number>;
  page(resource: string, walk: Walk, position: Position | undefined, size: number): Promise<SourcePage>;
  keys(resource: string, position: Position | undefined, size: number): Promise<KeyPage>;
  /** Records by their keys; those that are not there are left out. */
  some(resource: string, keys: readonly string[]): Promise<SourcePage>;
  /** How many keys `some` takes at once. */
  readonly someAtOnce: number;
  /**
   * The children of listings, for sources that do not expand: each record carries only its key and the collections
   * that were asked for.
   */
  children(keys: readonly string[], collections: ReadonlyMap<string, readonly string[]>): Promise<SourcePage>;
}

/** Settle time and overlap of windows (reference: consumer, window edges), in milliseconds. */
export interface WindowEdges {
  readonly settle: number;
  readonly overlap: number;
}

export const PLAT_EDGES: WindowEdges = { settle: 10_000, overlap: 1000 };
export const FOREIGN_EDGES: WindowEdges = { settle: 60_000, overlap: 600_000 };
