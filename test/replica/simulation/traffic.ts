import type { Clock } from '../../../src/shared/clock.ts';
import type { Store } from '../../../src/store/store.ts';
import { replaced } from './replaced.ts';
import { threadIsQuiet } from './time.ts';

/** Counts the calls of stores that a server answers, so that a history knows when none is in progress. */
export class Traffic {
  /** The calls that are in progress, with their names. */
  readonly #calls = new Set<{ readonly name: string }>();
  /** Calls that wait for the clock of the history, or for their caller. The clock may advance only while every call does. */
  #waiting = 0;
  #rest = Promise.withResolvers<void>();

  async during<T>(call: Promise<T>, name: string): Promise<T> {
    const entry = { name };
    this.#calls.add(entry);
    try {
      return await call;
    } finally {
      this.#calls.delete(entry);
      this.#look();
    }
  }

  /** The same clock, for stores: a call that sleeps on it does not count as in progress. */
  clock({ now, sleep }: Clock): Clock {
    return { now, sleep: (milliseconds, signal) => this.waits(() => sleep(milliseconds, signal)) };
  }

  /** What a call waits for outside of the store, so that it does not count as in progress meanwhile. */
  readonly waits = async <T>(work: () => Promise<T>): Promise<T> => {
    this.#waiting++;
    this.#look();
    try {
      return await work();
    } finally {
      this.#waiting--;
    }
  };

  /** Resolves when no call is in progress, and the callers of completed ones have continued. */
  readonly quiet = async (): Promise<void> => {
    for (;;) {
      await threadIsQuiet();
      if (this.#isQuiet) return;
      await this.#rest.promise;
    }
  };

  readonly underWay = (): readonly string[] => [...this.#calls].map(({ name }) => name);

  get #isQuiet(): boolean {
    return this.#calls.size <= this.#waiting;
  }

  #look(): void {
    if (!this.#isQuiet) return;
    this.#rest.resolve();
    this.#rest = Promise.withResolvers();
  }
}

/** Wraps each call. */
type Wrap = <T>(call: Promise<T>, name: string) => Promise<T>;

/** A store whose calls are all counted, except while they wait for the next page of their caller. */
export function watchedStore(store: Store, { waits }: Traffic, wrap: Wrap): Store {
  const { keys, shared } = store;
  const checkpoints = watched(store.checkpoints, wrap);
  return replaced(watched(store, wrap), {
    checkpoints: replaced(checkpoints, {
      commitTogether: (source, lease, changes) =>
        checkpoints.commitTogether(source, lease, {
          ...changes,
          next: (...given) => waits(() => changes.next(...given)),
        }),
    }),
    keys: watched(keys, wrap),
    ...(shared === undefined ? {} : { shared: watched(shared, wrap) }),
  });
}

function watched<T extends object>(target: T, wrap: Wrap): T {
  return new Proxy(target, {
    get(object, name) {
      const value: unknown = Reflect.get(object, name, object);
      if (typeof value !== 'function') return value;
      return (...given: readonly unknown[]): unknown => {
        const answer: unknown = Reflect.apply(value, object, given);
        return answer instanceof Promise ? wrap(answer, String(name)) : answer;
      };
    },
  });
}
