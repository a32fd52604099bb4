/**
 * Fair queues for scarce resources such as threads and connections. A queue knows only the names of its users, so
 * that a user with many requests waits for itself and delays nobody else.
 */
import { platError } from '../errors/index.ts';

export interface QueueBounds {
  /** The maximum number of turns at the same time. */
  readonly turns: number;
  /** Whether turns may be long, so that one name never gets all of them, even if nobody else waits. */
  readonly long: boolean;
  /** The maximum number of long turns of one name, even if nobody else waits; absent: three of four. */
  readonly alone?: number;
  /** The maximum number of waiting requests. Beyond it, the latest request of the name with the most waiting ones is refused. */
  readonly waiting: number;
  /** The maximum wait in milliseconds; absent: unlimited. */
  readonly patience?: number;
}

/** A permit to use the resource: `using permit = await queue.acquire(name)`. Releasing it again has no effect. */
export interface Permit extends Disposable {
  release(): void;
  /** Registers a callback for the end of the turn, which receives its duration in milliseconds. */
  onRelease(listener: (milliseconds: number) => void): void;
}

interface Waiting {
  readonly resolve: (turn: Permit) => void;
  readonly reject: (error: Error) => void;
  timer: NodeJS.Timeout | undefined;
}

interface Owner {
  readonly waiting: Waiting[];
  running: number;
  /** The milliseconds used so far, relative to the queue's level, so that light users never wait behind heavy ones. */
  used: number;
  /** When the name last had or requested a turn. */
  seen: number;
}

const isActive = ({ waiting, running, seen }: Owner, recent: number): boolean =>
  running > 0 || waiting.length > 0 || seen > recent;

/** The seconds after which a refused client may retry. */
const RETRY_AFTER_SECONDS = 5;

/** The error of a request for which there is no room. */
export const overloadedError = () =>
  platError('overloaded', { seconds: RETRY_AFTER_SECONDS }, { retryAfter: RETRY_AFTER_SECONDS });

/** The milliseconds for which a name counts as active after its last turn. */
const RECENT = 1000;

/** Long turns cannot be revoked. So one in four stays free, and a name has at most an equal share next to others. */
function shareOf(bounds: QueueBounds, names: number): number {
  const { turns, long, alone = turns - Math.ceil(turns / 4) } = bounds;
  if (!long) return turns;
  return Math.max(1, Math.min(alone, Math.floor(turns / names)));
}

/**
 * Grants turns: first to the names with the fewest turns, and among those to the one that has used the least time. Within a name,
 * the order of arrival decides. If turns are long, no name gets all of them, or more than its share next to others.
 */
export class FairQueue {
  readonly #bounds: QueueBounds;
  readonly #now: () => number;
  readonly #owners = new Map<string, Owner>();
  #running = 0;
  #waiting = 0;
  /** The time that the last name to get a turn had used. A new name starts there. */
  #level = 0;

  /** @param now a monotonic clock in milliseconds */
  constructor(bounds: QueueBounds, now: () => number = () => performance.now()) {
    this.#bounds = bounds;
    this.#now = now;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** @throws PlatError `overloaded` if too many requests wait and this name has the most, or after waiting too long */
  acquire(name: string): Promise<Permit> {
    if (this.#waiting >= this.#bounds.waiting && !this.#makeRoom(name))
      return Promise.reject(overloadedError());
    const owner = this.#ownerOf(name);
    const { turns, long } = this.#bounds;
    // Nobody waits, and all short turns may go to one name.
    if (!long && this.#waiting === 0 && this.#running < turns)
      return Promise.resolve(this.#grant(name, owner));
    return new Promise((resolve, reject) => {
      const one: Waiting = { resolve, reject, timer: undefined };
      const { patience } = this.#bounds;
      owner.waiting.push(one);
      this.#waiting++;
      this.#dispatch();
      if (patience === undefined || !owner.waiting.includes(one)) return;
      one.timer = setTimeout(() => this.#refuse(name, owner, one), patience);
    });
  }

  /** Rejects all waiting requests. */
  close(reason: () => Error): void {
    for (const { waiting } of this.#owners.values()) {
      for (const { reject, timer } of waiting.splice(0)) {
        clearTimeout(timer);
        reject(reason());
      }
    }
    this.#waiting = 0;
  }

  #ownerOf(name: string): Owner {
    const known = this.#owners.get(name);
    if (known !== undefined) return known;
    for (const [other, each] of this.#owners) this.#forget(other, each);
    const owner: Owner = { waiting: [], running: 0, used: this.#level, seen: this.#now() };
    this.#owners.set(name, owner);
    return owner;
  }

  #dispatch(): void {
    while (this.#waiting > 0 && this.#running < this.#bounds.turns) {
      const [name, owner] = this.#next() ?? [];
      const one = owner?.waiting.shift();
      if (name === undefined || owner === undefined || one === undefined) return;
      clearTimeout(one.timer);
      this.#waiting--;
      one.resolve(this.#grant(name, owner));
    }
  }

  #next(): [string, Owner] | undefined {
    let best: [string, Owner] | undefined;
    const recent = this.#now() - RECENT;
    const names = this.#owners.values().reduce((sum, owner) => sum + (isActive(owner, recent) ? 1 : 0), 0);
    const share = shareOf(this.#bounds, Math.max(1, names));
    for (const each of this.#owners) {
      const [, { waiting, running, used }] = each;
      if (waiting.length === 0 || running >= share) continue;
      const [, other] = best ?? [];
      if (
        other === undefined ||
        running < other.running ||
        (running === other.running && used < other.used)
      ) {
        best = each;
      }
    }
    return best;
  }

  #grant(name: string, owner: Owner): Permit {
    this.#running++;
    owner.running++;
    this.#level = Math.max(this.#level, owner.used);
    const began = this.#now();
    let ended = false;
    let listener: ((milliseconds: number) => void) | undefined;
    const end = (): void => {
      if (ended) return;
      ended = true;
      const lasted = this.#now() - began;
      owner.used = Math.max(owner.used, this.#level) + lasted;
      owner.running--;
      owner.seen = this.#now();
      this.#running--;
      this.#dispatch();
      this.#forget(name, owner);
      listener?.(lasted);
    };
    const onEnd: Permit['onRelease'] = (next) => {
      listener = next;
    };
    return { release: end, onRelease: onEnd, [Symbol.dispose]: end };
  }

  /** Forgets an inactive name that has used no more time than a new one starts with. */
  #forget(name: string, owner: Owner): void {
    const isIdle = this.#running === 0 && this.#waiting === 0;
    if (isActive(owner, this.#now() - RECENT) || (!isIdle && owner.used > this.#level)) return;
    this.#owners.delete(name);
  }

  /**
   * Makes room for another name by refusing the latest request of the name with the most waiting ones.
   * @returns whether there is room now
   */
  #makeRoom(name: string): boolean {
    let most: [string, Owner] | undefined;
    for (const each of this.#owners) {
      if (each[1].waiting.length > (most?.[1].waiting.length ?? 0)) most = each;
    }
    const [greediest, owner] = most ?? [];
    const last = owner?.waiting.at(-1);
    if (greediest === undefined || owner === undefined || last === undefined || greediest === name)
      return false;
    this.#refuse(greediest, owner, last);
    return true;
  }

  #refuse(name: string, owner: Owner, one: Waiting): void {
    const place = owner.waiting.indexOf(one);
    if (place < 0) return;
    owner.waiting.splice(place, 1);
    this.#waiting--;
    clearTimeout(one.timer);
    one.reject(overloadedError());
    this.#forget(name, owner);
  }
}
