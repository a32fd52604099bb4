/** How a store of an older layout is migrated to the newest, beside processes of the version before. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { Client, type Pool } from 'pg';
import { parsePostgresAddress } from '../../../src/engines/postgres/connection/address.ts';
import { StorePool } from '../../../src/engines/postgres/connection/connect.ts';
import {
  MIGRATIONS,
  type MigrateOptions,
  type Migration,
  migrateStore,
} from '../../../src/engines/postgres/migrations/migrate.ts';
import { openPostgresStore } from '../../../src/engines/postgres/store.ts';
import { writeBackup } from '../../../src/engines/sqlite/backup.ts';
import type { ErrorCode } from '../../../src/errors/index.ts';
import { LAYOUT_VERSION } from '../../../src/store/state/meta.ts';
import { listing, photo } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import { faultsIn } from '../../support/faults.ts';
import { bareDatabase } from '../../support/postgres-engine.ts';
import { runOn } from '../../support/postgres-server.ts';
import { operations } from '../../support/world.ts';

const LAYOUT_1 = readFileSync(new URL('layout-1.sql', import.meta.url), 'utf8');
/** The layouts of this plat and of a newer one. */
const THIS = LAYOUT_VERSION;
const NEXT = LAYOUT_VERSION + 1;
const TOO_NEW = 'storeTooNew' satisfies ErrorCode;

/** A database with a store of layout 1, and functions that read it. */
async function oldStore(t: TestContext) {
  // The day on which that store was made.
  const clock = testClock('2026-11-21T12:00:00Z');
  const { address, drop } = await bareDatabase();
  await runOn(address, LAYOUT_1);
  const client = new Client({ connectionString: address });
  await client.connect();
  const pools: Pool[] = [];
  t.after(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    await client.end();
    await drop();
  });
  const list = async (statement: string): Promise<unknown[]> => {
    const { rows } = await client.query<{ value: unknown }>(statement);
    return rows.map(({ value }) => value);
  };
  return {
    address,
    client,
    clock,
    list,
    open: async () => {
      const store = await openPostgresStore({ address, clock, writeBackup });
      t.after(() => store.close());
      return { store, ...operations(store, clock) };
    },
    /** Applies these steps after those of this plat, as a newer plat would. */
    migrate: (steps: readonly Migration[], options: MigrateOptions = {}) => {
      const pool = new StorePool(parsePostgresAddress(address));
      pools.push(pool);
      return migrateStore(pool, { migrations: [...MIGRATIONS, ...steps], ...options });
    },
    layout: () =>
      list(
        "SELECT value FROM plat.plat_meta WHERE name IN ('layout', 'oldest_reader', 'oldest_writer') ORDER BY name",
      ),
    has: (relation: string) =>
      list(`SELECT (SELECT relname FROM pg_class WHERE oid = to_regclass('plat.${relation}')) AS value`),
  };
}

/** The versions that a store of layout 1 has after this plat has opened it. */
const NOW = [`${THIS}`, '1', '4'];

const nothing = async (): Promise<void> => undefined;

test('a store of layout 1 is migrated to this layout once, however many processes open it', async (t) => {
  const { open, layout, has } = await oldStore(t);
  const opened = await Promise.all([open(), open(), open()]);
  assert.deepEqual(await layout(), NOW);
  // An index that stores of layout 1 did not have.
  assert.deepEqual(await has('media_records_file'), ['media_records_file']);
  // Indexes of the table of columns, which the search table has instead.
  assert.deepEqual(await has('property_records_by_modtim'), [null]);
  assert.deepEqual(await has('property_search_by_modtim'), ['property_search_by_modtim']);
  const [first] = opened;
  assert.deepEqual(await first?.keys('Property', "$filter=City eq 'Ely'"), ['A']);
  assert.deepEqual(first && (await faultsIn(first.store)), []);
  assert.deepEqual(await first?.store.fileFaults(), []);
  await first?.write('Property', listing('B', { Media: [photo('M2')] }));
  for (const { keys } of opened) {
    assert.deepEqual(await keys('Property'), ['A', 'B']);
    assert.deepEqual(await keys('Media'), ['M1', 'M2']);
  }
});

test('short values of a store of layout 1 stay in their rows from its migration on, and in an extended table of layout 4', async (t) => {
  const { client, list, open } = await oldStore(t);
  const movable = () =>
    list(`SELECT relname || '.' || attname AS value FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
      WHERE relnamespace = 'plat'::regnamespace AND relname IN ('property_records', 'media_records', 'property_texts')
        AND attnum > 0 AND attstorage = 'x' ORDER BY 1`);
  const before = await movable();
  assert.ok(before.includes('property_records.City') && before.includes('media_records._key'), `${before}`);
  const { write } = await open();
  const long = ['media_records.FloplanImageType', 'media_records.MediaURL', 'media_records.Permission'];
  assert.deepEqual(await movable(), long);
  await client.query(`ALTER TABLE plat.property_records ALTER "City" SET STORAGE EXTENDED;
    ALTER TABLE plat.media_records ALTER _key SET STORAGE EXTENDED`);
  await write('Property', listing('B', { PublicRemarks: 'Bright.' }));
  assert.deepEqual(await movable(), [...long, 'media_records._key', 'property_records.PublicRemarks'].sort());
});

test('an index is recreated when a field that it covers comes into use', async (t) => {
  const { open, has } = await oldStore(t);
  const { write, keys } = await open();
  const filter = "$filter=City eq 'Rome' and ListPrice gt 1 and BedroomsTotal ge 3&$orderby=ListPrice desc";
  const indexes = ['property_search_by_cit_lispri_with_ss', 'property_search_by_cit_lispri_with_ss_bt_la'];
  const found = async () => (await Promise.all(indexes.map(has))).flat();
  await write('Property', listing('B', { City: 'Rome', ListPrice: 2 }));
  assert.deepEqual(await found(), [indexes[0], null]);
  await write('Property', listing('C', { City: 'Rome', ListPrice: 3, BedroomsTotal: 3, LivingArea: 70 }));
  await write('Property', listing('D', { City: 'Rome', ListPrice: 4, BedroomsTotal: 4 }));
  assert.deepEqual(await found(), [null, indexes[1]]);
  assert.deepEqual(await keys('Property', filter), ['D', 'C']);
});

test('a step runs once, even if several processes start it at the same time', async (t) => {
  const { migrate, layout } = await oldStore(t);
  let runs = 0;
  const step = { layout: NEXT, oldestReader: THIS, oldestWriter: THIS, run: async () => void runs++ };
  await Promise.all(Array.from({ length: 4 }, () => migrate([step])));
  assert.equal(runs, 1);
  assert.deepEqual(await layout(), [`${NEXT}`, `${THIS}`, `${THIS}`]);
});

test('a step that fails leaves the store unchanged, and the next migration repeats it', async (t) => {
  const { open, migrate, layout, has } = await oldStore(t);
  const { keys } = await open();
  const make: Migration['run'] = async (session) =>
    void (await session.run('CREATE TABLE extra (id integer)'));
  const step = { layout: NEXT, oldestReader: NEXT, oldestWriter: NEXT, run: make };
  const fails: Migration = {
    ...step,
    run: async (session) => {
      await make(session);
      await session.run('SELECT 1 / 0');
    },
  };
  await assert.rejects(migrate([fails]), /division by zero/);
  assert.deepEqual(await layout(), NOW);
  assert.deepEqual(await has('extra'), [null]);
  assert.deepEqual(await keys('Property'), ['A']);
  await migrate([step]);
  assert.deepEqual(await layout(), [`${NEXT}`, `${NEXT}`, `${NEXT}`]);
  assert.deepEqual(await has('extra'), ['extra']);
});

test('while a step runs, the version before can read, also past midnight; its write waits and then succeeds', async (t) => {
  const { clock, open, migrate, layout } = await oldStore(t);
  const before = await open();
  const order: string[] = [];
  let writing: Promise<unknown> = nothing();
  await migrate([
    {
      layout: NEXT,
      oldestReader: THIS,
      oldestWriter: THIS,
      run: async (session) => {
        await session.run('CREATE TABLE extra (id integer)');
        clock.set('2026-11-22T00:00:00Z');
        writing = before.write('Property', listing('B')).then(() => order.push('written'));
        assert.deepEqual(await before.keys('Property'), ['A']);
        order.push('read');
      },
    },
  ]);
  await writing;
  assert.deepEqual(order, ['read', 'written']);
  assert.deepEqual(await layout(), [`${NEXT}`, `${THIS}`, `${THIS}`]);
  assert.deepEqual(await before.keys('Property'), ['A', 'B']);
});

test('a step that excludes older writers rejects their writes, including one that waits, and still lets them read', async (t) => {
  const { address, clock, open, migrate } = await oldStore(t);
  const before = await open();
  let waiting: Promise<unknown> = nothing();
  const step: Migration = {
    layout: NEXT,
    oldestReader: THIS,
    oldestWriter: NEXT,
    run: async () => {
      waiting = assert.rejects(before.write('Property', listing('B')), {
        code: TOO_NEW,
        message: `${address.replace(/\?.*/, '')} has layout ${NEXT}, newer than the layout ${THIS} that this plat knows. Use a newer plat.`,
      });
    },
  };
  await migrate([step]);
  await waiting;
  await assert.rejects(before.store.remove('Property', ['A']), { code: TOO_NEW });
  await assert.rejects(before.store.keys.revoke('nobody', '2026-01-01T00:00:00Z'), { code: TOO_NEW });
  assert.deepEqual(await before.keys('Property'), ['A']);
  // Also past midnight, when the older process would evaluate the new day, and may not write the result.
  clock.set('2026-11-22T00:00:00Z');
  assert.deepEqual(await before.keys('Property'), ['A']);
  assert.deepEqual(await (await open()).keys('Property'), ['A']);
});

test('a step that excludes older readers rejects their next request', async (t) => {
  const { open, migrate } = await oldStore(t);
  const before = await open();
  const request = await before.request('Property');
  const options = { milliseconds: 5000 };
  await migrate([
    {
      layout: NEXT,
      oldestReader: NEXT,
      oldestWriter: NEXT,
      run: async (session) => void (await session.run('ALTER TABLE property_texts RENAME TO listing_texts')),
    },
  ]);
  // Requests that were planned before the step, and reach the tables after it.
  await assert.rejects(before.store.page(request, options), { code: TOO_NEW });
  await assert.rejects(before.store.count(request.query, options), { code: TOO_NEW });
  await assert.rejects(before.store.model(), { code: TOO_NEW });
  await assert.rejects(before.write('Property', listing('B')), { code: TOO_NEW });
  await assert.rejects(open(), { code: TOO_NEW });
});

test('an older plat that may still open a store keeps the functions of a newer one', async (t) => {
  const { open, migrate, list, client } = await oldStore(t);
  await open();
  await migrate([{ layout: NEXT, oldestReader: THIS, oldestWriter: THIS, run: nothing }]);
  await client.query("UPDATE plat.plat_meta SET value = 'newer' WHERE name = 'functions'");
  await open();
  assert.deepEqual(await list("SELECT value FROM plat.plat_meta WHERE name = 'functions'"), ['newer']);
});

test('a step that waits for a reader does not delay other readers', async (t) => {
  const { open, migrate, client, layout } = await oldStore(t);
  const before = await open();
  await client.query('BEGIN; SELECT count(*) FROM plat.property_records');
  let tries = 0;
  await migrate(
    [
      {
        layout: NEXT,
        oldestReader: THIS,
        oldestWriter: THIS,
        run: async (session) => {
          tries++;
          await session.run('ALTER TABLE property_records ADD extra integer');
        },
      },
    ],
    {
      // The step has released its locks: others read and write the table, while the first reader still holds it.
      rest: async () => {
        await before.write('Property', listing(`B${tries}`));
        const written = Array.from({ length: tries }, (_, index) => `B${index + 1}`);
        assert.deepEqual(await before.keys('Property', '$filter=City eq null or City ne null'), [
          'A',
          ...written,
        ]);
        if (tries === 2) await client.query('COMMIT');
      },
    },
  );
  assert.equal(tries, 3);
  assert.deepEqual(await layout(), [`${NEXT}`, `${THIS}`, `${THIS}`]);
  assert.deepEqual(await before.keys('Property'), ['A', 'B1', 'B2']);
});
