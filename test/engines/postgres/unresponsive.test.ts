/** A server that is suspended, packets that are dropped, and commits without a confirmation. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { parsePostgresAddress } from '../../../src/engines/postgres/connection/address.ts';
import { StorePool, type Timeouts } from '../../../src/engines/postgres/connection/connect.ts';
import { translateError } from '../../../src/engines/postgres/connection/errors.ts';
import { withSession } from '../../../src/engines/postgres/connection/session.ts';
import { openPostgresStore } from '../../../src/engines/postgres/store.ts';
import { underLock } from '../../../src/engines/postgres/writing/lock.ts';
import { writeBackup } from '../../../src/engines/sqlite/backup.ts';
import type { ErrorCode } from '../../../src/errors/index.ts';
import { DEFAULT_SETTINGS } from '../../../src/records/settings.ts';
import { operatorMessage } from '../../../src/shared/error-code.ts';
import { listing } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import { emptyDatabase } from '../../support/postgres-engine.ts';
import { relayTo } from '../../support/postgres-relay.ts';
import { ownServer, placeOf, shown } from '../../support/postgres-server.ts';
import { nonZero } from '../../support/reports.ts';
import { operations } from '../../support/world.ts';

// A server of its own, whose processes this file suspends.
await ownServer();

const BRIEF = { connect: 1000, small: 200, write: 200 };

const unavailable = {
  code: 'storeUnavailable' satisfies ErrorCode,
  status: 503,
  retryAfter: 5,
  message: 'The store cannot be reached at the moment.',
};

const unknown = {
  code: 'writeUnknown' satisfies ErrorCode,
  status: 503,
  retryAfter: 5,
  message:
    'The connection to the store was lost during a commit, so the write may or may not be stored. Repeat it; nothing is stored twice.',
};

async function openAt(t: TestContext, address: string, patience: Partial<Timeouts> = BRIEF) {
  const store = await openPostgresStore({ address, writeBackup, patience });
  t.after(() => store.close());
  return { store, ...operations(store, testClock()) };
}

async function database(t: TestContext): Promise<string> {
  const { address, drop } = await emptyDatabase(DEFAULT_SETTINGS);
  t.after(drop);
  return address;
}

const EVERY_PROCESS = `SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::integer AS pid
  UNION SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()`;
const CONNECTIONS_OF_PLAT = "SELECT pid FROM pg_stat_activity WHERE application_name = 'plat'";

/** Does some work while processes of the server are suspended: all of them, or those that a statement selects. */
async function whileFrozen(
  address: string,
  work: () => Promise<unknown>,
  which = EVERY_PROCESS,
): Promise<void> {
  const client = new Client({ connectionString: address });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>(which);
  await client.end();
  const all = (signal: 'SIGSTOP' | 'SIGCONT'): void => {
    for (const { pid } of rows) process.kill(pid, signal);
  };
  all('SIGSTOP');
  try {
    await work();
  } finally {
    all('SIGCONT');
  }
}

test('an unresponsive server: 503 at the time limit, and everything as before when it continues', async (t) => {
  const address = await database(t);
  const world = await openAt(t, address);
  await world.write('Property', listing('A'));
  const asked = await world.request('Property');
  const record = await world.parse('Property', listing('B'));
  const { store } = world;
  const brief = { milliseconds: 200 };
  const began = performance.now();
  await whileFrozen(address, () =>
    Promise.all([
      assert.rejects(openAt(t, address), {
        code: 'storeUnreachable' satisfies ErrorCode,
        status: 503,
        retryAfter: 5,
        message: `${shown(address)} cannot be reached: Connection terminated due to connection timeout; ${placeOf(address)}.`,
      }),
      ...[
        store.page(asked, brief),
        store.count(asked.query, brief),
        store.ids(asked.query, brief),
        store.look('hash'),
        store.model(),
        store.write('Property', [record]),
      ].map((each) => assert.rejects(each, unavailable)),
    ]),
  );
  // Its limits of 200 ms and 2 s, then new connections of 1 s each: far from the minutes of TCP.
  assert.ok(performance.now() - began < 15_000);
  assert.deepEqual(await world.keys('Property'), ['A']);
  assert.deepEqual(nonZero(await store.write('Property', [record])), { inserted: 1 });
  assert.deepEqual(await world.keys('Property'), ['A', 'B']);
});

/** With this time limit, a statement would keep its connection longer than any test may take. */
const HOUR = 3_600_000;

test('suspended connections: what was sent on one fails long before its time limit, and the next request has a new one', async (t) => {
  const address = await database(t);
  const world = await openAt(t, address, { connect: 1000, small: HOUR, write: HOUR });
  const { store } = world;
  await world.write('Property', listing('A'));
  const asked = await world.request('Property');
  const record = await world.parse('Property', listing('B'));
  const read = () => store.page(asked, { milliseconds: HOUR });
  await Promise.all([read(), read(), read(), store.look('hash'), store.look('other')]);
  await whileFrozen(
    address,
    async () => {
      // A write whose transaction has not begun is repeated.
      const written = store.write('Property', [record]);
      await Promise.all([read(), store.look('hash')].map((each) => assert.rejects(each, unavailable)));
      assert.deepEqual(nonZero(await written), { inserted: 1 });
      // Connections that were idle at that time have been replaced as well.
      await Promise.all([read(), read(), read(), store.look('hash'), store.look('other')]);
    },
    CONNECTIONS_OF_PLAT,
  );
  assert.deepEqual(await world.keys('Property'), ['A', 'B']);
});

test('a suspended server: everything fails long before its time limit', async (t) => {
  const address = await database(t);
  const { store, ...world } = await openAt(t, address, { connect: 1000, small: HOUR, write: HOUR });
  const asked = await world.request('Property');
  await Promise.all([store.page(asked, { milliseconds: HOUR }), store.look('hash')]);
  await whileFrozen(address, () =>
    Promise.all(
      [store.page(asked, { milliseconds: HOUR }), store.look('hash')].map((each) =>
        assert.rejects(each, unavailable),
      ),
    ),
  );
});

test('a statement that waits for a lock keeps its connection: the server is at work on it', async (t) => {
  const address = await database(t);
  const world = await openAt(t, address, { connect: 1000, small: HOUR, write: HOUR });
  const client = new Client({ connectionString: address });
  client.on('error', () => undefined);
  await client.connect();
  t.after(() => client.end());
  await client.query('BEGIN; LOCK TABLE plat.plat_keys IN ACCESS EXCLUSIVE MODE');
  const answer = Promise.withResolvers<boolean>();
  const { isAtWork } = StorePool.prototype;
  t.mock.method(
    StorePool.prototype,
    'isAtWork',
    async function (this: StorePool, ...given: Parameters<typeof isAtWork>) {
      const found = await Reflect.apply(isAtWork, this, given);
      answer.resolve(found);
      return found;
    },
  );
  const look = world.store.look('hash');
  assert.equal(await answer.promise, true);
  await client.query('ROLLBACK');
  assert.equal((await look).key, undefined);
});

test('a commit without a confirmation: the caller learns that the outcome is unknown, and repeating it stores it once', async (t) => {
  const direct = await database(t);
  for (const isPassedOn of [true, false]) {
    const relay = await relayTo(t, direct);
    const world = await openAt(t, relay.address, { write: 500 });
    const key = `committed ${isPassedOn}`;
    const record = await world.parse('Property', listing(key));
    await relay.losingCommit(isPassedOn, () =>
      assert.rejects(world.store.write('Property', [record]), unknown),
    );
    const report = nonZero(await world.store.write('Property', [record]));
    assert.deepEqual(report, isPassedOn ? { unchanged: 1 } : { inserted: 1 });
    assert.deepEqual(await world.keys('Property', `$filter=ListingKey eq '${key}'`), [key]);
  }
});

test('a writer that waits too long for the lock learns which process of the server has it', async (t) => {
  const address = await database(t);
  await using pool = new StorePool(parsePostgresAddress(address));
  const done = await underLock(pool, async ({ rows }) => {
    const [{ pid } = {}] = await rows('SELECT pg_backend_pid() AS pid');
    await using other = new StorePool(parsePostgresAddress(address));
    // A server does not show each role what the process is.
    for (const [name, shown] of [
      ['plat', ' (plat)'],
      ['', ''],
    ]) {
      await rows(`SET LOCAL application_name = '${name}'`);
      const waiting = underLock(other, async () => 'done', { patience: 1 });
      const holder = `Process ${pid} of the server${shown}`;
      await assert.rejects(waiting, {
        code: 'storeBusy' satisfies ErrorCode,
        retryAfter: 1,
        message: `${holder} has the write lock of ${pool.store}. Try again when it has finished. If it hangs, end it; what it has committed stays stored.`,
      });
    }
    return pool.store;
  });
  assert.match(done, /^postgres:/);
  assert.equal(await underLock(pool, async () => 'free'), 'free');
});

test('a writer that waits too long for a table is not told that another one has the write lock', async (t) => {
  const address = parsePostgresAddress(await database(t));
  await using pool = new StorePool(address);
  await using other = new StorePool(address);
  await withSession(other, async ({ run }) => {
    await run('BEGIN; LOCK TABLE plat.plat_meta IN ACCESS EXCLUSIVE MODE');
    const waiting = underLock(pool, async () => 'done', { patience: 1 });
    const error = await waiting.catch((reason: unknown) => translateError(reason, address, 0));
    assert.equal(
      operatorMessage(error),
      `Another session seems to block ${pool.store}: the server says: canceling statement due to lock timeout; pg_blocking_pids of the server shows by whom. Try again when it has finished. If it hangs, end it; what it has committed stays stored.`,
    );
  });
});

test('a statement that waits for a lock is ended by the server before the connection is closed', async (t) => {
  const address = await database(t);
  const world = await openAt(t, address);
  const record = await world.parse('Property', listing('A'));
  const client = new Client({ connectionString: address });
  client.on('error', () => undefined);
  await client.connect();
  t.after(() => client.end());
  await client.query('BEGIN; LOCK TABLE plat.property_texts IN EXCLUSIVE MODE');
  const blocked = {
    code: 'storeBusy' satisfies ErrorCode,
    status: 503,
    retryAfter: 1,
    message: `Another session seems to block ${world.store.name}: the server says: canceling statement due to statement timeout; pg_blocking_pids of the server shows by whom. Try again when it has finished. If it hangs, end it; what it has committed stays stored.`,
  };
  await assert.rejects(world.store.write('Property', [record]), blocked);
  await client.query('LOCK TABLE plat.plat_keys IN ACCESS EXCLUSIVE MODE');
  await assert.rejects(world.store.look('hash'), blocked);
  await client.query('ROLLBACK');
  assert.deepEqual(nonZero(await world.store.write('Property', [record])), { inserted: 1 });
});

test('time limits of a role or a database do not apply to plat, which has its own', async (t) => {
  const address = await database(t);
  await using pool = new StorePool(parsePostgresAddress(address));
  const names = ['statement', 'lock', 'idle_in_transaction_session', 'idle_session'];
  await withSession(pool, async ({ rows }) => {
    const [{ name } = {}] = await rows('SELECT current_database() AS name');
    for (const each of names) await rows(`ALTER DATABASE "${name}" SET ${each}_timeout = '7s'`);
  });
  await using later = new StorePool(parsePostgresAddress(address));
  const columns = names.map((each) => `current_setting('${each}_timeout') AS ${each}`);
  const found = await withSession(later, ({ rows }) => rows(`SELECT ${columns.join(', ')}`));
  assert.deepEqual(found, [Object.fromEntries(names.map((each) => [each, '0']))]);
});

test('the statement of a process that has died is ended by the server, and frees what it holds', async (t) => {
  const address = await database(t);
  await using pool = new StorePool(parsePostgresAddress(address));
  const client = await pool.connect();
  const statement = client.query('SELECT pg_advisory_lock(77), pg_sleep(3600)');
  await using other = new StorePool(parsePostgresAddress(address));
  await withSession(other, async ({ rows }) => {
    const isHeld = async (): Promise<boolean> =>
      (await rows("SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 77 AND granted")).length > 0;
    while (!(await isHeld()));
    // The system closes the connections of a process that dies.
    client.connection.stream.destroy();
    await assert.rejects(statement);
    client.release(true);
    // A server that did not notice would hold it for an hour.
    await rows('SELECT pg_advisory_lock(77)');
  });
});

test('a connection that is ended between two statements: its user learns why', async (t) => {
  const address = await database(t);
  await using pool = new StorePool(parsePostgresAddress(address));
  const ended = withSession(pool, async ({ client, rows }) => {
    const [{ pid } = {}] = await rows('SELECT pg_backend_pid() AS pid');
    const lost = new Promise((resolve) => void client.once('end', resolve));
    await using other = new StorePool(parsePostgresAddress(address));
    await withSession(other, (session) => session.rows(`SELECT pg_terminate_backend(${pid})`));
    await lost;
    return await rows('SELECT 1');
  });
  const error = await ended.catch((reason: unknown) =>
    translateError(reason, parsePostgresAddress(address), 0),
  );
  assert.equal(
    operatorMessage(error),
    'The store cannot be reached at the moment: terminating connection due to administrator command.',
  );
});
