/** Processes that are killed at any time, and a database that restarts: the copy ends equal to its source. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { makeRandom } from 'plat-demo';
import { PlatError } from '../../../src/errors/index.ts';
import { type Place, place } from '../../cli/run.ts';
import { listing } from '../../support/builders.ts';
import { bareDatabase } from '../../support/postgres-engine.ts';
import { ownServer, runOn } from '../../support/postgres-server.ts';
import { from, type Market, makeMarket, openDoor, serve } from '../support/real-feed.ts';

/**
 * The numbers of kills: 30 of the replicator and 10 of the service in all on each engine. `npm test` has about a tenth of them: it
 * kills the service on SQLite, which then has to recover from its log, and restarts the PostgreSQL server below.
 */
const isFull = process.env.PLAT_FULL === '1';
const ALL = { replicators: 15, services: 5 } as const;
const KILLS = {
  sqlite: { reso: undefined, native: { replicators: 1, services: 1 } },
  postgres: { reso: { replicators: 1, services: 0 }, native: undefined },
} as const;
const RESTARTS = isFull ? 10 : 1;
const LISTINGS = isFull ? 120 : 60;
/** Requests of a complete run with pages of this size. */
const PAGE = 12;
const REQUESTS = isFull ? 30 : 15;

/** A server of its own, which this file restarts. */
const server = await ownServer();

/** Addresses of the source's store and of its replica. */
interface Stores {
  readonly market: string;
  readonly replica: string;
}

const ENGINES = {
  sqlite: async (_: TestContext, at: Place): Promise<Stores> => ({
    market: at.path('market.db'),
    replica: at.path('replica.db'),
  }),
  postgres: async (t: TestContext): Promise<Stores> => {
    const [market, replica] = [await bareDatabase(), await bareDatabase()];
    t.after(() => Promise.all([market.drop(), replica.drop()]));
    return { market: market.address, replica: replica.address };
  },
} as const;

/** Changes the source: a new price, a new listing, a deleted one. */
async function changeSource({ store, write, keys }: Market, random: () => number): Promise<void> {
  const all = await keys();
  const any = (): string => all[Math.floor(random() * all.length)] ?? '';
  await write('Property', listing(any(), { ListPrice: Math.floor(random() * 1e6) }));
  await write('Property', listing(`9${Math.floor(random() * 1e9)}`));
  await store.remove('Property', [any()]);
}

async function assertEqual(
  at: Place,
  options: readonly string[],
  replica: string,
  market: Market,
): Promise<void> {
  const verified = await at.run(['verify', ...options, '--json']);
  assert.equal(verified.code, 0, verified.out);
  const { equal, resources } = JSON.parse(verified.out);
  assert.equal(equal, true);
  const counts = resources.map(({ resource, atSource, stored }: Record<string, unknown>) => [
    resource,
    atSource,
    stored,
  ]);
  const keys = (await at.exported(replica, 'Property')).map(({ ListingKey }) => String(ListingKey));
  assert.deepEqual(keys.toSorted(), await market.keys());
  assert.deepEqual(counts[0], ['Property', keys.length, keys.length]);
}

for (const engine of ['sqlite', 'postgres'] as const) {
  for (const kind of ['reso', 'native'] as const) {
    const kills = isFull ? ALL : KILLS[engine][kind];
    if (kills === undefined) continue;
    const { replicators, services } = kills;
    test(`${kind} on ${engine}: after SIGKILL of the replicator and of the service at random times, plat verify finds no difference`, async (t) => {
      const chance = makeRandom(kind === 'reso' ? 1 : 2, `kills ${engine}`).unit;
      const at = place(t);
      const stores = await ENGINES[engine](t, at);
      const market = await makeMarket(t, stores.market, LISTINGS);
      const door = await openDoor(t);
      let service = await serve(at, stores.market);
      door.target = service.addresses.replication ?? '';
      const options = [...from(door.origin, kind, market.token, stores.replica), '--page-size', String(PAGE)];
      const run = ['replicate', ...options, '--purge-every', '1s', '--force'];

      let replicatorKills = 0;
      let serviceKills = 0;
      while (replicatorKills + serviceKills < replicators + services) {
        const killsService = serviceKills < services && replicatorKills >= replicators / 2;
        const moment = 1 + Math.floor(chance() * REQUESTS);
        const part = chance();
        const child = at.start(run);
        let first = 0;
        let isDone = false;
        const strike = (): void => {
          isDone = true;
          if (!killsService) {
            child.child.kill('SIGKILL');
            return;
          }
          service.process.child.kill('SIGKILL');
        };
        const isMoment = (count: number): boolean => !isDone && count - first + 1 === moment;
        door.before = (count) => {
          first ||= count;
          if (isMoment(count) && part < 0.3) strike();
          return 'pass';
        };
        door.during = (count, what) => {
          if (isMoment(count) && what === (part < 0.6 ? 'begun' : 'whole')) strike();
        };
        if (killsService) {
          void service.process.ended.then(async () => {
            service = await serve(at, stores.market);
            door.target = service.addresses.replication ?? '';
          });
        }
        const { code, err } = await child.ended;
        door.before = () => 'pass';
        door.during = () => undefined;
        if (isDone && killsService) {
          serviceKills++;
          assert.equal(code, 0, `the run outlives the service: ${err}`);
        } else if (isDone) replicatorKills++;
        else assert.equal(code, 0, err);
        await changeSource(market, chance);
      }

      await at.done(run);
      await assertEqual(at, options, stores.replica, market);
    });
  }
}

/** Repeats a command while the store is unavailable. */
async function retriedWhileUnavailable<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof PlatError) || error.code !== 'storeUnavailable') throw error;
    }
  }
}

/** Changes of the source have reached the copy: by a window, or as the source reported them. */
const ARRIVAL =
  /"resource":"Property","step":"update","state":"done"|"kind":"changes","resource":"Property"/g;

test('the database restarts at random times under a service and a watch: both continue, and plat verify finds no difference', async (t) => {
  const chance = makeRandom(3, 'restarts').unit;
  const at = place(t);
  const stores = await ENGINES.postgres(t);
  // Commits must survive this restart; other tests turn durability off, since their stores are thrown away with the server.
  for (const { pathname } of [stores.market, stores.replica].map((address) => new URL(address)))
    await runOn(
      server.address('postgres'),
      `ALTER DATABASE ${pathname.slice(1)} SET synchronous_commit = on`,
    );
  const market = await makeMarket(t, stores.market, LISTINGS);
  const door = await openDoor(t);
  const service = await serve(at, stores.market);
  door.target = service.addresses.replication ?? '';
  const options = [...from(door.origin, 'reso', market.token, stores.replica), '--page-size', String(PAGE)];
  const often = [
    '--update-every',
    '1s',
    '--purge-every',
    '1s',
    '--accounts-every',
    '1s',
    '--admin-port',
    '0',
  ];
  const watching = at.start(['replicate', ...options, '--force', '--watch', ...often]);
  const noticed = { failures: 0, arrivals: 0 };
  let look = (): void => undefined;
  watching.child.stderr?.on('data', (part: string) => {
    noticed.failures += [...part.matchAll(/"kind":"(?:retry|failed)"/g)].length;
    noticed.arrivals += [...part.matchAll(ARRIVAL)].length;
    look();
  });
  const moreThan = (arrivals: number): Promise<void> =>
    new Promise((resolve, reject) => {
      look = () => (noticed.arrivals > arrivals ? resolve() : undefined);
      look();
      void watching.ended.then(({ err }) => reject(new Error(err)));
    });
  for (let restarts = 0; restarts < RESTARTS; restarts++) {
    const moment = 1 + Math.floor(chance() * REQUESTS);
    const part = chance() < 0.5 ? 'begun' : 'whole';
    let first = 0;
    await new Promise<void>((resolve) => {
      door.during = (count, what) => {
        first ||= count;
        if (count - first + 1 >= moment && what === part) resolve();
      };
    });
    door.during = () => undefined;
    await server.stop('crash');
    await server.start();
    // The change may arrive before its write has returned, and then nothing else follows it.
    const { arrivals } = noticed;
    await retriedWhileUnavailable(() => changeSource(market, chance));
    await moreThan(arrivals);
  }
  assert.ok(noticed.failures > 0, 'the restarts were noticed');
  watching.child.kill('SIGTERM');
  const { code, err } = await watching.ended;
  assert.equal(code, 0, err);
  await at.done(['replicate', ...options, '--force', '--purge-every', '1s']);
  await assertEqual(at, options, stores.replica, market);
});
