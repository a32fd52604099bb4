/**
 * The state of a file that every request needs, read once after each commit. `PRAGMA data_version` changes with every
 * commit of another connection, of any process, and takes a tenth of the time of the reads that it replaces. This
 * module must not know what its readers conclude from the state.
 */
import type { StatementSync } from 'node:sqlite';
import type { KeyRecord } from '../../access/index.ts';
import { render } from '../../compile/fragment.ts';
import { keyIn, keyRows } from '../../store/key-store.ts';
import { type Meta, metaOf, metaRows, TIMES } from '../../store/meta.ts';
import { anyRows, bindings, type Connection } from './connection.ts';
import { sqliteDialect } from './dialect.ts';

const STATE = render(metaRows('generation', ...TIMES), sqliteDialect.placeholder);

export type Times = Pick<Meta, 'newest' | 'settled' | 'epoch' | 'clockReading'>;

/** What is stored between two commits. What is read of it may already be newer, and is then read again after the next look. */
class Kept {
  /** Another one after each commit. */
  readonly commit: number;
  readonly #connection: Connection;
  #meta: Meta | undefined;
  #times: Times | undefined;
  #generation: number | undefined;
  /** By the hashes of their tokens; those that there are. */
  readonly #keys = new Map<string, KeyRecord>();

  constructor(connection: Connection, commit: number) {
    this.#connection = connection;
    this.commit = commit;
  }

  /** What the store keeps of its time. */
  get times(): Times {
    if (this.#times === undefined) {
      const { newest, settled, epoch, clockReading } = this.#read();
      this.#times = { newest, settled, epoch, clockReading };
    }
    return this.#times;
  }

  /** As of `Meta`. */
  get generation(): number {
    this.#generation ??= this.#read().generation;
    return this.#generation;
  }

  /** The key whose token has a hash. */
  key(tokenHash: string): KeyRecord | undefined {
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
}

export class KeptState {
  readonly #connection: Connection;
  readonly #version: StatementSync;
  #seen: unknown;
  #kept: Kept;

  /** @param connection one that never writes: its own commits would not show */
  constructor(connection: Connection) {
    this.#connection = connection;
    this.#version = connection.database.prepare('PRAGMA data_version');
    this.#kept = new Kept(connection, 0);
  }

  /** What is stored now. */
  look(): Kept {
    const version = this.#version.get()?.data_version;
    if (version !== this.#seen) this.#kept = new Kept(this.#connection, this.#kept.commit + 1);
    this.#seen = version;
    return this.#kept;
  }
}
