/** Answers that come in portions, of every size at which a portion may end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { openStore } from '../../../src/open-store.ts';
import { DEFAULT_SETTINGS } from '../../../src/records/settings.ts';
import { listing } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import { emptyDatabase } from '../../support/postgres-engine.ts';
import { operations, TIME } from '../../support/world.ts';

const REMARKS = 'A house with a view. '.repeat(190);
const SIZES = { from: 128, to: 150 };

/** Milliseconds in which what the server has sent arrives, so that it is this side that stops reading. */
const SLOW = 20;

test('pages of every size are whole, however slowly they are taken, and leave their connection to the next', async (t) => {
  const { address, drop } = await emptyDatabase(DEFAULT_SETTINGS);
  const store = await openStore(`${address}&connections=2`);
  t.after(async () => {
    await store.close();
    await drop();
  });
  const { write, request } = operations(store, testClock());
  const keys = Array.from({ length: SIZES.to }, (_, index) => `L${1000 + index}`);
  await write('Property', ...keys.map((key) => listing(key, { PublicRemarks: REMARKS })));
  for (let size = SIZES.from; size <= SIZES.to; size++) {
    // Orders are found on the one connection for searches.
    const asked = await request('Property', `$orderby=City&$top=${size}&$select=ListingKey,PublicRemarks`);
    const { body, rest } = await store.page(asked, TIME);
    const parts = [body];
    if (rest !== undefined) {
      for await (const part of rest) {
        parts.push(part);
        await setTimeout(SLOW);
      }
    }
    const records: unknown = JSON.parse(`[${Buffer.concat(parts)}]`);
    const expected = keys.slice(0, size).map((ListingKey) => ({ ListingKey, PublicRemarks: REMARKS }));
    assert.deepEqual(records, expected);
  }
});
