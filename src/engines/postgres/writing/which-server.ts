/**
 * Detects that another server has taken over. A promoted standby may lack the last commits of its predecessor, whose numbers in the
 * sequence of changes readers know, so the first write afterwards skips beyond them. Some hosts do not allow a role to query the
 * timeline of the WAL (Amazon Aurora, for example). The start time of the server is then used instead, which also changes when the
 * same server restarts. This module knows no lock.
 */

import { codeOf } from '../../../shared/error-code.ts';
import { skipNumbers } from '../../../store/rows/change-log.ts';
import type { Row, Session } from '../../../store/session.ts';
import { namesOf, writeMeta } from '../../../store/state/meta.ts';
import type { StorePool } from '../connection/connect.ts';

interface ServerIdentity {
  /** Each sign is stored separately, because processes with different rights may write to the store in turn. */
  readonly name: 'timeline' | 'serverStart';
  readonly current: string;
}

/** The most reliable sign comes first. If no sign is available, servers cannot be distinguished. */
const IDENTITIES: readonly ServerIdentity[] = [
  { name: 'timeline', current: 'left(pg_walfile_name(pg_current_wal_lsn()), 8)' },
  { name: 'serverStart', current: 'CAST(extract(epoch FROM pg_postmaster_start_time()) AS text)' },
];

/** insufficient_privilege, undefined_function, feature_not_supported, object_not_in_prerequisite_state */
const REFUSAL_CODES = new Set(['42501', '42883', '0A000', '55000']);

/** The number of signs that a server has refused to the connections of a pool. */
const refused = new WeakMap<StorePool, number>();

/** The sign that a writer queries; undefined if the server provides none. */
export const identityOf = (pool: StorePool): ServerIdentity | undefined => IDENTITIES[refused.get(pool) ?? 0];

/** Columns for a SELECT from `plat_meta`: the stored sign, and the sign of the server unless it is a standby. */
export function identityColumns(sign: ServerIdentity | undefined): string {
  if (sign === undefined) return 'NULL AS sign, NULL AS current_sign';
  const [stored] = namesOf(sign.name);
  return `max(value) FILTER (WHERE name = '${stored}') AS sign,
    CASE WHEN NOT pg_is_in_recovery() THEN ${sign.current} END AS current_sign`;
}

/** Whether a statement may be repeated with the columns of the next sign, because the server refused those of this one. */
export function refusesIdentity(pool: StorePool, sign: ServerIdentity | undefined, error: unknown): boolean {
  if (sign === undefined || !REFUSAL_CODES.has(codeOf(error) ?? '')) return false;
  refused.set(pool, IDENTITIES.indexOf(sign) + 1);
  return true;
}

/** @param row a row with the columns of `identityColumns` */
export async function recordServer(
  session: Session,
  sign: ServerIdentity | undefined,
  row: Row | undefined,
): Promise<void> {
  const { sign: stored, current_sign: current } = row ?? {};
  if (sign === undefined || typeof current !== 'string' || stored === current) return;
  if (typeof stored === 'string') await skipNumbers(session);
  await writeMeta(session, { [sign.name]: current });
}
