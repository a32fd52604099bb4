/**
 * What a process may conclude from the state that a server has shown to it, while other processes change the store: whether a
 * request may continue on its assumptions, and which state a standby must show before plat reads from it. It knows no engine.
 */
import type { KeyRecord } from '../../access/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import { type AssumedLook, LookChanged } from '../store.ts';
import type { LiveModel } from './live-model.ts';

/** A key, and its row as the server returned it. */
export interface KnownKey {
  readonly row: string;
  readonly key: KeyRecord;
}

/** The state that a response showed. */
interface Shown {
  readonly state: { readonly generation: number };
  /** The row of the key; null if there is none. */
  readonly key: string | null;
}

/** The clock and the current state of a server. */
interface ServerState {
  now(): number;
  ask(tokenHash: string): Promise<{
    readonly generation: number;
    readonly moment: number;
    readonly key: string | null;
    /** Whether the clock shows the expected time. */
    readonly isExpected: boolean;
  }>;
}

/** An assumption about key and state, until a statement on the primary confirms or refutes it. */
export class UnconfirmedLook implements AssumedLook {
  readonly tokenHash: string;
  readonly key: KeyRecord;
  /** The row of the key. */
  readonly row: string;
  readonly model: StoreModel;
  readonly now: number;
  readonly #live: LiveModel;
  readonly #state: ServerState;
  #verdict: boolean | undefined;

  constructor(tokenHash: string, { key, row }: KnownKey, live: LiveModel, state: ServerState) {
    this.tokenHash = tokenHash;
    this.key = key;
    this.row = row;
    this.model = live.known;
    this.now = state.now();
    this.#live = live;
    this.#state = state;
  }

  /** Whether it has not been confirmed yet. */
  get isOpen(): boolean {
    return this.#verdict !== true;
  }

  /**
   * Compares the assumption with the state that a later statement has seen.
   * | @param isExpected whether the server's clock shows the expected time
   * @throws LookChanged
   */
  confirm({ state, key }: Shown, isExpected: boolean): void {
    this.#verdict ??=
      isExpected &&
      key === this.row &&
      state.generation === this.model.generation &&
      this.#live.known === this.model;
    if (!this.#verdict) throw new LookChanged();
  }

  async holds(): Promise<boolean> {
    if (this.#verdict === undefined) {
      const asked = await this.#state.ask(this.tokenHash);
      const model = await this.#live.at(asked);
      this.#verdict = asked.isExpected && asked.key === this.row && model === this.model;
    }
    return this.#verdict;
  }
}

/**
 * The number of changes that the primary has shown to this process, and that every standby must show before plat reads from it.
 * Responses may arrive out of order, so a smaller number is outdated, unless its query was sent after the larger one was known:
 * then another server has taken over that had not received the last changes.
 */
export class ChangePosition {
  #changes = 0;
  #knownAt = Number.NEGATIVE_INFINITY;

  get changes(): number {
    return this.#changes;
  }

  /**
   * @param asked when the query was sent, on a monotonic clock
   * @param now when its response arrived, on the same clock
   */
  observe(changes: number, asked: number, now: number): void {
    if (changes === this.#changes || (changes < this.#changes && asked <= this.#knownAt)) return;
    this.#changes = changes;
    this.#knownAt = now;
  }
}
