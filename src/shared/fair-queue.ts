/**
 * Turns at something of which there are few: threads, connections. It knows only the names of those who wait, so that
 * one who asks for much waits for itself and for nobody else.
 */
import { platError } from '../errors/index.ts';

export interface QueueBounds {
  /** Turns at the same time. */
  readonly turns: number;
  /** Whether turns may be long, so that one name never has all of them, also when nobody else waits. */
  readonly long: boolean;
  /** Long turns that one name has at the most, also when nobody else waits; absent: three of four. */
  readonly alone?: number;
  /** Who may wait; beyond it the name that waits for the most turns is refused its latest. */
  readonly waiting: number;
  /** Milliseconds to wait for a turn; absent: as long as it takes. */
  readonly patience?: number;
}

/** A turn that somebody has: `using turn = await queue.enter(name)`. It ends once. */
export interface Turn extends Disposable {
  end(): void;
  /** Has something told when it ends: how many milliseconds it has lasted. */
  onEnd(told: (milliseconds: number) => void): void;
}

interface Waiting {
  readonly resolve: (turn: Turn) => void;
  readonly reject: (error: Error) => void;
  timer: NodeJS.Timeout | undefined;
}

interface Owner {
  readonly waiting: Waiting[];
  running: number;
  /** Milliseconds that it has used, on the clock on which those who use little stand behind nobody. */
  used: number;
  /** When it last had or wanted a turn. */
  seen: number;
}

const isActive = ({ waiting, running, seen }: Owner, recent: number): boolean =>
  running > 0 || waiting.length > 0 || seen > recent;

/** Seconds after which one who was refused may come back. */
const COME_BACK = 5;

const refused = () => platError('overloaded', { seconds: COME_BACK }, { retryAfter: COME_BACK });

/** Milliseconds for which one who had a turn is taken to want another. */
const RECENT = 1000;

/** A long turn is not taken back. So one in four stays free, and beside others a name has no more than an equal part. */
function shareOf(bounds: QueueBounds, names: number): number {
  const { turns, long, alone = turns - Math.ceil(turns / 4) } = bounds;
  if (!long) return turns;
  return Math.max(1, Math.min(alone, Math.floor(turns / names)));
}

/**
 * Hands out turns: first to names that have the fewest, of these to the one that has used the least time. Within a name
 * it goes by order of arrival. Where turns are long, no name has all, and beside others none has more than its part.
 */
export class FairQueue {
  readonly #bounds: QueueBounds;
  readonly #now: () => number;
  readonly #owners = new Map<string, Owner>();
  #running = 0;
  #waiting = 0;
  /** What the last one had used who got a turn: who comes anew has used as much. */
  #level = 0;

  /** @param now milliseconds of a clock that only runs forward */
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

  /** @throws PlatError `overloaded` when too many wait already, and this name for the most; or it has waited too long */
  enter(name: string): Promise<Turn> {
    if (this.#waiting >= this.#bounds.waiting && !this.#makeRoom(name)) return Promise.reject(refused());
    const owner = this.#ownerOf(name);
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

  /** Refuses all who wait, with the reason. */
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
    while (this.#running < this.#bounds.turns) {
      const [name, owner] = this.#next() ?? [];
      const one = owner?.waiting.shift();
      if (name === undefined || owner === undefined || one === undefined) return;
      clearTimeout(one.timer);
      this.#waiting--;
      this.#running++;
      owner.running++;
      this.#level = Math.max(this.#level, owner.used);
      one.resolve(this.#turnOf(name, owner));
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

  #turnOf(name: string, owner: Owner): Turn {
    const began = this.#now();
    let ended = false;
    let told: ((milliseconds: number) => void) | undefined;
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
      told?.(lasted);
    };
    const onEnd: Turn['onEnd'] = (next) => {
      told = next;
    };
    return { end, onEnd, [Symbol.dispose]: end };
  }

  /** Who has nothing to do here, and has used no more than whoever comes anew, is like one. */
  #forget(name: string, owner: Owner): void {
    const isIdle = this.#running === 0 && this.#waiting === 0;
    if (isActive(owner, this.#now() - RECENT) || (!isIdle && owner.used > this.#level)) return;
    this.#owners.delete(name);
  }

  /** Makes room for another name by refusing the one that waits for the most. @returns whether there is room now */
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
    one.reject(refused());
    this.#forget(name, owner);
  }
}
