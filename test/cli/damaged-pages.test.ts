/** Services on files with one changed bit, as separate processes: no page with status 200 is invalid JSON. */
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Json, objectOf } from '../support/world.ts';
import { type Place, place } from './run.ts';
import { ANY_PORT, addressesOf, get, lineWith } from './serving.ts';

const KEYS = Array.from({ length: 400 }, (_, index) => `K${1000 + index}`);
const LISTINGS = KEYS.map((ListingKey) => ({
  ListingKey,
  StandardStatus: 'Active',
  City: `Town of ${ListingKey}`,
  PublicRemarks: `${'A house with a view. '.repeat(100)}Built for ${ListingKey} in May`,
}));

/** Large pages; all but the last contain the record. */
const PAGES = [
  '/Reso/OData/Property?$top=1000',
  '/v1/listings?_limit=1000',
  '/Reso/OData/Property?$top=1000&$filter=StandardStatus%20eq%20%27Active%27&$expand=Media',
  '/Reso/OData/Property?$top=1000&$skiptoken=K1200',
] as const;

/** Flips the lowest bit of a byte, also in old copies that the file contains. @param after the text before the byte */
function flip(at: Place, file: string, after: string): void {
  const bytes = readFileSync(at.path(file));
  let flips = 0;
  for (let found = bytes.indexOf(after); found >= 0; found = bytes.indexOf(after, found + 1)) {
    const place = found + after.length;
    bytes[place] = (bytes[place] ?? 0) ^ 1;
    flips++;
  }
  assert.ok(flips > 0);
  writeFileSync(at.path(file), bytes);
}

/** @param words that the log must contain */
async function serve(at: Place, file: string, token: string, words?: string) {
  const service = at.start(['serve', '--store', file, ...ANY_PORT]);
  const line = words === undefined ? undefined : lineWith(service, words);
  const { replication, admin } = await addressesOf(service);
  return {
    line,
    /** Statuses of the pages, with and without gzip; a page with status 200 must be JSON. */
    async statuses(): Promise<number[][]> {
      const given: number[][] = [];
      for (const path of PAGES) {
        const both: number[] = [];
        for (const encoding of ['identity', 'gzip']) {
          const headers = { authorization: `Bearer ${token}`, 'accept-encoding': encoding };
          const response = await fetch(`${replication}${path}`, { headers });
          const body: unknown = await response.json();
          assert.ok(typeof body === 'object' && body !== null && (response.ok || !('value' in body)));
          both.push(response.status);
        }
        given.push(both);
      }
      return given;
    },
    problems: async (): Promise<Json> =>
      objectOf(JSON.stringify((await get(`${admin}/ready`, token)).json.problems)),
  };
}

test('no page with a flipped quote is sent, nor one with a flipped letter', async (t) => {
  const at = place(t);
  at.file('a.ndjson', LISTINGS);
  await at.done(['import', '--store', 'sound.db', 'a.ndjson']);
  const key = await at.done(['key', 'create', '--store', 'sound.db', '--name', 'k', '--role', 'private']);
  const token = key.trim();
  for (const file of ['quote.db', 'letter.db']) copyFileSync(at.path('sound.db'), at.path(file));
  // A typed column has neither the name of its field nor a quote.
  const text = `"PublicRemarks":"${LISTINGS[200]?.PublicRemarks}`;
  flip(at, 'quote.db', text);
  flip(at, 'letter.db', text.slice(0, -'May'.length));
  at.file('plat.config.json', JSON.stringify({ scrub: { hours: 1, share: 100 } }));

  const sound = await serve(at, 'sound.db', token);
  assert.deepEqual(
    await sound.statuses(),
    PAGES.map(() => [200, 200]),
  );

  const quote = await serve(at, 'quote.db', token);
  const refused = [...Array(3).fill([503, 503]), [200, 200]];
  assert.deepEqual(await quote.statuses(), refused);
  const damaged =
    /^the store is damaged: one of its texts is not valid JSON, in or after the record whose \w+ is K1200$/;
  assert.match(String((await quote.problems()).store), damaged);

  const letter = await serve(at, 'letter.db', token, 'found damage in the store');
  assert.match((await letter.line) ?? '', /"key":"K1200","what":\["idx_values"\]/);
  assert.deepEqual(await letter.statuses(), refused);
  const { records } = await letter.problems();
  assert.equal(records, 'Property K1200 is damaged: idx_values; run "plat check" for details');
});
