/** A store that is copied to the other engine and back is the same store. */
import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { suite, type TestContext, test } from 'node:test';
import { CUSTOM_FIELDS, CUSTOM_LOOKUPS, marketRecords } from 'plat-demo';
import type { ErrorCode, PlatError } from '../../src/errors/index.ts';
import { type OpenStoreOptions, openStore, openTables } from '../../src/open-store.ts';
import { DEFAULT_SETTINGS } from '../../src/records/settings.ts';
import { SEQUENCE_START } from '../../src/store/changes/change-feed.ts';
import { copyStore, type RawTables, type ReadRows } from '../../src/store/copy/copy-store.ts';
import { NO_USE } from '../../src/store/keys/key-store.ts';
import type { PartitionField } from '../../src/store/store.ts';
import { NO_FAILURE } from '../../src/webhooks/worker.ts';
import { listing } from '../support/builders.ts';
import { testClock } from '../support/clock.ts';
import { bareDatabase, copyOfDatabase } from '../support/postgres-engine.ts';
import { runOn } from '../support/postgres-server.ts';
import { temporaryFile } from '../support/temporary.ts';
import { operations } from '../support/world.ts';

const settings = {
  ...DEFAULT_SETTINGS,
  declarations: { customFields: CUSTOM_FIELDS, lookups: CUSTOM_LOOKUPS },
};
const RESOURCES = ['OUID', 'Office', 'Member', 'Property', 'OpenHouse', 'PropertyRooms', 'Media', 'Lookup'];
const KEY = {
  id: 'k',
  name: 'n',
  kind: 'api',
  role: 'idx',
  systems: ['X'],
  createdAt: '2026-06-01T12:00:00Z',
  expiresAt: null,
  revokedAt: null,
} as const;

const WEBHOOK = {
  ...{ id: 'wh_1', url: 'https://example.com', bearer: null, role: 'idx', systems: [], resources: [] },
  ...{ privateHosts: false, createdAt: KEY.createdAt, secret: 'whsec_a', former: null, paused: null },
  ...{ position: SEQUENCE_START, delivered: 0, deliveredAt: null, ...NO_FAILURE },
} as const;

/** The clock of every store here: a new day would begin a new generation in one of two stores that are compared. */
const clock = testClock();
const open = (address: string, options: OpenStoreOptions = {}) => openStore(address, { clock, ...options });

const none = (): void => undefined;

async function database(t: TestContext): Promise<string> {
  const { address, drop } = await bareDatabase();
  t.after(drop);
  return address;
}

/** Addresses for the store of a test. */
const PLACES = {
  sqlite: async () => temporaryFile(),
  postgres: database,
  partitions: database,
} as const;
type Place = keyof typeof PLACES;

const partitionsOf = (place: Place): PartitionField | undefined =>
  place === 'partitions' ? 'OriginatingSystemID' : undefined;

/** The address of a store with a small market, which is itself a copy of a prepared one. */
async function filled(t: TestContext, place: Place): Promise<string> {
  const making = FILLED.get(place) ?? fill(place);
  FILLED.set(place, making);
  const prepared = await making;
  if (place === 'sqlite') {
    const path = temporaryFile();
    copyFileSync(prepared, path);
    return path;
  }
  const { address, drop } = await copyOfDatabase(prepared);
  t.after(drop);
  return address;
}

const FILLED = new Map<Place, Promise<string>>();

async function fill(place: Place): Promise<string> {
  const address = place === 'sqlite' ? temporaryFile() : (await bareDatabase()).address;
  const partitions = partitionsOf(place);
  const store = await open(address, {
    create: settings,
    ...(partitions === undefined ? {} : { partitions }),
  });
  const { write } = operations(store, clock);
  for (const [resource, records] of Map.groupBy(
    marketRecords({ seed: 7, listings: 10 }),
    (each) => each.resource,
  )) {
    await write(resource, ...records.map(({ record }) => record));
  }
  await store.remove('Property', [...(await operations(store, clock).keys('Property')).slice(0, 1)]);
  await store.keys.add(KEY, 'hash');
  const { position } = await store.feed({ since: SEQUENCE_START, limit: 3 });
  await store.webhooks.add({ ...WEBHOOK, position });
  await store.webhooks.add({ ...WEBHOOK, id: 'wh_2', paused: 'an operator paused it' });
  await store.webhooks.hold('wh_1', 'a process', 1);
  await store.keys.recordUse(new Map([['k', { ...NO_USE, requests: 3 }]]));
  await store.checkpoints.exchange('feed', 'cursor', () => ({ at: 'é' }));
  await store.close();
  return address;
}

/** Everything that can be read from a store. */
async function seen(address: string) {
  const store = await open(address);
  const { exported, rows, listing: native } = operations(store, clock);
  const [first] = await operations(store, clock).keys('Property');
  const found = {
    exported: await Promise.all(RESOURCES.map(exported)),
    rows: await Promise.all(RESOURCES.map((resource) => rows(resource))),
    idx: await rows('Property', '$expand=Media,Rooms', { viewer: { role: 'idx' } }),
    words: await rows('Property', '$select=ListingKey&$search=kitchen'),
    native: await native(first ?? '', { expansions: ['Photos', 'Rooms', 'CustomFields'] }),
    keys: await store.keys.list(),
    checkpoints: await store.checkpoints.state('feed'),
    secret: store.secret,
    status: { ...(await store.status()), store: '', engine: '', layout: 0, bytes: 0, partitions: undefined },
  };
  await store.close();
  return found;
}

async function copied(from: string, to: string, place: Place = 'postgres') {
  const [source, target] = [await openTables(from, false), await openTables(to, true, partitionsOf(place))];
  try {
    return await copyStore(source, target, none);
  } finally {
    await source.close();
    await target.close();
  }
}

/** The combinations of engines. */
const WAYS: readonly (readonly [Place, Place])[] = [
  ['sqlite', 'postgres'],
  ['partitions', 'sqlite'],
];
const OTHER_WAYS: readonly (readonly [Place, Place])[] = [
  ['postgres', 'sqlite'],
  ['sqlite', 'sqlite'],
  ['sqlite', 'partitions'],
  ['partitions', 'postgres'],
];

suite('copies of stores', () => {
  for (const [from, to] of process.env.PLAT_FULL === '1' ? [...WAYS, ...OTHER_WAYS] : WAYS) {
    test(`from ${from} to ${to}: the copy has the same content, and is independent of the original`, async (t) => {
      const [here, there] = [await filled(t, from), await PLACES[to](t)];
      const report = await copied(here, there, to);
      assert.equal(report.written, report.rows);
      assert.equal(report.removed, 0);
      const expected = await seen(here);
      assert.deepEqual(await seen(there), expected);
      assert.equal(report.paused, 1);
      const sending = await open(here);
      const store = await open(there);
      const [first, second] = await sending.webhooks.list();
      const paused = 'the store is a copy: resume it when no process of the original store sends any more';
      assert.deepEqual(await store.webhooks.list(), [
        { ...first, paused, holder: null, heldUntil: 0 },
        second,
      ]);
      // A follower continues in the copy.
      const next = { since: first?.position ?? SEQUENCE_START, limit: 1000 };
      const page = await store.feed(next);
      assert.ok(page.kind === 'changes' && page.changes.length > 10);
      assert.deepEqual(page, await sending.feed(next));
      await sending.close();
      const written = await operations(store, clock).write('Property', listing('new'));
      assert.equal(written.inserted, 1);
      assert.equal((await store.status()).partitions?.by, partitionsOf(to));
      assert.ok(Date.parse(written.stamp) >= Date.parse(expected.status.lastStamp));
      await store.close();
      assert.deepEqual(await seen(here), expected);
    });

    test(`from ${from} to ${to}: an interrupted copy can be continued, and includes what changed meanwhile`, async (t) => {
      const [here, there] = [await filled(t, from), await PLACES[to](t)];
      const [source, target] = [
        await openTables(here, false),
        await openTables(there, true, partitionsOf(to)),
      ];
      let changes = 0;
      const breaking: RawTables = {
        ...target,
        fill: (work) =>
          target.fill((there) =>
            work({
              ...there,
              change: (...given) =>
                ++changes > 8 ? Promise.reject(new Error('cut')) : there.change(...given),
            }),
          ),
      };
      await assert.rejects(copyStore(source, breaking, none), /^Error: cut$/);
      await source.close();
      await target.close();
      // An incomplete copy cannot be opened.
      await assert.rejects(
        open(there),
        ({ code, message }: PlatError) =>
          code === 'storeNotOurs' && /a copy into it is incomplete/.test(message),
      );
      const store = await open(here);
      await operations(store, clock).write('Office', { OfficeKey: 'late', OfficeName: 'Late' });
      const gone = await operations(store, clock).keys('Office');
      await store.remove('Office', gone.slice(0, 2));
      await store.close();
      const report = await copied(here, there, to);
      assert.ok(report.written < report.rows && report.removed >= 0, JSON.stringify(report));
      assert.deepEqual(await seen(there), await seen(here));
    });
  }

  for (const [from, to] of [
    ['sqlite', 'postgres'],
    ['postgres', 'sqlite'],
    ['partitions', 'sqlite'],
  ] as const) {
    test(`from ${from} to ${to}: a field that is no longer declared can be declared again, with its values and type`, async (t) => {
      const [here, there] = [await PLACES[from](t), await PLACES[to](t)];
      const partitions = partitionsOf(from);
      const store = await open(here, {
        create: settings,
        ...(partitions === undefined ? {} : { partitions }),
      });
      const values = [
        { Winter_GeneratorSwitchYN: true, Winter_HeatingCost: 12.5, OfficeUse_KeySafe: '1' },
        { Winter_GeneratorSwitchYN: false, Winter_HeatingCost: 0, OfficeUse_KeySafe: 'true' },
      ];
      const { write } = operations(store, clock);
      await write('Property', ...values.map((each, index) => listing(`k${index}`, each)));
      await store.configure((now) => ({ ...now, declarations: {} }));
      await store.close();
      await copied(here, there, to);
      const backup = temporaryFile();
      const whole = await open(there);
      await whole.backup(backup);
      await whole.close();
      for (const address of [there, backup]) {
        const copy = await open(address);
        await copy.configure((now) => ({ ...now, declarations: settings.declarations }));
        const { rows, keys } = operations(copy, clock);
        const found = await rows('Property', `$select=${Object.keys(values[0] ?? {})}`);
        assert.deepEqual(found, values, address);
        assert.deepEqual(
          await keys('Property', '$filter=Winter_GeneratorSwitchYN eq true and Winter_HeatingCost gt 12'),
          ['k0'],
        );
        await copy.close();
      }
    });
  }

  test('neither a store nor another database is overwritten', async (t) => {
    const here = await filled(t, 'sqlite');
    const there = await database(t);
    await copied(here, there);
    const name = there.replace(/\?.*/, '');
    const usage = { code: 'usage' satisfies ErrorCode, message: `A store already exists at ${name}.` };
    await assert.rejects(copied(here, there), usage);
    const other = await database(t);
    await runOn(other, 'CREATE SCHEMA plat', 'CREATE TABLE plat.orders (id integer)');
    await assert.rejects(copied(here, other), { code: 'storeNotOurs' satisfies ErrorCode });
    const missing = { code: 'storeMissing' satisfies ErrorCode };
    await assert.rejects(copied(await PLACES.sqlite(), await database(t)), missing);
    await assert.rejects(copied(await database(t), await PLACES.sqlite()), missing);
  });

  test('a store of a newer layout is not copied', async (t) => {
    const refused = (name: string) => ({
      code: 'storeTooNew' satisfies ErrorCode,
      message: `${name} has layout 99, newer than the layout 4 that this plat knows. Use a newer plat.`,
    });
    const file = await filled(t, 'sqlite');
    const newer = new DatabaseSync(file);
    newer.exec('PRAGMA user_version = 99');
    newer.close();
    await assert.rejects(copied(file, await database(t)), refused(file));
    const server = await filled(t, 'postgres');
    await runOn(
      server,
      "UPDATE plat.plat_meta SET value = '99' WHERE name IN ('layout', 'oldest_reader', 'oldest_writer')",
    );
    await assert.rejects(copied(server, await PLACES.sqlite()), refused(server.replace(/\?.*/, '')));
  });

  test('a copy that was begun without partitions cannot be continued with them', async (t) => {
    const here = await filled(t, 'sqlite');
    const there = await database(t);
    const [source, target] = [await openTables(here, false), await openTables(there, true)];
    await source.read(({ model, tables }) => target.fill(({ prepare }) => prepare(model, tables)));
    await source.close();
    await target.close();
    await assert.rejects(copied(here, there, 'partitions'), {
      code: 'usage' satisfies ErrorCode,
      message: `The copy into ${there.replace(/\?.*/, '')} was started without partitions.`,
    });
  });

  test('children are copied into the partition of their record, even if the source has them in another', async (t) => {
    const here = await PLACES.sqlite();
    const store = await open(here, { create: settings });
    const media = [{ MediaKey: 'M', MediaCategory: 'Photo', MediaURL: 'https://images.example/M.jpg' }];
    await operations(store, clock).write('Property', listing('A', { Media: media }));
    await store.close();
    const file = new DatabaseSync(here);
    file.exec("UPDATE media_records SET _system = 'X'");
    file.exec("UPDATE plat_counters SET system = 'X' WHERE resource = 'Media'");
    file.close();
    const there = await database(t);
    await copied(here, there, 'partitions');
    const copy = await open(there);
    const { rows, count } = operations(copy, clock);
    assert.deepEqual(await rows('Property', '$select=ListingKey&$expand=Media($select=MediaKey)'), [
      { ListingKey: 'A', Media: [{ MediaKey: 'M' }] },
    ]);
    assert.equal(await count('Media'), 1);
    assert.equal(await count('Media', '', { role: 'idx', systems: ['X'] }), 0);
    await copy.close();
  });

  for (const from of ['sqlite', 'postgres'] as const) {
    test(`from ${from}: a store that is written to meanwhile is copied as a snapshot`, async (t) => {
      const here = await filled(t, from);
      const before = await seen(here);
      const store = await open(here);
      const { write } = operations(store, clock);
      const [source, there] = [await openTables(here, false), await PLACES.sqlite()];
      const target = await openTables(there, true);
      let writes = 0;
      await copyStore(
        { ...source, read: (work) => source.read((whole) => work({ ...whole, rows: restless(whole.rows) })) },
        target,
        none,
      );
      assert.ok(writes > 20);
      await Promise.all([source.close(), target.close(), store.close()]);
      const { revokedAt } = KEY;
      assert.deepEqual(await seen(there), before);
      assert.equal(revokedAt, null);
      assert.notDeepEqual(await seen(here), before);

      function restless(rows: ReadRows): ReadRows {
        return async (...given) => {
          const found = await rows(...given);
          await write('Office', { OfficeKey: `new ${++writes}`, OfficeName: 'New' });
          await store.keys.revoke('k', '2026-06-01T13:00:00Z');
          await store.keys.recordUse(new Map([['k', { ...NO_USE, requests: 1 }]]));
          return found;
        };
      }
    });
  }

  for (const to of ['sqlite', 'postgres', 'partitions'] as const) {
    test(`to ${to}: a copy does not replace a store that was created after it looked`, async (t) => {
      const there = await PLACES[to](t);
      const partitions = partitionsOf(to);
      const late = await openTables(there, true, partitions);
      assert.equal(late.whole, false);
      const store = await open(there, {
        create: settings,
        ...(partitions === undefined ? {} : { partitions }),
      });
      await operations(store, clock).write('Property', listing('mine'));
      await store.close();
      const source = await openTables(await filled(t, 'sqlite'), false);
      t.after(() => source.close());
      await assert.rejects(copyStore(source, late, none), {
        code: 'usage' satisfies ErrorCode,
        message: `A store already exists at ${late.name}.`,
      });
      await late.close();
      const again = await open(there);
      t.after(() => again.close());
      assert.deepEqual(await operations(again, clock).keys('Property'), ['mine']);
    });
  }

  for (const to of ['sqlite', 'postgres'] as const) {
    test(`to ${to}: a second copy into the same place is rejected while the first is running`, async (t) => {
      const [here, there] = [await filled(t, 'sqlite'), await PLACES[to](t)];
      const [source, target] = [await openTables(here, false), await openTables(there, true)];
      await source.read(({ model, tables }) =>
        target.fill(async ({ prepare }) => {
          await prepare(model, tables);
          const expected = to === 'sqlite' ? 'storeBusy' : 'failed';
          await assert.rejects(copied(here, there), { code: expected satisfies ErrorCode });
        }),
      );
      await Promise.all([source.close(), target.close()]);
      await copied(here, there);
      assert.deepEqual(await seen(there), await seen(here));
    });
  }
});
