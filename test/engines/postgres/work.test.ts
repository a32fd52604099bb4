/** How much of a server's processors one key may use, and what remains for the others. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { parsePostgresAddress } from '../../../src/engines/postgres/connection/address.ts';
import { connectLanes, TIMEOUTS } from '../../../src/engines/postgres/connection/connect.ts';
import { withSession } from '../../../src/engines/postgres/connection/session.ts';
import { readInTransaction, readSnapshot } from '../../../src/engines/postgres/reading/reads.ts';
import { openStore } from '../../../src/open-store.ts';
import { DEFAULT_SETTINGS } from '../../../src/records/settings.ts';
import type { Lane, ReadCaller } from '../../../src/store/read/lanes.ts';
import { emptyDatabase } from '../../support/postgres-engine.ts';
import { relayTo } from '../../support/postgres-relay.ts';

const { address: text, drop } = await emptyDatabase(DEFAULT_SETTINGS);
const address = parsePostgresAddress(`${text}&processors=4`);
const lanes = connectLanes(address, TIMEOUTS);
after(async () => {
  await lanes.end();
  await drop();
});

const callerOf = (name: string): ReadCaller => ({
  name,
  begin: () => undefined,
  made: () => undefined,
  spent: () => undefined,
});

/** Reads that run until they are ended. */
function reads() {
  const running: string[] = [];
  const ends: (() => void)[] = [];
  const done: Promise<unknown>[] = [];
  return {
    running,
    begin(lane: Lane, name: string): void {
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.push(resolve);
      const reading = { milliseconds: 10_000, lane, caller: callerOf(name), tokenHash: null, keyRow: null };
      const read = readSnapshot(lanes, reading, (loan) =>
        readInTransaction(loan, reading, async ({ rows }) => {
          running.push(name);
          await rows('SELECT 1', []);
          await promise;
        }),
      );
      done.push(read);
    },
    async end(): Promise<void> {
      for (const end of ends) end();
      await Promise.all(done);
    },
  };
}

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await setImmediate();
};

test('one key gets half of the processors, another the other half, and a read by key waits for neither', async () => {
  const { begin, end, running } = reads();
  for (const lane of ['searches', 'pages', 'searches', 'pages', 'pages'] as const) begin(lane, 'greedy');
  await until(() => running.length === 2);
  begin('pages', 'modest');
  begin('searches', 'modest');
  begin('pages', 'modest');
  await until(() => running.length === 4);
  begin('records', 'greedy');
  begin('records', 'modest');
  await until(() => running.length === 6);
  assert.deepEqual(running.slice(0, 4), ['greedy', 'greedy', 'modest', 'modest']);
  await end();
  assert.equal(running.length, 10);
});

test('a statement uses one processor: it has no parallel workers, unless the address enables them', async () => {
  const setting = async (from: typeof lanes): Promise<unknown> => {
    const client = await from.searches.connect();
    const { rows } = await client.query('SHOW max_parallel_workers_per_gather');
    client.release();
    return rows[0]?.max_parallel_workers_per_gather;
  };
  assert.equal(await setting(lanes), '0');
  const options = '-c max_parallel_workers_per_gather=3';
  const other = connectLanes({ ...address, options }, TIMEOUTS);
  assert.equal(await setting(other), '3');
  await other.end();
});

test('a sweep whose marks are all new looks each mark up, and compares none with all records', async (t) => {
  const relay = await relayTo(t, text);
  const { checkpoints, close } = await openStore(relay.address);
  t.after(() => close());
  const { commands } = await relay.during(async () => {
    assert.equal(await checkpoints.unseenCount('a source', 'Media', 5), 0);
    assert.deepEqual(await checkpoints.unseen('a source', 'Media', 5, '', 10), []);
    assert.equal(await checkpoints.deleteMarks('a source', 'Media', 5), 0);
  });
  const statements = commands.filter((each) => each.includes('plat_ledger_seen'));
  assert.equal(statements.length, 3);
  // A server without statistics takes the marks of a source and a resource for a single row.
  await withSession(lanes.small, async ({ rows }) => {
    await rows('ALTER TABLE plat_ledger_seen SET (autovacuum_enabled = off)');
    await rows(
      `INSERT INTO plat_ledger_seen SELECT 'a source', 'Media', n, 1 FROM generate_series(1, 5000) n`,
    );
    for (const each of statements) {
      const plan = (await rows(`EXPLAIN (GENERIC_PLAN) ${each}`)).map(Object.values).join('\n');
      assert.match(plan, /Index Cond: .*source.* AND .*resource.* AND .*key /);
      assert.doesNotMatch(plan, /Join|Nested Loop/);
    }
  });
});
