/** How a store on a server is created, found, and rejected. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { parsePostgresAddress } from '../../../src/engines/postgres/connection/address.ts';
import { StorePool } from '../../../src/engines/postgres/connection/connect.ts';
import { openingError } from '../../../src/engines/postgres/connection/errors.ts';
import { type ErrorCode, PlatError } from '../../../src/errors/index.ts';
import { openStore, openTables } from '../../../src/open-store.ts';
import { listing } from '../../support/builders.ts';
import { DAY, testClock } from '../../support/clock.ts';
import { bareDatabase } from '../../support/postgres-engine.ts';
import { placeOf, postgresServer, runOn, shown } from '../../support/postgres-server.ts';
import { operations } from '../../support/world.ts';

/** An empty database. */
async function database(t: TestContext): Promise<string> {
  const { address, drop } = await bareDatabase();
  t.after(drop);
  return address;
}

async function opened(t: TestContext, ...given: Parameters<typeof openStore>) {
  const store = await openStore(...given);
  t.after(() => store.close());
  return store;
}

test('opening a database without a store is an error, unless the store is to be created', async (t) => {
  const address = await database(t);
  await assert.rejects(openStore(address), {
    code: 'storeMissing' satisfies ErrorCode,
    message: `There is no store at ${shown(address)}. "plat import", "plat replicate" and "plat demo" create one.`,
  });
  const store = await opened(t, address, { create: 'replica' });
  assert.equal((await store.model()).settings.owner, 'replica');
  assert.equal(store.name, shown(address));
});

test('a store on a server does not record the clock of a process', async (t) => {
  const address = await database(t);
  const now = Date.now();
  for (const off of [2 * DAY, -2 * DAY]) {
    t.mock.timers.reset();
    t.mock.timers.enable({ apis: ['Date'], now: now + off });
    const store = await opened(t, address, { create: 'authority' });
    const { stamp } = await operations(store, testClock()).write('Property', listing(`A${off}`));
    assert.ok(Math.abs(Date.parse(stamp) - now) < DAY / 2, stamp);
    assert.deepEqual([await store.ahead(), await store.clockJump()], [undefined, 0]);
    assert.deepEqual(await store.restamp(), { records: {}, tombstones: 0 });
  }
});

test('a new epoch that begins by the clock of a server leaves a store that promises horizons', async (t) => {
  const address = await database(t);
  const store = await opened(t, address, { create: 'authority' });
  const now = await store.now();
  assert.equal(now, Math.floor(now), 'a moment in whole milliseconds');
  await store.beginEpoch({ notBefore: now });
  assert.ok((await store.horizon()).settled >= now);
});

test('a promise with a fraction of a millisecond, which earlier versions stored, is no obstacle', async (t) => {
  const address = await database(t);
  const store = await opened(t, address, { create: 'authority' });
  const ask = (): Promise<void> =>
    runOn(
      address,
      `UPDATE plat.plat_meta SET value = '1795925186699.2092' WHERE name = 'settled'`,
      `INSERT INTO plat.plat_meta VALUES ('asked', '1795925186700') ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    );
  await store.horizon();
  await ask();
  const { settled } = await store.horizon();
  assert.ok(settled >= 1_795_925_186_699);
  await ask();
  const { stamp } = await operations(store, testClock()).write('Property', listing('A'));
  assert.ok(Date.parse(stamp) >= 1_795_925_186_699);
});

test('many processes that create the same store at once create one', async (t) => {
  const address = await database(t);
  const stores = await Promise.all(
    Array.from({ length: 5 }, () => opened(t, address, { create: 'authority' })),
  );
  assert.equal(new Set(stores.map(({ secret }) => secret)).size, 1);
  const [first] = stores;
  assert.ok(first !== undefined);
  await operations(first, testClock()).write('Property', listing('A'));
  for (const store of stores) assert.deepEqual(await operations(store, testClock()).keys('Property'), ['A']);
});

test('schemas of one database have separate stores', async (t) => {
  const address = await database(t);
  const here = await opened(t, `${address}&schema=here`, { create: 'authority' });
  const there = await opened(t, `${address}&schema=there`, { create: 'authority' });
  await operations(here, testClock()).write('Property', listing('A'));
  assert.deepEqual(await operations(here, testClock()).keys('Property'), ['A']);
  assert.deepEqual(await operations(there, testClock()).keys('Property'), []);
  assert.equal(here.name, `${shown(address)}?schema=here`);
  assert.notEqual(here.secret, there.secret);
});

test('a service has a connection for each lane from the start, and a command opens those that it uses', async (t) => {
  const address = await database(t);
  await (await openStore(address, { create: 'authority' })).close();
  const connections = async (threads: boolean): Promise<number> => {
    const store = await openStore(address, { threads });
    const server = new Client({ connectionString: address });
    await server.connect();
    const { rowCount } = await server.query(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'plat'",
    );
    await server.end();
    await store.close();
    return rowCount ?? 0;
  };
  // One writes, and one reads the settings.
  assert.equal(await connections(false), 2);
  // The same, and one each for records, pages and searches.
  assert.equal(await connections(true), 5);
});

test('a server that permits no further connection is named, with the reason', async (t) => {
  const { address, drop } = await bareDatabase();
  const user = `limited_${process.pid}`;
  await runOn(address, `CREATE ROLE ${user} LOGIN CONNECTION LIMIT 0`);
  t.after(async () => {
    await runOn(address, `DROP ROLE ${user}`);
    await drop();
  });
  const limited = new URL(address);
  limited.username = user;
  // Opening a store would wait five seconds for a connection, and then report this error.
  const refused = await new Client({ connectionString: limited.href })
    .connect()
    .catch((error: unknown) => error);
  const reported = openingError(refused, parsePostgresAddress(limited.href));
  assert.ok(reported instanceof PlatError);
  assert.deepEqual(
    [reported.code, reported.message],
    [
      'storeUnreachable',
      `${shown(limited.href)} cannot be reached: all connections that the server permits are in use (53300); ${placeOf(address)}.`,
    ],
  );
});

test('a command waits again for a connection of its own, and a service refuses the request', async (t) => {
  const address = parsePostgresAddress(await database(t));
  const second = async (waits: number) => {
    const pool = new StorePool(address, { connect: 500, waits });
    const first = await pool.take();
    let attempts = 0;
    const connect = pool.connect.bind(pool);
    pool.connect = () => {
      // Nobody returns the connection during the first wait.
      if (++attempts === 2) first.release();
      return connect();
    };
    try {
      (await pool.take()).release();
    } finally {
      if (attempts === 1) first.release();
      await pool.end();
    }
    return attempts;
  };
  assert.equal(await second(2), 2);
  await assert.rejects(second(1), { code: 'overloaded' satisfies ErrorCode });
});

test('a schema with other tables is not changed', async (t) => {
  const address = await database(t);
  await runOn(address, 'CREATE SCHEMA plat', 'CREATE TABLE plat.orders (id integer)');
  await assert.rejects(openStore(address, { create: 'authority' }), {
    code: 'storeNotOurs' satisfies ErrorCode,
    message: `${shown(address)} is not a plat store: its schema plat contains other tables.`,
  });
});

test('the layout of a newer plat is rejected', async (t) => {
  const address = await database(t);
  await (await openStore(address, { create: 'authority' })).close();
  await runOn(
    address,
    "UPDATE plat.plat_meta SET value = '99' WHERE name IN ('layout', 'oldest_reader', 'oldest_writer')",
  );
  await assert.rejects(openStore(address), {
    code: 'storeTooNew' satisfies ErrorCode,
    message: `${shown(address)} has layout 99, newer than the layout 4 that this plat knows. Use a newer plat.`,
  });
});

test('functions of an older plat are updated once, while other processes work', async (t) => {
  const address = await database(t);
  const working = await opened(t, address, { create: 'authority' });
  await operations(working, testClock()).write('Property', listing('A', { City: 'Ely' }));
  await runOn(
    address,
    "UPDATE plat.plat_meta SET value = 'older' WHERE name = 'functions'",
    "CREATE OR REPLACE FUNCTION plat.plat_lower(value text) RETURNS text LANGUAGE sql IMMUTABLE RETURN 'older'",
  );
  const newer = await Promise.all([opened(t, address), opened(t, address)]);
  for (const store of [working, ...newer]) {
    const { keys } = operations(store, testClock());
    assert.deepEqual(await keys('Property', "$filter=tolower(City) eq 'ely'"), ['A']);
  }
});

test('a missing database, one of another encoding, and invalid addresses are reported', async (t) => {
  const server = await postgresServer();
  const missing = server.address('nowhere');
  await assert.rejects(openStore(missing, { create: 'authority' }), {
    code: 'storeDenied' satisfies ErrorCode,
    message: `${shown(missing)} cannot be used: the server has no database nowhere (${placeOf(missing)}).`,
  });
  const latin = server.address('latin');
  await runOn(
    server.address('postgres'),
    "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'",
  );
  t.after(() => runOn(server.address('postgres'), 'DROP DATABASE latin'));
  await assert.rejects(openStore(latin, { create: 'authority' }), {
    message: `${shown(latin)} is not a plat store: its database has the encoding LATIN1, not UTF8.`,
  });
  await assert.rejects(openStore('postgres://host/db?schema=Two Words'), {
    code: 'usage' satisfies ErrorCode,
    message: 'The schema of the store is "Two Words", but takes a name in lower case.',
  });
  await assert.rejects(openStore('postgres://host/db?connections=1'), {
    code: 'usage' satisfies ErrorCode,
    message: 'The connections of the store are a number from 2 to 500.',
  });
});

test('a server that is missing or refuses is reported with host, port, database and the reason, and without the password', async () => {
  const refused = {
    code: 'storeUnreachable' satisfies ErrorCode,
    message:
      'postgres://ann@127.0.0.1:1/db cannot be reached: it accepts no connections (ECONNREFUSED); host 127.0.0.1, port 1, database db.',
  };
  const nowhere = 'postgres://ann:s3cret@127.0.0.1:1/db';
  await assert.rejects(openStore(nowhere), refused);
  await assert.rejects(openTables(nowhere, false), refused);
  await assert.rejects(openStore('postgres://ann:s3cret@nowhere.invalid/db'), {
    code: 'storeUnreachable' satisfies ErrorCode,
    message:
      /^postgres:\/\/ann@nowhere\.invalid\/db cannot be reached: .* \((?:ENOTFOUND|EAI_AGAIN)\); host nowhere\.invalid, port 5432, database db\.$/,
  });
  const server = await postgresServer();
  const wrong = new URL(server.address('postgres'));
  wrong.username = 'ann';
  wrong.password = 's3cret';
  await assert.rejects(openStore(wrong.href), (error) => {
    assert.ok(error instanceof PlatError);
    assert.equal(error.code, 'storeDenied');
    assert.ok(
      error.message.startsWith(`${shown(wrong.href)} cannot be used: the server refuses the user ann: `),
    );
    assert.ok(error.message.endsWith(` (${placeOf(wrong.href)}).`));
    assert.doesNotMatch(error.message, /s3cret/);
    return true;
  });
});
