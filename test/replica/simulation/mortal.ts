import type { Clock } from '../../../src/shared/clock.ts';
import type { Store } from '../../../src/store/store.ts';
import { replaced } from './replaced.ts';
import type { VirtualTime } from './time.ts';

/** What happens to a process, and at which of its steps. A step is anything that it awaits. */
export type Fate =
  | { readonly kind: 'lives' }
  | { readonly kind: 'killed'; readonly step: number }
  /** It stops for a while, as on a suspended machine, and continues without noticing. */
  | { readonly kind: 'held-up'; readonly step: number; readonly milliseconds: number };

/** What happens to a process at a moment during the store's own work; `cut`: only its connections are closed. */
export type Passage = 'passes' | 'cut' | 'dead';

export class Killed extends Error {
  override readonly name = 'Killed';
}

function throwKilled(): never {
  throw new Killed('The process was killed');
}

/**
 * A process that may end at any await: from then on nothing that it awaits ever settles, so that none of its code runs, and its
 * open transaction is rolled back.
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

  /** @param cuts moments during the store's work at which its connections are closed */
  constructor(fate: Fate, time: VirtualTime, cuts: readonly number[]) {
    this.#fate = fate;
    this.#time = time;
    this.#cuts = cuts;
  }

  /** Resolves when the process dies. */
  get death(): Promise<void> {
    return this.#ending.promise;
  }

  /** Resolves when the process is suspended. */
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

  /** Work that the process awaits, if it is alive at its beginning and at its end. */
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

  /** A moment during the store's own work. */
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

/** The clock of a process's store, in this thread: reading it throws in a dead process, so that its transaction is rolled back. */
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

/** The store of a process: every call is a step. */
export function mortalStore(store: Store, checkpoints: Store['checkpoints'], mortal: Mortal): Store {
  return replaced(store, {
    model: () => mortal.step(() => store.model()),
    configure: (change) => mortal.step(() => store.configure(change)),
    checkpoints: {
      sources: () => mortal.step(() => checkpoints.sources()),
      state: (...given) => mortal.step(() => checkpoints.state(...given)),
      commit: (...given) => mortal.step(() => checkpoints.commit(...given)),
      commitTogether: (source, lease, changes) =>
        mortal.step(() =>
          checkpoints.commitTogether(source, lease, {
            ...changes,
            // If the process dies while it waits for another change, its open transaction is rolled back.
            next: (...given) => Promise.race([changes.next(...given), mortal.death.then(throwKilled)]),
          }),
        ),
      exchange: (...given) => mortal.step(() => checkpoints.exchange(...given)),
      missing: (...given) => mortal.step(() => checkpoints.missing(...given)),
      timestamps: (...given) => mortal.step(() => checkpoints.timestamps(...given)),
      stored: (...given) => mortal.step(() => checkpoints.stored(...given)),
      unseen: (...given) => mortal.step(() => checkpoints.unseen(...given)),
      marked: (...given) => mortal.step(() => checkpoints.marked(...given)),
      unseenCount: (...given) => mortal.step(() => checkpoints.unseenCount(...given)),
      deleteMarks: (...given) => mortal.step(() => checkpoints.deleteMarks(...given)),
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
