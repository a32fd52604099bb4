/** The state that the processes of one store share, so that together they act as one service. */
export interface SharedState {
  /**
   * Lends a process part of the requests that a key may still make in its window. All loans together never exceed the
   * limit of the key.
   */
  lendRequests(loan: LoanRequest): Promise<Loan>;
  /** Returns the unused requests of loans whose windows are still running. */
  returnRequests(loans: readonly ReturnedLoan[]): Promise<void>;
  /** The list stored under a name, unless it has expired. */
  findList(name: string): Promise<SharedList | undefined>;
  /** Whether the list stored under a name still has this id. */
  isListCurrent(name: string, id: string): Promise<boolean>;
  /**
   * Records a page of a key's walk over all listings.
   * @returns `complete` if the page ends a walk that skipped nothing; `unknown` if the preceding page was not recorded
   */
  noteSweep(key: string, step: WalkStep): Promise<'noted' | 'complete' | 'unknown'>;
  /** Stores a list under a name, unless the name already has one. @returns the list that is stored now */
  keepList(name: string, list: KeptList, bounds: ListBounds): Promise<SharedList>;
  /**
   * Drops lists that have expired, and lists beyond the size limit: among names with the same part before the dot, those whose
   * lists take the most memory lose their oldest ones first. Also drops windows of requests that have ended.
   */
  sweepLists(bytes: number): Promise<void>;
}

export interface LoanRequest {
  readonly key: string;
  /** The requests of one window, and its length. */
  readonly limit: { readonly requests: number; readonly seconds: number };
  /** The unused part of the process's earlier loan, which it returns now. */
  readonly left: Pick<ReturnedLoan, 'window' | 'requests'>;
}

export interface ReturnedLoan {
  readonly key: string;
  /** Identifies the window. */
  readonly window: number;
  readonly requests: number;
}

export interface Loan {
  readonly window: number;
  /** 0: all are used, or lent to processes that have not used them yet. */
  readonly requests: number;
  /** What can still be lent after this loan. */
  readonly remaining: number;
  /** Milliseconds until the window ends. */
  readonly milliseconds: number;
}

/** A page of a walk over all records of a resource. A complete walk is what a purge of a replica needs (specification 4.4, rule 4). */
export interface WalkStep {
  /** Where the page begins: a skip token or an offset; empty at the start. */
  readonly from: string;
  /** The positions at which the next page may begin: after the last row's token, or at the next offset. */
  readonly reached: readonly string[];
  readonly ended: boolean;
}

/** A list of records, by the ids that they have in every process. */
export interface KeptList {
  /** Identifies the list among all lists of all processes. */
  readonly id: string;
  readonly ids: Uint32Array;
  /** Names the order of the ids; empty: by key. */
  readonly order: string;
  /** Whether the list is of a window that still extended into the future when the list was found. */
  readonly openWindow: boolean;
}

export interface SharedList extends KeptList {
  /** Milliseconds since the list was found. */
  readonly age: number;
}

interface ListBounds {
  /** How long it took to find the list, which counts toward its age, and how long the list is kept after that. */
  readonly age: number;
  readonly milliseconds: number;
  /** The limit for all lists together, as in `sweepLists`. */
  readonly bytes: number;
}
