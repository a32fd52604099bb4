import type { Pool } from 'pg';
import { platError } from '../../../errors/index.ts';
import type { Row } from '../../../store/session.ts';
import { Undo } from '../../../store/write-session.ts';
import { isUnavailable } from '../connection/errors.ts';
import { type ServerSession, withSession } from '../connection/session.ts';
import { LOCK_CLASS } from '../making/functions.ts';
import { LAYOUT_VERSION, mustKnow } from '../making/layout-version.ts';

/** How long a writer waits for the lock, in milliseconds. */
const PATIENCE = 30_000;

/**
 * What a writer begins with. One writes at a time, in all processes: the lock is held for a fraction of a second, is
 * given back with the transaction, and stops no reader. Under it the layout is looked at, which moves under it, too. Each
 * statement sees what was committed before it, whatever the server's default is: what those before in the queue wrote.
 */
const beginText = (
  patience: number,
): string => `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = ${patience};
  SELECT pg_advisory_xact_lock(${LOCK_CLASS}, hashtext(current_schema()));
  SELECT max(value) FILTER (WHERE name = 'layout') AS layout,
    max(value) FILTER (WHERE name = 'oldest_writer') AS oldest_writer FROM plat_meta`;

/** Seconds after which a write that may be lost can be repeated. */
const COME_BACK = 5;

/** Connections that are tried: one that was at rest may have been cut without anybody having heard of it. */
const TRIES = 3;

export interface LockOptions {
  /** The newest layout that the work can write. */
  readonly known?: number | undefined;
  /** How long the lock is waited for, in milliseconds; at least 1. */
  readonly patience?: number | undefined;
}

/**
 * Runs `work` under the write lock of the store, and commits. An error undoes everything, and so does `Undo`.
 * @throws LayoutTooNew
 * @throws PlatError `writeUnknown`
 */
export async function underLock<T>(
  pool: Pool,
  work: (session: ServerSession) => Promise<T | Undo<T>>,
  { known = LAYOUT_VERSION, patience = PATIENCE }: LockOptions = {},
): Promise<T> {
  for (let tries = 1; ; tries++) {
    let hasBegun = false;
    try {
      return await withSession(pool, async (session) => {
        try {
          await begin(session, known, patience);
          hasBegun = true;
          const result = await work(session);
          if (!(result instanceof Undo)) {
            await commit(session);
            return result;
          }
          await session.run('ROLLBACK');
          return result.result;
        } catch (error) {
          // Where the connection is lost, the server has rolled back already.
          await session.run('ROLLBACK').catch(() => undefined);
          throw error;
        }
      });
    } catch (error) {
      if (hasBegun || tries >= TRIES || !isUnavailable(error)) throw error;
    }
  }
}

/** @throws PlatError `writeUnknown` when the server is lost before it says that it has committed */
async function commit(session: ServerSession): Promise<void> {
  try {
    await session.run('COMMIT');
  } catch (error) {
    throw isUnavailable(error)
      ? platError('writeUnknown', {}, { cause: error, retryAfter: COME_BACK })
      : error;
  }
}

async function begin(session: ServerSession, known: number, patience: number): Promise<void> {
  // Several statements in one text have several answers, which the driver's types do not tell.
  const answers: unknown = await session.client.query(beginText(patience));
  const [stored] = rowsOf(Array.isArray(answers) ? answers.at(-1) : undefined);
  mustKnow(stored?.layout, stored?.oldest_writer, known);
}

const rowsOf = (answer: unknown): readonly Row[] =>
  typeof answer === 'object' && answer !== null && 'rows' in answer && Array.isArray(answer.rows)
    ? answer.rows
    : [];
