import { createHash } from 'node:crypto';
import { Client, Pool } from 'pg';
import { openPostgresStore } from '../../src/engines/postgres/store.ts';
import { LOCK_CLASS } from '../../src/engines/postgres/writing/lock.ts';
import { writeBackup } from '../../src/engines/sqlite/backup.ts';
import { openSqliteStore } from '../../src/engines/sqlite/store.ts';
import type { StoreSettings } from '../../src/records/settings.ts';
import { LAYOUT_VERSION } from '../../src/store/state/meta.ts';
import type { PartitionField } from '../../src/store/store.ts';
import type { ClockTrust } from '../../src/store/time/store-clock.ts';
import { type Prepared, preparedFor, prepareStore } from './clock.ts';
import type { Engine, StorePart } from './engine.ts';
import { postgresServer, runOn, type SharedServer } from './postgres-server.ts';

const prepared = new Map<string, Promise<string>>();
let databases = 0;

/** The name of a further database of this process; other processes may use the same server. */
const freshName = (purpose: string): string => `${purpose}_${process.pid}_${++databases}`;

/** Connections to the server of the run, which runs until the end; they do not keep this process alive. */
let administering: Pool | undefined;

/** Creates or drops a database. */
async function administer(server: SharedServer, statement: string): Promise<void> {
  const address = server.address('postgres');
  if ('stop' in server) return await runOn(address, statement);
  administering ??= new Pool({ connectionString: address, allowExitOnIdle: true, idleTimeoutMillis: 0 });
  await administering.query(statement);
}

interface Template {
  readonly settings: StoreSettings;
  readonly partitions: PartitionField | undefined;
  readonly state: Prepared;
}

/** A database with an empty store of these settings, to be copied: creating a store takes longer than most tests. */
function preparedDatabase(server: SharedServer, template: Template): Promise<string> {
  const id = JSON.stringify(template);
  const known = prepared.get(id);
  if (known !== undefined) return known;
  const name = `prepared_${createHash('sha256').update(id).digest('hex').slice(0, 16)}`;
  const made = prepareOnce(server, name, template);
  prepared.set(id, made);
  return made;
}

/** The first process that needs it creates it, for all processes that use the server. */
async function prepareOnce(server: SharedServer, name: string, template: Template): Promise<string> {
  const client = new Client({ connectionString: server.address('postgres') });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [name]);
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 1) return name;
    const making = freshName('preparing');
    await client.query(`CREATE DATABASE ${making}`);
    await prepare(server.address(making), template);
    await client.query(`ALTER DATABASE ${making} RENAME TO ${name}`);
    return name;
  } finally {
    await client.end();
  }
}

const prepare = (address: string, { settings, partitions, state }: Template): Promise<void> =>
  prepareStore(state, (clock) =>
    openPostgresStore({
      address,
      create: settings,
      ...(partitions === undefined ? {} : { partitions }),
      clock,
      writeBackup,
    }),
  );

/** The address of an empty database. */
export async function bareDatabase(): Promise<{ address: string; drop(): Promise<void> }> {
  const server = await postgresServer();
  const name = freshName('bare');
  await administer(server, `CREATE DATABASE ${name}`);
  const drop = () => administer(server, `DROP DATABASE ${name} WITH (FORCE)`);
  return { address: server.address(name), drop };
}

/** The address of a database with an empty store of these settings. */
export async function emptyDatabase(
  settings: StoreSettings,
  partitions?: PartitionField,
  state: Prepared = 'created',
): Promise<{ address: string; drop(): Promise<void> }> {
  return await copyOf(await preparedDatabase(await postgresServer(), { settings, partitions, state }));
}

/** The address of a copy of a database, to which nobody may be connected. */
export const copyOfDatabase = (address: string): Promise<{ address: string; drop(): Promise<void> }> =>
  copyOf(new URL(address).pathname.slice(1));

async function copyOf(template: string): Promise<{ address: string; drop(): Promise<void> }> {
  const server = await postgresServer();
  const name = freshName('store');
  await administer(server, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  const drop = () => administer(server, `DROP DATABASE ${name} WITH (FORCE)`);
  return { address: server.address(name), drop };
}

/** Partitions, and what belongs to them, are dropped with their table. */
const PARTS = `SELECT c.relname AS name,
    CASE c.relkind WHEN 'i' THEN 'index' WHEN 'I' THEN 'index' WHEN 'v' THEN 'view' ELSE 'table' END AS kind,
    CASE WHEN k.conname IS NOT NULL THEN format('ALTER TABLE %s DROP CONSTRAINT %I', k.conrelid::regclass, k.conname)
      ELSE format('DROP %s plat.%I CASCADE',
        CASE WHEN c.relkind IN ('i', 'I') THEN 'INDEX' WHEN c.relkind = 'v' THEN 'VIEW' ELSE 'TABLE' END, c.relname) END AS drop
  FROM pg_class c LEFT JOIN pg_constraint k ON k.conindid = c.oid
  WHERE c.relnamespace = 'plat'::regnamespace AND c.relkind IN ('r', 'p', 'i', 'I', 'v') AND NOT c.relispartition ORDER BY name`;

/** Stores in databases of a temporary server. */
export function postgresEngine(partitions?: PartitionField): Engine {
  return {
    name: partitions === undefined ? 'postgres' : 'postgres with partitions',
    layout: LAYOUT_VERSION,
    share: 0.05,
    async open(scope, { settings, clock, limits, machine }) {
      const { address, drop } = await emptyDatabase(settings, partitions, preparedFor(clock, machine));
      // A database is dropped at once if nobody is connected to it; the server waits for those that it disconnects.
      const taken = new AsyncDisposableStack();
      scope.after(() => taken.disposeAsync());
      taken.defer(drop);
      const open = async (on = clock, trust: ClockTrust = {}) => {
        const store = await openPostgresStore({
          address: `${address}&connections=3`,
          clock: on,
          machine,
          ...trust,
          writeBackup,
          ...(limits === undefined ? {} : { limits }),
        });
        taken.defer(() => store.close());
        return store;
      };
      const copy = async (path: string) => {
        const store = await openSqliteStore({ path, clock });
        scope.after(() => store.close());
        return store;
      };
      const hold = async () => {
        const other = new Client({ connectionString: address });
        await other.connect();
        await other.query(`SELECT pg_advisory_lock(${LOCK_CLASS}, hashtext('plat'))`);
        return async () => {
          await other.query('SELECT pg_advisory_unlock_all()');
          await other.end();
        };
      };
      const damage = (...statements: readonly string[]) => runOn(address, ...statements);
      const parts = async (): Promise<StorePart[]> => {
        const client = new Client({ connectionString: address });
        await client.connect();
        const { rows } = await client.query<StorePart>(PARTS);
        await client.end();
        return rows;
      };
      return { store: await open(), again: open, hold, copy, damage, parts };
    },
  };
}
