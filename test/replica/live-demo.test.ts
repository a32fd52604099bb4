/** A replica that follows the live demonstration by windows and purges for weeks of changes and ends equal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Change,
  CUSTOM_FIELDS,
  CUSTOM_LOOKUPS,
  LiveMarket,
  makeMarket,
  makeRandom,
  marketRecords,
} from 'plat-demo';
import { marketStore } from '../../src/cli/market-store.ts';
import { DAY } from '../support/clock.ts';
import { platFeed } from './support/plat-source.ts';

const full = process.env.PLAT_FULL === '1';
const OPTIONS = full ? { seed: 5, listings: 300 } : { seed: 5, listings: 12 };
const [ROUNDS, CHANGES] = full ? [40, 150] : [1, 24];

for (const kind of full ? (['reso', 'native'] as const) : (['reso'] as const)) {
  test(`${kind}: a replica of the live demonstration ends equal to its source`, async (t) => {
    const feed = await platFeed(t, {
      settings: { declarations: { customFields: CUSTOM_FIELDS, lookups: CUSTOM_LOOKUPS } },
    });
    for (const [resource, list] of Map.groupBy(marketRecords(OPTIONS), (each) => each.resource))
      await feed.write(resource, ...list.map(({ record }) => ({ ...record })));
    const replica = await feed.replica(t, kind);
    await replica.replicate();
    const live = new LiveMarket(makeMarket(OPTIONS), marketStore(feed.store), makeRandom(1, 'live'));
    await live.learn();
    const changes: Change[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      feed.clock.advance(DAY * 0.7);
      changes.push(...(await live.change(CHANGES, feed.clock.now())));
      feed.clock.advance(60_000);
      assert.equal(await replica.replicate({ step: 'update' }), 'done');
      assert.equal(await replica.replicate({ step: 'purge', purgeShare: 1 }), 'done');
    }
    const kinds = new Set(changes.map(({ kind: what }) => what));
    for (const what of ['status move', 'new listing', 'listing removed'] as const)
      assert.ok(kinds.has(what), what);
    const verified = await replica.verify();
    assert.deepEqual(
      verified.flatMap(({ differences }) => differences),
      [],
    );
    assert.ok(verified.some(({ atSource }) => atSource >= OPTIONS.listings * 0.7));
    assert.deepEqual(await replica.quarantine(), []);
    assert.deepEqual(await replica.keys('Property'), await feed.keys('Property'));
  });
}
