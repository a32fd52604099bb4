/** The log of a copy's last day in its store: windows, downloads, purges, retries and failures; and a retry beside a watch. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TroubleLog } from '../../src/replica/checkpoint/troubles.ts';
import {
  afterLoad,
  afterSweep,
  type WorkEntry,
  type WorkLog,
} from '../../src/replica/checkpoint/work-log.ts';
import { retryQuarantined } from '../../src/replica/quarantine.ts';
import { quarantinePage, replicaReport } from '../../src/replica/status.ts';
import { listing } from '../support/builders.ts';
import { postgresEngine } from '../support/postgres-engine.ts';
import { sqliteEngine } from '../support/sqlite-engine.ts';
import { platFeed, withFaults } from './support/plat-source.ts';

const MINUTE = 60_000;
const ENDED = /^(?:began|ended)$/;

/** An entry without its times, which other assertions check. */
const shown = (entry: WorkEntry): Partial<WorkEntry> =>
  Object.fromEntries(Object.entries(entry).filter(([name]) => !ENDED.test(name)));

/** The logs are rows of the store, so that both engines are tested. */
const ENGINES = [sqliteEngine(), ...(process.env.PLAT_FULL === '1' ? [postgresEngine()] : [])];

for (const engine of ENGINES) {
  test(`the store records downloads, windows and the results of purges: ${engine.name}`, async (t) => {
    const feed = await platFeed(t);
    const of = (key: string, City: string) => listing(key, { City });
    await feed.write('Property', of('L1', 'Here'), of('L2', 'Here'), of('L3', 'Here'));
    const replica = await feed.replica(t, 'reso', { resources: ['Property'], engine });
    feed.clock.advance(MINUTE);
    await replica.replicate();
    feed.clock.advance(MINUTE);
    await feed.write('Property', of('L2', 'There'));
    await feed.store.remove('Property', ['L1']);
    feed.clock.advance(MINUTE);
    await replica.replicate({ step: 'update' });
    await replica.replicate({ step: 'purge', purgeShare: 1 });
    const { sources } = await replicaReport(replica.store, feed.clock.now());
    const [source] = sources;
    // On a slower store an empty window follows the download at once.
    const log = (source?.log.Property ?? []).filter(({ work, rows }) => work !== 'window' || rows > 0);
    assert.deepEqual(
      log.map(({ work, rows, outcome }) => [work, rows, outcome]),
      [
        ['download', 3, 'done'],
        ['purge', 3, 'done'],
        ['window', 1, 'done'],
        ['purge', 2, 'done'],
      ],
    );
    const [, , window, purge] = log;
    assert.ok(window?.from !== undefined && window.to !== undefined && window.from < window.to);
    assert.equal(source?.collections[0]?.cursor, window.to);
    assert.ok(purge?.ended !== undefined && purge.ended >= purge.began);
    assert.deepEqual([purge.deleted, purge.removed], [1, [{ resource: 'Property', key: 'L1' }]]);
    assert.deepEqual(source?.collections[0]?.progress, []);
    assert.deepEqual(source?.lately, []);
  });

  test(`the store records retries, failures, and the progress of interrupted work: ${engine.name}`, async (t) => {
    const feed = await platFeed(t);
    await feed.write('Property', ...Array.from({ length: 30 }, (_, at) => listing(`L${at}`)));
    let isOut = false;
    const replica = await feed.replica(t, 'reso', {
      resources: ['Property'],
      engine,
      between: withFaults((url) => (isOut && url.includes('$skiptoken') ? 'busy' : 'pass')),
    });
    isOut = true;
    await assert.rejects(replica.replicate({ pageSize: 10 }), { name: 'RequestFailure' });
    const { sources } = await replicaReport(replica.store, feed.clock.now());
    const [source] = sources;
    const lately = source?.lately ?? [];
    const retries = replica.reported('retry').length;
    assert.ok(retries > 0);
    assert.equal(
      lately.filter(({ kind }) => kind === 'retry').reduce((sum, { times }) => sum + times, 0),
      retries,
    );
    assert.deepEqual(lately.at(-1)?.kind, 'failed');
    assert.deepEqual(source?.log.Property?.map(shown), [
      { work: 'download', outcome: 'open', rows: 0, again: 0 },
    ]);
    assert.deepEqual(
      source?.collections.map(({ state, progress }) => [
        state,
        progress.map(({ work, done }) => [work, done]),
      ]),
      [['initial', [['download', 10]]]],
    );
  });

  test(`errors with any text are logged, by several processes at once: ${engine.name}`, async (t) => {
    const feed = await platFeed(t);
    await feed.write('Property', listing('L1'));
    const { store, replicate } = await feed.replica(t, 'reso', { resources: ['Property'], engine });
    await replicate();
    const logs = [1, 2, 3].map(() => new TroubleLog(store, 'feed', feed.clock));
    // A text whose limit lies inside a character, a NUL, and characters that JSON must escape.
    const reasons = [`${'x'.repeat(299)}\u{1f3e0}`, 'nul \u0000 in it', '"\\<script>'];
    for (const log of logs) for (const reason of reasons) log.record({ kind: 'doubt', reason });
    await Promise.all(logs.map((log) => log.idle()));
    const { sources } = await replicaReport(store, feed.clock.now());
    const noted = (sources[0]?.lately ?? []).map(({ reason, times }) => [reason.slice(0, 300), times]);
    assert.deepEqual(noted.toSorted(), reasons.map((reason) => [reason.slice(0, 300), 3]).toSorted());
  });
}

test('a first contact that fails leaves no source in the store', async (t) => {
  const feed = await platFeed(t);
  const replica = await feed.replica(t, 'reso', { between: withFaults(() => 'cut') });
  await assert.rejects(replica.replicate());
  assert.deepEqual(await replica.store.checkpoints.sources(), []);
});

test('a log that is damaged is restarted, and the work continues', async (t) => {
  const feed = await platFeed(t);
  await feed.write('Property', listing('L1'));
  const replica = await feed.replica(t, 'reso', { resources: ['Property'] });
  await replica.replicate();
  for (const name of ['log Property', 'lately'])
    await replica.store.checkpoints.exchange('feed', name, () => [{ odd: true }]);
  feed.clock.advance(MINUTE);
  await replica.replicate({ step: 'update' });
  const { sources } = await replicaReport(replica.store, feed.clock.now());
  assert.deepEqual(
    sources[0]?.log.Property?.map(({ work }) => work),
    ['window'],
  );
});

test('while another process holds the source, a retry only requests that this process fetch the record again', async (t) => {
  const feed = await platFeed(t);
  await feed.write('Property', listing('L1'), listing('L2'));
  const replica = await feed.replica(t, 'reso', { resources: ['Property'] });
  await replica.replicate();
  const { checkpoints } = replica.store;
  const entry = { resource: 'Property', reason: 'odd', payload: JSON.stringify({ ListingKey: 'L1' }) };
  await checkpoints.commit('feed', {
    quarantine: [
      { ...entry, key: 'L1' },
      { ...entry, key: 'L2', payload: '{"ListingKey":"L2"}' },
    ],
  });
  const now = feed.clock.now();
  await checkpoints.lease('feed', { holder: 'other', now, until: now + MINUTE });
  const { clock } = feed;
  const request = { source: 'feed', only: { resource: 'Property', key: 'L1' }, clock };
  await assert.rejects(retryQuarantined(replica.store, request), { code: 'failed' });
  const retried = await retryQuarantined(replica.store, { ...request, beside: true });
  assert.deepEqual(retried, { stored: 0, wanted: 1, gone: 0, still: [] });
  assert.deepEqual(await checkpoints.pending('feed', 'Property', 'record', '', 9), ['L1']);
  const page = await quarantinePage(replica.store, { source: 'feed', skip: 1, limit: 1 });
  assert.deepEqual([page.total, page.entries.map(({ key, attempts }) => [key, attempts])], [2, [['L2', 1]]]);
  assert.equal((await checkpoints.leaseHolder('feed'))?.holder, 'other');
});

test('a log is bounded: older entries are combined into one for each ten minutes, and removed after a day', () => {
  let log: WorkLog = [];
  let now = 0;
  const window = (rows: number): void => {
    log = afterLoad(log, { kind: 'current', cursor: `c${now}` }, { kind: 'window', upper: `u${now}` }, now);
    const updating = { kind: 'updating', cursor: 'c', upper: 'u', pass: 0, rows } as const;
    log = afterLoad(log, updating, { kind: 'end', fills: false, rows: 1 }, now + 500);
    now += 10_000;
  };
  for (let count = 0; count < 8640; count++) window(1);
  assert.ok(log.length <= 144 + 62, String(log.length));
  const total = log.reduce((sum, { rows }) => sum + rows, 0);
  assert.ok(total > 2 * (8640 - 70) && total <= 2 * 8640, String(total));
  const [oldest] = log;
  assert.deepEqual(
    [oldest?.rows, oldest?.times, oldest?.took, oldest?.from, oldest?.to],
    [120, 60, 30_000, 'c0', 'u590000'],
  );
  assert.deepEqual([log.at(-1)?.rows, log.at(-1)?.times], [2, undefined]);
  assert.ok(JSON.stringify(log).length < 40_000, String(JSON.stringify(log).length));
  now += 2 * 24 * 3_600_000;
  window(0);
  assert.equal(log.length, 1);
  const sweep = { kind: 'walking', sweep: 1, base: 1, begun: 'B', keys: 9, digest: '', round: 1 } as const;
  log = afterSweep(log, { kind: 'idle', sweep: 0 }, { kind: 'begin', at: 'B' }, { now });
  log = afterSweep(log, sweep, { kind: 'end', keys: 1 }, { now });
  const deleting = { kind: 'deleting', sweep: 1, base: 1, begun: 'B', keys: 10, deleted: 0 } as const;
  log = afterSweep(log, deleting, { kind: 'guard', rows: 7, of: 9 }, { now: now + 1 });
  assert.deepEqual(log.at(-1), {
    ...{ work: 'purge', began: now, outcome: 'guarded', rows: 10, again: 0, deleted: 7, ended: now + 1 },
  });
});
