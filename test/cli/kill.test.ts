/** An import that is killed at any moment and run again ends with every record once, in a sound database. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type Place, place } from './run.ts';

const FULL = process.env.PLAT_FULL === '1';
const [RECORDS, KILLS] = FULL ? [50_000, 20] : [5000, 2];

const record = (key: number, price: number): unknown => ({
  ListingKey: String(key).padStart(6, '0'),
  StandardStatus: 'Active',
  ListPrice: price + key,
  PublicRemarks: `House ${key} with a view.`,
  Media: [{ MediaKey: `M${key}`, MediaCategory: 'Photo', MediaURL: `https://images.example/${key}.jpg` }],
});
const market = (price: number): unknown[] => Array.from({ length: RECORDS }, (_, key) => record(key, price));

/** Evenly spread numbers from 0 to 1, the same at every run. */
function* fractions(): Generator<number, never> {
  for (let state = 20_260_601; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

/** Starts an import and kills it after a while. @returns whether it was still at work */
async function kill(at: Place, file: string, milliseconds: number): Promise<boolean> {
  const { child, ended } = at.start(['import', '--store', 'm.db', file]);
  await setTimeout(milliseconds);
  child.kill('SIGKILL');
  return (await ended).code === null;
}

function assertSound(path: string): void {
  const database = new DatabaseSync(path);
  assert.deepEqual({ ...database.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' });
  database.close();
}

async function rowsOf(at: Place, resource: string): Promise<number> {
  const { resources }: { resources: { resource: string; rows: number }[] } = JSON.parse(
    await at.done(['status', '--store', 'm.db', '--json']),
  );
  return resources.find((each) => each.resource === resource)?.rows ?? 0;
}

test(`import of ${RECORDS} records, killed at ${KILLS} moments and run again: every record once`, async (t) => {
  const at = place(t);
  at.file('new.ndjson', market(1));
  at.file('changed.ndjson', market(1_000_000));
  const moments = fractions();
  const reach = FULL ? 6000 : 700;
  let hits = 0;
  for (let tries = 0; hits < KILLS; tries++) {
    assert.ok(tries < 10 * KILLS, 'the imports are over before they are killed');
    const file = hits < KILLS / 2 ? 'new.ndjson' : 'changed.ndjson';
    if (!(await kill(at, file, 300 + moments.next().value * reach))) continue;
    hits++;
    if (existsSync(at.path('m.db'))) assertSound(at.path('m.db'));
  }
  await at.done(['import', '--store', 'm.db', 'changed.ndjson']);
  assertSound(at.path('m.db'));
  const found = (await at.exported('m.db', 'Property')).map(({ ListingKey, ListPrice }) => [
    ListingKey,
    ListPrice,
  ]);
  assert.deepEqual(
    found,
    Array.from({ length: RECORDS }, (_, key) => [String(key).padStart(6, '0'), 1_000_000 + key]),
  );
  const media = (await at.exported('m.db', 'Media')).map(({ MediaKey }) => MediaKey);
  assert.deepEqual(media, Array.from({ length: RECORDS }, (_, key) => `M${key}`).toSorted());
  assert.deepEqual([await rowsOf(at, 'Property'), await rowsOf(at, 'Media')], [RECORDS, RECORDS]);
  assert.match(
    await at.done(['import', '--store', 'm.db', 'changed.ndjson']),
    new RegExp(`Property 0 new, 0 changed, ${RECORDS} as they were`),
  );
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} ends an import cleanly: what it tells is what is stored`, async (t) => {
    const at = place(t);
    at.file('new.ndjson', market(1));
    const { child, ended } = at.start(['import', '--store', 'm.db', '--json', 'new.ndjson']);
    while (child.exitCode === null && listings(at) === 0) await setTimeout(5);
    child.kill(signal);
    const { code, out } = await ended;
    const [{ inserted }] = JSON.parse(out);
    assert.equal(code, 1, 'it is not done');
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
