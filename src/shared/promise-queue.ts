/** Queues of asynchronous work. This module does not know what the work does. */

/** Runs work one after the other, in the order in which it was queued. A failure rejects its own promise only. */
export class PromiseQueue {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#last.then(work);
    this.#last = run.catch(() => undefined);
    return run;
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
