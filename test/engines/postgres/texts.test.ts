/** Pages of every size at which their memory may have to grow are read to their end. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { Client } from 'pg';
import { openStore } from '../../../src/open-store.ts';
import { DEFAULT_SETTINGS } from '../../../src/records/settings.ts';
import { listing } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import { emptyDatabase } from '../../support/postgres-engine.ts';
import { operations, TIME } from '../../support/world.ts';

/** Text of two to four bytes per character, so that the numbers of characters and bytes differ. */
const REMARKS = 'A hoüse with a 😀 view。'.repeat(170);
const INCOMPRESSIBLE = Array.from({ length: 60 }, (_, index) => hash('sha512', `${index}`, 'base64'))
  .join('')
  .slice(0, 3500);
const SIZES = { from: 10, to: 30 };

test('pages of every size are complete, reuse their memory, and leave the connection usable', async (t) => {
  const { address, drop } = await emptyDatabase(DEFAULT_SETTINGS);
  const store = await openStore(`${address}&connections=2`);
  t.after(async () => {
    await store.close();
    await drop();
  });
  const { write, request } = operations(store, testClock());
  const keys = Array.from({ length: SIZES.to }, (_, index) => `L${1000 + index}`);
  await write('Property', ...keys.map((key) => listing(key, { PublicRemarks: `${key}${REMARKS}` })));
  for (const order of ['', '$orderby=City&']) {
    for (let size = SIZES.from; size <= SIZES.to; size++) {
      // Orders are read on the one connection for searches.
      const asked = await request('Property', `${order}$select=ListingKey,PublicRemarks`, { limit: size });
      // The first page is still being sent while the others are read.
      const pages = [
        await store.page(asked, TIME),
        await store.page(asked, TIME),
        await store.page(asked, TIME),
      ];
      const expected = keys
        .slice(0, size)
        .map((ListingKey) => ({ ListingKey, PublicRemarks: `${ListingKey}${REMARKS}` }));
      for (const { body, release, rows, more, last } of pages) {
        const records: unknown = JSON.parse(`[${Buffer.from(body)}]`);
        assert.deepEqual(records, expected);
        assert.deepEqual([rows, more, last?.key], [size, size < SIZES.to, keys[size - 1]]);
        release?.();
        release?.();
      }
    }
  }
});

test('keys and texts of a large listing stay in its row, and only its long values are stored apart', async (t) => {
  const { address, drop } = await emptyDatabase(DEFAULT_SETTINGS);
  const store = await openStore(address);
  const client = new Client({ connectionString: address, options: '-c search_path=plat' });
  await client.connect();
  t.after(async () => {
    await client.end();
    await store.close();
    await drop();
  });
  const { write } = operations(store, testClock());
  const [agent, office] = ['agent', 'office'].map((name) => `${name}-of-36-characters-or-somewhat-more`);
  const links = { ListAgentKey: agent, ListOfficeKey: office, BuyerAgentKey: agent, BuyerOfficeKey: office };
  const key = 'a-listing-key-of-36-characters-or-so';
  await write('Property', listing(key, { ...links, PublicRemarks: INCOMPRESSIBLE }));
  const { rows: apart } = await client.query(
    `SELECT relname AS name, pg_relation_size(reltoastrelid) > 0 AS apart FROM pg_class
      WHERE relnamespace = 'plat'::regnamespace AND relname IN ('property_records', 'property_texts') ORDER BY relname`,
  );
  assert.deepEqual(apart, [
    { name: 'property_records', apart: true },
    { name: 'property_texts', apart: false },
  ]);
  const { rows: movable } = await client.query(
    `SELECT attname AS name FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
      WHERE relname = 'property_records' AND relnamespace = 'plat'::regnamespace AND attnum > 0 AND attstorage = 'x' ORDER BY attname`,
  );
  assert.deepEqual(
    movable.map(({ name }) => name),
    ['PublicRemarks'],
  );
});
