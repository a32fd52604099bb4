/** Pages of every size at which their memory may have to grow are read to their end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStore } from '../../../src/open-store.ts';
import { DEFAULT_SETTINGS } from '../../../src/records/settings.ts';
import { listing } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import { emptyDatabase } from '../../support/postgres-engine.ts';
import { operations, TIME } from '../../support/world.ts';

/** Text of two to four bytes per character, so that the numbers of characters and bytes differ. */
const REMARKS = 'A hoüse with a 😀 view。'.repeat(170);
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
