/**
 * By what a writer notices that another server took over. A standby that did may lack the last commits of the server
 * before it, whose numbers in the sequence of changes readers know: the first write after that continues where none of
 * them is. Not every host lets a role ask for the timeline of the log (Amazon Aurora, for one), and another sign is
 * used there: when the server began, which also changes when the same one begins again. It knows no lock.
 */

import { codeOf } from '../../../shared/error-code.ts';
import { type MetaChange, writeMeta } from '../../../store/meta.ts';
import { leaveNumbers } from '../../../store/rows/change-log.ts';
import type { Row, Session } from '../../../store/session.ts';
import type { StorePool } from '../connection/connect.ts';

type SignName = keyof Pick<MetaChange, 'timeline' | 'serverStart'>;

interface Sign {
  /** Each has a place of its own in the store: processes that are allowed different ones write to it in turns. */
  readonly name: SignName;
  readonly stored: string;
  readonly current: string;
}

/** The best sign first. Beyond the last one, servers cannot be distinguished. */
const SIGNS: readonly Sign[] = [
  { name: 'timeline', stored: 'timeline', current: 'left(pg_walfile_name(pg_current_wal_lsn()), 8)' },
  {
    name: 'serverStart',
    stored: 'server_start',
    current: 'CAST(extract(epoch FROM pg_postmaster_start_time()) AS text)',
  },
];

/** insufficient_privilege, undefined_function, feature_not_supported, object_not_in_prerequisite_state */
const WITHHELD = new Set(['42501', '42883', '0A000', '55000']);

/** How many signs a server did not give to the connections of a pool. */
const withheld = new WeakMap<StorePool, number>();

/** What a writer queries from the server first; undefined if the server does not provide it. */
export const signOf = (pool: StorePool): Sign | undefined => SIGNS[withheld.get(pool) ?? 0];

/** Columns of a SELECT from `plat_meta`: the stored sign, and the server's, unless it follows another. */
export function signColumns(sign: Sign | undefined): string {
  if (sign === undefined) return 'NULL AS sign, NULL AS current_sign';
  return `max(value) FILTER (WHERE name = '${sign.stored}') AS sign,
    CASE WHEN NOT pg_is_in_recovery() THEN ${sign.current} END AS current_sign`;
}

/** Whether a statement may be repeated with the columns of the next sign, since the server refused those of this one. */
export function withholdsSign(pool: StorePool, sign: Sign | undefined, error: unknown): boolean {
  if (sign === undefined || !WITHHELD.has(codeOf(error) ?? '')) return false;
  withheld.set(pool, SIGNS.indexOf(sign) + 1);
  return true;
}

/** @param row with those columns */
export async function noticeServer(
  session: Session,
  sign: Sign | undefined,
  row: Row | undefined,
): Promise<void> {
  const { sign: stored, current_sign: current } = row ?? {};
  if (sign === undefined || typeof current !== 'string' || stored === current) return;
  if (typeof stored === 'string') await leaveNumbers(session);
  await writeMeta(session, { [sign.name]: current });
}
