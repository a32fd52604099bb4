/** Which damages of the store the log has already: each is met again by every request that reads there. */
import { PlatError } from '../errors/index.ts';

/** Damages that are remembered; a store has few, since they are told by their kind and not by their place. */
const MOST = 100;

export class LoggedDamages {
  readonly #messages = new Set<string>();

  /** Whether an error is a damage that was asked about before. */
  wasLogged(error: unknown): boolean {
    if (!(error instanceof PlatError) || error.code !== 'storeDamaged') return false;
    if (this.#messages.has(error.message)) return true;
    if (this.#messages.size < MOST) this.#messages.add(error.message);
    return false;
  }
}
