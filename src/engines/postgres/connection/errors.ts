import { platError } from '../../../errors/index.ts';
import { damageOf, explained, type Trouble } from '../../../store/explain.ts';
import { LAYOUT_VERSION, LayoutTooNew } from '../migrations/layout-version.ts';

/** Seconds after which a server that is starting, stopping or full may be asked again. */
export const AGAIN = 5;

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/**
 * Classes of codes and codes (PostgreSQL, appendix A) that say that the server is not there for now: also one that
 * only follows another since a failover (25006), and one that ended a transaction by its own limits (25P03, 25P04).
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

/** Codes by which a server that follows another ends a reading that is in the way of what it has to do. */
const IN_THE_WAY = new Set(['40001', '40P01', '53300']);

/** Whether a reading may be tried on another server. */
export function isGone(error: unknown): boolean {
  const code = codeOf(error);
  return isUnavailable(error) || (code !== undefined && IN_THE_WAY.has(code));
}

const TOO_MANY_CONNECTIONS = '53300';

/** Whether a server has no connection left to give. */
export const isWithoutConnections = (error: unknown): boolean => codeOf(error) === TOO_MANY_CONNECTIONS;

const LOCK_NOT_AVAILABLE = '55P03';

/** Whether a lock was not to be had in time. */
export const isLockTimeout = (error: unknown): boolean => codeOf(error) === LOCK_NOT_AVAILABLE;

/** Whether a table or a column is not there: undefined_table, undefined_column. */
export const isMissing = (error: unknown): boolean => ['42P01', '42703'].includes(codeOf(error) ?? '');

/** data_corrupted, index_corrupted */
const CORRUPT = new Set(['XX001', 'XX002']);

/** What only a damaged store answers; undefined for any other error. */
export const damageIn = (error: unknown): string | undefined =>
  damageOf(error, (own) => {
    // No statement of plat names a table or column that its tables should not have.
    const isDamage = CORRUPT.has(codeOf(own) ?? '') || isMissing(own);
    return isDamage ? `the server says: ${messageOf(own)}` : undefined;
  });

/** integrity_constraint_violation, as a whole class */
const isOfConstraint = (error: unknown): boolean => /^23...$/.test(codeOf(error) ?? '');

/** Why the server cannot hold a record: data_exception, program_limit_exceeded. */
export function refusalIn(error: unknown): string | undefined {
  const isOfData = /^(22|54)...$/.test(codeOf(error) ?? '');
  return isOfData ? `The store cannot hold it: the server says: ${messageOf(error)}` : undefined;
}

/** What the server says, as a user is told it; anything unknown stays as it is. */
export const translateError = (error: unknown, store: string, seconds: number): unknown =>
  explained(error, { store, seconds }, (own) => troubleIn(own, store, seconds));

function troubleIn(error: unknown, store: string, seconds: number): Trouble | undefined {
  if (error instanceof LayoutTooNew) {
    const facts = { store, found: error.found, known: LAYOUT_VERSION };
    return { kind: 'error', error: platError('storeTooNew', facts, { cause: error }) };
  }
  const damage = damageIn(error);
  if (damage !== undefined) return { kind: 'damaged', reason: damage };
  if (isUnavailable(error)) return { kind: 'unavailable', retryAfter: AGAIN };
  if (isOfConstraint(error)) return { kind: 'in-the-way' };
  switch (codeOf(error)) {
    case '57014': // query_canceled
      return { kind: 'timed-out' };
    case '22003': // numeric_value_out_of_range
      return { kind: 'out-of-range' };
    case '54000': // program_limit_exceeded
      return seconds > 0 ? { kind: 'too-large' } : undefined;
    case '53200': // out_of_memory, also of that for locks
    case TOO_MANY_CONNECTIONS:
      return { kind: 'overloaded', seconds: AGAIN };
    case LOCK_NOT_AVAILABLE:
    case '40001': // serialization_failure
    case '40P01': // deadlock_detected
      return { kind: 'busy' };
    case '53100': // disk_full
      return { kind: 'full' };
    case '3D000': // invalid_catalog_name
      return { kind: 'not-ours', reason: 'the server has no such database' };
    case '28000':
    case '28P01': // invalid_password
      return { kind: 'not-ours', reason: 'the server refuses this user' };
    case '42501': // insufficient_privilege
      return { kind: 'not-ours', reason: `the server says: ${messageOf(error)}` };
    default:
      return undefined;
  }
}
