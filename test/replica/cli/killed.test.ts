/** Processes that are killed at any moment: what the next one makes of it is equal to the source. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeRandom } from '../../../src/demo/random.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { type Place, place } from '../../cli/run.ts';
import { listing } from '../../support/builders.ts';
import { from, type Market, makeMarketFile, openDoor, serve } from '../support/real-feed.ts';

/** Kills of the replicator, and of the service: 30 and 10 in all, a tenth of that in `npm test`. */
const isFull = process.env.PLAT_FULL === '1';
const KILLS = {
  reso: isFull ? { replicators: 15, services: 5 } : { replicators: 2, services: 1 },
  native: isFull ? { replicators: 15, services: 5 } : { replicators: 1, services: 0 },
} as const;
const LISTINGS = 120;
/** Requests of a whole run with pages of this size. */
const PAGE = 12;
const REQUESTS = 30;

/** Some change at the source: a price, a new listing, one that goes. */
async function changeSource({ store, write, keys }: Market, random: () => number): Promise<void> {
  const all = await keys();
  const any = (): string => all[Math.floor(random() * all.length)] ?? '';
  await write('Property', listing(any(), { ListPrice: Math.floor(random() * 1e6) }));
  await write('Property', listing(`9${Math.floor(random() * 1e9)}`));
  await store.remove('Property', [any()]);
}

/** The lease of a dead process ends by itself; a test has no minute to wait. */
async function endLease(at: Place): Promise<void> {
  const store = await openSqliteStore({ path: at.path('replica.db') }).catch(() => undefined);
  if (store === undefined) return; // killed before it made a store
  const holder = await store.ledger.leaseHolder('feed');
  if (holder !== undefined) await store.ledger.releaseLease('feed', holder.holder);
  await store.close();
}

for (const kind of ['reso', 'native'] as const) {
  test(`${kind}: SIGKILL of the replicator and of the service at random moments; plat verify finds nothing`, async (t) => {
    const { replicators, services } = KILLS[kind];
    const chance = makeRandom(kind === 'reso' ? 1 : 2, 'kills').unit;
    const at = place(t);
    const market = await makeMarketFile(t, at, LISTINGS);
    const door = await openDoor(t);
    let service = await serve(at, 'market.db');
    door.target = service.addresses.replication ?? '';
    const options = [...from(door.origin, kind, market.token), '--page-size', String(PAGE)];
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
          service = await serve(at, 'market.db');
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
      await endLease(at);
      await changeSource(market, chance);
    }

    await at.done(run);
    const verified = await at.run(['verify', ...options, '--json']);
    assert.equal(verified.code, 0, verified.out);
    const { equal, resources } = JSON.parse(verified.out);
    assert.equal(equal, true);
    const counts = resources.map(({ resource, atSource, stored }: Record<string, unknown>) => [
      resource,
      atSource,
      stored,
    ]);
    const keys = (await at.exported('replica.db', 'Property')).map(({ ListingKey }) => String(ListingKey));
    assert.deepEqual(keys.toSorted(), await market.keys());
    assert.deepEqual(counts[0], ['Property', keys.length, keys.length]);
  });
}
