/**
 * Recognizes a former primary. When another server takes over, its first write counts this in the store. A server that shows a
 * smaller number again lacks what was committed since, although it accepts reads and writes.
 */
import type { StoredState } from './meta.ts';

/** Thrown if a server has a smaller number of takeovers than this process has seen. */
export class OutdatedServer extends Error {
  constructor(found: number, known: number) {
    super(`The server knows of ${found} takeovers, but there were ${known}`);
  }
}

/** The number of takeovers that this process has seen in a store. */
export class KnownTakeovers {
  #known = 0;
  #epoch = '';
  #knownAt = Number.NEGATIVE_INFINITY;

  /**
   * A response to a query that was sent before the number was known may show a smaller one. A new epoch accepts the server as it is,
   * because an operator began it.
   * @param asked when the query was sent, on a monotonic clock
   * @param now when its response arrived, on the same clock
   * @throws OutdatedServer
   */
  observe({ takeovers, epoch }: Pick<StoredState, 'takeovers' | 'epoch'>, asked: number, now: number): void {
    if (asked <= this.#knownAt || (epoch === this.#epoch && takeovers === this.#known)) return;
    if (epoch === this.#epoch) this.mustInclude(takeovers);
    this.#known = takeovers;
    this.#epoch = epoch;
    this.#knownAt = now;
  }

  /** @throws OutdatedServer */
  mustInclude(takeovers: number): void {
    if (takeovers < this.#known) throw new OutdatedServer(takeovers, this.#known);
  }
}
