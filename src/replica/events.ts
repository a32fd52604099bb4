/** The events that the consumer reports to a log, a screen or a caller of the library. */
import type { Schedule } from './checkpoint/notes.ts';
import type { ChangeMethod } from './source/source.ts';

type StepName = 'initial' | 'sub-data' | 'update' | 'sweep' | 'purge' | 'fetch' | 'media';

interface OfResource {
  readonly resource: string;
}

export interface OfStep extends OfResource {
  readonly step: StepName;
}

interface Events {
  /** The capabilities of the source are known. */
  readonly source: { readonly interface: 'reso' | 'native'; readonly abilities: readonly string[] };
  readonly step: OfStep & { readonly state: 'begun' | 'resumed' | 'done' };
  readonly page: OfStep & {
    /** The number of rows on this page, and in the step so far. */
    readonly rows: number;
    readonly done: number;
    /** The number of rows that the source announced, if it did. */
    readonly total?: number | undefined;
  };
  /** A page is written in a transaction that is not committed yet, because it may also store the next page. */
  readonly written: OfStep;
  readonly retry: { readonly reason: string; readonly attempt: number; readonly wait: number };
  readonly waiting: { readonly reason: string; readonly wait: number };
  readonly 'page-size': { readonly size: number };
  /** A walk starts over, because its position is no longer valid or it ended too early. */
  readonly again: OfStep & { readonly reason: string };
  readonly quarantined: OfResource & { readonly key: string; readonly reason: string };
  readonly field: OfResource & {
    readonly name: string;
    /** `read`: the values of the field are in another form than the dictionary's, such as numbers in strings. */
    readonly taken: 'declared' | 'refused' | 'ignored' | 'read';
  };
  readonly deleted: OfResource & { readonly keys: readonly string[] };
  /** Entries were released from the quarantine because the source no longer has their records. */
  readonly gone: OfResource & { readonly keys: readonly string[] };
  readonly guarded: OfResource & { readonly rows: number; readonly of: number };
  /** Nothing was deleted, because the responses do not show for certain which records the source no longer has. */
  readonly unsure: OfResource & { readonly reason: string };
  /** Two walks ended at the same key, with fewer records than the source announced. They are accepted as complete. */
  readonly short: OfStep & { readonly rows: number; readonly announced: number };
  readonly refresh: { readonly reason: string };
  /** The method by which a watch learns of changes from now on, and why no better one is in use. */
  readonly follow: { readonly way: ChangeMethod | 'windows'; readonly reason?: string };
  /** Changes that the source reported are in the copy: the numbers of stored and deleted records. */
  readonly changes: OfResource & { readonly rows: number; readonly deleted: number };
  /** A condition of the source that an operator has to examine. */
  readonly doubt: { readonly reason: string };
  /** The source's clock is a day or more ahead of this one (or behind it, if negative). `ahead` is in milliseconds. */
  readonly clock: { readonly sourceClock: string; readonly ahead: number };
  /** A cycle of a watch failed, or (without a step) the watch as a whole; it continues after the wait. */
  readonly failed: { readonly step?: keyof Schedule; readonly reason: string; readonly wait: number };
  /** A step that failed before succeeds again. */
  readonly recovered: { readonly step?: keyof Schedule; readonly attempts: number };
  readonly media: {
    readonly key: string;
    readonly state: 'stored' | 'failed';
    readonly reason?: string;
  };
}

export type ReplicaEvent = { [K in keyof Events]: { readonly kind: K } & Events[K] }[keyof Events];

export type Listener = (event: ReplicaEvent) => void;
