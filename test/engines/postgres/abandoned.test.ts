/** Clients that disconnect while the server runs a statement for them: it is canceled, and no other statement is. */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { Client } from 'pg';
import { pino } from 'pino';
import { openStore } from '../../../src/open-store.ts';
import { DEFAULT_SETTINGS } from '../../../src/records/settings.ts';
import { listing } from '../../support/builders.ts';
import type { Engine } from '../../support/engine.ts';
import { emptyDatabase, postgresEngine } from '../../support/postgres-engine.ts';
import { encoded, startTestService } from '../../support/service.ts';
import type { World } from '../../support/world.ts';

const { address, drop } = await emptyDatabase(DEFAULT_SETTINGS);
const [locker, observer] = [
  new Client({ connectionString: address }),
  new Client({ connectionString: address }),
];
await Promise.all([locker.connect(), observer.connect()]);

const engine: Engine = {
  ...postgresEngine(),
  open: async (scope) => {
    const store = await openStore(address);
    scope.after(async () => {
      await store.close();
      await Promise.all([locker.end(), observer.end()]);
      await drop();
    });
    return {
      store,
      again: () => openStore(address),
      hold: () => assert.fail('nobody writes meanwhile'),
      copy: () => assert.fail('nothing is copied'),
      parts: () => assert.fail('nothing is copied'),
      damage: () => assert.fail('nothing is damaged'),
    };
  },
};

const logged: string[] = [];
const log = pino({ level: 'warn' }, { write: (line) => void logged.push(line) });
/** A statement that is not canceled ends at its time limit, which is logged. */
const service = { log, querySeconds: 20 };
const fill = async ({ write }: World): Promise<void> => {
  await write(
    'Property',
    ...Array.from({ length: 5 }, (_, index) => listing(`L${index}`, { ListPrice: index })),
  );
};
const { addresses, get, key } = await startTestService({ after }, { engine, fill, service });
const token = await key('replication');

/** Makes every read of listings wait. */
const lock = () =>
  locker.query(
    'BEGIN; LOCK TABLE plat.property, plat.property_texts, plat.property_search IN ACCESS EXCLUSIVE MODE',
  );
const unlock = () => locker.query('ROLLBACK');

const WAITING = `SELECT count(*)::integer AS waiting FROM pg_stat_activity WHERE datname = current_database()
  AND application_name = 'plat' AND state = 'active' AND wait_event_type = 'Lock'`;
async function untilWaiting(expected: number): Promise<void> {
  for (;;) {
    const { rows } = await observer.query<{ waiting: number }>(WAITING);
    if (rows[0]?.waiting === expected) return;
  }
}

/** Sends a request and reads nothing. */
function send(path: string): Socket {
  const { hostname, port } = new URL(addresses.replication);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(`GET ${encoded(path)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  return socket;
}

const ways: readonly [string, (socket: Socket) => void][] = [
  ['closes its connection', (socket) => void socket.end()],
  ['resets its connection', (socket) => void socket.resetAndDestroy()],
];
/** Single records, pages in a transaction of several statements, and searches, over both interfaces. */
const paths = [
  "/Reso/OData/Property('L1')",
  '/Reso/OData/Property?$top=2&$select=ListingKey',
  '/Reso/OData/Property?$top=2',
  '/Reso/OData/Property?$filter=ListPrice gt 2',
  '/Reso/OData/Property?$filter=ListPrice gt 1&$orderby=ListPrice desc&$count=true',
  '/v1/listings/L1',
  '/v1/listings?_limit=2',
  '/v1/listings?_filter=ListPrice Gt 2.0',
];

for (const [how, leave] of ways) {
  test(`a client that ${how} during a statement: it is canceled, and the next request is answered`, async () => {
    for (const path of paths) {
      await lock();
      const socket = send(path);
      await untilWaiting(1);
      leave(socket);
      await untilWaiting(0);
      await unlock();
      assert.equal((await get('replication', path, { token })).status, 200, path);
      assert.deepEqual(logged, [], path);
    }
  });
}

test('a client that waits keeps its statement while others are canceled', async () => {
  await lock();
  const kept = get('replication', "/Reso/OData/Property('L4')", { token });
  await untilWaiting(1);
  const left = Array.from({ length: 2 }, (_, index) => send(`/Reso/OData/Property('L${index + 2}')`));
  await untilWaiting(3);
  for (const socket of left) socket.destroy();
  await untilWaiting(1);
  await unlock();
  assert.equal((await kept).status, 200);
});

test('a page of events that streams share is read to its end, although the client of the first has gone', async () => {
  const followed = async (socket: Socket): Promise<void> => {
    let text = '';
    for await (const chunk of socket) {
      text += String(chunk);
      if (text.includes('"L4"')) return;
    }
    assert.fail(`the stream ended with ${text}`);
  };
  // The service has noticed the commits afterwards, so that both streams request the same page.
  await followed(send('/events?since=start'));
  await lock();
  const path = '/events?since=start&records=true';
  const first = send(path);
  await untilWaiting(1);
  const second = send(path);
  // The second stream has requested its page long before these are answered.
  for (let asked = 0; asked < 20; asked++) await get('replication', '/v1/nothing', { token });
  first.destroy();
  // The clients of all reads are checked at the same time.
  const other = send("/Reso/OData/Property('L3')");
  await untilWaiting(2);
  other.destroy();
  await untilWaiting(1);
  await unlock();
  await followed(second);
  assert.deepEqual(logged, []);
});

test('requests after clients have disconnected are never canceled, even if a statement ends at the same moment', async () => {
  let price = 100;
  const search = () => `/Reso/OData/Property?$filter=ListPrice lt ${price++}`;
  for (let round = 0; round < 40; round++) {
    await lock();
    const socket = send(search());
    await untilWaiting(1);
    socket.destroy();
    // The lock is released before, at, and after the moment at which the statement is canceled.
    for (let asked = 0; asked < round * 8; asked++) await observer.query('SELECT 1');
    await unlock();
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => get('replication', search(), { token })),
    );
    for (const { status, json } of answers)
      assert.deepEqual([status, json.value], [200, answers[0]?.json.value]);
  }
  assert.deepEqual(logged, []);
});
