/** Work that runs one after the other, in the order in which it was queued. It knows nothing of what the work does. */

/** A queue of work. A failure rejects its own promise and holds nothing up. */
export class PromiseQueue {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#last.then(work);
    this.#last = run.catch(() => undefined);
    return run;
  }

  /** Resolves when everything that is queued now has ended. */
  async idle(): Promise<void> {
    await this.#last;
  }
}

/** Waits until all have ended, then throws the first failure, if there is one: nothing goes on behind an error. */
export async function settleAll(work: Iterable<Promise<unknown>>): Promise<void> {
  const results = await Promise.allSettled(work);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
