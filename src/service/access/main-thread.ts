/**
 * Turns at the thread that reads, binds and plans requests. It knows no requests, only the names of those who ask: a crowd
 * of one name waits for itself, and between two requests whatever else has arrived has its turn.
 */
import { FairQueue } from '../../shared/fair-queue.ts';

/** Budgets bound how many requests of a name are under way; this bounds what memory all of them take here. */
const LONGEST_QUEUE = 10_000;

export class MainThread {
  readonly #queue = new FairQueue({ turns: 1, long: false, waiting: LONGEST_QUEUE });

  /** How many wait for their turn. */
  get waiting(): number {
    return this.#queue.waiting;
  }

  /**
   * Resolves when it is this name's turn, which lasts until the thread has done what it does without waiting.
   * @throws PlatError `overloaded` when too many wait already, and this name for the most
   */
  async enter(name: string): Promise<void> {
    const turn = await this.#queue.enter(name);
    setImmediate(() => turn.end());
  }
}
