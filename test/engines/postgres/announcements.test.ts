/** The connection on which a server announces commits: it is reopened after a loss, less and less often while the server is unavailable. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'pg';
import { parsePostgresAddress } from '../../../src/engines/postgres/connection/address.ts';
import { listenAt } from '../../../src/engines/postgres/reading/announcements.ts';
import { listenForCommits } from '../../../src/store/changes/commit-watch.ts';
import type { Scope } from '../../support/engine.ts';
import { bareDatabase } from '../../support/postgres-engine.ts';
import { postgresServer } from '../../support/postgres-server.ts';

/** Listens at a database of its own. `next` returns events in their order; pauses end when the test ends them. */
async function listening(t: Scope) {
  const { address, drop } = await bareDatabase();
  const operator = new Client({ connectionString: (await postgresServer()).address('postgres') });
  await operator.connect();
  const happened: string[] = [];
  let more = Promise.withResolvers<void>();
  const note = (what: string): void => {
    happened.push(what);
    more.resolve();
  };
  let endPause = (): void => assert.fail('there is no pause');
  const announcements = listenForCommits(
    listenAt(parsePostgresAddress(address)),
    {
      commitAnnounced: () => note('heard'),
      announcementsLost: (error) => note(`lost: ${error instanceof Error && error.message}`),
    },
    (milliseconds, signal) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      endPause = resolve;
      signal.addEventListener('abort', () => resolve());
      note(`pause ${milliseconds}`);
      return promise;
    },
  );
  t.after(async () => {
    await announcements.close();
    await operator.end();
    await drop();
  });
  const [, database = ''] = /\/(\w+)\?/.exec(address) ?? [];
  return {
    announcements,
    next: async (): Promise<string> => {
      while (happened.length === 0) {
        await more.promise;
        more = Promise.withResolvers();
      }
      return happened.shift() ?? '';
    },
    goOn: () => endPause(),
    notify: async (...payloads: string[]) => {
      const client = new Client({ connectionString: address });
      await client.connect();
      for (const payload of payloads) await client.query("SELECT pg_notify('plat_changes', $1)", [payload]);
      await client.end();
    },
    /** Ends the connections of the database. */
    cut: () =>
      operator.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [database]),
    letIn: (isLetIn: boolean) =>
      operator.query(`ALTER DATABASE ${database} WITH ALLOW_CONNECTIONS ${isLetIn}`),
  };
}

const CUT = 'lost: terminating connection due to administrator command';

test('commits are announced, also after the connection was lost, and each loss is reported once', async (t) => {
  const { announcements, next, goOn, notify, cut } = await listening(t);
  assert.equal(await next(), 'heard', 'commits before it listened may have been missed');
  assert.equal(announcements.isOpen, true);
  await notify('another_schema', 'plat');
  assert.equal(await next(), 'heard');
  await cut();
  assert.equal(await next(), CUT);
  assert.equal(announcements.isOpen, false);
  assert.equal(await next(), 'pause 500');
  goOn();
  assert.equal(await next(), 'heard', 'commits may have been missed meanwhile');
  assert.equal(announcements.isOpen, true);
  await notify('plat');
  assert.equal(await next(), 'heard');
  await cut();
  assert.equal(await next(), CUT, 'a further loss is reported');
  assert.equal(await next(), 'pause 500', 'the lost connection had announced something');
  goOn();
  assert.equal(await next(), 'heard');
});

test('a server that accepts no connections is tried less and less often, and the loss is reported once', async (t) => {
  const { announcements, next, goOn, notify, cut, letIn } = await listening(t);
  assert.equal(await next(), 'heard');
  await letIn(false);
  await cut();
  assert.equal(await next(), CUT);
  for (const milliseconds of [500, 1000, 2000, 4000, 8000, 10_000, 10_000]) {
    assert.equal(await next(), `pause ${milliseconds}`);
    assert.equal(announcements.isOpen, false);
    goOn();
  }
  assert.equal(await next(), 'pause 10000');
  await letIn(true);
  goOn();
  assert.equal(await next(), 'heard');
  // A connection that has announced nothing yet does not shorten the pauses.
  await cut();
  assert.equal(await next(), CUT);
  assert.equal(await next(), 'pause 10000');
  goOn();
  assert.equal(await next(), 'heard');
  await notify('plat');
  assert.equal(await next(), 'heard');
});
