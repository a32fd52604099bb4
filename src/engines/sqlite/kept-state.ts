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

/** What is stored between two commits. What is read of it may already be newer, and is then read again after the next look. */
interface Kept {
  /** Another one after each commit. */
  readonly commit: number;
  readonly meta: Pick<Meta, 'generation' | 'newest' | 'settled' | 'epoch' | 'clockReading'>;
  /** The key whose token has a hash. */
  readonly key: (tokenHash: string) => KeyRecord | undefined;
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
    this.#seen = this.#version.get()?.data_version;
    this.#kept = this.#read(0);
  }

  /** What is stored now. */
  look(): Kept {
    const version = this.#version.get()?.data_version;
    if (version !== this.#seen) this.#kept = this.#read(this.#kept.commit + 1);
    this.#seen = version;
    return this.#kept;
  }

  #read(commit: number): Kept {
    /** By the hashes of their tokens; those that there are. */
    const keys = new Map<string, KeyRecord>();
    return {
      commit,
      meta: metaOf(this.#connection.prepare(STATE.text).all(...bindings(STATE))),
      key: (tokenHash) => {
        const known = keys.get(tokenHash);
        if (known !== undefined) return known;
        const statement = render(keyRows(tokenHash), sqliteDialect.placeholder);
        const found = keyIn(anyRows(this.#connection, statement.text, bindings(statement)));
        if (found !== undefined) keys.set(tokenHash, found);
        return found;
      },
    };
  }
}
