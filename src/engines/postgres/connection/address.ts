import { availableParallelism } from 'node:os';
import { usageError } from '../../../errors/index.ts';

/** The address of a store on a server, parsed from `postgres://…`. */
export interface PostgresAddress {
  /** The connection string for the driver. */
  readonly connectionString: string;
  /** Server settings for each connection, `-c name=value …`; empty if there are none. */
  readonly options: string;
  /** The schema of the store; a database may contain several stores. */
  readonly schema: string;
  /** The number of connections that a process uses to read. */
  readonly connections: number;
  /** The number of the server's processors that searches and pages may use. */
  readonly processors: number;
  /** The name in messages, without a password. */
  readonly name: string;
}

const DEFAULT_SCHEMA = 'plat';
const DEFAULT_CONNECTIONS = 10;

/** The driver connects to a single server; failover needs a host name or a proxy that leads to the current primary. */
const ONE_HOST = /^[^/]*\/\/[^/,]*(\/|$)/;
/** A URL without a host, whose parameters name the folder of a socket. */
const NO_HOST = /^[^/]*\/\/([^/@]*@)?(\/[^/]*)?$/;

const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/;

/**
 * Parses `postgres://user:password@host:port/database?schema=plat&connections=10&processors=4`. `options` are server settings; all
 * other parameters are for the driver (`sslmode`, `host` for a socket's folder, …). @throws PlatError `usage`
 */
export function parsePostgresAddress(text: string): PostgresAddress {
  const [base = '', query = ''] = text.split('?', 2);
  const parameters = new URLSearchParams(query);
  const schema = parameters.get('schema') ?? DEFAULT_SCHEMA;
  if (!SCHEMA.test(schema)) {
    throw usageError(`The schema of the store is ${JSON.stringify(schema)}, but takes a name in lower case.`);
  }
  const numberOf = (name: string, usual: number, least: number, most: number): number => {
    const number = Number(parameters.get(name) ?? usual);
    if (Number.isInteger(number) && number >= least && number <= most) return number;
    throw usageError(`The ${name} of the store are a number from ${least} to ${most}.`);
  };
  const connections = numberOf('connections', DEFAULT_CONNECTIONS, 2, 500);
  const processors = numberOf('processors', availableParallelism(), 1, 1024);
  if (!ONE_HOST.test(base) || !(URL.canParse(base) || NO_HOST.test(base))) {
    throw usageError(
      'The address of the store cannot be read: it takes one host, and signs such as / and @ in a password are written %2F and %40.',
    );
  }
  const options = parameters.get('options') ?? '';
  for (const name of ['schema', 'connections', 'processors', 'options']) parameters.delete(name);
  const rest = parameters.toString();
  const shown = base.replace(/\/\/([^/@]*)@/, (_, user: string) => `//${user.split(':', 1)[0]}@`);
  return {
    connectionString: rest === '' ? base : `${base}?${rest}`,
    options,
    schema,
    connections,
    processors,
    name: schema === DEFAULT_SCHEMA ? shown : `${shown}?schema=${schema}`,
  };
}
