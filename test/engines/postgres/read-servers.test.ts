/** Read stores: a real primary server and a streaming standby that may lag, stop, or contain another store. */
import assert from 'node:assert/strict';
import { connect, createServer, type Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { parsePostgresAddress } from '../../../src/engines/postgres/connection/address.ts';
import { ReadServers } from '../../../src/engines/postgres/standbys/read-servers.ts';
import { type ErrorCode, PlatError } from '../../../src/errors/index.ts';
import { openStore } from '../../../src/open-store.ts';
import { ChangePosition } from '../../../src/store/state/live-model.ts';
import type { Store } from '../../../src/store/store.ts';
import { listing } from '../../support/builders.ts';
import { runOn, startServer } from '../../support/postgres-server.ts';
import { operations, TIME } from '../../support/world.ts';

const primary = await startServer();
// A change is streamed when it is committed, not some time later.
const flushed = 'ALTER DATABASE market SET synchronous_commit = on';
await runOn(primary.address('postgres'), 'CREATE DATABASE market', 'CREATE DATABASE other', flushed);
const writer = await openStore(primary.address('market'), { create: 'authority' });
await (await openStore(primary.address('other'), { create: 'authority' })).close();
const standby = await primary.standby();
const address = standby.address('market');

/** A store that reads from the standby, and waits up to that many milliseconds for it. */
async function reader(lag: number): Promise<Store> {
  const store = await openStore(primary.address('market'), { readStores: { addresses: [address], lag } });
  after(() => store.close());
  return store;
}

const store = await reader(100);
after(() => writer.close());

const clock = { text: () => new Date().toISOString() };
const { write } = operations(writer, clock);
const { keys, request } = operations(store, clock);

/** The only server that is read from. */
function reading(of: Store = store): { readonly used: boolean; readonly reads: number } {
  const [state] = of.readStores?.() ?? [];
  assert.ok(state !== undefined);
  return { used: state.used, reads: state.reads };
}

/** Reads until the standby is used again. */
async function untilUsed(): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!reading().used) {
    assert.ok(Date.now() < deadline, 'the standby is read from again');
    await keys('Property');
    await setTimeout(20);
  }
}

const pause = () => runOn(address, 'SELECT pg_wal_replay_pause()');
const resume = () => runOn(address, 'SELECT pg_wal_replay_resume()');

describe('a standby', () => {
  it('responds in place of the primary, and returns each change at once', async () => {
    const patient = await reader(20_000);
    const before = reading(patient).reads;
    for (let round = 1; round <= 30; round++) {
      await write('Property', listing('changing', { ListPrice: round }));
      const found = await operations(patient, clock).keys('Property', `$filter=ListPrice eq ${round}`);
      assert.deepEqual(found, ['changing'], `round ${round}`);
    }
    assert.deepEqual(reading(patient), { used: true, reads: before + 30 });
  });

  it('is not used while it lags, and used again when it has caught up', async () => {
    await untilUsed();
    const { reads } = reading();
    await pause();
    assert.deepEqual(await keys('Property', "$filter=ListingKey eq 'late'"), []);
    assert.equal(reading().reads, reads + 1, 'a standby that has everything does not lag');
    await write('Property', listing('late'));
    assert.deepEqual(await keys('Property', "$filter=ListingKey eq 'late'"), ['late']);
    assert.deepEqual(reading(), { used: false, reads: reads + 1 });
    assert.deepEqual(await keys('Property', "$filter=ListingKey eq 'late'"), ['late']);
    assert.deepEqual(reading(), { used: false, reads: reads + 1 });
    await resume();
    await untilUsed();
    assert.deepEqual(await keys('Property', "$filter=ListingKey eq 'late'"), ['late']);
    assert.equal(reading().used, true);
    assert.ok(reading().reads > reads + 1);
  });

  it('returns everything that was committed before a window was settled (I2)', async () => {
    await untilUsed();
    const asked = await request('Property', "$filter=ListingKey eq 'settled'", { limit: 10 });
    await pause();
    await write('Property', listing('settled'));
    const { settled } = await store.horizon();
    const [state] = (await writer.status()).resources.filter(({ resource }) => resource === 'Property');
    assert.ok(settled >= Date.parse(state?.lastModification ?? ''));
    assert.equal((await store.page(asked, TIME)).rows, 1);
    await resume();
  });

  it('returns each record at least as new as its reported change', async () => {
    await untilUsed();
    const asked = await request('Property', "$filter=ListingKey eq 'new'", { limit: 10 });
    const { position } = await store.feed({ since: 'end', limit: 1 });
    await pause();
    await write('Property', listing('new'));
    const changes = await store.feed({ since: position, limit: 10 });
    assert.deepEqual(changes.kind === 'changes' && changes.changes.map(({ key }) => key), ['new']);
    assert.equal((await store.page(asked, TIME)).rows, 1);
    await resume();
  });

  it('is not used while it does not know new settings', async () => {
    await untilUsed();
    await pause();
    await writer.configure((settings) => ({
      ...settings,
      declarations: {
        ...settings.declarations,
        customFields: [
          { resource: 'Property', name: 'Lake_Dues', group: 'Lake', label: 'Dues', type: 'decimal(10,2)' },
        ],
      },
    }));
    await write('Property', listing('at-the-lake', { Lake_Dues: 12.5 }));
    assert.deepEqual(await keys('Property', '$filter=Lake_Dues gt 12'), ['at-the-lake']);
    assert.equal(reading().used, false);
    await resume();
    await untilUsed();
    assert.deepEqual(await keys('Property', '$filter=Lake_Dues gt 12'), ['at-the-lake']);
    assert.equal(reading().used, true);
  });

  it('may stop during many reads, and is used again after it returns', async () => {
    await untilUsed();
    const all = await operations(writer, clock).keys('Property');
    const readings = Array.from({ length: 60 }, () => keys('Property'));
    await readings[0];
    await standby.stop('crash');
    for (const found of await Promise.all(readings)) assert.deepEqual(found, all);
    assert.deepEqual(await keys('Property'), all);
    assert.equal(reading().used, false);
    await standby.start();
    await untilUsed();
    assert.deepEqual(await keys('Property'), all);
    assert.equal(reading().used, true);
  });

  it('is not used once it stops responding during a read: the primary responds instead', async (t) => {
    const path = `${new URL(address).searchParams.get('host')}/.s.PGSQL.5432`;
    const links: Socket[] = [];
    let silent = false;
    const relay = createServer((near) => {
      const far = connect(path);
      links.push(near, far);
      if (silent) return;
      for (const [from, to] of [[near, far] as const, [far, near] as const]) {
        from.on('error', () => to.destroy()).pipe(to);
      }
    });
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
    const bound = relay.address();
    assert.ok(bound !== null && typeof bound === 'object');
    const behind = `postgres://plat@127.0.0.1:${bound.port}/market`;
    const silenced = await openStore(primary.address('market'), {
      readStores: { addresses: [behind], lag: 100 },
    });
    t.after(async () => {
      for (const link of links) link.destroy();
      relay.close();
      await silenced.close();
    });
    const asked = await operations(silenced, clock).request('Property', '', { limit: 3 });
    assert.equal((await silenced.page(asked, { milliseconds: 500 })).rows, 3);
    assert.deepEqual(reading(silenced), { used: true, reads: 1 });
    silent = true;
    for (const link of links) link.unpipe();
    assert.equal((await silenced.page(asked, { milliseconds: 500 })).rows, 3);
    assert.deepEqual(reading(silenced), { used: false, reads: 1 });
  });

  it('cannot be written to: a service on it is not ready, and requests get a retryable error', async () => {
    const alone = await openStore(address);
    after(() => alone.close());
    const away = { code: 'storeUnavailable' satisfies ErrorCode };
    await assert.rejects(alone.horizon(), away);
    await assert.rejects(operations(alone, clock).write('Property', listing('nowhere')), away);
  });

  it('that is unreachable when the store is opened is tried later; one of another store is rejected', async () => {
    const nowhere = `${primary.address('market')}/nowhere`;
    const opened = await openStore(primary.address('market'), {
      readStores: { addresses: [nowhere], lag: 100 },
    });
    assert.equal(reading(opened).used, false);
    assert.deepEqual(
      await operations(opened, clock).keys('Property'),
      await operations(writer, clock).keys('Property'),
    );
    await opened.close();
    const other = openStore(primary.address('market'), {
      readStores: { addresses: [primary.address('other')], lag: 100 },
    });
    await assert.rejects(other, (error) => {
      assert.ok(error instanceof PlatError);
      assert.equal(error.code, 'usage');
      const [name] = primary.address('other').split('?');
      assert.equal(error.message, `readStores names ${name}, which is not a copy of this store.`);
      return true;
    });
  });
});

describe('servers behind one address', () => {
  it("are used according to each snapshot's own state, not according to an earlier one", async () => {
    const { secret } = store;
    const servers = new ReadServers([parsePostgresAddress(address)], 100, secret);
    await servers.open();
    let asked = 0;
    const read = (changes: number, generation: number) =>
      servers.read('pages', { changes: 1, generation: 5 }, async () => {
        asked++;
        return { seen: { state: { changes, generation }, follows: true }, result: 'rows' };
      });
    assert.equal(await read(0, 5), undefined, 'older records');
    assert.equal(await read(1, 4), undefined, 'older settings');
    const seen = { state: { changes: 1, generation: 6 }, follows: true };
    assert.deepEqual(await read(1, 6), { seen, result: 'rows' });
    assert.equal(asked, 3);
    assert.deepEqual(servers.state(), [{ name: parsePostgresAddress(address).name, used: true, reads: 1 }]);
    await servers.end();
  });
});

describe('the position', () => {
  it('never goes back because of responses that arrive out of order', () => {
    const position = new ChangePosition();
    position.observe(7, 10, 20);
    position.observe(5, 11, 21);
    assert.equal(position.changes, 7);
    position.observe(8, 12, 22);
    assert.equal(position.changes, 8);
  });

  it('goes back when a later response knows fewer changes', () => {
    const position = new ChangePosition();
    position.observe(7, 10, 20);
    position.observe(5, 21, 30);
    assert.equal(position.changes, 5);
  });
});

it('a standby that is promoted is no longer used for reads, has all records, and begins new request windows', async () => {
  const before = await operations(writer, clock).keys('Property');
  const options = {
    key: 'a key',
    limit: { requests: 80, seconds: 300 },
    left: { window: 0, requests: 0 },
  };
  assert.equal((await writer.shared?.lendRequests(options))?.remaining, 70);
  assert.equal((await writer.shared?.lendRequests(options))?.remaining, 62);
  await untilUsed();
  const { reads } = reading();
  await runOn(address, 'SELECT pg_promote()');
  const promoted = await openStore(address);
  after(() => promoted.close());
  const { keys: found, write: writes } = operations(promoted, clock);
  assert.deepEqual(await found('Property'), before);
  assert.equal(
    (await promoted.shared?.lendRequests(options))?.remaining,
    70,
    'the promoted server begins a new window',
  );
  const last = (await promoted.status()).lastStamp;
  const { stamp } = await writes('Property', listing('taken-over'));
  assert.ok(Date.parse(stamp) > Date.parse(last), 'timestamps continue');
  assert.deepEqual(await found('Property'), [...before, 'taken-over'].toSorted());
  // It has as many changes as the primary, or more, but they are its own.
  assert.deepEqual(await keys('Property'), before);
  assert.deepEqual(await keys('Property'), before);
  assert.deepEqual(reading(), { used: false, reads });
  await primary.stop('crash');
  assert.deepEqual(await found('Property'), [...before, 'taken-over'].toSorted());
});
