import type { Schedule } from './checkpoint/notes.ts';

/** What the consumer tells of its work, for a log, a screen or a caller of the library. */
export type ReplicaEvent =
  /** What the source can do was found out. */
  | { readonly kind: 'source'; readonly interface: 'reso' | 'native'; readonly abilities: readonly string[] }
  | {
      readonly kind: 'step';
      readonly resource: string;
      readonly step: StepName;
      readonly state: 'begun' | 'resumed' | 'done';
    }
  | {
      readonly kind: 'page';
      readonly resource: string;
      readonly step: StepName;
      /** Rows of this page, and of the step so far. */
      readonly rows: number;
      readonly done: number;
      /** How many there will be, if the source told. */
      readonly total?: number | undefined;
    }
  | { readonly kind: 'retry'; readonly reason: string; readonly attempt: number; readonly wait: number }
  | { readonly kind: 'waiting'; readonly reason: string; readonly wait: number }
  | { readonly kind: 'page-size'; readonly size: number }
  /** A position was not good any more, or the walk ended too soon; it begins again. */
  | {
      readonly kind: 'again';
      readonly resource: string;
      readonly step: StepName;
      readonly reason: string;
    }
  | { readonly kind: 'quarantined'; readonly resource: string; readonly key: string; readonly reason: string }
  | {
      readonly kind: 'field';
      readonly resource: string;
      readonly name: string;
      /** `read`: values of it come in another form than the dictionary has, such as numbers as texts. */
      readonly taken: 'declared' | 'refused' | 'ignored' | 'read';
    }
  | { readonly kind: 'deleted'; readonly resource: string; readonly keys: readonly string[] }
  /** They left the quarantine, since the source has them no more. */
  | { readonly kind: 'gone'; readonly resource: string; readonly keys: readonly string[] }
  | { readonly kind: 'guarded'; readonly resource: string; readonly rows: number; readonly of: number }
  /** What the source gave does not tell what is gone, so nothing was deleted. */
  | { readonly kind: 'unsure'; readonly resource: string; readonly reason: string }
  /** Walks end before the number of records that the source announces, always at the same place: taken for the whole. */
  | {
      readonly kind: 'short';
      readonly resource: string;
      readonly step: StepName;
      readonly rows: number;
      readonly announced: number;
    }
  | { readonly kind: 'refresh'; readonly reason: string }
  /** Something of the source that a person has to look at. */
  | { readonly kind: 'doubt'; readonly reason: string }
  /** The source's clock is a day or more ahead of this one (behind it, when negative), in milliseconds; what that says. */
  | { readonly kind: 'clock'; readonly sourceClock: string; readonly ahead: number }
  /** A cycle of a watching consumer failed; it goes on after a while. */
  | {
      readonly kind: 'failed';
      /** Absent: the watch as a whole, as where the store is away. */
      readonly step?: keyof Schedule;
      readonly reason: string;
      readonly wait: number;
    }
  /** What failed before goes well again. */
  | { readonly kind: 'recovered'; readonly step?: keyof Schedule; readonly attempts: number }
  | {
      readonly kind: 'media';
      readonly key: string;
      readonly state: 'stored' | 'failed';
      readonly reason?: string;
    };

export type StepName = 'initial' | 'sub-data' | 'update' | 'sweep' | 'purge' | 'fetch' | 'media';

export type Listener = (event: ReplicaEvent) => void;
