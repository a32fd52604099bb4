import type { Clock } from '../../../src/store/clock.ts';
import type { Store } from '../../../src/store/store.ts';
import { replaced } from './replaced.ts';
import type { VirtualTime } from './time.ts';

/** What happens to a process, at which of its steps. A step is whatever it waits for. */
export type Fate =
  | { readonly kind: 'lives' }
  | { readonly kind: 'killed'; readonly step: number }
  /** It stands still, as a machine that is suspended, and continues as if nothing had been. */
  | { readonly kind: 'held-up'; readonly step: number; readonly milliseconds: number };

/** What becomes of a process at a moment inside of the store's own work; `cut`: it lives, its connections do not. */
export type Passage = 'passes' | 'cut' | 'dead';

export class Killed extends Error {
  override readonly name = 'Killed';
}

/**
 * A process that may end at any await: from then on nothing that it waits for ever comes, so none of its code runs any
 * more, and a transaction that it had open is undone.
 */
export class Mortal {
  readonly #fate: Fate;
  readonly #time: VirtualTime;
  readonly #cuts: readonly number[];
  readonly #ending = Promise.withResolvers<void>();
  readonly #standing = Promise.withResolvers<void>();
  #steps = 0;
  #moments = 0;
  #until = 0;
  #dead = false;

  /** @param cuts moments inside of the store's work at which its connections are cut */
  constructor(fate: Fate, time: VirtualTime, cuts: readonly number[]) {
    this.#fate = fate;
    this.#time = time;
    this.#cuts = cuts;
  }

  /** Resolves when the process dies. */
  get death(): Promise<void> {
    return this.#ending.promise;
  }

  /** Resolves when it is held up. */
  get standstill(): Promise<void> {
    return this.#standing.promise;
  }

  get steps(): number {
    return this.#steps;
  }

  kill(): void {
    this.#dead = true;
    this.#ending.resolve();
  }

  /** What the process waits for, if it lives to begin it and to learn of its end. */
  async step<T>(work: () => Promise<T>): Promise<T> {
    await this.#gate();
    try {
      return await work();
    } finally {
      await this.#gate();
    }
  }

  get isDead(): boolean {
    return this.#dead;
  }

  /** A moment inside of the store's own work. */
  passes(): Passage {
    this.#count();
    this.#moments++;
    if (this.#dead) return 'dead';
    return this.#cuts.includes(this.#moments) ? 'cut' : 'passes';
  }

  async #gate(): Promise<void> {
    this.#count();
    if (this.#dead) await new Promise<never>(() => undefined);
    if (this.#time.now < this.#until) {
      await this.#time.sleep(this.#until - this.#time.now);
      if (this.#dead) await new Promise<never>(() => undefined);
    }
  }

  #count(): void {
    this.#steps++;
    const fate = this.#fate;
    if (fate.kind === 'lives' || this.#steps !== fate.step) return;
    if (fate.kind === 'killed') {
      this.kill();
    } else {
      this.#until = this.#time.now + fate.milliseconds;
      this.#standing.resolve();
    }
  }
}

/** The clock that a process's store stamps with, in this thread: where the process dies, its transaction is undone. */
export function pulsing({ now, sleep }: Clock, mortal: Mortal): Clock {
  return {
    now: () => {
      if (mortal.passes() === 'dead') throw new Killed('The process was killed');
      return now();
    },
    sleep,
  };
}

/** The same clock, on which only a living process wakes. */
export function mortalClock({ now, sleep }: Clock, mortal: Mortal): Clock {
  return { now, sleep: (milliseconds, signal) => mortal.step(() => sleep(milliseconds, signal)) };
}

/** A store as a process sees it: every call is a step. */
export function mortalStore(store: Store, checkpoints: Store['checkpoints'], mortal: Mortal): Store {
  return replaced(store, {
    model: () => mortal.step(() => store.model()),
    configure: (change) => mortal.step(() => store.configure(change)),
    checkpoints: {
      sources: () => mortal.step(() => checkpoints.sources()),
      state: (...given) => mortal.step(() => checkpoints.state(...given)),
      commit: (...given) => mortal.step(() => checkpoints.commit(...given)),
      exchange: (...given) => mortal.step(() => checkpoints.exchange(...given)),
      missing: (...given) => mortal.step(() => checkpoints.missing(...given)),
      stamps: (...given) => mortal.step(() => checkpoints.stamps(...given)),
      stored: (...given) => mortal.step(() => checkpoints.stored(...given)),
      unseen: (...given) => mortal.step(() => checkpoints.unseen(...given)),
      marked: (...given) => mortal.step(() => checkpoints.marked(...given)),
      unseenCount: (...given) => mortal.step(() => checkpoints.unseenCount(...given)),
      forgetSeen: (...given) => mortal.step(() => checkpoints.forgetSeen(...given)),
      pending: (...given) => mortal.step(() => checkpoints.pending(...given)),
      pendingCount: (...given) => mortal.step(() => checkpoints.pendingCount(...given)),
      storedKeys: (...given) => mortal.step(() => checkpoints.storedKeys(...given)),
      quarantined: (...given) => mortal.step(() => checkpoints.quarantined(...given)),
      quarantinedCount: (...given) => mortal.step(() => checkpoints.quarantinedCount(...given)),
      lease: (...given) => mortal.step(() => checkpoints.lease(...given)),
      releaseLease: (...given) => mortal.step(() => checkpoints.releaseLease(...given)),
      leaseHolder: (...given) => mortal.step(() => checkpoints.leaseHolder(...given)),
    },
  });
}
