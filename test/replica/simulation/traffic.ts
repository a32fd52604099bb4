import type { Clock } from '../../../src/shared/clock.ts';
import type { Store } from '../../../src/store/store.ts';
import { replaced } from './replaced.ts';
import { threadIsQuiet } from './time.ts';

interface Call {
  readonly name: string;
  readonly database: string;
}

/** The calls that wait for a transaction of another call to the same database. */
const WRITES: ReadonlySet<string> = new Set([
  'open',
  'write',
  'remove',
  'configure',
  'beginEpoch',
  'restamp',
  'commit',
  'commitTogether',
  'exchange',
  'deleteMarks',
  'lease',
  'releaseLease',
]);

/** Counts the calls of stores that a server answers, so that a history knows when none is in progress. */
export class Traffic {
  readonly #calls = new Set<Call>();
  /**
   * The databases of the calls that wait for the clock of the history, or for their caller. The clock may advance only while every
   * call does, or waits for the transaction of one that does.
   */
  readonly #waiting: string[] = [];
  #rest = Promise.withResolvers<void>();

  async during<T>(call: Promise<T>, name: string, database = ''): Promise<T> {
    const entry = { name, database };
    this.#calls.add(entry);
    try {
      return await call;
    } finally {
      this.#calls.delete(entry);
      this.#look();
    }
  }

  /** The same clock, for stores: a call that sleeps on it does not count as in progress. */
  clock({ now, sleep }: Clock, database = ''): Clock {
    return { now, sleep: (milliseconds, signal) => this.waits(() => sleep(milliseconds, signal), database) };
  }

  /** What a call waits for outside of the store, so that it does not count as in progress meanwhile. */
  readonly waits = async <T>(work: () => Promise<T>, database = ''): Promise<T> => {
    this.#waiting.push(database);
    this.#look();
    try {
      return await work();
    } finally {
      this.#waiting.splice(this.#waiting.indexOf(database), 1);
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
    const calls = [...this.#calls];
    const behind = [...new Set(this.#waiting)].map((database) => {
      const writes = calls.filter((call) => call.database === database && WRITES.has(call.name));
      return Math.max(0, writes.length - this.#waiting.filter((each) => each === database).length);
    });
    return calls.length <= this.#waiting.length + behind.reduce((sum, each) => sum + each, 0);
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
export function watchedStore(store: Store, traffic: Traffic, database: string, wrap: Wrap): Store {
  const { keys, shared } = store;
  const checkpoints = watched(store.checkpoints, wrap);
  return replaced(watched(store, wrap), {
    checkpoints: replaced(checkpoints, {
      commitTogether: (source, lease, changes) =>
        checkpoints.commitTogether(source, lease, {
          ...changes,
          next: (...given) => traffic.waits(() => changes.next(...given), database),
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
