/**
 * What every request asks of a file, read once after each commit. `PRAGMA data_version` changes with every commit of another
 * connection, whichever process has it, and takes a tenth of the time of the reads that it stands for. This module must not
 * know what its readers conclude from what they get.
 */
import type { StatementSync } from 'node:sqlite';
import type { KeyRecord } from '../../access/index.ts';
import { render } from '../../compile/fragment.ts';
import { keyIn, keyRows } from '../../store/key-store.ts';
import { type Meta, metaOf, metaRows, TIMES } from '../../store/meta.ts';
import { anyRows, bindings, type Connection } from './connection.ts';
import { sqliteDialect } from './dialect.ts';

const STATE = render(metaRows('generation', ...TIMES), sqliteDialect.placeholder);

type Times = Pick<Meta, 'newest' | 'settled' | 'epoch' | 'clockReading'>;

export class KeptState {
  readonly #connection: Connection;
  readonly #version: StatementSync;
  #seen: unknown;
  #meta: Meta | undefined;
  #times: Times | undefined;
  #generation: number | undefined;
  /** By the hashes of their tokens; those that there are. */
  readonly #keys = new Map<string, KeyRecord>();

  /** @param connection one that never writes: its own commits would not show */
  constructor(connection: Connection) {
    this.#connection = connection;
    this.#version = connection.database.prepare('PRAGMA data_version');
  }

  /** What the store keeps of its time. */
  get times(): Times {
    this.#look();
    if (this.#times === undefined) {
      const { newest, settled, epoch, clockReading } = this.#read();
      this.#times = { newest, settled, epoch, clockReading };
    }
    return this.#times;
  }

  /** As of `Meta`. */
  get generation(): number {
    this.#look();
    this.#generation ??= this.#read().generation;
    return this.#generation;
  }

  /** The key whose token has a hash. */
  key(tokenHash: string): KeyRecord | undefined {
    this.#look();
    const known = this.#keys.get(tokenHash);
    if (known !== undefined) return known;
    const statement = render(keyRows(tokenHash), sqliteDialect.placeholder);
    const found = keyIn(anyRows(this.#connection, statement.text, bindings(statement)));
    if (found !== undefined) this.#keys.set(tokenHash, found);
    return found;
  }

  #read(): Meta {
    this.#meta ??= metaOf(this.#connection.prepare(STATE.text).all(...bindings(STATE)));
    return this.#meta;
  }

  /** What is read after this look may be newer than it, and is then read once more after the next. */
  #look(): void {
    const version = this.#version.get()?.data_version;
    if (version === this.#seen) return;
    this.#seen = version;
    this.#meta = undefined;
    this.#times = undefined;
    this.#generation = undefined;
    this.#keys.clear();
  }
}
