/**
 * Every resource is released, whatever throws: each step of planning, reading, writing and ending throws once, in turn; afterwards
 * nothing is left acquired, and the same request succeeds. A step is a call of the dialect or of the engine's driver; each engine's
 * test says which.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, test } from 'node:test';
import { makeRandom } from '../../oracle/random.ts';
import { fillMarket, MARKET, marketListing } from '../../service/reso/market.ts';
import type { Engine } from '../../support/engine.ts';
import { temporaryFile } from '../../support/temporary.ts';
import { FILES, makeWorld, TIME, type World } from '../../support/world.ts';

/** The steps of an engine. */
export interface Steps {
  /** Makes the step with this number, counted from 1, throw this error; no later step throws. */
  arm(at: number, error: () => Error): void;
  /** No step throws from now on. @returns whether the step was reached */
  disarm(): boolean;
  /** Resolves when everything has been released, some of it after the response. @throws if something is not released */
  free(): Promise<void>;
}

type Work = (world: World, again: number) => Promise<unknown>;

async function take({ store, request }: World, options: string): Promise<void> {
  const page = await store.page(await request('Property', options), TIME);
  page.release?.();
}

/** A value that makes a page of the market larger than the memory that a page begins with. */
const LONG = `'${'x'.repeat(30_000)}'`;

/** Every kind of request to a store, by name. */
const WORKS: Readonly<Record<string, Work>> = {
  page: (world) => take(world, ''),
  'page with children': (world) => take(world, '$expand=Media'),
  'page whose memory grows': (world) => take(world, `$compute=${LONG} as Long`),
  'page with a filter': (world) =>
    take(
      world,
      "$filter=contains(City,'e') and Media/$count ge 0 and ListPrice gt 1&$orderby=ListPrice desc,City&$expand=Media($filter=Order gt 0),ListAgent&$compute=ListPrice add 1 as X",
    ),
  'page of a list': async ({ store, request }) => {
    const { query, shape } = await request('Property', '$orderby=City');
    const ids = await store.ids(query, TIME);
    const page = await store.listPage({ query, ids, limit: 5, shape, files: FILES }, TIME);
    page.release?.();
    assert.equal(page.rows, 5);
  },
  'merged page': async ({ store, request }) => {
    const [member, office] = [await request('Member'), await request('Office')];
    const sources = [member, office].map(({ query }) => ({ query, members: [] }));
    await store.mergedPage({ sources, skip: 0, limit: 10, files: FILES }, TIME);
  },
  record: async ({ record }) => assert.ok(await record('Property', '1001', '$expand=Media')),
  listing: async ({ listing }) =>
    assert.ok(await listing('1001', { expansions: ['Photos', 'CustomFields'] })),
  count: async ({ count }) => assert.equal(await count('Property', '$filter=ListPrice gt 1'), MARKET.length),
  'count of all': async ({ count }) => assert.equal(await count('Property'), MARKET.length),
  'position in a list': async ({ store, request }) => {
    const ids = await store.ids((await request('Property')).query, TIME);
    assert.equal(await store.positionAfter('Property', ids, '1002'), 2);
  },
  'file of a role': async ({ store }) => assert.equal(await store.showsFile('none.png', 'idx'), false),
  horizon: async ({ store }) => {
    await store.now();
    await store.horizon();
  },
  write: async ({ write }, again) => {
    const [row] = MARKET;
    assert.ok(row !== undefined);
    await write('Property', marketListing(row, { ListPrice: 1000 + again }));
  },
  'write of a field that is new': async ({ write }, again) => {
    const [row] = MARKET;
    assert.ok(row !== undefined);
    await write('Property', marketListing(row, { [again % 2 === 0 ? 'YearBuilt' : 'Stories']: 3 + again }));
  },
  remove: async ({ store }) => void (await store.remove('Property', ['nowhere', '6'])),
  configure: ({ store }, again) =>
    store.configure((settings) => ({ ...settings, timeZone: again % 2 === 0 ? 'Europe/Zurich' : 'UTC' })),
  contents: async ({ store }) => assert.equal((await store.contents('Property', { key: '1001' })).length, 1),
  export: async ({ store }) => {
    for await (const line of store.export('Property')) assert.ok(line.startsWith('{'));
  },
  'export that is not read': async ({ store }) => {
    for await (const line of store.export('Property')) return assert.ok(line.startsWith('{'));
  },
  backup: async ({ store }) => {
    const file = temporaryFile();
    try {
      await store.backup(file);
    } finally {
      rmSync(file, { force: true });
    }
  },
  status: ({ store }) => store.status(),
  keys: async ({ store }) => {
    await store.keys.list();
    await store.look('nothing');
    await store.keys.revoke('nothing', '2026-01-01T00:00:00Z');
  },
  checkpoints: async ({ store }, again) => {
    const now = Date.UTC(2026, 0, 1) + again;
    assert.equal(await store.checkpoints.lease('s', { holder: 'h', now, until: now + 1000 }), true);
    await store.checkpoints.exchange('s', 'x', () => again);
    await store.checkpoints.commit('s', {
      state: { y: again },
      seen: [{ resource: 'Property', keys: ['1'], sweep: 1 }],
    });
    await store.checkpoints.state('s');
    await store.checkpoints.unseen('s', 'Property', 1, '', 10);
    await store.checkpoints.deleteMarks('s', 'Property', 2);
    await store.checkpoints.releaseLease('s', 'h');
  },
};

/** An error like that of a broken connection, or one like a defect in the code. */
const ERRORS: readonly (() => Error)[] = [
  () => new Error('a step that was made to throw'),
  () => Object.assign(new Error('the connection was made to end'), { code: 'ECONNRESET', errcode: 10 }),
];

/** The share of steps that throw in `npm test`; all of them with `PLAT_FULL=1`. */
const SHARE = process.env.PLAT_FULL === '1' ? 1 : 0.12;

/** A backup has many steps, since it is read completely after it is written; fewer of them throw. */
const shareOf = (name: string): number => (name === 'backup' ? SHARE / 20 : SHARE);

export async function faultContract(engine: Engine, steps: Steps): Promise<void> {
  const world = await makeWorld(engine, { after });
  await fillMarket(world);
  let again = 0;
  for (const [name, work] of Object.entries(WORKS)) {
    test(`${engine.name}: ${name}: whichever step throws, everything is released`, async () => {
      const random = makeRandom(name.length);
      await work(world, again++); // what a process makes once is made
      await steps.free();
      for (let at = 1; ; at++) {
        if (at > 1 && !random.chance(shareOf(name))) {
          // Only the number of steps matters.
          if (at > 100_000) assert.fail('steps without end');
          continue;
        }
        const error = random.pick(ERRORS);
        steps.arm(at, error);
        const failure = await work(world, again++).then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        const hasCome = steps.disarm();
        await steps.free().catch((cause: unknown) => {
          throw new Error(`after step ${at} had thrown (${String(failure)})`, { cause });
        });
        await assert.doesNotReject(work(world, again++), `after step ${at} had thrown (${String(failure)})`);
        await steps.free();
        if (!hasCome) break;
      }
    });
  }
}
