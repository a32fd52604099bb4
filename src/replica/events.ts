/** What the consumer tells of its work, for a log, a screen or a caller of the library. */
export type ReplicaEvent =
  | { readonly kind: 'source'; readonly capabilities: readonly string[] }
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
  | { readonly kind: 'quarantined'; readonly resource: string; readonly key: string; readonly reason: string }
  | {
      readonly kind: 'field';
      readonly resource: string;
      readonly name: string;
      readonly taken: 'declared' | 'ignored';
    }
  | { readonly kind: 'deleted'; readonly resource: string; readonly rows: number }
  | { readonly kind: 'guarded'; readonly resource: string; readonly rows: number; readonly of: number }
  | { readonly kind: 'refresh'; readonly reason: string }
  | {
      readonly kind: 'media';
      readonly key: string;
      readonly state: 'stored' | 'failed';
      readonly reason?: string;
    };

export type StepName = 'initial' | 'sub-data' | 'update' | 'sweep' | 'purge' | 'accounts' | 'media';

export type Listener = (event: ReplicaEvent) => void;
