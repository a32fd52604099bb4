/**
 * Uncompressed pages from the file of texts are byte for byte the pages read from the store, on both interfaces, and after each
 * kind of change the records concerned are read again.
 */
import assert from 'node:assert/strict';
import { fstatSync, writeSync } from 'node:fs';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { brotliDecompressSync } from 'node:zlib';
import { pino } from 'pino';
import { BUILT_IN_ACCESS } from '../../../src/access/index.ts';
import { SERVICE_DEFAULTS } from '../../../src/service/options.ts';
import { startService } from '../../../src/service/service.ts';
import type { Store } from '../../../src/store/store.ts';
import { listing, member, office, photo } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import { type Engine, isLeftToSqlite, type Scope } from '../../support/engine.ts';
import { startTestService } from '../../support/service.ts';
import { temporaryFile } from '../../support/temporary.ts';
import { type Json, operations } from '../../support/world.ts';
import { canBeFound, descriptorOf } from './unlinked-file.ts';

const LISTINGS = 200;
/** The maximum number of records in a block. */
const BLOCK = 32;
const DAY = 86_400_000;
/** The maximum number of walks until all texts are written, since a page whose texts are being written is read from the store. */
const MOST_WALKS = 50;

/** Long, so that pages are not kept as a whole as small responses are. */
const house = (index: number, more: Json = {}): Json =>
  listing(`L${1000 + index}`, {
    StandardStatus: 'Active',
    ListPrice: index + 1,
    ListOfficeKey: index < 100 ? 'O1' : 'O2',
    ListAgentKey: 'A1',
    PublicRemarks: `Żyżyn, house ${index}. `.repeat(200),
    ...more,
  });

/** The reads of a walk: records for blocks of texts, and pages that use no blocks. */
interface Walked {
  readonly records: number;
  readonly pages: number;
}

const PATHS = {
  reso: '/Reso/OData/Property?$top=100',
  native: '/v1/listings?_limit=100',
  expanded: '/Reso/OData/Property?$top=100&$expand=Media',
  smaller: '/Reso/OData/Property?$top=70',
  smallest: '/Reso/OData/Property?$top=64',
} as const;

/** A store, a service without caches, and a function that starts processes that serve the store with a file of texts. */
async function market(t: Scope, engine: Engine) {
  const clock = testClock('2026-05-30T12:00:00Z');
  const world = await startTestService(t, {
    engine,
    clock,
    fill: async ({ write }) => {
      await write('Office', office('O1'), office('O2'));
      await write('Member', member('A1'));
      await write('Property', ...Array.from({ length: LISTINGS }, (_, index) => house(index)));
    },
    service: { keptPages: { megabytes: 0 } },
  });
  const tokens = {
    private: await world.key('replication', { role: 'private' }),
    idx: await world.key('replication', { role: 'idx' }),
  };
  const warnings: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(JSON.parse(line).msg) });
  const path = temporaryFile('.db-pages');
  /** Bodies from the store: those not yet released, and all. */
  const bodies = { unreleased: 0, total: 0 };
  /** The most records that a read returned which was said to be small. */
  const small = { most: 0 };
  const serve = async ({ of = world.store, megabytes = 8 }: { of?: Store; megabytes?: number } = {}) => {
    const read = { records: 0, pages: 0 };
    const noting: Store = Object.assign(Object.create(of), {
      blocks: async (...given: Parameters<Store['blocks']>) => {
        const page = await of.blocks(...given);
        const rows = page.parts.reduce<number>(
          (sum, part) => sum + (typeof part === 'number' ? 0 : part.rows),
          0,
        );
        read.records += rows;
        if (given[0].isSmall) small.most = Math.max(small.most, rows);
        const { release } = page;
        if (release === undefined) return page;
        bodies.unreleased++;
        bodies.total++;
        return {
          ...page,
          release: () => {
            bodies.unreleased--;
            release();
          },
        };
      },
      page: (...given: Parameters<Store['page']>) => {
        read.pages++;
        return of.page(...given);
      },
    });
    const service = await startService(
      {
        ...{ ...SERVICE_DEFAULTS, store: noting, clock, log },
        keptPages: { megabytes: 8, file: { path, identity: '', megabytes } },
      },
      {
        host: '127.0.0.1',
        adminHost: '127.0.0.1',
        ports: { api: 0, replication: 0, floorplans: 0, admin: 0 },
      },
    );
    const base = service.addresses.replication;
    const elsewhere = world.addresses.replication;
    /** Walks all listings and compares each page with the one of the service without caches. */
    const walk = async (
      kind: keyof typeof PATHS = 'reso',
      role: keyof typeof tokens = 'private',
      headers: Record<string, string> = {},
    ): Promise<Walked> => {
      Object.assign(read, { records: 0, pages: 0 });
      const token = tokens[role];
      for (let at: string | undefined = PATHS[kind]; at !== undefined; ) {
        const expected = await world.get('replication', `${elsewhere}${at}`, { token });
        const answer = await world.get('replication', `${base}${at}`, { token, headers });
        assert.equal(answer.status, 200, answer.text);
        const isBrotli = answer.headers['content-encoding'] === 'br';
        const text = isBrotli ? brotliDecompressSync(answer.bytes).toString() : answer.text;
        // Texts count as kept once they have been written, after the response.
        while (bodies.unreleased > 0) await setImmediate();
        assert.equal(text, expected.text.replaceAll(elsewhere, base), at);
        const { '@odata.nextLink': next, D }: { '@odata.nextLink'?: string; D?: Json } = JSON.parse(text);
        const isEnd = !Array.isArray(D?.Results) || D.Results.length === 0;
        const token_ = encodeURIComponent(String(D?.SkipToken));
        at = next?.replace(base, '') ?? (isEnd ? undefined : `${PATHS.native}&_skiptoken=${token_}`);
      }
      return { ...read };
    };
    /** Walks until a walk reads nothing. @returns the number of records that were read for texts */
    const walkUntilKept = async (...asked: Parameters<typeof walk>): Promise<number> => {
      let records = 0;
      for (let walks = 0; walks < MOST_WALKS; walks++) {
        const walked = await walk(...asked);
        records += walked.records;
        // The end of a native walk is an empty page.
        if (walked.records === 0 && walked.pages === 0) return records;
      }
      return assert.fail(`each of ${MOST_WALKS} walks reads something`);
    };
    let isClosed = false;
    const close = async (): Promise<void> => {
      if (!isClosed) await service.close();
      isClosed = true;
    };
    t.after(close);
    const ask = async (at: string, headers: Record<string, string> = {}) => {
      const asked = { token: tokens.private, headers };
      const { status, headers: made } = await world.get('replication', `${base}${at}`, asked);
      return { status, etag: String(made.etag) };
    };
    /** Whether a record has been returned from the cache. */
    const hasKept = async (): Promise<boolean> => {
      const { text } = await world.get('admin', `${service.addresses.admin}/metrics`);
      return /^plat_kept_answers_total\{of="record"\} [1-9]/m.test(text);
    };
    return { walk, walkUntilKept, ask, hasKept, close };
  };
  return { ...world, clock, path, warnings, bodies, small, serve };
}

export function textsContract(engine: Engine): void {
  test(`${engine.name}: while the file has room, a page is written at its first request, and then read from the file`, async (t) => {
    const { serve, warnings, bodies } = await market(t, engine);
    const { walk, close } = await serve();
    assert.deepEqual(await walk(), { records: LISTINGS, pages: 0 });
    assert.deepEqual(await walk(), { records: 0, pages: 0 });
    assert.deepEqual(await walk('reso', 'private', { 'accept-encoding': 'br' }), { records: 0, pages: 0 });
    for (const [kind, role] of [
      ['reso', 'idx'],
      ['native', 'private'],
      ['native', 'idx'],
    ] as const) {
      assert.deepEqual(await walk(kind, role), { records: LISTINGS, pages: 0 }, `${kind}, ${role}`);
      assert.deepEqual(await walk(kind, role), { records: 0, pages: 0 }, `${kind}, ${role}, again`);
    }
    assert.deepEqual(await walk(), { records: 0, pages: 0 });
    assert.ok(bodies.total > 0, 'no body was counted');
    await close();
    assert.deepEqual(await (await serve()).walk(), { records: LISTINGS, pages: 0 }, 'a new process');
    assert.deepEqual(warnings, []);
  });

  test(
    `${engine.name}: once texts fill seven eighths of their room, pages are read from the store at their first request, and written at the second`,
    { skip: !canBeFound },
    async (t) => {
      if (isLeftToSqlite(engine, t)) return;
      const { serve, path, warnings } = await market(t, engine);
      const first = await serve();
      // The text of the last page, which is small, may be written only after its walk.
      await first.walkUntilKept('smallest');
      const { size } = fstatSync(descriptorOf(t, `${path}-text`));
      await first.close();
      const roomFor = (bytes: number) => ({ megabytes: bytes / 0.75 / 0.75 / 1024 / 1024 });
      const roomy = await serve(roomFor(1.11 * size));
      assert.deepEqual(
        await roomy.walk('smallest'),
        { records: LISTINGS, pages: 0 },
        'three pages fill 86 %',
      );
      assert.deepEqual(await roomy.walk('smallest'), { records: 0, pages: 0 });
      await roomy.close();
      // Three of four pages fill 91 % of the room.
      const { walk, walkUntilKept } = await serve(roomFor(1.05 * size));
      assert.deepEqual(await walk('smallest'), { records: 3 * 64, pages: 1 });
      assert.deepEqual(await walk('smallest'), { records: LISTINGS - 3 * 64, pages: 0 });
      assert.equal(await walkUntilKept('smallest'), 0);
      assert.deepEqual(await walk('smallest', 'idx'), { records: 0, pages: 4 }, 'a walk of another role');
      assert.deepEqual(warnings, []);
    },
  );

  test(`${engine.name}: pages that begin elsewhere than earlier ones are read from the file as well`, async (t) => {
    const { serve, write, store } = await market(t, engine);
    const { walk, walkUntilKept } = await serve();
    assert.equal(await walkUntilKept(), LISTINGS);
    const { pages, records } = await walk('smaller');
    assert.equal(pages, 0, 'pages of another size');
    assert.ok(records < LISTINGS / 2, `${records}: only parts of blocks`);
    await write('Property', { ...house(3), ListingKey: 'L1003a' });
    // Both pages then end within blocks, of which they read parts.
    const afterInsert = await walk();
    assert.equal(afterInsert.pages, 0, 'after a record was added');
    assert.ok(afterInsert.records <= 4 * BLOCK, `${afterInsert.records}`);
    await store.remove('Property', ['L1003a', 'L1004', 'L1005']);
    const afterRemoval = await walk();
    assert.equal(afterRemoval.pages, 0, 'after records were removed');
    assert.ok(afterRemoval.records <= 4 * BLOCK, `${afterRemoval.records}`);
    assert.deepEqual(await walk('smaller', 'idx'), { records: LISTINGS + 1 - 3, pages: 0 }, 'another role');
  });

  test(`${engine.name}: a page is not small because the page behind it is kept`, async (t) => {
    const { serve, small, bodies } = await market(t, engine);
    const { ask } = await serve();
    const behind = `${PATHS.reso}&$skiptoken=L1099`;
    for (const path of [behind, behind, PATHS.reso]) await ask(path);
    while (bodies.unreleased > 0) await setImmediate();
    await ask(PATHS.reso);
    assert.equal(bodies.total, 2, 'both pages were read as blocks');
    assert.equal(small.most, 0);
  });

  test(
    `${engine.name}: a large page with media is kept as a whole from its second request on, until it changes`,
    { skip: !canBeFound },
    async (t) => {
      const { serve, write, path, warnings } = await market(t, engine);
      await write('Property', house(5, { Media: [photo('M5')] }));
      const { walk } = await serve();
      /** Walks until nothing is read. @returns the pages that were read in the first walk */
      const pagesRead = async (): Promise<number> => {
        const { pages } = await walk('expanded');
        for (let walks = 0; walks < MOST_WALKS; walks++) {
          if ((await walk('expanded')).pages === 0) return pages;
        }
        return assert.fail(`a page is read in each of ${MOST_WALKS} walks`);
      };
      assert.deepEqual(await walk('expanded'), { records: 0, pages: 2 });
      assert.equal(await pagesRead(), 2);
      await walk();
      const isBrotli = { 'accept-encoding': 'br' };
      assert.deepEqual(await walk('expanded', 'private', isBrotli), { records: 0, pages: 0 });
      assert.deepEqual(await walk('expanded', 'idx'), { records: 0, pages: 2 }, 'another role');
      await write('Property', house(50, { ListPrice: 5 }));
      assert.equal(await pagesRead(), 1, 'a listing');
      await write('Property', house(5, { Media: [photo('M5'), photo('M6')] }));
      assert.equal(await pagesRead(), 2, 'a photo');
      const descriptor = descriptorOf(t, path);
      const { size } = fstatSync(descriptor);
      writeSync(descriptor, Buffer.alloc(size, ' '), 0, size, 0);
      assert.equal(await pagesRead(), 2, 'a damaged file');
      assert.deepEqual(warnings, [`${path}-text was damaged: the damaged texts are read from the store`]);
    },
  );

  test(
    `${engine.name}: a client that has a large response already gets 304 without a read of the file`,
    { skip: !canBeFound },
    async (t) => {
      const { serve, write, path, warnings } = await market(t, engine);
      const photos = Array.from({ length: 600 }, (_, index) =>
        photo(`M${index}`, { LongDescription: 'A view of the sea. '.repeat(30) }),
      );
      await write('Property', house(5, { Media: photos }));
      const { ask, hasKept } = await serve();
      const record = "/Reso/OData/Property('L1005')?$expand=Media";
      const { etag } = await ask(record);
      while (!(await hasKept())) await ask(record);
      const descriptor = descriptorOf(t, path);
      const { size } = fstatSync(descriptor);
      writeSync(descriptor, Buffer.alloc(size, ' '), 0, size, 0);
      assert.equal((await ask(record, { 'if-none-match': etag })).status, 304);
      assert.deepEqual(warnings, []);
      assert.equal((await ask(record, { 'if-none-match': 'W/"other"' })).status, 200);
      assert.deepEqual(warnings, [`${path}-text was damaged: the damaged texts are read from the store`]);
    },
  );

  test(`${engine.name}: large responses to varied requests leave room in the file for pages of blocks`, async (t) => {
    const { serve } = await market(t, engine);
    const { walk, walkUntilKept } = await serve({ megabytes: 4 });
    for (let each = 1; each <= 9; each++) {
      for (let walks = 0; walks < 3; walks++) {
        await walk('expanded', 'private', { accept: `application/json;q=0.${each}` });
      }
    }
    assert.equal(await walkUntilKept(), LISTINGS);
  });

  test(`${engine.name}: after a change, every process reads the records concerned again: one, those of an office, or all`, async (t) => {
    const { serve, write, store, clock, again } = await market(t, engine);
    const elsewhere = operations(await again(), clock);
    const processes = [await serve(), await serve()];
    const readAgain = async (): Promise<readonly number[]> => {
      const counts: number[] = [];
      for (const { walkUntilKept } of processes) counts.push(await walkUntilKept());
      return counts;
    };
    assert.deepEqual(await readAgain(), [LISTINGS, LISTINGS]);
    const setIdxRule = (rule: string) =>
      store.configure((settings) => ({
        ...settings,
        access: {
          ...BUILT_IN_ACCESS,
          roles: BUILT_IN_ACCESS.roles.map((role) =>
            role.name === 'idx' && role.resources !== 'all'
              ? { ...role, resources: { ...role.resources, Property: rule } }
              : role,
          ),
        },
      }));
    const few: readonly [string, () => Promise<unknown>][] = [
      ['a changed record', () => write('Property', house(50, { ListPrice: 5 }))],
      ['a record changed by another process', () => elsewhere.write('Property', house(20, { ListPrice: 6 }))],
      // Where the limits of pages move, each page reads parts of blocks.
      [
        'a record replaced by another',
        async () => {
          await store.remove('Property', ['L1070']);
          await write('Property', { ...house(70), ListingKey: 'L1070a' });
        },
      ],
    ];
    for (const [what, change] of few) {
      await change();
      for (const count of await readAgain()) assert.ok(count > 0 && count <= 2 * BLOCK, `${what}: ${count}`);
    }
    await write('Office', office('O2', { OfficeName: 'Renamed' }));
    for (const count of await readAgain())
      assert.ok(count >= 99 && count <= 100 + BLOCK, `an office: ${count}`);
    const all: readonly [string, () => Promise<unknown>][] = [
      ['a repair', () => store.mend(undefined)],
      ['another epoch', () => store.beginEpoch({})],
      ['other roles', () => setIdxRule('ListPrice gt 120')],
      ['another day', async () => clock.advance(DAY)],
    ];
    for (const [what, change] of all) {
      await change();
      for (const count of await readAgain()) assert.ok(count >= LISTINGS / 2, `${what}: ${count}`);
    }
    const [first] = processes;
    assert.equal(await first?.walkUntilKept('reso', 'idx'), LISTINGS - 120);
    await setIdxRule('ListPrice gt 60');
    assert.equal(await first?.walkUntilKept('reso', 'idx'), LISTINGS - 60, 'a role that sees more');
  });

  test(
    `${engine.name}: damage to a file of texts in use changes no page`,
    { skip: !canBeFound },
    async (t) => {
      if (isLeftToSqlite(engine, t)) return;
      const { serve, path, warnings } = await market(t, engine);
      const { walk, walkUntilKept } = await serve();
      await walkUntilKept();
      const descriptor = descriptorOf(t, `${path}-text`);
      const middle = Math.floor(fstatSync(descriptor).size / 2);
      writeSync(descriptor, Buffer.alloc(40_000, ' '), 0, 40_000, middle);
      assert.notEqual((await walk()).records, 0);
      assert.equal((await walkUntilKept()) <= LISTINGS, true);
      assert.deepEqual(warnings, [`${path}-text was damaged: the damaged texts are read from the store`]);
    },
  );

  test(`${engine.name}: the space of dropped texts is reused`, { skip: !canBeFound }, async (t) => {
    if (isLeftToSqlite(engine, t)) return;
    const { serve, write, store, path } = await market(t, engine);
    const { walkUntilKept } = await serve();
    assert.equal(await walkUntilKept(), LISTINGS);
    const descriptor = descriptorOf(t, `${path}-text`);
    const { size } = fstatSync(descriptor);
    for (let round = 1; round <= 4; round++) {
      const houses = Array.from({ length: LISTINGS }, (_, index) =>
        house(index, { ListPrice: 1000 + round }),
      );
      await write('Property', ...houses);
      assert.equal(await walkUntilKept(), LISTINGS);
      await store.mend(undefined);
      assert.equal(await walkUntilKept(), LISTINGS);
    }
    assert.ok(
      fstatSync(descriptor).size < 1.5 * size,
      `${fstatSync(descriptor).size} bytes, ${size} at first`,
    );
  });

  test(
    `${engine.name}: when the file of texts is full, further pages are read from the store`,
    { skip: !canBeFound },
    async (t) => {
      if (isLeftToSqlite(engine, t)) return;
      const { serve, path } = await market(t, engine);
      const first = await serve();
      await first.walkUntilKept();
      const { size } = fstatSync(descriptorOf(t, `${path}-text`));
      await first.close();
      // Three quarters of three quarters of this limit have room for one of the two pages.
      const { walk } = await serve({ megabytes: (0.51 * size) / 0.75 / 0.75 / 1024 / 1024 });
      let walked = await walk();
      for (let walks = 0; walks < MOST_WALKS && (walked.records > 0 || walked.pages !== 1); walks++) {
        walked = await walk();
      }
      assert.deepEqual(walked, { records: 0, pages: 1 });
      assert.deepEqual(await walk(), { records: 0, pages: 1 });
    },
  );
}
