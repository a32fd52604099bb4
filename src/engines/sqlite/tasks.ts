/** How a connection of the embedded engine answers the steps of a read. */
import type { Given } from '../../store/read-task.ts';
import { type Ask, type ReadResult, type ReadTask, runNow, stepsOf } from '../../store/read-task.ts';
import { type BodyCheck, mustBeText, type WholeBodies } from '../../store/whole/whole-bodies.ts';
import { begin } from './begin.ts';
import { anyRows, bindings, type Connection } from './connection.ts';

/** Runs a task on one snapshot of the store: a page takes several statements, all else one. */
export function runTask(
  connection: Connection,
  task: ReadTask,
  isSent: boolean,
  bodies: WholeBodies,
): ReadResult {
  const check = isSent ? bodies.mustBeWhole : mustBeText;
  using _ = task.kind === 'page' ? begin(connection.database, 'read') : undefined;
  return runNow(stepsOf(task, isSent), (ask) => answer(connection, ask, check));
}

/** Characters of values beyond which a statement is not kept: with it the engine would keep what was bound last. */
const KEPT_VALUES = 32 * 1024;

function answer(connection: Connection, { gives, statement, slots }: Ask, check: BodyCheck): Given {
  const { text } = statement;
  const { database } = connection;
  const values = bindings(statement, slots);
  const size = values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
  const prepared = size > KEPT_VALUES ? database.prepare(text) : connection.prepare(text);
  switch (gives) {
    case 'rows':
      return { rows: anyRows({ database, prepare: () => prepared }, text, values) };
    case 'each':
      return { rows: prepared.iterate(...values) };
    case 'whole':
    case 'part': {
      const row = prepared.get(...values);
      const body = row?.body instanceof Uint8Array ? check(row.body) : undefined;
      return { rows: row === undefined ? [] : [row], body };
    }
  }
}
