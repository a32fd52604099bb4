/**
 * The resources that a key uses in addition to its number of requests: requests in progress, memory of unread
 * responses, time of searches, time on the thread that reads requests. They are charged before the work; only the key
 * that exceeds its share is rejected.
 */
import { type PlatError, platError } from '../../errors/index.ts';
import { registerCache, type SizedCache } from '../../shared/bounded-cache.ts';
import { FairQueue } from '../../shared/fair-queue.ts';
import type { ReadCaller } from '../../store/read/lanes.ts';

export interface BudgetLimits {
  /** Requests of one key that are not completely answered. */
  readonly requests: number;
  /** Megabytes of responses that one key has not read. */
  readonly megabytes: number;
  /** Megabytes of unread responses of all keys. Beyond this, keys with more than an equal share are rejected. */
  readonly totalMegabytes: number;
  /** Time that the searches of one key may take within a window, both in seconds. */
  readonly searchSeconds: number;
  readonly windowSeconds: number;
}

export type Refusal = 'requests' | 'bytes' | 'share' | 'searches';

interface BudgetWatch {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  readonly refused: (why: Refusal) => void;
}

/** The resources of one request, until it is closed. */
export interface RequestAccount extends ReadCaller {
  /** The key of the request; undefined before it is known. */
  readonly key: string | undefined;
  /** Charges the request to a key from now on. @throws PlatError if that key exceeds its budget */
  chargeTo(name: string): void;
  /** Counts the request but never rejects it: the operator must always have access. */
  exempt(): void;
  /** Sets the number of bytes in memory for the client. */
  setHeldBytes(bytes: number): void;
  close(): void;
}

interface Spending {
  requests: number;
  bytes: number;
  /** Milliseconds of searches in the window, and when the window ends. */
  searched: number;
  ends: number;
}

/** Estimated bytes of the accounting of a key. */
const SPENDING = 250;
const MEGABYTE = 1024 * 1024;
/** Seconds after which a client that has not read its responses may retry. */
const RETRY_AFTER_SECONDS = 5;

/** The budgets of all keys, and of addresses whose key is not known yet. */
export class Budgets implements SizedCache {
  readonly #limits: BudgetLimits;
  readonly #watch: BudgetWatch;
  readonly #spending = new Map<string, Spending>();
  #bytes = 0;
  #requests = 0;
  #swept: number;

  constructor(limits: BudgetLimits, watch: BudgetWatch) {
    this.#limits = limits;
    this.#watch = watch;
    this.#swept = watch.now();
    registerCache('budgets', this);
  }

  get use(): SizedCache['use'] {
    return { entries: this.#spending.size, bytes: this.#spending.size * SPENDING };
  }

  /** Bytes of responses that have not been read yet. */
  get bytes(): number {
    return this.#bytes;
  }

  get requests(): number {
    return this.#requests;
  }

  /**
   * Opens the account of a request whose key is not known yet.
   * @param address of the client
   * @param isDisconnected whether the client has disconnected: no work is begun for it then
   */
  open(address: string, isDisconnected: () => boolean = () => false): RequestAccount {
    let name = `address ${address}`;
    let key: string | undefined;
    let owner = this.#of(name);
    let held = 0;
    let isExempt = false;
    let isOpen = true;
    this.#add(owner, 1, 0);
    const made = (bytes: number): void => {
      if (!isOpen) return;
      held += bytes;
      this.#add(owner, 0, bytes);
    };
    /** Removes the request and its bytes from the budget that it is charged to. */
    const leave = (): void => {
      this.#add(owner, -1, -held);
      this.#forget(name, owner);
    };
    return {
      get key() {
        return key;
      },
      get name() {
        return name;
      },
      chargeTo: (known) => {
        leave();
        name = known;
        key = known;
        owner = this.#of(known);
        this.#add(owner, 1, held);
        if (isExempt) return;
        if (owner.requests > this.#limits.requests) throw this.#refuse('requests', 1);
        this.#check(owner);
      },
      exempt: () => {
        isExempt = true;
      },
      begin: (lane) => {
        // Nobody would read the response, but a search would keep others waiting.
        if (isDisconnected()) throw platError('clientGone', {});
        if (isExempt) return;
        this.#check(owner);
        if (lane === 'searches') this.#checkSearches(owner);
      },
      isGone: isDisconnected,
      made,
      spent: (lane, milliseconds) => {
        if (lane === 'searches') this.#window(owner).searched += milliseconds;
      },
      setHeldBytes: (bytes) => made(bytes - held),
      close: () => {
        if (!isOpen) return;
        isOpen = false;
        leave();
      },
    };
  }

  #add(owner: Spending, requests: number, bytes: number): void {
    owner.requests += requests;
    owner.bytes += bytes;
    this.#requests += requests;
    this.#bytes += bytes;
  }

  #of(name: string): Spending {
    this.#sweep();
    return this.#spending.getOrInsert(name, { requests: 0, bytes: 0, searched: 0, ends: 0 });
  }

  #window(owner: Spending): Spending {
    const now = this.#watch.now();
    if (owner.ends <= now) {
      owner.searched = 0;
      owner.ends = now + this.#limits.windowSeconds * 1000;
    }
    return owner;
  }

  #check({ bytes }: Spending): void {
    const { megabytes, totalMegabytes } = this.#limits;
    if (bytes > megabytes * MEGABYTE) throw this.#refuse('bytes', RETRY_AFTER_SECONDS);
    const total = totalMegabytes * MEGABYTE;
    if (this.#bytes <= total) return;
    const holding = this.#spending.values().reduce((sum, each) => sum + (each.bytes > 0 ? 1 : 0), 0);
    if (bytes * holding > total) throw this.#refuse('share', RETRY_AFTER_SECONDS);
  }

  #checkSearches(owner: Spending): void {
    const { searched, ends } = this.#window(owner);
    if (searched < this.#limits.searchSeconds * 1000) return;
    throw this.#refuse('searches', Math.max(1, Math.ceil((ends - this.#watch.now()) / 1000)));
  }

  #refuse(why: Refusal, seconds: number): PlatError {
    this.#watch.refused(why);
    const { requests, megabytes, searchSeconds, windowSeconds } = this.#limits;
    const retry = { retryAfter: seconds };
    switch (why) {
      case 'requests':
        return platError('tooManyUnderWay', { limit: requests, seconds }, retry);
      case 'bytes':
        return platError('answersNotTaken', { megabytes, seconds }, retry);
      case 'searches':
        return platError('searchedTooLong', { limit: searchSeconds, window: windowSeconds, seconds }, retry);
      case 'share':
        return platError('overloaded', { seconds }, retry);
    }
  }

  #forget(name: string, owner: Spending): void {
    if (owner.requests === 0 && owner.ends <= this.#watch.now() && this.#spending.get(name) === owner) {
      this.#spending.delete(name);
    }
  }

  /** Windows also end while there are no requests; they are removed at the next request. */
  #sweep(): void {
    const now = this.#watch.now();
    if (now - this.#swept < this.#limits.windowSeconds * 1000) return;
    this.#swept = now;
    for (const [name, owner] of this.#spending) this.#forget(name, owner);
  }
}

/**
 * The maximum number of queued requests. Budgets limit the requests of each name; this limits the memory of all of them in the
 * queue.
 */
const LONGEST_QUEUE = 10_000;

/**
 * The queue for the thread that reads, binds and plans requests. Many requests of one name wait only for each other,
 * and between two requests the thread handles other events.
 */
export class RequestQueue {
  readonly #queue = new FairQueue({ turns: 1, long: false, waiting: LONGEST_QUEUE });

  get waiting(): number {
    return this.#queue.waiting;
  }

  /**
   * Resolves when it is this name's turn. The turn lasts until the request awaits something.
   * @throws PlatError `overloaded` if too many are waiting, most of them for this name
   */
  async enter(name: string): Promise<void> {
    const permit = await this.#queue.acquire(name);
    setImmediate(() => permit.release());
  }
}
