/** How a connection of the embedded engine answers the steps of a read. */

import type { Lane } from '../../store/lanes.ts';
import type { Ask, Given } from '../../store/read-steps.ts';
import { type Making, type ReadResult, type ReadTask, runNow, stepsOf } from '../../store/read-task.ts';
import { ReaderPool } from '../../store/threads/pool.ts';
import type { SharedBodies } from '../../store/whole/known-bodies.ts';
import { anyRows, bindings, type Connection } from './connection.ts';
import { begin } from './transaction.ts';

/** What a thread is given. */
export interface ThreadOptions {
  readonly path: string;
  readonly secret: string;
  readonly busyTimeout: number;
  readonly cacheMegabytes: number;
  readonly bodies: SharedBodies;
}

export function readerPool(data: ThreadOptions, lane: Lane, size: number): ReaderPool {
  // The endings differ between the sources, which Node runs as they are, and the published build.
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new ReaderPool({ module: new URL(`./worker.${ending}`, import.meta.url), data }, lane, size);
}

/** Runs a task on one snapshot of the store, within a time: a page takes several statements, all else one. */
export function runTask(
  connection: Connection,
  task: ReadTask,
  making: Making,
  milliseconds: number,
): ReadResult {
  connection.deadline.set(milliseconds);
  try {
    using _ = task.kind === 'page' || task.kind === 'blocks' ? begin(connection.database, 'read') : undefined;
    return runNow(stepsOf(task, making), (ask) => answer(connection, ask));
  } finally {
    connection.deadline.clear();
  }
}

/** Characters of values beyond which a statement is not kept: with it the engine would keep what was bound last. */
const KEPT_VALUES = 32 * 1024;

function answer(connection: Connection, { gives, statement, slots }: Ask): Given {
  const { text } = statement;
  const { database } = connection;
  const values = bindings(statement, slots);
  const size = values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
  const prepared = size > KEPT_VALUES ? database.prepare(text) : connection.prepare(text);
  switch (gives) {
    case 'rows':
      return { rows: anyRows({ database, prepare: () => prepared }, text, values) };
    case 'body':
    case 'page':
    case 'joined': {
      const row = prepared.get(...values);
      const body = row?.body instanceof Uint8Array ? row.body : undefined;
      return { rows: row === undefined ? [] : [row], body };
    }
    case 'records': {
      const row = prepared.get(...values);
      const body = row?.body instanceof Uint8Array ? row.body : undefined;
      const sizes = listIn(row?.sizes);
      return { rows: listIn(row?.keys).map((k, index) => ({ k, size: sizes[index] })), body };
    }
  }
}

function listIn(text: unknown): readonly unknown[] {
  const list: unknown = JSON.parse(String(text ?? '[]'));
  return Array.isArray(list) ? list : [];
}
