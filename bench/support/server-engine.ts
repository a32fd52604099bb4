import { tmpdir } from 'node:os';
import { Client } from 'pg';
import { parsePostgresAddress } from '../../src/engines/postgres/connection/address.ts';
import { StorePool } from '../../src/engines/postgres/connection/connect.ts';
import { withSession } from '../../src/engines/postgres/connection/session.ts';
import { openPostgresStore } from '../../src/engines/postgres/store.ts';
import { copyIn } from '../../src/engines/postgres/writing/copy-in.ts';
import { writeBackup } from '../../src/engines/sqlite/backup.ts';
import { runOn, startServer } from '../../test/support/postgres-server.ts';
import { type BenchEngine, batchesOf, keyOf } from './engine.ts';
import { postmasterOf, usedBy } from './server-usage.ts';

/** Settings of a small server that has a machine to itself; all others are PostgreSQL's defaults, including `fsync`. */
const SETTINGS = {
  shared_buffers: '1GB',
  effective_cache_size: '4GB',
  max_wal_size: '4GB',
  max_connections: '100',
  listen_addresses: '',
};

/** Stores in databases of a separate server, whose files are next to those of the file engine. */
export async function serverEngine(): Promise<BenchEngine> {
  const server = await startServer({ settings: SETTINGS, root: tmpdir() });
  const postgres = server.address('postgres');
  const postmaster = await postmasterOf(postgres);
  const newStore = async (name: string): Promise<string> => {
    const database = name.replaceAll('-', '_');
    await runOn(postgres, `CREATE DATABASE ${database}`);
    return server.address(database);
  };
  return {
    name: 'PostgreSQL',
    newStore,
    open: (address, clock) => openPostgresStore({ address: `${address}&connections=3`, clock, writeBackup }),
    settle: (address) => runOn(address, 'VACUUM ANALYZE', 'CHECKPOINT'),
    size: (address) => ask(address, 'SELECT pg_database_size(current_database()) AS answer'),
    used: () => usedBy(postmaster),
    async storeLines(lines, batch) {
      const address = await newStore('lines');
      await runOn(address, 'CREATE TABLE lines (key text COLLATE "C" PRIMARY KEY, text text NOT NULL)');
      const pool = new StorePool(parsePostgresAddress(`${address}&schema=public`));
      const start = performance.now();
      await withSession(pool, async (session) => {
        for (const some of batchesOf(lines, batch)) {
          await copyIn(
            session,
            'lines',
            ['key', 'text'],
            some.map((line) => [keyOf(line), line]),
          );
        }
      });
      const wall = performance.now() - start;
      await pool.end();
      return wall;
    },
    dispose: () => server.stop('order'),
  };
}

async function ask(address: string, text: string): Promise<number> {
  const client = new Client({ connectionString: address });
  await client.connect();
  const { rows } = await client.query<{ answer: string }>(text);
  await client.end();
  return Number(rows[0]?.answer);
}
