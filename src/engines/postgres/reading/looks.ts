/**
 * What requests know of the store before they read: key and state in one round trip, or in none where they are assumed to be
 * as last known. It must not know what is read.
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

/** A key, and its row as the server wrote it. */
interface KnownKey {
  readonly row: string;
  readonly key: KeyRecord;
}

const KEPT = { entries: 10_000, bytes: 16 * 1024 * 1024 };
/** Bytes of a key beside its row. */
const KEY = 600;

/** An assumption, until a statement on the server that is written to says whether it holds. */
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

  /** Whether nothing has said yet that it holds. */
  get isOpen(): boolean {
    return this.#verdict !== true;
  }

  /**
   * Takes in what a statement saw that was sent after the look began.
   * @param isExpected whether the server's clock is where it was expected
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
  /** Looks that are about to be sent, by the hash of the token. */
  readonly #coming = new Map<string, Promise<Look>>();

  constructor(state: LiveState) {
    this.#state = state;
  }

  /**
   * Asks the server that is written to, once for all requests that come in the same turn of the event loop. The look is sent
   * after all of them have come, so that each sees every commit before it.
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

  /** A key that was revoked is asked for each time. */
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
