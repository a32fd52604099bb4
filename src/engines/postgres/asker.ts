import { decode } from '../../compile/column-value.ts';
import type { Planner } from '../../compile/context.ts';
import type { Asker } from '../../store/check/asker.ts';
import { bindings, type ServerSession } from './connection/session.ts';

/** A session, for checks. */
export const askerOf = ({ rows }: Pick<ServerSession, 'rows'>, planner: Planner): Asker<unknown> => ({
  planner,
  decode,
  rows: (statement) => rows(statement.text, bindings(statement)),
  // Columns of a server hold values of their types.
  sound: (statement) => rows(statement.text, bindings(statement)),
});
