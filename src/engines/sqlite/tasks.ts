/** Runs the steps of a read on an SQLite connection. */
import { workerModuleUrl } from '../../shared/worker-module.ts';
import type { Lane } from '../../store/read/lanes.ts';
import type { StatementRequest, StatementResult } from '../../store/read/read-steps.ts';
import {
  isOneStatement,
  type ReadContext,
  type ReadResult,
  type ReadTask,
  runSync,
  taskSteps,
} from '../../store/read/read-task.ts';
import { ReaderPool } from '../../store/threads/pool.ts';
import type { SharedBodies } from '../../store/whole/validate-body.ts';
import { bindings, type Connection, type ConnectionOptions, readRows } from './connection.ts';
import { begin } from './transaction.ts';

/** The parameters of a thread. */
export interface ThreadOptions extends Omit<ConnectionOptions, 'readOnly' | 'deadline'> {
  readonly secret: string;
  readonly bodies: SharedBodies;
}

export const readerPool = (data: ThreadOptions, lane: Lane, size: number): ReaderPool =>
  new ReaderPool({ module: workerModuleUrl(import.meta.url, 'worker'), data }, lane, size);

/** Runs a task on one snapshot of the store, within a time limit. A page takes several statements, anything else one. */
export function runTask(
  connection: Connection,
  task: ReadTask,
  context: ReadContext,
  milliseconds: number,
): ReadResult {
  connection.deadline.set(performance.now() + milliseconds);
  try {
    using _ = task.kind === 'page' || !isOneStatement(task) ? begin(connection.database, 'read') : undefined;
    return runSync(taskSteps(task, context), (ask) => runStatement(connection, ask));
  } finally {
    connection.deadline.set(Number.POSITIVE_INFINITY);
    connection.calls.end();
  }
}

/** A statement with more characters of values is not kept prepared, because SQLite would keep its last values in memory. */
const KEPT_VALUES = 32 * 1024;

function runStatement(connection: Connection, request: StatementRequest): StatementResult {
  const { gives, statement, slots, isScan = false } = request;
  connection.calls.begin();
  const [{ text }, { database }] = [statement, connection];
  const values = bindings(statement, slots);
  if (isScan) return { rows: scan(connection, text, values) };
  const size = values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
  const prepared = size > KEPT_VALUES ? database.prepare(text) : connection.prepare(text);
  if (gives === 'rows') return { rows: readRows({ database, prepare: () => prepared }, text, values) };
  const row = prepared.get(...values);
  const body = row?.body instanceof Uint8Array ? row.body : undefined;
  if (gives !== 'records') return { rows: row === undefined ? [] : [row], body };
  const sizes = listIn(row?.sizes);
  return { rows: listIn(row?.keys).map((k, index) => ({ k, size: sizes[index] })), body };
}

/** Rows of ids, as arrays, which take half the time. The next execution of a statement that fails here would begin with its error. */
function* scan({ database, calls }: Connection, text: string, values: ReturnType<typeof bindings>) {
  const statement = database.prepare(text);
  statement.setReturnArrays(true);
  for (const { 0: id = null } of statement.iterate(...values)) {
    calls.begin();
    yield { id };
  }
}

function listIn(text: unknown): readonly unknown[] {
  const list: unknown = JSON.parse(String(text ?? '[]'));
  return Array.isArray(list) ? list : [];
}
