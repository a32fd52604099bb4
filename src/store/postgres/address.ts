import { platError } from '../../errors/index.ts';

/** Where a store lies on a server, as `postgres://…` says it. */
export interface PostgresAddress {
  /** What the driver connects with. */
  readonly connectionString: string;
  /** The schema that holds the store; a database may hold several. */
  readonly schema: string;
  /** Connections that a process keeps for reading. */
  readonly connections: number;
  /** For messages; without a password. */
  readonly name: string;
}

const DEFAULT_SCHEMA = 'plat';
const DEFAULT_CONNECTIONS = 10;
const MOST_CONNECTIONS = 500;

const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/;

/**
 * `postgres://user:password@host:port/database?schema=plat&connections=10`. All other parameters are the driver's
 * (`sslmode`, `host` for a socket's folder, …).
 * @throws PlatError `usage`
 */
export function postgresAddress(text: string): PostgresAddress {
  const [base = '', query = ''] = text.split('?', 2);
  const parameters = new URLSearchParams(query);
  const schema = parameters.get('schema') ?? DEFAULT_SCHEMA;
  const connections = Number(parameters.get('connections') ?? DEFAULT_CONNECTIONS);
  if (!SCHEMA.test(schema)) {
    throw usage(`The schema of the store is ${JSON.stringify(schema)}, but takes a name in lower case.`);
  }
  if (!Number.isInteger(connections) || connections < 2 || connections > MOST_CONNECTIONS) {
    throw usage(`The connections of the store are a number from 2 to ${MOST_CONNECTIONS}.`);
  }
  parameters.delete('schema');
  parameters.delete('connections');
  const rest = parameters.toString();
  const shown = base.replace(/\/\/([^/@]*)@/, (_, user: string) => `//${user.split(':', 1)[0]}@`);
  return {
    connectionString: rest === '' ? base : `${base}?${rest}`,
    schema,
    connections,
    name: schema === DEFAULT_SCHEMA ? shown : `${shown}?schema=${schema}`,
  };
}

const usage = (reason: string) => platError('usage', { reason });
