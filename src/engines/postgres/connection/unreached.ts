/**
 * The message when a store on a server cannot be opened: host, port, database and the reason, in one line, and never
 * the password. Once a store is open, `translateError` reports its errors.
 */
import { Client } from 'pg';
import { PlatError, platError } from '../../../errors/index.ts';
import { codeOf } from '../../../shared/error-code.ts';
import type { PostgresAddress } from './address.ts';
import { AGAIN, isUnavailable, messageOf, translateError } from './errors.ts';

/** Descriptions of network errors. */
const NETWORK: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing takes connections there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up',
  ETIMEDOUT: 'it does not answer',
  EHOSTUNREACH: 'no way leads to the host',
  ENETUNREACH: 'no way leads to its network',
  ECONNRESET: 'it closed the connection, as a server that is not PostgreSQL does',
  ENOENT: 'there is no such socket',
};

/** Translates an error of opening a store for the user. */
export function openingError(error: unknown, address: PostgresAddress): unknown {
  if (error instanceof PlatError) return error;
  const { host, port, database, user } = new Client({ connectionString: address.connectionString });
  const code = codeOf(error) ?? '';
  const at = `host ${host}, port ${port}, database ${database ?? user}`;
  const denied = (reason: string): PlatError =>
    platError('storeDenied', { store: address.name, reason: `${reason} (${at})` }, { cause: error });
  switch (code) {
    case '3D000': // invalid_catalog_name
      return denied(`the server has no database ${database ?? user}`);
    case '28000':
    case '28P01': // invalid_password
      return denied(`the server refuses the user ${user}: ${messageOf(error)}`);
    case '42501': // insufficient_privilege
      return denied(`the server says: ${messageOf(error)}`);
  }
  if (!isUnavailable(error) && !isNoServer(error)) return translateError(error, address.name, 0);
  const said = messageOf(error) || code;
  const words = NETWORK[code];
  const reason = `${words === undefined ? said : `${words} (${code})`}; ${at}`;
  return platError('storeUnreachable', { store: address.name, reason }, { cause: error, retryAfter: AGAIN });
}

/** Whether the response did not come from a PostgreSQL server, or contradicts the address. */
const isNoServer = (error: unknown): boolean =>
  error instanceof Error && /does not support SSL|unexpected message|invalid response/i.test(error.message);
