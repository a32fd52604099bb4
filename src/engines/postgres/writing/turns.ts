/** Work that follows other work. */
export interface Turns {
  /** Runs work when all that was asked for before has ended, well or not. */
  next<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when nothing is left to do. */
  ended(): Promise<void>;
}

/** @param explain what is told of an error */
export function makeTurns(explain: (error: unknown) => unknown): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return {
    next<T>(work: () => Promise<T>): Promise<T> {
      const turn = last.then(work, work).catch((error: unknown) => {
        throw explain(error);
      });
      last = turn.catch(() => undefined);
      return turn;
    },
    ended: async () => {
      await last;
    },
  };
}
