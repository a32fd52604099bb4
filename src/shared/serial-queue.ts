/** Work that is done one after the other, in the order in which it was asked for. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs work when all that was asked for before has ended, well or not. */
  next<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work, work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Resolves when nothing is left to do. */
  async ended(): Promise<void> {
    await this.#last;
  }
}
