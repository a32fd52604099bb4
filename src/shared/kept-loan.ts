/** A loan that is kept while its user needs it again and again, and ends when it has not been used for a while. */

/** Milliseconds for which a loan is kept unused, and for which a use may last before later ones get another loan. */
const REST = 1000;

interface Kept<T> {
  readonly loan: Promise<T>;
  /** The loan, once it has been granted. */
  held: T | undefined;
  /** Returns the loan; called when nothing uses it. */
  readonly end: () => void;
  /** The number of current uses. */
  uses: number;
  /** When the last use ended, or the first of the current ones began. */
  moved: number;
}

/** Concurrent uses share the loan, such as a connection that sends statements one behind the other. */
export class KeptLoan<T extends Disposable> {
  readonly #borrow: () => Promise<T>;
  readonly #isLost: (loan: T) => boolean;
  #kept: Kept<T> | undefined;

  /** @param isLost whether a loan can no longer be used, such as a connection that the server has closed */
  constructor(borrow: () => Promise<T>, isLost: (loan: T) => boolean) {
    this.#borrow = borrow;
    this.#isLost = isLost;
  }

  /** Uses the loan. If it is lost, none of its uses has ended for long, or one has failed, later ones get another loan. */
  async use<R>(work: (loan: T) => Promise<R>): Promise<R> {
    const now = performance.now();
    if (this.#kept !== undefined && !this.#isUsable(this.#kept, now)) this.leave();
    this.#kept ??= this.#take();
    const kept = this.#kept;
    if (kept.uses++ === 0) kept.moved = now;
    try {
      kept.held ??= await kept.loan;
      return await work(kept.held);
    } catch (error) {
      if (this.#kept === kept) this.leave();
      throw error;
    } finally {
      kept.moved = performance.now();
      if (--kept.uses === 0 && this.#kept !== kept) kept.end();
    }
  }

  #isUsable({ held, uses, moved }: Kept<T>, now: number): boolean {
    return (held === undefined || !this.#isLost(held)) && (uses === 0 || now - moved <= REST);
  }

  /** Returns the loan as soon as nothing uses it. */
  leave(): void {
    const kept = this.#kept;
    this.#kept = undefined;
    if (kept?.uses === 0) kept.end();
  }

  #take(): Kept<T> {
    const loan = this.#borrow();
    const timer = setInterval(() => {
      if (this.#kept === kept && kept.uses === 0 && performance.now() - kept.moved > REST) this.leave();
    }, REST).unref();
    const end = (): void => {
      clearInterval(timer);
      // A loan that was refused has been reported to its first user.
      loan.then((held) => held[Symbol.dispose]()).catch(() => undefined);
    };
    const kept: Kept<T> = { loan, held: undefined, end, uses: 0, moved: 0 };
    return kept;
  }
}
