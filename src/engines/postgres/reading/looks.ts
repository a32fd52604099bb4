/**
 * What requests know about the store before they read: the key and the state, from one round trip, or none if they are assumed to
 * be unchanged. This module must not know what is read.
 */
import { setImmediate } from 'node:timers/promises';
import type { KeyRecord } from '../../../access/index.ts';
import type { StoreModel } from '../../../compile/model.ts';
import { storedJson } from '../../../records/damage.ts';
import { BoundedCache } from '../../../shared/bounded-cache.ts';
import type { Engine } from '../../../store/engine.ts';
import { keyOf } from '../../../store/key-store.ts';
import type { LiveModel } from '../../../store/live-model.ts';
import type { Row } from '../../../store/session.ts';
import { type AssumedLook, LookChanged } from '../../../store/store.ts';
import type { LiveState } from './live-state.ts';
import type { Seen } from './look-row.ts';

/** A key, and its row as the server returned it. */
interface KnownKey {
  readonly row: string;
  readonly key: KeyRecord;
}

const KEPT = { entries: 10_000, bytes: 16 * 1024 * 1024 };
/** The memory of a key besides its row, in bytes. */
const KEY = 600;

/** An assumption about key and state, until a statement on the primary confirms or refutes it. */
export class OpenLook implements AssumedLook {
  readonly tokenHash: string;
  readonly key: KeyRecord;
  /** The row of the key. */
  readonly row: string;
  readonly model: StoreModel;
  readonly now: number;
  readonly #live: LiveModel;
  readonly #state: LiveState;
  #verdict: boolean | undefined;

  constructor(tokenHash: string, { key, row }: KnownKey, live: LiveModel, state: LiveState) {
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
   * Processes the state that a later statement has seen.
   *
   * @param isExpected whether the server's clock shows the expected time
   * @throws LookChanged
   */
  confirm({ state, key }: Pick<Seen, 'state' | 'key'>, isExpected: boolean): void {
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

type Look = Awaited<ReturnType<Engine['look']>>;

export class Looks {
  readonly #state: LiveState;
  readonly #keys = new BoundedCache<KnownKey>('keys', KEPT);
  /** Queries that are about to be sent, by token hash. */
  readonly #coming = new Map<string, Promise<Look>>();

  constructor(state: LiveState) {
    this.#state = state;
  }

  /**
   * Queries the primary once for all requests that arrive in the same turn of the event loop. The query is sent after all of them
   * have arrived, so that each sees every commit before it.
   */
  look(tokenHash: string): Promise<Look> {
    const coming = this.#coming.get(tokenHash);
    if (coming !== undefined) return coming;
    const look = setImmediate().then(() => {
      this.#coming.delete(tokenHash);
      return this.#ask(tokenHash);
    });
    this.#coming.set(tokenHash, look);
    return look;
  }

  async #ask(tokenHash: string): Promise<Look> {
    const { generation, moment, next, key: row } = await this.#state.ask(tokenHash);
    const key = row === null ? undefined : this.#keyOf(tokenHash, row, this.#keys.get(tokenHash));
    return { generation, moment, now: this.#state.now(), key, commit: next };
  }

  /** A revoked key is never assumed, but queried each time. */
  assume(live: LiveModel, tokenHash: string): AssumedLook | undefined {
    const known = this.#keys.get(tokenHash);
    if (known === undefined || known.key.revokedAt !== null) return undefined;
    return new OpenLook(tokenHash, known, live, this.#state);
  }

  #keyOf(tokenHash: string, row: string, known: KnownKey | undefined): KeyRecord {
    if (known?.row === row) return known.key;
    const key = keyOf(rowOf(row));
    this.#keys.put(tokenHash, { row, key }, row.length + KEY);
    return key;
  }
}

function rowOf(text: string): Row {
  const row = storedJson(text, 'a key of it');
  return typeof row === 'object' && row !== null ? { ...row } : {};
}
