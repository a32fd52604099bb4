import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { type BoundValue, type Statement, valuesFor } from '../../compile/fragment.ts';
import { FUNCTIONS, FunctionCalls, NUMBER_FUNCTIONS } from '../../compile/functions.ts';
import { BoundedCache } from '../../shared/bounded-cache.ts';
import { Deadline } from '../../shared/deadline.ts';
import { fileUrl } from '../../store/files/file-signature.ts';
import { MOST_BYTES } from '../../store/read/page-memory.ts';
import type { Slots } from '../../store/read/read-steps.ts';

/** A value as `node:sqlite` returns it. */
type Raw = string | number | bigint | null | Uint8Array;

/** How long a read waits for the lock of another process, in milliseconds. */
export const READ_PATIENCE = 5000;

export interface ConnectionOptions {
  readonly path: string;
  readonly readOnly: boolean;
  /** Milliseconds to wait for the write lock of another process. */
  readonly busyTimeout: number;
  readonly cacheMegabytes: number;
  /** Absent: one that only this thread sets. */
  readonly deadline?: Deadline;
}

/** The number of statements that a connection keeps prepared, and the approximate memory for each character of their text. */
const STATEMENT_CACHE_BOUNDS = { entries: 400, bytes: 48 * 1024 * 1024 };
const PREPARED_CHARACTER = 24;

export interface Connection extends Disposable {
  readonly database: DatabaseSync;
  readonly deadline: Deadline;
  readonly calls: FunctionCalls;
  prepare(text: string): StatementSync;
  close(): void;
}

export function connect(options: ConnectionOptions): Connection {
  using taken = new DisposableStack();
  const database = taken.use(
    new DatabaseSync(options.path, {
      readOnly: options.readOnly,
      timeout: options.busyTimeout,
      enableForeignKeyConstraints: false,
      // SQLite joins the texts of a page in memory.
      ...(options.readOnly ? { limits: { length: MOST_BYTES } } : {}),
    }),
  );
  database.exec(`PRAGMA cache_size = -${options.cacheMegabytes * 1024}; PRAGMA temp_store = MEMORY;`);
  const { deadline = new Deadline() } = options;
  const calls = new FunctionCalls(deadline);
  registerFunctions(database, calls);
  const statements = new BoundedCache<StatementSync>('prepared statements', STATEMENT_CACHE_BOUNDS);
  taken.defer(() => statements.close());
  const held = taken.move();
  const close = (): void => held.dispose();
  return {
    database,
    deadline,
    calls,
    prepare(text) {
      const known = statements.get(text);
      if (known !== undefined) return known;
      return statements.put(text, database.prepare(text), PREPARED_CHARACTER * text.length);
    },
    close,
    [Symbol.dispose]: close,
  };
}

/**
 * Reads the rows of a statement. If a damaged row contains a number that plat never writes and JavaScript cannot represent, all
 * integers are returned as bigints; a statement that writes is not repeated for this, since it has already written.
 */
export function readRows(
  { database, prepare }: Pick<Connection, 'database' | 'prepare'>,
  text: string,
  values: readonly (string | number | null)[],
): Record<string, Raw>[] {
  try {
    return prepare(text).all(...values);
  } catch (error) {
    if (!(error instanceof RangeError) || !/^(SELECT|WITH)\b/.test(text)) throw error;
    const statement = database.prepare(text);
    statement.setReadBigInts(true);
    return statement.all(...values);
  }
}

export const toBindable = (value: BoundValue): string | number | null =>
  typeof value === 'boolean' ? Number(value) : value;

/** The values of a statement, for `node:sqlite`. A list of texts is bound as JSON. */
export const bindings = (statement: Statement, slots: Slots = {}): (string | number | null)[] =>
  valuesFor(statement, slots, toBindable, JSON.stringify);

export function registerFunctions(database: DatabaseSync, calls = new FunctionCalls(new Deadline())): void {
  const pure = { deterministic: true };
  for (const [name, call] of Object.entries(FUNCTIONS)) database.function(name, pure, calls.bounded(call));
  for (const [name, call] of Object.entries(NUMBER_FUNCTIONS)) {
    database.function(name, { ...pure, useBigIntArguments: true }, call);
  }
  database.function('plat_deadline', () => calls.mustContinue());
  database.function('plat_keeps_much', () => calls.keepMuch());
}

/** URLs of files are signed with the store's secret, so only a connection that knows it can create them. */
export const registerFileUrl = (database: DatabaseSync, secret: string): void =>
  database.function('plat_file_url', { deterministic: true }, fileUrl(secret));
