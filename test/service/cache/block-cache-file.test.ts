/** The file of kept blocks: it saves a new process work, and no damage to it changes a page. */
import assert from 'node:assert/strict';
import {
  existsSync,
  fstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import { openStore } from '../../../src/open-store.ts';
import { BlockCacheFile } from '../../../src/service/cache/block-cache-file.ts';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { startService } from '../../../src/service/service.ts';
import type { BlocksPage } from '../../../src/store/read/blocks-task.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeRandom } from '../../oracle/random.ts';
import { listing, member, office } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import { makeKey, startTestService } from '../../support/service.ts';
import { temporaryFile } from '../../support/temporary.ts';
import { type Json, operations } from '../../support/world.ts';
import { canBeFound, descriptorOf } from './unlinked-file.ts';

const ANY_PORT = { api: 0, replication: 0, floorplans: 0, admin: 0 };
const LISTINGS = 200;
/** The maximum number of records in a block. */
const BLOCK = 32;
/** More than the memory of a block besides its content, and less than that with it, in bytes. */
const WITHOUT_CONTENT = 1000;

const house = (index: number, more: Json = {}): Json =>
  listing(`L${1000 + index}`, {
    StandardStatus: 'Active',
    ListPrice: index + 1,
    ListOfficeKey: index < 100 ? 'O1' : 'O2',
    ListAgentKey: 'A1',
    PublicRemarks: `House ${index}. `.repeat(30),
    ...more,
  });

interface Process {
  /** The URL of its replication surface. */
  readonly root: string;
  /** Walks all listings and compares each page with the one read from the store. @returns the number of records read for gzip */
  walk(): Promise<number>;
  /** The memory of its compressed blocks, in bytes per block. */
  bytesPerBlock(): Promise<number>;
  close(): Promise<void>;
}

/** A store, and a function that starts a process that serves it with a file of kept blocks. */
async function market(t: TestContext, path = temporaryFile('.db-pages')) {
  const world = await startTestService(t, {
    fill: async ({ write }) => {
      await write('Office', office('O1'), office('O2'));
      await write('Member', member('A1'));
      await write('Property', ...Array.from({ length: LISTINGS }, (_, index) => house(index)));
    },
  });
  const token = await world.key('replication');
  const warnings: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(JSON.parse(line).msg) });
  const serve = async ({
    fileMegabytes = 8,
    identity = '',
    size = 100,
    altered = asItIs,
  } = {}): Promise<Process> => {
    let read = 0;
    const noting: Store = Object.assign(Object.create(world.store), {
      blocks: async (...given: Parameters<Store['blocks']>) => {
        const page = await world.store.blocks(...given);
        if (given[0].form === 'deflated') {
          for (const part of page.parts) read += typeof part === 'number' ? 0 : part.rows;
        }
        return altered(page);
      },
    });
    const file = { path, identity, megabytes: fileMegabytes };
    const service = await startService(
      { ...SERVICE_DEFAULTS, store: noting, clock: world.clock, log, keptPages: { megabytes: 8, file } },
      { host: '127.0.0.1', adminHost: '127.0.0.1', ports: ANY_PORT },
    );
    const walk = async (): Promise<number> => {
      read = 0;
      const headers = { 'accept-encoding': 'gzip' };
      let url = `${service.addresses.replication}/Reso/OData/Property?$top=${size}`;
      for (let more = true; more; ) {
        const packed = await world.get('replication', url, { token, headers });
        const plain = await world.get('replication', url, { token });
        assert.equal(packed.headers['content-encoding'], 'gzip');
        // The world's own service has no file, so it reads uncompressed pages from the store.
        const [base, elsewhere] = [service.addresses.replication, world.addresses.replication];
        const expected = await world.get('replication', url.replace(base, elsewhere), { token });
        const text = expected.text.replaceAll(elsewhere, base);
        assert.equal(gunzipSync(packed.bytes).toString(), text, url);
        assert.equal(plain.text, text, url);
        const { '@odata.nextLink': next }: Json = plain.json;
        more = typeof next === 'string';
        url = String(next);
        // The file is written after the response.
        for (let turn = 0; turn < 10; turn++) await setImmediate();
      }
      return read;
    };
    const bytesPerBlock = async (): Promise<number> => {
      const { text } = await world.get('admin', `${service.addresses.admin}/metrics`);
      const ofBlocks = (what: string): number =>
        Number(new RegExp(`^plat_cache_${what}\\{cache="kept blocks"\\} (\\d+)$`, 'm').exec(text)?.[1]);
      return ofBlocks('bytes') / ofBlocks('entries');
    };
    let isClosed = false;
    const close = async (): Promise<void> => {
      if (!isClosed) await service.close();
      isClosed = true;
    };
    t.after(close);
    return { root: service.addresses.replication, walk, bytesPerBlock, close };
  };
  return { ...world, path, warnings, serve };
}

const asItIs = (page: BlocksPage): BlocksPage => page;

/** Walks until no block has its content in memory. @returns the number of records that were read */
async function walkUntilMoved({ walk, bytesPerBlock }: Process): Promise<number> {
  let read = 0;
  for (let walks = 0; walks < 50; walks++) {
    read += await walk();
    if ((await bytesPerBlock()) < WITHOUT_CONTENT) return read;
  }
  return assert.fail(`each block has ${await bytesPerBlock()} bytes in memory`);
}

/** Whether a walk read only the blocks of a few changes. */
const isFew = (read: number, most = 2 * BLOCK): boolean => read > 0 && read <= most;

test('a new process, and one that runs at the same time, use the blocks in the file; another identity does not', async (t) => {
  const { serve, path, warnings } = await market(t);
  const first = await serve();
  assert.equal(await first.walk(), LISTINGS);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const beside = await serve();
  assert.equal(await beside.walk(), 0);
  await first.close();
  await beside.close();
  assert.deepEqual(
    readdirSync(dirname(path)).filter((name) => join(dirname(path), name).startsWith(path)),
    [path.slice(dirname(path).length + 1)],
  );
  const again = await serve();
  assert.equal(await again.walk(), 0);
  const edges = await (await serve({ size: 70 })).walk();
  assert.ok(isFew(edges, 3 * BLOCK), `${edges} records of blocks in which pages begin or end were read`);
  assert.equal(await (await serve({ identity: 'another version' })).walk(), LISTINGS);
  assert.deepEqual(warnings, []);
});

test('records that changed while a process did not run, or by another process, are read again; so is all after a repair or in a new epoch', async (t) => {
  const { serve, write, store, clock } = await market(t);
  const first = await serve();
  await first.walk();
  await first.close();
  await write('Property', house(50, { ListPrice: 5 }));
  await store.remove('Property', ['L1150']);
  const second = await serve();
  const read = await second.walk();
  assert.ok(isFew(read), `${read} records were read`);
  const beside = await serve();
  assert.equal(await beside.walk(), 0);
  await write('Property', house(20, { ListPrice: 7 }));
  assert.ok(isFew(await beside.walk(), BLOCK));
  assert.equal(await second.walk(), 0, 'the other process has stored what it read');
  await write('Office', office('O2', { OfficeName: 'Renamed' }));
  const renamed = await second.walk();
  assert.ok(renamed >= 99 && renamed <= 100 + BLOCK, `${renamed} records were read`);
  for (const each of [second, beside]) await each.close();
  assert.equal(await (await serve()).walk(), 0);
  await write('Office', office('O1', { OfficeName: 'Renamed, too' }));
  const last = await serve();
  const again = await last.walk();
  assert.ok(again >= 99 && again <= 100 + BLOCK, `${again} records were read`);
  await last.close();
  await store.beginEpoch({});
  const other = await serve();
  assert.equal(await other.walk(), LISTINGS - 1, 'another epoch');
  assert.equal(await other.walk(), 0);
  await store.mend(undefined);
  assert.equal(await other.walk(), LISTINGS - 1, 'a repair');
  await other.close();
  clock.advance(86_400_000);
  // The page that finds the new day is read without blocks.
  assert.ok((await (await serve()).walk()) >= LISTINGS / 2 - 1, 'another day');
});

test('requests without gzip do not remove blocks from the file', async (t) => {
  const { serve, write, get, key } = await market(t);
  const first = await serve();
  await first.walk();
  await first.close();
  await write('Property', house(50, { ListPrice: 5 }));
  const second = await serve();
  const token = await key('replication');
  for (let asked = 0; asked < 3; asked++) {
    const { status } = await get('replication', `${second.root}/Reso/OData/Property?$top=70`, { token });
    assert.equal(status, 200);
  }
  assert.equal(await second.walk(), BLOCK);
  await second.close();
  assert.equal(await (await serve()).walk(), 0);
});

test('blocks of an abandoned timeline are not used after a store file was restored by copying', async () => {
  for (const rewritten of [house(150, { ListPrice: 6 }), house(50, { ListPrice: 6 })]) {
    const path = temporaryFile();
    const file = { path: `${path}-pages`, identity: '', megabytes: 8 };
    const clock = testClock();
    const fill = await openStore(path, { create: 'authority', clock });
    await operations(fill, clock).write(
      'Property',
      ...Array.from({ length: LISTINGS }, (_, index) => house(index)),
    );
    const token = await makeKey(fill, 'replication');
    await fill.close();
    const before = readFileSync(path);
    const prices: unknown[] = [];
    for (const changes of [[house(50, { ListPrice: 5 })], [rewritten, house(60, { ListPrice: 7 })]]) {
      writeFileSync(path, before);
      const store = await openStore(path, { clock });
      for (const each of changes) await operations(store, clock).write('Property', each);
      const service = await startService(
        {
          ...SERVICE_DEFAULTS,
          store,
          clock,
          log: pino({ level: 'silent' }),
          keptPages: { megabytes: 8, file },
        },
        { host: '127.0.0.1', adminHost: '127.0.0.1', ports: ANY_PORT },
      );
      const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'gzip' };
      for (let asked = 0; asked < 2; asked++) {
        const answer = await fetch(`${service.addresses.replication}/Reso/OData/Property`, { headers });
        const { value }: { value: Json[] } = JSON.parse(await answer.text());
        prices.push([50, 60, 150].map((index) => value[index]?.ListPrice));
      }
      await service.close();
      await store.close();
    }
    const now = rewritten.ListingKey === 'L1050' ? [6, 7, 151] : [51, 7, 6];
    assert.deepEqual(prices, [[5, 61, 151], [5, 61, 151], now, now]);
  }
});

test('a file of blocks that is deleted, replaced by an older one or foreign never changes a page', async (t) => {
  const { serve, path, warnings, write } = await market(t);
  const first = await serve();
  await first.walk();
  const old = readFileSync(path);
  rmSync(path);
  assert.equal(await first.walk(), 0, 'the blocks are still in memory');
  const second = await serve();
  assert.equal(await second.walk(), LISTINGS);
  assert.ok(existsSync(path));
  await write('Property', house(3, { ListPrice: 9 }));
  assert.ok(isFew(await second.walk(), BLOCK));
  await second.close();
  writeFileSync(path, old);
  const third = await serve();
  assert.ok(isFew(await third.walk()), 'an older file is continued from its position');
  await third.close();
  writeFileSync(path, 'the content of another program'.repeat(10));
  assert.equal(await (await serve()).walk(), LISTINGS);
  assert.equal(readFileSync(path, 'utf8'), 'the content of another program'.repeat(10));
  assert.deepEqual(warnings, [`${path} cannot be used: pages are kept in memory only`]);
});

test('an unwritable folder causes one warning, and pages are kept in memory', async (t) => {
  const nowhere = join(temporaryFile('.txt'), 'pages');
  writeFileSync(dirname(nowhere), '');
  const { serve, warnings } = await market(t, nowhere);
  const process = await serve();
  assert.equal(await process.walk(), LISTINGS);
  assert.equal(await process.walk(), 0);
  assert.deepEqual(warnings.toSorted(), [
    `${nowhere} cannot be used: pages are kept in memory only`,
    `${nowhere}-text cannot be used: pages without gzip are read from the store, and compressed blocks stay in memory`,
  ]);
});

test(
  'compressed blocks leave memory once the file of texts has them, and no damage to that file changes a page',
  { skip: !canBeFound },
  async (t) => {
    const { serve, write, path, warnings } = await market(t);
    const process = await serve();
    const { walk } = process;
    assert.equal(await walk(), LISTINGS);
    assert.equal(await walkUntilMoved(process), 0);
    assert.equal(await walk(), 0);
    await write('Property', house(50, { ListPrice: 5 }));
    assert.equal(isFew(await walkUntilMoved(process)), true, 'a changed record');
    const descriptor = descriptorOf(t, `${path}-text`);
    const { size } = fstatSync(descriptor);
    writeSync(descriptor, Buffer.alloc(size, ' '), 0, size, 0);
    assert.equal(await walk(), 0, 'the file of compressed blocks has them, too');
    assert.deepEqual(warnings, [`${path}-text was damaged: the damaged texts are read from the store`]);
    assert.equal(await walkUntilMoved(process), 0);
  },
);

test('a block that cannot be compressed fails the requests that await it, and nothing else', async (t) => {
  let failures = 0;
  let isFailing = false;
  const failing = async (): Promise<never> => {
    failures++;
    await setImmediate();
    throw new Error('no memory');
  };
  const { serve, write, get, key } = await market(t);
  const process = await serve({
    altered(page) {
      if (!isFailing) return page;
      const parts = page.parts.map((part) =>
        typeof part === 'number' ? part : { ...part, deflated: failing() },
      );
      return { ...page, parts };
    },
  });
  const asked = { token: await key('replication'), headers: { 'accept-encoding': 'gzip' } };
  const page = (size: number) =>
    get('replication', `${process.root}/Reso/OData/Property?$top=${size}`, asked);
  assert.equal((await page(2 * BLOCK)).status, 200);
  await write('Property', house(5, { ListPrice: 5 }));
  isFailing = true;
  // A kept block has changed, so the page is read again, and nobody awaits the block that was read first.
  assert.equal((await page(3 * BLOCK)).status, 500);
  assert.equal(failures, 3);
  isFailing = false;
  assert.equal(await process.walk(), LISTINGS - BLOCK);
});

test('a file that could not be written is tried again after ten minutes, without what is outdated by then', (t) => {
  const path = temporaryFile('.db-pages');
  const now = { milliseconds: 0 };
  const warnings: string[] = [];
  const file = new BlockCacheFile({
    ...{ path, identity: '', bytes: 2 ** 20 },
    warn: (message) => warnings.push(message),
    now: () => now.milliseconds,
  });
  t.after(() => file.close());
  const list = { id: 'list', resource: 'Property', linked: [] };
  const state = (position: number) => ({ stamp: 'stamp', position, commit: `c${position}` });
  const write = (position: number, after: string, last: string): void => {
    file.queueBlock(
      list,
      { after, last, rows: 0, lastKey: '', links: new Uint32Array(), deflated: undefined },
      () => true,
    );
    file.writeSome(state(position));
  };
  const found = (position: number) =>
    file
      .find(state(position), list, { from: '', limit: 9 }, () => false)
      ?.blocks.map(({ after, last }) => `${after}-${last}`);
  const refusal = [`${path} cannot be used: pages are kept in memory only`];
  write(1, '', 'b');
  assert.deepEqual([found(1), warnings], [['-b'], []]);
  // Something that is not a file of plat lies at the path for some time.
  renameSync(path, `${path}-aside`);
  writeFileSync(path, 'the content of another program');
  write(1, 'b', 'd');
  rmSync(path);
  renameSync(`${path}-aside`, path);
  assert.deepEqual([found(1), warnings], [undefined, refusal]);
  now.milliseconds = 10 * 60_000;
  // What changed at position 2 was not noted.
  assert.equal(found(2), undefined);
  write(2, '', 'f');
  write(2, 'f', 'h');
  write(2, 'h', 'j');
  assert.deepEqual([found(2), warnings], [['-f', 'f-h', 'h-j'], refusal]);
});

test('a missing folder is created with access for its owner only', async (t) => {
  const folder = temporaryFile('');
  const { serve, path } = await market(t, join(folder, 'deep', 'x-pages'));
  await (await serve()).walk();
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.ok(existsSync(path));
});

test('a lock on the file by another process delays no page, and pending blocks are written later', async (t) => {
  const { serve, path, write } = await market(t);
  const first = await serve();
  await first.walk();
  const other = new DatabaseSync(path);
  t.after(() => other.close());
  other.exec('BEGIN EXCLUSIVE');
  await write('Property', house(3, { ListPrice: 9 }));
  assert.ok(isFew(await first.walk(), BLOCK));
  assert.equal(await first.walk(), 0);
  other.exec('COMMIT');
  await first.close();
  assert.equal(await (await serve()).walk(), 0, 'the pending blocks were written');
});

test('when the file is full, the oldest blocks are removed, and the file keeps to its limit', async (t) => {
  const { serve, path, write } = await market(t);
  const random = makeRandom(3);
  // Random texts hardly compress.
  const noise = (): string => Array.from({ length: 300 }, () => random.between(0, 1e9).toString(36)).join('');
  const houses = (price: number): Json[] =>
    Array.from({ length: LISTINGS }, (_, index) =>
      house(index, { ListPrice: price, PublicRemarks: noise() }),
    );
  await write('Property', ...houses(1));
  const before = await serve();
  await before.walk();
  await before.close();
  const bytes = statSync(path).size;
  const limit = Math.ceil(bytes / 2);
  const small = await serve({ fileMegabytes: limit / 1024 / 1024 });
  for (let round = 0; round < 4; round++) {
    await write('Property', ...houses(round + 2));
    await small.walk();
  }
  await small.close();
  assert.ok(statSync(path).size <= limit * 1.25 + 1024 * 1024, `${statSync(path).size} bytes`);
  const database = new DatabaseSync(path);
  const kept = database.prepare('SELECT count(*) AS count, min(ends) AS first FROM heads').get();
  database.close();
  assert.ok(Number(kept?.count) > 0 && Number(kept?.count) < LISTINGS / BLOCK, JSON.stringify(kept));
});

test('a corrupted file of blocks never changes a page, and is recreated', async (t) => {
  const random = makeRandom(7);
  const { serve, path, warnings, write } = await market(t);
  const full = process.env.PLAT_FULL === '1';
  await (await serve()).walk();
  for (let round = 0; round < (full ? 200 : 12); round++) {
    const before = await serve();
    await before.walk();
    await before.close();
    const bytes = readFileSync(path);
    for (let flips = random.between(1, 40); flips > 0; flips--) {
      // Half of the flips are in the first pages, which have the tables, rather than in the middle of a block.
      const most = random.chance(0.5) ? Math.min(bytes.length, 60_000) : bytes.length;
      const at = random.between(0, most - 1);
      if (at >= 68 && at < 72) continue;
      bytes[at] = (bytes[at] ?? 0) ^ random.between(1, 255);
    }
    writeFileSync(path, random.chance(0.2) ? bytes.subarray(0, random.between(80, bytes.length)) : bytes);
    if (random.chance(0.5))
      await write('Property', house(random.between(0, LISTINGS - 1), { ListPrice: round + 2 }));
    if (random.chance(0.3)) await write('Office', office('O1', { OfficeName: `Round ${round}` }));
    const after = await serve();
    await after.walk(); // compares every page
    await after.close();
  }
  assert.ok(
    warnings.some((warning) => warning === `${path} was damaged and is being recreated`),
    warnings.join('\n'),
  );
});
