/** The model of a store that other processes change as well, and what the state of a server says about it. */
import type { KeyRecord } from '../../access/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import { parseStoredJson } from '../../records/damage.ts';
import { BoundedCache } from '../../shared/bounded-cache.ts';
import { keyOf } from '../keys/key-store.ts';
import { type AssumedLook, LookChanged } from '../store.ts';
import { NewDay, type OverdueDay } from '../time/new-day.ts';

export interface ModelSource {
  /** The clock that sets timestamps, as last known; milliseconds since 1970. */
  now(): number;
  /** Reads the number of changes of the stored model, and the clock. Needs no lock, and waits for no process that has it. */
  ask(): Promise<{ readonly generation: number; readonly moment: number }>;
  readModel(): Promise<StoreModel>;
  /** Evaluates visibility by the rules of a new day, unless another process is writing. */
  startDay(): Promise<StoreModel>;
  /** Translates an error of the engine. */
  explain(error: unknown): unknown;
}

export class LiveModel {
  readonly #source: ModelSource;
  readonly #newDay: NewDay;
  #stored: StoreModel;
  #refreshing: Promise<void> | undefined;

  constructor(stored: StoreModel, source: ModelSource) {
    this.#stored = stored;
    this.#source = source;
    this.#newDay = new NewDay(async () => this.replaceStored(await source.startDay()));
  }

  /** The model for writing, as last known. */
  get stored(): StoreModel {
    return this.#stored;
  }

  /** The model for reading, as last known. */
  get known(): StoreModel {
    return this.#newDay.modelAt(this.#stored, this.#source.now());
  }

  /** The model for reading, as it is now. */
  async current(): Promise<StoreModel> {
    return this.at(await this.#source.ask());
  }

  /** The model for reading, according to the given state of the store. */
  async at({ generation, moment }: Awaited<ReturnType<ModelSource['ask']>>): Promise<StoreModel> {
    if (generation !== this.#stored.generation) await this.refresh();
    return this.#newDay.modelAt(this.#stored, moment);
  }

  /** Reads the model again, once for all concurrent callers. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#source
      .readModel()
      .then((model) => this.replaceStored(model))
      .finally(() => {
        this.#refreshing = undefined;
      });
    return this.#refreshing;
  }

  /** Sets the model that a write of this process produced, unless a later one is known. */
  replaceStored(model: StoreModel): void {
    if (model.generation >= this.#stored.generation) this.#stored = model;
  }

  explain(error: unknown): unknown {
    return this.#source.explain(error);
  }

  get overdue(): OverdueDay | undefined {
    return this.#newDay.overdue;
  }

  /** Resolves when no background work is running. */
  whenIdle(): Promise<void> {
    return this.#newDay.whenIdle();
  }
}

/** A key, and its row as the server returned it. */
interface KnownKey {
  readonly row: string;
  readonly key: KeyRecord;
}

const KEY_CACHE_BOUNDS = { entries: 10_000, bytes: 16 * 1024 * 1024 };
/** The memory of a key in addition to its row, in bytes. */
const KEY_BYTES = 600;

/** The keys of requests, as last known. */
export class KnownKeys {
  readonly #keys = new BoundedCache<KnownKey>('keys', KEY_CACHE_BOUNDS);

  /** The key of a row that the server returned. */
  keyOf(tokenHash: string, row: string): KeyRecord {
    const known = this.#keys.get(tokenHash);
    if (known?.row === row) return known.key;
    const values = parseStoredJson(row, 'a key of it');
    const key = keyOf(typeof values === 'object' && values !== null ? { ...values } : {});
    this.#keys.put(tokenHash, { row, key }, row.length + KEY_BYTES);
    return key;
  }

  /** The key that a request may assume. A revoked key is never assumed, but queried each time. */
  unrevoked(tokenHash: string): KnownKey | undefined {
    const known = this.#keys.get(tokenHash);
    return known?.key.revokedAt === null ? known : undefined;
  }
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
   * @param isExpected whether the server's clock shows the expected time
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
      try {
        const asked = await this.#state.ask(this.tokenHash);
        const model = await this.#live.at(asked);
        this.#verdict = asked.isExpected && asked.key === this.row && model === this.model;
      } catch (error) {
        throw this.#live.explain(error);
      }
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
