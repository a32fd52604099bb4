/** A market that keeps changing in a store: weeks of it, with a restart, repeated with the same result, on a test clock. */
import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import {
  type Change,
  CUSTOM_FIELDS,
  CUSTOM_LOOKUPS,
  LiveMarket,
  makeMarket,
  makeRandom,
  marketRecords,
  runLive,
} from 'plat-demo';
import { marketStore, parseMarketRecord } from '../../../src/cli/market-store.ts';
import { openSqliteStore } from '../../../src/engines/sqlite/store.ts';
import { DEFAULT_SETTINGS } from '../../../src/records/settings.ts';
import type { Store } from '../../../src/store/store.ts';
import { DAY, testClock } from '../../support/clock.ts';
import { temporaryFile } from '../../support/temporary.ts';

const LISTINGS = 30;
const BATCH = 20;
const OPTIONS = { seed: 3, listings: LISTINGS } as const;
const market = makeMarket(OPTIONS);
const settings = {
  ...DEFAULT_SETTINGS,
  declarations: { customFields: CUSTOM_FIELDS, lookups: CUSTOM_LOOKUPS },
};

let filled: Promise<string> | undefined;

/** Created once, and copied for each test. */
async function makeFilled(): Promise<string> {
  const path = temporaryFile();
  const store = await openSqliteStore({ path, create: settings, clock: testClock('2026-06-01T11:00:00Z') });
  const model = await store.model();
  for (const [resource, list] of Map.groupBy(marketRecords(OPTIONS), (each) => each.resource))
    await store.write(
      resource,
      list.map((record) => parseMarketRecord(model, record)),
    );
  await store.close();
  return path;
}

async function filledStore(t: TestContext) {
  const path = temporaryFile();
  filled ??= makeFilled();
  copyFileSync(await filled, path);
  const clock = testClock();
  const store = await openSqliteStore({ path, clock });
  t.after(() => store.close());
  return { store, clock };
}

async function recordsOf(store: Store, resource: string): Promise<Record<string, unknown>[]> {
  const records: Record<string, unknown>[] = [];
  for await (const line of store.export(resource)) records.push(JSON.parse(line));
  return records;
}

const liveOn = async (store: Store, stream: number): Promise<LiveMarket> => {
  const live = new LiveMarket(market, marketStore(store), makeRandom(1, 'live', stream));
  await live.learn();
  return live;
};

describe('a live market', () => {
  it('keeps its size for weeks, has consistent histories, and resumes where it stopped', async (t) => {
    const { store, clock } = await filledStore(t);
    const made = new Map((await recordsOf(store, 'Property')).map((each) => [each.ListingKey, each]));
    const changes: Change[] = [];
    const sizes: number[] = [];
    const rounds = process.env.PLAT_FULL === '1' ? 200 : 10;
    let live = await liveOn(store, 0);
    for (let round = 0; round < rounds; round++) {
      clock.advance(DAY * 0.9);
      // Half way it is restarted, and knows only what the store contains.
      if (round === rounds / 2) live = await liveOn(store, 1);
      changes.push(...(await live.change(BATCH, clock.now())));
      sizes.push(live.open + live.over);
    }
    assert.equal(changes.length, rounds * BATCH);
    assert.ok(Math.min(...sizes) > 0.75 * LISTINGS && Math.max(...sizes) < 1.3 * LISTINGS, sizes.join());
    const kinds = new Set(changes.map(({ kind }) => kind));
    for (const kind of [
      ...(['price change', 'status move', 'photo added', 'photo removed', 'open house added'] as const),
      ...(['new listing', 'listing removed', 'agent phone changed', 'agent joined', 'agent left'] as const),
    ])
      assert.ok(kinds.has(kind), kind);

    const listings = await recordsOf(store, 'Property');
    const [open, over] = [live.open, live.over];
    assert.deepEqual([open + over, (await liveOn(store, 2)).open], [listings.length, open]);
    const members = await recordsOf(store, 'Member');
    assert.ok(members.length <= market.members + 6, `${members.length} agents`);
    const working = new Set(members.map(({ MemberKey }) => MemberKey));
    for (const { ListAgentKey, CoListAgentKey } of listings) {
      assert.ok(working.has(ListAgentKey), `agent ${ListAgentKey} is not there`);
      assert.ok(CoListAgentKey === undefined || working.has(CoListAgentKey));
    }
    const ids = listings.map(({ ListingId }) => ListingId);
    assert.equal(new Set(ids).size, ids.length, 'no listing number twice');
    assert.ok(listings.some(({ ListingKey }) => !made.has(ListingKey)));
    const today = new Date(clock.now()).toISOString().slice(0, 10);
    for (const { ListingKey, StandardStatus, OnMarketDate, PurchaseContractDate, CloseDate } of listings) {
      assert.equal(CloseDate !== undefined, StandardStatus === 'Closed', String(ListingKey));
      if (StandardStatus !== 'Closed') continue;
      const days = [OnMarketDate, PurchaseContractDate, CloseDate, today].map(String);
      assert.deepEqual(days, days.toSorted(), String(ListingKey));
    }
    const { resources } = await store.status();
    const rows = new Map(resources.map((each) => [each.resource, each]));
    assert.equal(rows.get('Media')?.orphans, 0);
    assert.ok((rows.get('Media')?.rows ?? 0) < listings.length * 22, 'the number of photos stays stable');
    assert.ok(
      (rows.get('OpenHouse')?.rows ?? 0) < listings.length * 5,
      'the number of open houses stays stable',
    );
  });

  it('is the same for the same store, stream and clock, and another for another stream', async (t) => {
    const contents: string[] = [];
    for (const stream of [7, 7, 8]) {
      const { store, clock } = await filledStore(t);
      const live = await liveOn(store, stream);
      const texts: string[] = [];
      for (let round = 0; round < 3; round++) {
        clock.advance(3_600_000);
        for (const { text } of await live.change(10, clock.now())) texts.push(text);
      }
      const stored = await Promise.all(
        ['Property', 'Media', 'OpenHouse', 'Member', 'Office'].map((resource) => recordsOf(store, resource)),
      );
      contents.push(JSON.stringify([texts, stored]));
    }
    assert.equal(contents[0], contents[1]);
    assert.notEqual(contents[0], contents[2]);
  });

  it('stores records as it read them: a record that is written back is unchanged', async (t) => {
    const { store } = await filledStore(t);
    const model = await store.model();
    const { read, children } = marketStore(store);
    for (const { ListingKey } of (await recordsOf(store, 'Property')).slice(0, 5)) {
      const key = String(ListingKey);
      const record = {
        ...(await read('Property', key)),
        Media: await children('Media', key),
        OpenHouses: await children('OpenHouse', key),
      };
      const report = await store.write('Property', [
        parseMarketRecord(model, { resource: 'Property', record }),
      ]);
      assert.deepEqual([report.unchanged, report.changed, report.children.stored], [1, 0, 0]);
    }
  });
});

describe('the pace of a live market', () => {
  /** A market that only counts, and fails when a test says so. */
  const counting = (fails: (call: number) => boolean = () => false) => {
    const calls: number[] = [];
    let learned = 0;
    return {
      calls,
      learned: () => learned,
      market: {
        learn: async () => void learned++,
        change: async (count: number): Promise<readonly Change[]> => {
          calls.push(count);
          if (fails(calls.length)) throw new Error('the disk is full');
          return [];
        },
      },
    };
  };

  async function run(perMinute: number, minutes: number, given = counting(), pause = 0) {
    const clock = testClock();
    const controller = new AbortController();
    const until = clock.now() + minutes * 60_000;
    const failures: string[] = [];
    await runLive({
      market: given.market,
      clock: {
        now: clock.now,
        sleep: async (milliseconds) => {
          clock.advance(milliseconds);
          if (pause > 0 && clock.now() > until - minutes * 30_000) {
            clock.advance(pause);
            pause = 0;
          }
          if (clock.now() > until + 1) controller.abort();
        },
      },
      perMinute,
      signal: controller.signal,
      onChanges: () => undefined,
      onFailure: (error) => failures.push(String(error)),
    });
    return { total: given.calls.reduce((sum, count) => sum + count, 0), failures, ...given };
  }

  it('makes the requested number of changes per minute, few or many', async () => {
    for (const [rate, minutes] of [
      [1, 5],
      [7, 3],
      [30, 2],
      [61, 2],
      [6000, 1],
    ] as const) {
      const { total, calls } = await run(rate, minutes);
      assert.ok(Math.abs(total - rate * minutes) <= 1, `${total} changes at ${rate} a minute`);
      assert.ok(Math.max(...calls) <= Math.max(1, Math.ceil(rate / 60) + 1));
    }
  });

  it('does not catch up on the time that the machine was suspended', async () => {
    const { total } = await run(60, 20, counting(), 8 * 3_600_000);
    assert.ok(total >= 590 && total <= 615, String(total));
  });

  it('continues after a change that could not be stored, from what the store then contains', async () => {
    const given = counting((call) => call === 3);
    const { failures, calls } = await run(60, 1, given);
    assert.deepEqual(failures, ['Error: the disk is full']);
    assert.ok(calls.length > 20);
    assert.equal(given.learned(), 2);
  });
});
