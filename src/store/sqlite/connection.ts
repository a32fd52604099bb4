import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { BoundValue, Slot, Statement } from '../sql/fragment.ts';
import { type Deadline, registerFunctions } from './functions.ts';

/** A value as `node:sqlite` gives it. */
export type Raw = string | number | bigint | null | Uint8Array;

export interface ConnectionOptions {
  readonly path: string;
  readonly readOnly: boolean;
  /** Milliseconds to wait for another process's write lock. */
  readonly busyTimeout: number;
  /** Megabytes of pages to keep. */
  readonly cacheMegabytes: number;
}

/** How many statements a connection keeps prepared. */
const PREPARED = 400;

/** One connection of one thread, with its prepared statements. */
export interface Connection {
  readonly database: DatabaseSync;
  readonly deadline: Deadline;
  prepare(text: string): StatementSync;
  close(): void;
}

export function connect(options: ConnectionOptions): Connection {
  const database = new DatabaseSync(options.path, {
    readOnly: options.readOnly,
    timeout: options.busyTimeout,
    enableForeignKeyConstraints: false,
  });
  database.exec(`PRAGMA cache_size = -${options.cacheMegabytes * 1024}; PRAGMA temp_store = MEMORY;`);
  const deadline = registerFunctions(database);
  const statements = new Map<string, StatementSync>();
  return {
    database,
    deadline,
    prepare(text) {
      const known = statements.get(text);
      if (known !== undefined) {
        statements.delete(text); // the least recently used is the first
        statements.set(text, known);
        return known;
      }
      const made = database.prepare(text);
      statements.set(text, made);
      if (statements.size > PREPARED) {
        const oldest = statements.keys().next();
        if (!oldest.done) statements.delete(oldest.value);
      }
      return made;
    },
    close() {
      statements.clear();
      database.close();
    },
  };
}

/** What the slots of a planned statement stand for. */
export type Slots = Readonly<Partial<Record<Slot, BoundValue>>>;

/** The values of a statement as the engine binds them. */
export function bindings({ values }: Statement, slots: Slots = {}): (string | number | null)[] {
  return values.map((value) => {
    const bound = typeof value === 'object' && value !== null ? (slots[value.slot] ?? null) : value;
    return typeof bound === 'boolean' ? Number(bound) : bound;
  });
}
