import type { Store } from '../../../src/store/store.ts';
import { replaced } from './replaced.ts';
import { threadIsQuiet } from './time.ts';

/** Counts the calls of stores that are answered from elsewhere, so that it is known when none is under way. */
export class Traffic {
  #calls = 0;
  #rest = Promise.withResolvers<void>();

  async during<T>(call: Promise<T>): Promise<T> {
    this.#calls++;
    try {
      return await call;
    } finally {
      this.#calls--;
      if (this.#calls === 0) {
        this.#rest.resolve();
        this.#rest = Promise.withResolvers();
      }
    }
  }

  /** Resolves when no call is under way, and whoever waited for one has gone on. */
  readonly quiet = async (): Promise<void> => {
    for (;;) {
      await threadIsQuiet();
      if (this.#calls === 0) return;
      await this.#rest.promise;
    }
  };
}

/** What is made of each call before it is answered. */
type Wrap = <T>(call: Promise<T>) => Promise<T>;

/** A store whose calls are all counted. */
export function watchedStore(store: Store, wrap: Wrap): Store {
  const { ledger, keys, shared } = store;
  return replaced(watched(store, wrap), {
    ledger: watched(ledger, wrap),
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
        return answer instanceof Promise ? wrap(answer) : answer;
      };
    },
  });
}
