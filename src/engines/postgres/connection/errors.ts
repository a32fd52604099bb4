/** Translates the errors of a server, and of the network to it. No message contains the password of an address. */
import { Client } from 'pg';
import { platError } from '../../../errors/index.ts';
import { NOT_A_LIST } from '../../../records/damage.ts';
import { codeOf, messageOf, NETWORK_ERRORS } from '../../../shared/error-code.ts';
import { damageOf, explainError, type Trouble } from '../../../store/explain.ts';
import type { PostgresAddress } from './address.ts';

/** Seconds after which a client may retry if the server is starting, stopping or full, or if the outcome of a write is unknown. */
export const RETRY_AFTER_SECONDS = 5;

/**
 * SQLSTATE codes and classes (PostgreSQL, appendix A) for a server that is temporarily unavailable, including one that became a
 * standby in a failover (25006) and one whose own limits ended the transaction (25P03, 25P04).
 */
const UNAVAILABLE =
  /^(08...|25006|25P0[34]|57P0[1-5]|58...|XX...|ECONN.*|ENOENT|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_.*)$/;
const LOST =
  /connection (terminated|error|ended)|not queryable|timeout exceeded when trying to connect|after calling end/i;

export function isUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined) return UNAVAILABLE.test(code);
  return error instanceof Error && LOST.test(error.message);
}

const TOO_MANY_CONNECTIONS = '53300';
const LOCK_NOT_AVAILABLE = '55P03';

const hasCode =
  (...codes: readonly string[]) =>
  (error: unknown): boolean =>
    codes.includes(codeOf(error) ?? '');

/** Whether a standby cancels a query that conflicts with recovery, or refuses a connection. */
const isRecoveryConflict = hasCode('40001', '40P01', TOO_MANY_CONNECTIONS);

/** Whether a read may be retried on another server. */
export const mayRetryElsewhere = (error: unknown): boolean =>
  isUnavailable(error) || isRecoveryConflict(error);

/** Whether the server has reached its connection limit. */
export const isWithoutConnections = hasCode(TOO_MANY_CONNECTIONS);

/** Whether a lock could not be acquired in time. */
export const isLockTimeout = hasCode(LOCK_NOT_AVAILABLE);

/** Whether a table or column is missing: undefined_table, undefined_column. */
export const isMissing = hasCode('42P01', '42703');

/** data_corrupted, index_corrupted */
const isCorrupt = hasCode('XX001', 'XX002');

const serverSays = (error: unknown): string => `the server says: ${messageOf(error)}`;

/** The damage that an error of PostgreSQL reports, if any: every table and column that plat names should exist. */
export const damageIn = (error: unknown): string | undefined =>
  damageOf(error, (own) => (isCorrupt(own) || isMissing(own) ? serverSays(own) : undefined));

/** Whether the server rejected JSON (invalid_text_representation); requests contain no JSON. */
const isNoJson = (error: unknown): boolean =>
  codeOf(error) === '22P02' &&
  error instanceof Error &&
  'routine' in error &&
  String(error.routine).startsWith('json');

/** Explains why the server cannot store a record: data_exception, program_limit_exceeded. */
export const refusalOf = (error: unknown): string | undefined =>
  /^(22|54)...$/.test(codeOf(error) ?? '') ? `The store cannot hold it: ${serverSays(error)}` : undefined;

/** Translates the server's error for the user; an unknown one is returned unchanged. */
export const translateError = (error: unknown, address: PostgresAddress, seconds: number): unknown =>
  explainError(error, { store: address.name, seconds }, (own) => troubleIn(own, address, seconds));

/** Translates an error of opening a store: the message names the unreachable server and the reason. */
export function openingError(error: unknown, address: PostgresAddress): unknown {
  const isUnreached = isUnavailable(error) || isNotPostgres(error) || isWithoutConnections(error);
  if (!isUnreached) return translateError(error, address, 0);
  const code = codeOf(error) ?? '';
  const words = NETWORK[code];
  const why = words === undefined ? messageOf(error) || code : `${words} (${code})`;
  const reason = `${why}; ${serverOf(address).text}`;
  return platError(
    'storeUnreachable',
    { store: address.name, reason },
    { cause: error, retryAfter: RETRY_AFTER_SECONDS },
  );
}

/** Descriptions of errors of the network, and of a server that accepts no further connection. */
const NETWORK: Readonly<Record<string, string>> = {
  [TOO_MANY_CONNECTIONS]: 'all connections that the server permits are in use',
  ...NETWORK_ERRORS,
  ECONNRESET: 'it closed the connection, as a server that is not PostgreSQL does',
};

/** Whether the response did not come from a PostgreSQL server, or contradicts the address. */
const isNotPostgres = (error: unknown): boolean =>
  error instanceof Error && /does not support SSL|unexpected message|invalid response/i.test(error.message);

/** The server that an address leads to, as the driver reads the address. */
function serverOf({ connectionString }: PostgresAddress) {
  const { host, port, user, database = user } = new Client({ connectionString });
  return { user, database, text: `host ${host}, port ${port}, database ${database}` };
}

/**
 * Whether another session was in the way: query_canceled (by a time limit), lock_not_available (that of a table; `underLock` handles
 * the write lock), serialization_failure, deadlock_detected.
 */
const isBlocked = hasCode('57014', LOCK_NOT_AVAILABLE, '40001', '40P01');

/** Codes (PostgreSQL, appendix A) that determine the user's error by themselves. */
const TROUBLES: Readonly<Record<string, Trouble>> = {
  '22003': { kind: 'out-of-range' }, // numeric_value_out_of_range
  '2201B': { kind: 'too-complex' }, // invalid_regular_expression: every translated one is valid
  '53200': { kind: 'overloaded', seconds: RETRY_AFTER_SECONDS }, // out_of_memory, also of that for locks
  [TOO_MANY_CONNECTIONS]: { kind: 'overloaded', seconds: RETRY_AFTER_SECONDS },
  '53100': { kind: 'full' }, // disk_full
};

function troubleIn(error: unknown, address: PostgresAddress, seconds: number): Trouble | undefined {
  const damage = damageIn(error);
  if (damage !== undefined) return { kind: 'damaged', reason: damage };
  if (isUnavailable(error)) return { kind: 'unavailable', retryAfter: RETRY_AFTER_SECONDS };
  const code = codeOf(error) ?? '';
  const denied = (why: string): Trouble => {
    const reason = `${why} (${serverOf(address).text})`;
    const denial = platError('storeDenied', { store: address.name, reason }, { cause: error });
    return { kind: 'error', error: denial };
  };
  switch (code) {
    case '3D000': // invalid_catalog_name
      return denied(`the server has no database ${serverOf(address).database}`);
    case '28000':
    case '28P01': // invalid_password
      return denied(`the server refuses the user ${serverOf(address).user}: ${messageOf(error)}`);
    case '42501': // insufficient_privilege
      return denied(serverSays(error));
  }
  if (isNoJson(error)) return { kind: 'damaged', reason: NOT_A_LIST };
  if (code === '57014' && seconds > 0) return { kind: 'timed-out' };
  if (isBlocked(error))
    return { kind: 'blocked', reason: `${serverSays(error)}; pg_blocking_pids of the server shows by whom` };
  // integrity_constraint_violation (a class), program_limit_exceeded
  if (/^23...$/.test(code)) return { kind: 'in-the-way' };
  if (code === '54000' && seconds > 0) return { kind: 'too-large' };
  return TROUBLES[code];
}
