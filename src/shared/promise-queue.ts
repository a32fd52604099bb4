/** Queues of asynchronous work. This module does not know what the work does. */

/** Runs work one after the other, in the order in which it was queued. A failure rejects its own promise only. */
export class PromiseQueue {
  #last: Promise<unknown> = Promise.resolve();
  #size = 0;
  #awaited = Promise.withResolvers<void>();

  run<T>(work: () => Promise<T>): Promise<T> {
    if (++this.#size > 1) this.#awaited.resolve();
    const run = this.#last.then(work).finally(() => {
      if (--this.#size <= 1) this.#awaited = Promise.withResolvers();
    });
    this.#last = run.catch(() => undefined);
    return run;
  }

  /** Whether other work waits for the work that is running. */
  get isAwaited(): boolean {
    return this.#size > 1;
  }

  /** Resolves when other work waits for the work that is running now. */
  get awaited(): Promise<void> {
    return this.#awaited.promise;
  }

  /** Resolves when all work that is queued now has ended. */
  async idle(): Promise<void> {
    await this.#last;
  }
}

/** Waits until all work has ended, then throws the first failure if there is one, so that no work outlives an error. */
export async function settleAll(work: Iterable<Promise<unknown>>): Promise<void> {
  const results = await Promise.allSettled(work);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** Runs `work` once for all calls with the same name in a turn of the event loop, after all of them. */
export function oncePerTurn<T>(work: (name: string) => Promise<T>): (name: string) => Promise<T> {
  const coming = new Map<string, Promise<T>>();
  return (name) => {
    const known = coming.get(name);
    if (known !== undefined) return known;
    const { promise, resolve } = Promise.withResolvers<T>();
    coming.set(name, promise);
    setImmediate(() => {
      coming.delete(name);
      resolve(work(name));
    });
    return promise;
  };
}
