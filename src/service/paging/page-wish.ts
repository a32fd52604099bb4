import type { FileSigning, Page, RecordQuery, Shape } from '../../compile/read.ts';
import type { Clock } from '../../store/clock.ts';
import type { ReadOptions, Store } from '../../store/store.ts';
import type { FilterIndexCache } from '../filter-index/cache.ts';

/** A page that a request asks for. */
export interface PageWish {
  /** Whose filters share an index. */
  readonly keyId: string;
  readonly query: RecordQuery;
  readonly limit: number;
  readonly skip: number;
  /** Empty or absent: from the start. */
  readonly token?: string | undefined;
  readonly shape: Shape;
  readonly files: FileSigning;
  readonly counts: boolean;
  /** Owns the pages that are read. */
  readonly taken: DisposableStack;
}

/** A page that its request owns from the moment on at which it is read. */
export async function owned(taken: DisposableStack, reading: Promise<Page>): Promise<Page> {
  const page = await reading;
  if (page.release !== undefined) taken.defer(page.release);
  return page;
}

export interface PageAnswer {
  readonly page: Page;
  /** How many records match, whatever the page. */
  readonly count?: number | undefined;
  /** Where the next page begins; absent on the last one. */
  readonly next?: string | undefined;
  /** Whether the rows come from a kept list, and its age in seconds. */
  readonly index: { readonly state: 'fresh' | 'cached' | 'none'; readonly age: number };
  /** The window ends in the future, so records may still enter it. */
  readonly openWindow: boolean;
}

/** What pages are read with. */
export interface PageSource {
  readonly store: Store;
  readonly clock: Clock;
  readonly indexes: FilterIndexCache;
  readonly read: ReadOptions;
}

/** What a collection gives that holds nothing. */
export const NOTHING_STORED: PageAnswer = {
  page: { body: new Uint8Array(0), rows: 0, more: false },
  count: 0,
  index: { state: 'none', age: 0 },
  openWindow: false,
};

export const NO_ROWS: Page = { body: new Uint8Array(0), rows: 0, more: false };
