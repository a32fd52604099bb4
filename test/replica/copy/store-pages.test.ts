/** The transactions in which the pages of a walk are stored. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Checkpoint } from '../../../src/replica/checkpoint/checkpoint.ts';
import type { Copy } from '../../../src/replica/copy/copy.ts';
import { type ReadyPage, storePages } from '../../../src/replica/copy/store-page.ts';
import { ChangesRolledBack } from '../../../src/store/checkpoint/checkpoints.ts';
import type { Store } from '../../../src/store/store.ts';
import { listing } from '../../support/builders.ts';
import { testClock } from '../../support/clock.ts';
import type { Scope } from '../../support/engine.ts';
import { sqliteEngine } from '../../support/sqlite-engine.ts';
import { makeWorld } from '../../support/world.ts';
import { replaced } from '../simulation/replaced.ts';
import { keysUpTo, listings } from '../support/feed.ts';
import { odataServer } from '../support/odata-server.ts';
import { makeReplica } from '../support/replica.ts';
import { virtualTime } from '../support/virtual-clock.ts';

const STEP = { resource: 'Property', step: 'initial' } as const;

/** A copy whose download has begun, and the log of what was reported about its pages. */
async function scene(scope: Scope) {
  const world = await makeWorld(sqliteEngine(), scope, { settings: { owner: 'replica' } });
  const { store, clock } = world;
  const checkpoint = await Checkpoint.open({ store, source: 'feed' });
  const begin = { kind: 'begin', since: '2026-06-01T00:00:00Z' } as const;
  // Every field of the pages is in use.
  const first = await world.parse('Property', listing('0'));
  const records = [{ resource: 'Property', records: [first] }];
  await checkpoint.commit({ records, load: { resource: 'Property', event: begin } });
  const log: string[] = [];
  const stop = new AbortController();
  const copy: Pick<Copy, 'checkpoint' | 'environment' | 'report' | 'signal'> = {
    checkpoint,
    environment: {
      clock: virtualTime(clock).clock,
      random: () => 0.5,
      transport: () => Promise.reject(new Error('no network')),
    },
    report: ({ kind }) => void log.push(kind),
    signal: stop.signal,
  };
  const page = async (key: string, fields = {}): Promise<ReadyPage> => {
    const records = [
      { resource: 'Property', records: [await world.parse('Property', listing(key, fields))] },
    ];
    const event = { kind: 'page', next: { kind: 'token', token: key }, rows: 1 } as const;
    return {
      records,
      remove: [],
      change: () => ({ records, load: { resource: 'Property', event } }),
      report: (rejected) => void log.push([key, ...rejected.map((each) => `-${each.key}`)].join('')),
    };
  };
  /** Where the stored checkpoint, and that of this process, continue. */
  const position = async () => {
    const stored = await Checkpoint.open({ store, source: 'feed' });
    const of = (each: Checkpoint): unknown => {
      const load = each.load('Property');
      return load.kind === 'initial' && load.position?.kind === 'token' ? load.position.token : undefined;
    };
    return [of(stored), of(checkpoint)];
  };
  return { world, copy, log, page, position, stop };
}

async function* arrived(
  ...pages: readonly (ReadyPage | Promise<ReadyPage>)[]
): AsyncGenerator<ReadyPage, void> {
  yield* pages;
}

/** A store that rolls back one of its transactions of several changes, when it has two. @param which counted from 1 */
function rollingBack(store: Store, which: number): Store {
  const { checkpoints } = store;
  let transactions = 0;
  return replaced(store, {
    checkpoints: {
      ...checkpoints,
      commitTogether: (source, lease, changes) => {
        const isBad = ++transactions === which;
        let calls = 0;
        return checkpoints.commitTogether(source, lease, {
          ...changes,
          next: (...given) => {
            if (isBad && ++calls > 2) throw new ChangesRolledBack(2);
            return changes.next(...given);
          },
        });
      },
    },
  });
}

test('pages that have arrived are stored in one transaction, and reported after it', async (t) => {
  const { world, copy, log, page, position } = await scene(t);
  await storePages(copy, STEP, arrived(page('A'), page('B'), page('C')), 0);
  assert.deepEqual(log, ['written', 'written', 'written', 'A', 'B', 'C']);
  assert.deepEqual(await position(), ['C', 'C']);
  assert.deepEqual(await world.keys('Property'), ['0', 'A', 'B', 'C']);
});

test('a transaction waits a tenth of a second for a page, and is committed without it', async (t) => {
  const { copy, log, page, position } = await scene(t);
  const late = Promise.withResolvers<void>();
  const slept: number[] = [];
  const { clock } = copy.environment;
  const sleep = async (milliseconds: number): Promise<void> => void slept.push(milliseconds);
  const environment = { ...copy.environment, clock: { ...clock, sleep } };
  const report: Copy['report'] = (event) => copy.report(event);
  async function* pages(): AsyncGenerator<ReadyPage, void> {
    const first = await page('A');
    yield {
      ...first,
      report: (rejected) => {
        first.report(rejected);
        late.resolve();
      },
    };
    await late.promise;
    yield page('B');
  }
  await storePages({ ...copy, environment, report }, STEP, pages(), 0);
  assert.deepEqual(log.slice(0, 3), ['written', 'A', 'written']);
  assert.equal(slept[0], 100);
  assert.deepEqual(await position(), ['B', 'B']);
});

test('pages that arrived before a request fails are stored', async (t) => {
  const { copy, log, page, position } = await scene(t);
  async function* pages(): AsyncGenerator<ReadyPage, void> {
    yield page('A');
    yield page('B');
    throw new Error('503');
  }
  await assert.rejects(storePages(copy, STEP, pages(), 0), /503/);
  assert.deepEqual(log, ['written', 'written', 'A', 'B']);
  assert.deepEqual(await position(), ['B', 'B']);
});

test('a process that is to end waits for no page', async (t) => {
  const { copy, log, page, position, stop } = await scene(t);
  const asked: string[] = [];
  async function* pages(): AsyncGenerator<ReadyPage, void> {
    yield page('A');
    asked.push(...log);
    throw new Error('stopped');
  }
  const report: Copy['report'] = (event) => {
    copy.report(event);
    stop.abort();
  };
  await assert.rejects(storePages({ ...copy, report }, STEP, pages(), 0), /stopped/);
  assert.deepEqual(asked, ['written', 'A'], 'the page was committed before the next one was awaited');
  assert.deepEqual(await position(), ['A', 'A']);
});

test('a page with deletions, or with a field that is not in use, gets a transaction of its own', async (t) => {
  const { world, copy, log, page, position } = await scene(t);
  const gone = [{ resource: 'Property', keys: ['0'] }];
  const b = await page('B');
  const deleting = { ...b, remove: gone, change: () => ({ ...b.change(), remove: gone }) };
  await storePages(copy, STEP, arrived(page('A'), deleting, page('C'), page('D', { City: 'Oslo' })), 0);
  assert.deepEqual(log, ['written', 'A', 'B', 'written', 'C', 'D']);
  assert.deepEqual(await position(), ['D', 'D']);
  assert.deepEqual(await world.keys('Property'), ['A', 'B', 'C', 'D']);
});

test('as many pages as requested are stored alone', async (t) => {
  const { copy, log, page } = await scene(t);
  await storePages(copy, STEP, arrived(page('A'), page('B'), page('C'), page('D')), 2);
  assert.deepEqual(log, ['A', 'B', 'written', 'written', 'C', 'D']);
});

test('after a rollback, the checkpoint of the process is that of the store again', async (t) => {
  const { world, copy, log, page, position } = await scene(t);
  await storePages(copy, STEP, arrived(page('A')), 0);
  log.length = 0;
  const store = rollingBack(world.store, 1);
  const checkpoint = await Checkpoint.open({ store, source: 'feed' });
  await assert.rejects(
    storePages({ ...copy, checkpoint }, STEP, arrived(page('B'), page('C'), page('D')), 0),
    ChangesRolledBack,
  );
  assert.deepEqual(log, ['written']);
  assert.deepEqual(await position(), ['A', 'A']);
  const load = checkpoint.load('Property');
  assert.deepEqual(load.kind === 'initial' && load.position, { kind: 'token', token: 'A' });
  assert.deepEqual(await world.keys('Property'), ['0', 'A']);
});

test('a download continues at its last stored page after a rollback, and stores the next pages alone', async (t) => {
  const clock = testClock();
  const server = await odataServer(t, clock, { Property: listings(20, clock) }, { page: 4 });
  const replica = await makeReplica(t, {
    ...{ from: server.root, interface: 'reso', clock, resources: ['Property'] },
  });
  assert.equal(await replica.replicate({ store: rollingBack(replica.store, 1) }), 'done');
  assert.deepEqual(await replica.keys('Property'), keysUpTo(20));
});
