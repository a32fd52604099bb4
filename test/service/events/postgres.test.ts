import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'pg';
import { pino } from 'pino';
import { openStore } from '../../../src/open-store.ts';
import { DEFAULT_SETTINGS } from '../../../src/records/settings.ts';
import { listing } from '../../support/builders.ts';
import type { Engine } from '../../support/engine.ts';
import { changesIn, followEvents } from '../../support/event-client.ts';
import { emptyDatabase, postgresEngine } from '../../support/postgres-engine.ts';
import { startTestService } from '../../support/service.ts';
import { operations } from '../../support/world.ts';
import { eventsContract } from './contract.ts';

eventsContract(postgresEngine());

test('a follower receives commits of other processes while the LISTEN connection is lost, and it is reopened', async (t) => {
  const { address, drop } = await emptyDatabase(DEFAULT_SETTINGS);
  const observer = new Client({ connectionString: address });
  await observer.connect();
  /** Waits for the LISTEN connection (one other than `than`) and returns its process ID. */
  const listener = async (than?: number): Promise<number> => {
    for (;;) {
      const { rows } = await observer.query<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle' AND query = 'LISTEN plat_changes'",
      );
      const [found] = rows.filter(({ pid }) => pid !== than);
      if (found !== undefined) return found.pid;
    }
  };
  const [store, other] = [await openStore(address), await openStore(address)];
  const logged: string[] = [];
  const warned = Promise.withResolvers<void>();
  const log = pino(
    { level: 'warn' },
    {
      write(line) {
        logged.push(JSON.parse(line).msg);
        warned.resolve();
      },
    },
  );
  const engine: Engine = {
    ...postgresEngine(),
    open: async (scope) => {
      scope.after(async () => {
        await Promise.all([store.close(), other.close(), observer.end()]);
        await drop();
      });
      return {
        store,
        again: async () => other,
        hold: () => assert.fail('this test takes no lock'),
        copy: () => assert.fail('this test copies no store'),
        parts: () => assert.fail('this test copies no store'),
        damage: () => assert.fail('this test damages no record'),
      };
    },
  };
  const { addresses, key, clock } = await startTestService(t, { engine, service: { log } });
  const client = await followEvents(addresses.replication, { token: await key('replication') });
  t.after(() => client.close());
  await client.next();
  const { write } = operations(other, clock);
  const receives = async (name: string): Promise<void> => {
    await write('Property', listing(name));
    assert.deepEqual(changesIn(await client.changes(1)), [`created Property ${name}`]);
  };
  const first = await listener();
  await receives('A');
  await observer.query('SELECT pg_terminate_backend($1)', [first]);
  await warned.promise;
  await receives('B');
  await listener(first);
  await receives('C');
  assert.deepEqual(logged, ['the store does not announce commits at the moment: polling for them']);
});
