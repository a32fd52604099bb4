/** A store of a role whose only right on the server is a schema, as with many hosting providers. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { PlatError } from '../../../src/errors/index.ts';
import { openStore } from '../../../src/open-store.ts';
import { listing } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import { bareDatabase } from '../../support/postgres-engine.ts';
import { placeOf, postgresServer, runOn, shown } from '../../support/postgres-server.ts';
import { operations } from '../../support/world.ts';

let roles = 0;

/** A schema that belongs to a role without further rights: its address for that role, and for the operator of the server. */
async function ownSchema(t: TestContext, ...withheld: readonly string[]) {
  const { address, drop } = await bareDatabase();
  const role = `owner_${process.pid}_${++roles}`;
  await runOn(address, `CREATE ROLE ${role} LOGIN`, `CREATE SCHEMA plat AUTHORIZATION ${role}`);
  for (const each of withheld) await runOn(address, `REVOKE EXECUTE ON FUNCTION ${each} FROM PUBLIC`);
  t.after(async () => {
    await drop();
    await runOn((await postgresServer()).address('postgres'), `DROP ROLE ${role}`);
  });
  const own = new URL(address);
  own.username = role;
  return { address: own.href, root: address };
}

const WAL = ['pg_current_wal_lsn()', 'pg_walfile_name(pg_lsn)'];

async function opened(t: TestContext, address: string) {
  const store = await openStore(address, { create: 'authority' });
  t.after(() => store.close());
  const last = async (): Promise<number> => (await store.status()).changes.last;
  return { ...operations(store, testClock()), last };
}

/** The numbers by which the sequence continues after another server took over. */
const FAR = 1_000_000_000;

for (const { who, withheld, sign } of [
  { who: 'a role with a schema', withheld: [], sign: 'timeline' },
  { who: 'a role that may not ask for the timeline', withheld: WAL, sign: 'server_start' },
]) {
  test(`${who} writes, and detects that another server took over`, async (t) => {
    const { address, root } = await ownSchema(t, ...withheld);
    const { write, keys, last } = await opened(t, address);
    const operator = await opened(t, root);
    await write('Property', listing('A'));
    // Each server has an identifier of its own, or both have the same: neither counts as another server.
    await operator.write('Property', listing('B'));
    await write('Property', listing('C'));
    await operator.write('Property', listing('D'));
    assert.ok((await last()) < FAR);
    await runOn(root, `UPDATE plat_meta SET value = '0' WHERE name = '${sign}'`);
    await write('Property', listing('E'));
    assert.ok((await last()) > FAR);
    await write('Property', listing('F'));
    assert.ok((await last()) < 2 * FAR);
    assert.deepEqual(await keys('Property'), ['A', 'B', 'C', 'D', 'E', 'F']);
  });
}

test('a role that may not query the state of the server can write as well', async (t) => {
  const { address } = await ownSchema(t, ...WAL, 'pg_postmaster_start_time()');
  const { write, keys, last } = await opened(t, address);
  await write('Property', listing('A'));
  await write('Property', listing('B'));
  assert.deepEqual(await keys('Property'), ['A', 'B']);
  assert.ok((await last()) < FAR);
});

test('a store in use whose user the server begins to refuse reports that as an opening does', async (t) => {
  const { address, root } = await ownSchema(t);
  const { keys } = await opened(t, address);
  assert.deepEqual(await keys('Property'), []);
  const { username } = new URL(address);
  await runOn(
    root,
    `ALTER ROLE ${username} NOLOGIN`,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${username}'`,
  );
  // A connection may not have noticed yet that it was ended.
  const isAway = (error: unknown): boolean => error instanceof PlatError && error.code === 'storeUnavailable';
  const failure = async (): Promise<unknown> => {
    const error = await keys('Property').catch((reason: unknown) => reason);
    return isAway(error) ? await failure() : error;
  };
  const error = await failure();
  assert.ok(error instanceof PlatError, String(error));
  assert.equal(error.code, 'storeDenied');
  assert.equal(
    error.message,
    `${shown(address)} cannot be used: the server refuses the user ${username}: role "${username}" is not permitted to log in (${placeOf(address)}).`,
  );
});
