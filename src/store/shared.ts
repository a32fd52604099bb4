/** What the processes that serve one store know of each other, so that together they are as one service. */
export interface Shared {
  /** Lends a process part of what a key may still ask in its window. The parts never add up to more than its limit. */
  lendRequests(wish: LendingWish): Promise<Loan>;
  /** Takes back what is left of loans, where their windows still run. */
  returnRequests(loans: readonly ReturnedLoan[]): Promise<void>;
  /** The list that is kept under a name and has not expired. */
  findList(name: string): Promise<SharedList | undefined>;
  /** Whether that list is the one with this id. */
  isListCurrent(name: string, id: string): Promise<boolean>;
  /** Notes a page of a key's walk over all listings. @returns whether it ends one that left nothing out */
  noteSweep(key: string, step: SweepStep): Promise<boolean>;
  /** Keeps a list under a name, unless there is one already. @returns the one that is kept now */
  keepList(name: string, list: KeptList, bounds: ListBounds): Promise<SharedList>;
  /**
   * Forgets lists that have expired, and those beyond the bound: of the names that are the same up to a dot, whose lists
   * take the most together, the oldest go first. So it forgets windows of requests that have ended.
   */
  sweepLists(bytes: number): Promise<void>;
}

export interface LendingWish {
  readonly key: string;
  /** Requests of one window, and how long it is. */
  readonly limit: { readonly requests: number; readonly seconds: number };
  /** What the process still has of an earlier loan, which it gives back. */
  readonly left: Pick<ReturnedLoan, 'window' | 'requests'>;
}

export interface ReturnedLoan {
  readonly key: string;
  /** Names the window. */
  readonly window: number;
  readonly requests: number;
}

export interface Loan {
  readonly window: number;
  /** None: all are used, or lent to processes that have not used them yet. */
  readonly requests: number;
  /** What is left to lend, after this. */
  readonly remaining: number;
  /** Milliseconds until the window ends. */
  readonly milliseconds: number;
}

export interface SweepStep {
  /** Where the page begins; empty at the start. */
  readonly from: string;
  /** Where the next one may begin. */
  readonly reached: readonly string[];
  readonly ended: boolean;
}

/** A list of records, by the ids that they have in every process. */
export interface KeptList {
  /** Names it, among all lists of all processes. */
  readonly id: string;
  readonly ids: Uint32Array;
  /** Of a window that ended in the future when it was found. */
  readonly openWindow: boolean;
}

export interface SharedList extends KeptList {
  /** Milliseconds since it was found. */
  readonly age: number;
}

export interface ListBounds {
  /** How long it took to find the list, which counts towards its age; and how long it is kept from then on. */
  readonly age: number;
  readonly milliseconds: number;
  /** All lists together, as of `sweepLists`. */
  readonly bytes: number;
}
