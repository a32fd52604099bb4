import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { LARGEST_ANSWER } from '../largest-answer.ts';
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

/** How many statements a connection keeps prepared, and how many characters they may have together. */
const PREPARED = 400;
const PREPARED_LENGTH = 2_000_000;

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
    // The engine joins a page in memory.
    ...(options.readOnly ? { limits: { length: LARGEST_ANSWER * 1_000_000 } } : {}),
  });
  database.exec(`PRAGMA cache_size = -${options.cacheMegabytes * 1024}; PRAGMA temp_store = MEMORY;`);
  const deadline = registerFunctions(database);
  const statements = new Map<string, StatementSync>();
  let length = 0;
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
      length += text.length;
      for (const oldest of statements.keys()) {
        if (statements.size <= PREPARED && length <= PREPARED_LENGTH) break;
        statements.delete(oldest);
        length -= oldest.length;
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
