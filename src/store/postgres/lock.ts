import type { Pool } from 'pg';
import { isUnavailable } from './errors.ts';
import { LOCK_CLASS } from './functions.ts';
import { type Session, withSession } from './session.ts';

/** How long a writer waits for the lock, in milliseconds. */
const PATIENCE = 30_000;

/**
 * What a writer begins with. One writes at a time, in all processes: the lock is held for a fraction of a second, is
 * given back with the transaction, and stops no reader.
 */
const BEGIN = `BEGIN; SET LOCAL lock_timeout = ${PATIENCE};
  SELECT pg_advisory_xact_lock(${LOCK_CLASS}, hashtext(current_schema()))`;

/** Work that wants its transaction undone, without an error. */
export class Undo<T> {
  readonly result: T;
  constructor(result: T) {
    this.result = result;
  }
}

/** Connections that are tried: one that was at rest may have been cut without anybody having heard of it. */
const TRIES = 3;

/** Runs `work` under the write lock of the store, and commits. An error undoes everything, and so does `Undo`. */
export async function underLock<T>(pool: Pool, work: (session: Session) => Promise<T | Undo<T>>): Promise<T> {
  for (let tries = 1; ; tries++) {
    let hasBegun = false;
    try {
      return await begin(pool, work, () => {
        hasBegun = true;
      });
    } catch (error) {
      if (hasBegun || tries >= TRIES || !isUnavailable(error)) throw error;
    }
  }
}

function begin<T>(
  pool: Pool,
  work: (session: Session) => Promise<T | Undo<T>>,
  onBegin: () => void,
): Promise<T> {
  return withSession(pool, async (session) => {
    await session.client.query(BEGIN);
    onBegin();
    try {
      const result = await work(session);
      if (!(result instanceof Undo)) {
        await session.run('COMMIT');
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
}
