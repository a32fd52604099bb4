/** What the consumer reports of its work, to a log, a screen or a caller of the library. */
import type { Schedule } from './checkpoint/notes.ts';
import type { ChangeMethod } from './source/source.ts';

type StepName = 'initial' | 'sub-data' | 'update' | 'sweep' | 'purge' | 'fetch' | 'media';

interface OfResource {
  readonly resource: string;
}

interface OfStep extends OfResource {
  readonly step: StepName;
}

interface Events {
  /** The capabilities of the source are known. */
  readonly source: { readonly interface: 'reso' | 'native'; readonly abilities: readonly string[] };
  readonly step: OfStep & { readonly state: 'begun' | 'resumed' | 'done' };
  readonly page: OfStep & {
    /** Rows of this page, and of the step so far. */
    readonly rows: number;
    readonly done: number;
    /** How many there will be, if the source announced it. */
    readonly total?: number | undefined;
  };
  readonly retry: { readonly reason: string; readonly attempt: number; readonly wait: number };
  readonly waiting: { readonly reason: string; readonly wait: number };
  readonly 'page-size': { readonly size: number };
  /** A position was no longer valid, or the walk ended too soon; it starts over. */
  readonly again: OfStep & { readonly reason: string };
  readonly quarantined: OfResource & { readonly key: string; readonly reason: string };
  readonly field: OfResource & {
    readonly name: string;
    /** `read`: its values are in another form than the dictionary's, such as numbers as texts. */
    readonly taken: 'declared' | 'refused' | 'ignored' | 'read';
  };
  readonly deleted: OfResource & { readonly keys: readonly string[] };
  /** They left the quarantine, since the source no longer has them. */
  readonly gone: OfResource & { readonly keys: readonly string[] };
  readonly guarded: OfResource & { readonly rows: number; readonly of: number };
  /** The source returned too little to determine which records it no longer has. Nothing was deleted. */
  readonly unsure: OfResource & { readonly reason: string };
  /**
   * Walks consistently end before the number of records that the source announces, at the same key: accepted as
   * complete.
   */
  readonly short: OfStep & { readonly rows: number; readonly announced: number };
  readonly refresh: { readonly reason: string };
  /** How a watch learns of changes from now on, and why no better method is in use. */
  readonly follow: { readonly way: ChangeMethod | 'windows'; readonly reason?: string };
  /** Changes that the source reported are in the copy: the numbers of stored and deleted records. */
  readonly changes: OfResource & { readonly rows: number; readonly deleted: number };
  /** A condition of the source that a person has to examine. */
  readonly doubt: { readonly reason: string };
  /** The source's clock is a day or more ahead of this one (behind it if negative), in milliseconds. */
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
