import { textOrNull } from '../../../compile/column-value.ts';
import { platError } from '../../../errors/index.ts';
import { codeOf } from '../../../shared/error-code.ts';
import { storeBusyError } from '../../../store/explain.ts';
import { skipNumbers } from '../../../store/rows/change-log.ts';
import type { Row, Session } from '../../../store/session.ts';
import { LAYOUT_VERSION, LayoutTooNew, namesOf, writeMeta } from '../../../store/state/meta.ts';
import type { StorePool } from '../connection/connect.ts';
import { isLockTimeout, isUnavailable, RETRY_AFTER_SECONDS } from '../connection/errors.ts';
import { type ServerSession, withSession } from '../connection/session.ts';

/** The first key of the advisory lock that protects writes; the second is derived from the schema. */
export const LOCK_CLASS = 0x706c6174;

/** How long a writer waits for the lock on a server, in milliseconds. */
const LOCK_TIMEOUT = 30_000;

/**
 * Begins a write transaction. Only one writer of all processes works at a time: it holds the lock for a fraction of a second, until
 * the transaction ends, and blocks no reader. The layout changes only under this lock and is read under it. With READ COMMITTED,
 * whatever the server's default, each statement sees what was committed before it, so a writer sees what its predecessors wrote.
 */
const beginText = (
  patience: number,
  identity: string,
): string => `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = ${patience};
  SELECT pg_advisory_xact_lock(${LOCK_CLASS}, hashtext(current_schema()));
  SELECT max(value) FILTER (WHERE name = 'layout') AS layout,
    max(value) FILTER (WHERE name = 'oldest_writer') AS oldest_writer,
    max(value) FILTER (WHERE name = 'takeovers') AS takeovers,
    ${identity}
    FROM plat_meta`;

/** The number of connections to try: an idle one may have been closed without notice. */
const TRIES = 3;

interface LockOptions {
  /** The newest layout that the work can write to. */
  readonly known?: number | undefined;
  /** How long to wait for the lock, in milliseconds; at least 1. */
  readonly patience?: number | undefined;
}

/**
 * Runs `work` under the write lock of the store, and commits. An error rolls everything back. @throws LayoutTooNew; PlatError
 * `writeUnknown`
 */
export async function underLock<T>(
  pool: StorePool,
  work: (session: ServerSession) => Promise<T>,
  { known = LAYOUT_VERSION, patience = LOCK_TIMEOUT }: LockOptions = {},
): Promise<T> {
  for (let tries = 1; ; tries++) {
    let hasBegun = false;
    try {
      return await withSession(pool, async (session) => {
        try {
          await begin(pool, session, known, patience);
          hasBegun = true;
          const result = await work(session);
          await commit(session);
          return result;
        } catch (error) {
          // If the connection is lost, the server has already rolled back.
          await session.run('ROLLBACK').catch(() => undefined);
          if (hasBegun || !isLockTimeout(error)) throw error;
          const [row] = await session.rows(HOLDER);
          // Without a holder, the lock of a table was in the way, as of `plat_meta`, which is read under this one.
          throw row === undefined ? error : storeBusyError(pool.store, textOrNull(row.holder), error);
        }
      });
    } catch (error) {
      if (hasBegun || tries >= TRIES || !isUnavailable(error)) throw error;
    }
  }
}

/** The holder of the lock, as an operator finds it in `pg_stat_activity`, which shows some roles only the process. */
const HOLDER = `SELECT concat_ws(' ', 'Process', pid, 'of the server', '(' || nullif(concat_ws(' at ',
    nullif(application_name, ''), host(client_addr)), '') || ')') AS holder FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'advisory' AND granted AND datname = current_database() AND classid = ${LOCK_CLASS}
  AND objid = CAST(hashtext(current_schema())::bigint & 4294967295 AS oid) AND pid <> pg_backend_pid()`;

/** @throws PlatError `writeUnknown` when the connection is lost before the server confirms the commit */
async function commit(session: ServerSession): Promise<void> {
  try {
    await session.run('COMMIT');
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    throw platError('writeUnknown', {}, { cause: error, retryAfter: RETRY_AFTER_SECONDS });
  }
}

async function begin(
  pool: StorePool,
  session: ServerSession,
  known: number,
  patience: number,
): Promise<void> {
  for (;;) {
    const identity = identityOf(pool);
    try {
      // A text with several statements has several results, which the driver's types do not declare.
      const text = beginText(patience, identityColumns(identity));
      const answers = [await session.client.query<Row>(text)].flat();
      const stored = answers.at(-1)?.rows[0];
      // Absent in stores of layout 1.
      if (Number(stored?.oldest_writer ?? 1) > known) throw new LayoutTooNew(Number(stored?.layout));
      pool.takeovers.mustInclude(Number(stored?.takeovers ?? 0));
      return await recordServer(session, identity, stored);
    } catch (error) {
      if (!refusesIdentity(pool, identity, error)) throw error;
      await session.run('ROLLBACK');
    }
  }
}

/**
 * Detects that another server has taken over. A promoted standby may lack the last commits of its predecessor, whose numbers in the
 * sequence of changes readers know, so the first write afterwards skips beyond them. Some hosts do not allow a role to query the
 * timeline of the WAL (Amazon Aurora, for example). The start time of the server is then used instead, which also changes when the
 * same server restarts.
 */
interface ServerIdentity {
  /** Each identity is stored separately, because processes with different rights may write to the store in turn. */
  readonly name: 'timeline' | 'serverStart';
  readonly current: string;
}

/** Undefined if the server provides no identity. */
type Identity = ServerIdentity | undefined;

/** The most reliable identity comes first. If no identity is available, servers cannot be distinguished. */
const IDENTITIES: readonly ServerIdentity[] = [
  { name: 'timeline', current: 'left(pg_walfile_name(pg_current_wal_lsn()), 8)' },
  { name: 'serverStart', current: 'CAST(extract(epoch FROM pg_postmaster_start_time()) AS text)' },
];

/** insufficient_privilege, undefined_function, feature_not_supported, object_not_in_prerequisite_state */
const REFUSAL_CODES = new Set(['42501', '42883', '0A000', '55000']);

/** The number of identities that a server has refused to the connections of a pool. */
const refusedIdentities = new WeakMap<StorePool, number>();

/** The identity that a writer queries. */
const identityOf = (pool: StorePool): Identity => IDENTITIES[refusedIdentities.get(pool) ?? 0];

/** Columns for a SELECT from `plat_meta`: the stored identity, and the identity of the server unless it is a standby. */
function identityColumns(identity: Identity): string {
  if (identity === undefined) return 'NULL AS identity, NULL AS current_identity';
  const [stored] = namesOf(identity.name);
  return `max(value) FILTER (WHERE name = '${stored}') AS identity,
    CASE WHEN NOT pg_is_in_recovery() THEN ${identity.current} END AS current_identity`;
}

/** Whether a statement may be repeated with the columns of the next identity, because the server refused those of this one. */
function refusesIdentity(pool: StorePool, identity: Identity, error: unknown): boolean {
  if (identity === undefined || !REFUSAL_CODES.has(codeOf(error) ?? '')) return false;
  refusedIdentities.set(pool, IDENTITIES.indexOf(identity) + 1);
  return true;
}

/** @param row a row with the columns of `identityColumns` */
async function recordServer(session: Session, identity: Identity, row?: Row): Promise<void> {
  const { identity: stored, current_identity: current, takeovers = 0 } = row ?? {};
  if (identity === undefined || typeof current !== 'string' || stored === current) return;
  if (typeof stored === 'string') {
    await skipNumbers(session);
    await writeMeta(session, { takeovers: Number(takeovers) + 1 });
  }
  await writeMeta(session, { [identity.name]: current });
}
