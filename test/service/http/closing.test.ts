/** A service that closes while its store is busy: work that does not end in time is aborted, whatever it waits for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'pg';
import { PlatError } from '../../../src/errors/index.ts';
import { listing } from '../../support/builders.ts';
import type { Engine, Scope } from '../../support/engine.ts';
import { postgresEngine } from '../../support/postgres-engine.ts';
import { postgresServer } from '../../support/postgres-server.ts';
import { makeKey, startTestService, type TestService } from '../../support/service.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';

/** Milliseconds that requests get to end, and then the store. */
const PATIENCE = 100;

interface Closing extends TestService {
  /** Closes the service, and then its store. */
  close(): Promise<void>;
}

async function closingService(scope: Scope, engine: Engine): Promise<Closing> {
  const service = await startTestService(
    { after: () => undefined },
    {
      engine,
      fill: async ({ write }) => void (await write('Property', listing('1'), listing('2'))),
      listen: { closingPatience: PATIENCE },
    },
  );
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= service.service.close().then(() => service.store.close(PATIENCE));
    return closed;
  };
  scope.after(close);
  return { ...service, close };
}

/** The error of aborted work. */
const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (result) => assert.fail(`not aborted: ${JSON.stringify(result)}`),
    (error: unknown) => error,
  );

function assertUnavailable(error: unknown): void {
  assert.ok(error instanceof PlatError && error.code === 'storeUnavailable', String(error));
}

for (const engine of [sqliteEngine({ pageReaders: 1, searchReaders: 2 }), postgresEngine()]) {
  test(`${engine.name}: a service closes while another process holds the write lock, and a write that waits for it is aborted`, async (t) => {
    const service = await closingService(t, engine);
    const token = await service.key('api');
    const release = await service.hold();
    assert.equal((await service.get('api', '/v1/listings', { token })).status, 200);
    const late = errorOf(makeKey(service.store, 'api'));
    await service.close();
    assertUnavailable(await late);
    await release();
  });
}

test('postgres: a service closes while reads wait for a table lock and for a connection', async (t) => {
  const service = await closingService(t, postgresEngine());
  const token = await service.key('api');
  const database = new URL(service.store.name).pathname.slice(1);
  const other = new Client({ connectionString: (await postgresServer()).address(database) });
  await other.connect();
  t.after(() => other.end());
  const tables = `SELECT string_agg(format('%I.%I', schemaname, tablename), ', ') AS names FROM pg_tables
    WHERE schemaname = 'plat' AND tablename ILIKE '%property%'`;
  const [found] = (await other.query<{ names: string }>(tables)).rows;
  await other.query(`BEGIN; LOCK TABLE ${found?.names} IN ACCESS EXCLUSIVE MODE`);
  const asked = errorOf(service.get('api', "/Reso/OData/Property?$filter=contains(City,'x')", { token }));
  const waiting = 'SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted AND relation IS NOT NULL';
  const waits = async (): Promise<boolean> => (await other.query<{ n: number }>(waiting)).rows[0]?.n === 1;
  for (let looks = 0; !(await waits()); looks++)
    assert.ok(looks < 5000, 'the search does not wait for the table');
  // This read waits for the connection that the search uses.
  const scrubbed = errorOf(service.store.rowFaults('Property', { kind: 'keys', keys: ['1'] }));
  await service.close();
  const cut = await asked;
  assert.ok(cut instanceof Error && 'code' in cut && cut.code === 'ECONNRESET', String(cut));
  assertUnavailable(await scrubbed);
});
