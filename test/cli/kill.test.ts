/** An import that is killed at any time and run again ends with every record once, in a sound store. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { bareDatabase } from '../support/postgres-engine.ts';
import { type Place, place } from './run.ts';

const FULL = process.env.PLAT_FULL === '1';
const [RECORDS, KILLS] = FULL ? [50_000, 20] : [5000, 2];

/** The range of milliseconds after which an import is killed, the address of a new store, and a check that it is sound. */
const ENGINES = {
  sqlite: {
    reach: FULL ? 6000 : 700,
    address: async (): Promise<string> => 'm.db',
    sound: async (at: Place): Promise<void> => {
      if (existsSync(at.path('m.db'))) assertSound(at.path('m.db'));
    },
  },
  postgres: {
    reach: FULL ? 9000 : 1500,
    address: async (t: TestContext): Promise<string> => {
      const { address, drop } = await bareDatabase();
      t.after(drop);
      return address;
    },
    // Counters, columns and texts come from the same transactions.
    sound: async (at: Place, store: string): Promise<void> => {
      const { code } = await at.run(['status', '--store', store]);
      if (code !== 0) return; // killed before it made a store
      for (const resource of ['Property', 'Media'])
        assert.equal((await at.exported(store, resource)).length, await rowsOf(at, store, resource));
    },
  },
} as const;

const record = (key: number, price: number): unknown => ({
  ListingKey: String(key).padStart(6, '0'),
  StandardStatus: 'Active',
  ListPrice: price + key,
  PublicRemarks: `House ${key} with a view.`,
  Media: [{ MediaKey: `M${key}`, MediaCategory: 'Photo', MediaURL: `https://images.example/${key}.jpg` }],
});
const market = (price: number): unknown[] => Array.from({ length: RECORDS }, (_, key) => record(key, price));

/** Evenly spread numbers from 0 to 1, the same in every run. */
function* fractions(): Generator<number, never> {
  for (let state = 20_260_601; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

/** Starts an import and kills it after a while. @returns whether it was still running */
async function kill(at: Place, store: string, file: string, milliseconds: number): Promise<boolean> {
  const { child, ended } = at.start(['import', '--store', store, file]);
  await setTimeout(milliseconds);
  child.kill('SIGKILL');
  return (await ended).code === null;
}

function assertSound(path: string): void {
  const database = new DatabaseSync(path);
  assert.deepEqual({ ...database.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' });
  database.close();
}

async function rowsOf(at: Place, store: string, resource: string): Promise<number> {
  const { resources }: { resources: { resource: string; rows: number }[] } = JSON.parse(
    await at.done(['status', '--store', store, '--json']),
  );
  return resources.find((each) => each.resource === resource)?.rows ?? 0;
}

for (const [engine, { reach, address, sound }] of Object.entries(ENGINES)) {
  test(`import of ${RECORDS} records into ${engine}, killed at ${KILLS} moments and run again: every record once`, async (t) => {
    const at = place(t);
    const store = await address(t);
    at.file('new.ndjson', market(1));
    at.file('changed.ndjson', market(1_000_000));
    const moments = fractions();
    let hits = 0;
    for (let tries = 0; hits < KILLS; tries++) {
      assert.ok(tries < 10 * KILLS, 'the imports end before they are killed');
      const file = hits < KILLS / 2 ? 'new.ndjson' : 'changed.ndjson';
      if (!(await kill(at, store, file, 300 + moments.next().value * reach))) continue;
      hits++;
      await sound(at, store);
    }
    await at.done(['import', '--store', store, 'changed.ndjson']);
    await sound(at, store);
    const found = (await at.exported(store, 'Property')).map(({ ListingKey, ListPrice }) => [
      ListingKey,
      ListPrice,
    ]);
    assert.deepEqual(
      found,
      Array.from({ length: RECORDS }, (_, key) => [String(key).padStart(6, '0'), 1_000_000 + key]),
    );
    const media = (await at.exported(store, 'Media')).map(({ MediaKey }) => MediaKey);
    assert.deepEqual(media, Array.from({ length: RECORDS }, (_, key) => `M${key}`).toSorted());
    assert.deepEqual(
      [await rowsOf(at, store, 'Property'), await rowsOf(at, store, 'Media')],
      [RECORDS, RECORDS],
    );
    assert.match(
      await at.done(['import', '--store', store, 'changed.ndjson']),
      new RegExp(`Property 0 new, 0 changed, ${RECORDS} unchanged`),
    );
  });
}

for (const [signal, exit] of [
  ['SIGTERM', 143],
  ['SIGINT', 130],
  ['SIGHUP', 143],
] as const) {
  test(`${signal} ends an import cleanly: the counts that it reports are stored`, async (t) => {
    const at = place(t);
    at.file('new.ndjson', market(1));
    const { child, ended } = at.start(['import', '--store', 'm.db', '--json', 'new.ndjson']);
    while (child.exitCode === null && listings(at) === 0) await setTimeout(5);
    child.kill(signal);
    const { code, out, err } = await ended;
    assert.equal(code, exit, err);
    const [{ inserted }] = JSON.parse(out);
    assert.ok(inserted > 0 && inserted < RECORDS, out);
    assert.equal(listings(at), inserted);
  });
}

function listings(at: Place): number {
  if (!existsSync(at.path('m.db'))) return 0;
  const database = new DatabaseSync(at.path('m.db'), { readOnly: true });
  try {
    return Number(
      database.prepare("SELECT rows FROM plat_counters WHERE resource = 'Property'").get()?.rows ?? 0,
    );
  } catch {
    return 0; // its tables are being made
  } finally {
    database.close();
  }
}
