/**
 * Files with flipped bits, lost pages and missing ends: whatever the damage, every operation reports it in words, no backup is made
 * of the file, and if a check finds nothing, the records are unchanged.
 */
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { makeRandom, type Random } from 'plat-demo';
import { PlatError } from '../../../src/errors/index.ts';
import { openStore } from '../../../src/open-store.ts';
import { findFaults, repairStore } from '../../../src/store/check/check-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { listing, member, office, photo, room } from '../../support/builders.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { temporaryFile } from '../../support/temporary.ts';
import { makeWorld, nativeShape, operations, TIME } from '../../support/world.ts';

const RUNS = process.env.PLAT_FULL === '1' ? 600 : 20;
const RESOURCES = ['Office', 'Member', 'Property', 'Media', 'PropertyRooms'];

/** A sound store, closed, with some records of each kind. */
async function soundFile(scope: Parameters<typeof makeWorld>[1]): Promise<string> {
  const world = await makeWorld(sqliteEngine(), scope);
  await world.write('Office', ...['O1', 'O2'].map((key) => office(key)));
  await world.write('Member', ...['M1', 'M2', 'M3'].map((key) => member(key, { OfficeKey: 'O1' })));
  const listings = Array.from({ length: 40 }, (_, index) =>
    listing(`L${index}`, {
      ListAgentKey: `M${1 + (index % 3)}`,
      PublicRemarks: `House ${index} with a garden. `.repeat(20),
      Media: [photo(`P${index}`), photo(`Q${index}`)],
      Rooms: [room(`R${index}`)],
    }),
  );
  await world.write('Property', ...listings);
  const path = temporaryFile();
  await world.store.backup(path);
  return path;
}

/** Everything that readers get of a store's records; an invalid page is reported as damage. */
async function contentOf(store: Store): Promise<unknown> {
  const read = operations(store, { text: () => '' });
  const pages = [];
  for (const resource of RESOURCES) {
    pages.push(await read.exported(resource), await read.count(resource));
    pages.push(await read.rows(resource).catch(orBroken));
  }
  return pages;
}

/** A reader detects a page that is not valid JSON, or lacks rows; the store itself detects everything else. */
function orBroken(error: unknown): string {
  const isBroken =
    error instanceof SyntaxError ||
    error instanceof assert.AssertionError ||
    (error instanceof TypeError && 'code' in error && error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA');
  if (isBroken) return 'a broken page';
  throw error;
}

/** A caller to whom the result is sent. */
const CALLER = { name: 'key 1', begin: () => undefined, made: () => undefined, spent: () => undefined };

/** Pages as a service sends them, some of them larger than what is checked each time. */
async function sendPages(store: Store): Promise<void> {
  const read = operations(store, { text: () => '' });
  for (const resource of RESOURCES) {
    const asked = await read.request(resource);
    const native = { ...asked, shape: nativeShape(asked.query, {}) };
    for (const request of resource === 'Property' ? [asked, native] : [asked]) {
      const page = await tried(() => store.page(request, { ...TIME, caller: CALLER }));
      if ('value' in page)
        JSON.parse(`[${new TextDecoder('utf-8', { fatal: true }).decode(page.value.body)}]`);
    }
  }
}

/** Damages bytes that are in use, since most of a small file is free space. */
function damaged(sound: Buffer, random: Random): { readonly bytes: Buffer; readonly what: string } {
  const bytes = Buffer.from(sound);
  const used = (): number => {
    for (;;) {
      const at = random.integer(0, bytes.length - 1);
      if (bytes[at] !== 0) return at;
    }
  };
  const kind = random.weighted([
    ['flips', 12],
    ['a lost page', 2],
    ['a lost end', 1],
    ['a header', 1],
  ] as const);
  switch (kind) {
    case 'flips': {
      const places = Array.from({ length: random.integer(1, 3) }, used);
      for (const at of places) bytes[at] = (bytes[at] ?? 0) ^ (1 << random.integer(0, 7));
      return { bytes, what: `flips at ${places.join(', ')}` };
    }
    case 'a lost page': {
      const page = Math.floor(used() / 32_768) * 32_768;
      return { bytes: bytes.fill(0, page, page + 32_768), what: `no page at ${page}` };
    }
    case 'a lost end': {
      const length = random.integer(1, bytes.length - 1);
      return { bytes: bytes.subarray(0, length), what: `only ${length} bytes` };
    }
    case 'a header': {
      const at = random.integer(0, 99);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random.integer(0, 7));
      return { bytes, what: `a flip at ${at} of the header` };
    }
  }
}

type Outcome<T> = { readonly message: string } | { readonly value: T };

/** The result of an operation; an error must be one with a message for users. */
async function tried<T>(work: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    if (error instanceof PlatError) return { message: error.message };
    throw error;
  }
}

const copyPath = (): string => temporaryFile();

test(`${RUNS} damaged files: each is reported, none is copied, and what passes the check is unchanged`, async (t) => {
  const path = await soundFile(t);
  const sound = readFileSync(path);
  const before = await withStore(path, contentOf);
  const tally = { refused: 0, found: 0, harmless: 0, mended: 0 };
  for (let run = 0; run < RUNS; run++) {
    const { bytes, what } = damaged(sound, makeRandom(run, 'damage'));
    const name = `run ${run}, ${what}`;
    const place = copyPath();
    writeFileSync(place, bytes);
    try {
      const opened = await tried(() => openStore(place));
      if ('message' in opened) {
        tally.refused++;
        continue;
      }
      const store = opened.value;
      try {
        await tried(() => store.status());
        await tried(() => store.keys.list());
        await tried(() => sendPages(store));
        const content = await tried(() => contentOf(store));
        // A service with this store is no longer ready (service/admin/readiness.ts).
        if ('message' in content) assert.match(store.trouble?.() ?? '', /^the store is damaged: /, name);
        const faults = await tried(() => Array.fromAsync(findFaults(store)));
        const backup = copyPath();
        const copied = await tried(() => store.backup(backup));
        const isSound = 'value' in faults && faults.value.length === 0;
        assert.equal('value' in copied, isSound, `${name}: a backup is made of what passes the check alone`);
        assert.equal(existsSync(backup), isSound, name);
        assert.equal(existsSync(`${backup}.partial`), false, name);
        if (isSound) {
          tally.harmless++;
          assert.deepEqual(content, { value: before }, `${name}: it passes the check, and reads as before`);
        } else {
          tally.found++;
          if ('message' in (await tried(() => repairStore(store)))) continue;
          const rest = await tried(() => Array.fromAsync(findFaults(store)));
          if (!('value' in rest) || rest.value.length > 0) continue;
          tally.mended++;
          assert.deepEqual(
            withoutStamps(await contentOf(store)),
            withoutStamps(before),
            `${name}: what is mended is as it was`,
          );
        }
      } finally {
        await store.close();
      }
    } catch (cause) {
      throw new Error(name, { cause });
    }
  }
  assert.ok(tally.found > tally.harmless && tally.mended > 0, JSON.stringify(tally));
  t.diagnostic(JSON.stringify(tally));
});

test('a flipped bit in any byte of the header is reported at opening or reading', async (t) => {
  const path = await soundFile(t);
  const sound = readFileSync(path);
  const reported = new Map<number, string>();
  for (let at = 0; at < 100; at++) {
    const place = copyPath();
    const bytes = Buffer.from(sound);
    bytes[at] = (bytes[at] ?? 0) ^ 2;
    writeFileSync(place, bytes);
    const outcome = await tried(async () => {
      const store = await openStore(place);
      await store.status().finally(() => store.close());
    });
    if ('message' in outcome) reported.set(at, outcome.message.replace(place, 'STORE'));
    rmSync(place, { force: true });
  }
  assert.match(reported.get(0) ?? '', /STORE is not a plat store: it is not an SQLite database/);
  assert.match(reported.get(47) ?? '', /STORE is damaged: the header of its file is not as SQLite writes it/);
});

/** A timestamp that differs between columns and texts is assigned anew. */
const withoutStamps = (content: unknown): unknown =>
  JSON.parse(JSON.stringify(content), (name, value: unknown) => (name.endsWith('Timestamp') ? '' : value));

async function withStore<T>(path: string, work: (store: Store) => Promise<T>): Promise<T> {
  const copy = copyPath();
  copyFileSync(path, copy);
  const store = await openStore(copy);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

test('a number that plat never writes is reported as damage, and no request for it makes the store unready', async (t) => {
  const world = await makeWorld(sqliteEngine(), t);
  await world.write('Property', listing('A'), listing('B'));
  await world.damage(
    `UPDATE property_records SET _id = ${2 ** 62} WHERE _key = 'A'`,
    `UPDATE property_search SET _id = ${2 ** 62} WHERE _key = 'A'`,
  );
  const damage = {
    code: 'storeDamaged',
    message: /is damaged: Property A no longer matches what was written\. "plat check" /,
  };
  await assert.rejects(world.write('Property', listing('A', { City: 'Else' })), damage);
  // An operator can read the other records; a response to a caller is rejected.
  const found = "$filter=ListingKey ne 'C'";
  assert.deepEqual(await world.keys('Property', found), ['B']);
  const request = await world.request('Property', found);
  await assert.rejects(world.store.page(request, { ...TIME, caller: CALLER }), {
    code: 'storeDamaged',
    message: /is damaged: The record with the key A no longer matches what was written\. /,
  });
  assert.equal((await world.store.ids(request.query, TIME)).length, 1);
  await assert.rejects(world.store.ids(request.query, { ...TIME, caller: CALLER }), {
    code: 'storeDamaged',
    message:
      /is damaged: The record with the number 4611686018427388000 no longer matches what was written\. /,
  });
  assert.equal(world.store.trouble?.(), undefined);
  await repairStore(world.store);
  await world.write('Property', listing('A', { City: 'Else' }));
  const [row] = await world.rows('Property', "$filter=ListingKey eq 'A'");
  assert.equal(row?.City, 'Else');
});

test('a value that plat never writes is reported for its row, and affects no other row', async (t) => {
  const world = await makeWorld(sqliteEngine(), t);
  const records = ['A', 'B'].map((key) => listing(key, { YearBuilt: 1900, Media: [photo(`P${key}`)] }));
  await world.write('Property', ...records);
  await world.damage(
    `UPDATE property_records SET "YearBuilt" = ${2 ** 62} WHERE _key = 'A'`,
    `UPDATE property_records SET "ModificationTimestamp" = ${2 ** 62} WHERE _key = 'B'`,
    `UPDATE media_records SET _rank = ${2 ** 62}, "MediaCategory" = ${2 ** 62} WHERE _key = 'PB'`,
  );
  const faults = await Array.fromAsync(findFaults(world.store));
  const named = faults.flatMap((fault) => (fault.place === 'row' ? [`${fault.resource} ${fault.key}`] : []));
  assert.deepEqual(named, ['Property A', 'Property B', 'Media PB']);
  assert.equal((await world.store.contents('Property', { key: 'A' })).length, 1);
  const children = { parent: 'B', parentResource: 'Property' };
  assert.equal((await world.store.contents('Media', children)).length, 1);
  // A refresh stores every record anew, which also repairs what it reads.
  await world.write('Property', ...records.map((record) => ({ ...record, YearBuilt: 1901 })));
  await world.store.mend();
  await world.store.mendFile();
  const [first] = await world.rows('Property', "$filter=ListingKey eq 'A'");
  assert.equal(first?.YearBuilt, 1901);
});

test('a check yields to the event loop after each step, so that a signal can end it', async (t) => {
  const { store } = await makeWorld(sqliteEngine(), t);
  let turns = 0;
  let steps = 0;
  let isDone = false;
  const turn = (): void => {
    turns++;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  const faults = await Array.fromAsync(findFaults(store, () => void steps++));
  isDone = true;
  assert.deepEqual(faults, []);
  assert.ok(steps > 5 && turns >= steps, `${turns} turns in ${steps} steps`);
});
