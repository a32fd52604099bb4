/**
 * How far a copy lags behind a source that changes continuously: a service and the writer in one process, the watch of the copy in
 * another, as with `plat serve` and `plat replicate --watch`. The lag of a change is the time from its commit at the source to its
 * commit in the copy. `node bench/replica-lag.ts [--listings 5000] [--rate 100] [--seconds 30] [--by events|entity-event]`
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { openStore } from '../src/open-store.ts';
import { DEFAULT_SETTINGS } from '../src/records/settings.ts';
import { replicate } from '../src/replica/run/replicate.ts';
import { sourceStatus } from '../src/replica/status.ts';
import { SERVICE_DEFAULTS } from '../src/service/options.ts';
import { startService } from '../src/service/service.ts';
import { systemClock } from '../src/shared/clock.ts';
import { listing } from '../test/support/builders.ts';
import { makeKey } from '../test/support/service.ts';
import { temporaryFile } from '../test/support/temporary.ts';
import { operations } from '../test/support/world.ts';

const { values } = parseArgs({
  options: {
    listings: { type: 'string', default: '5000' },
    rate: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '30' },
    by: { type: 'string', default: 'events' },
    from: { type: 'string', default: '' },
    token: { type: 'string', default: '' },
  },
});
const [listings, rate, seconds] = [values.listings, values.rate, values.seconds].map(Number);
const ANY_PORT = { api: 0, replication: 0, floorplans: 0, admin: 0 };
const BATCH = 500;

/** Milliseconds since 1970, with fractions, by the clock that all processes of the machine share. */
const moment = (): number => performance.timeOrigin + performance.now();

/** The copy: reports when it is up to date, and the time of each commit of records. */
async function follow(): Promise<void> {
  const store = await openStore(temporaryFile(), { create: { ...DEFAULT_SETTINGS, owner: 'replica' } });
  const stop = new AbortController();
  process.once('disconnect', () => stop.abort());
  const { checkpoints } = store;
  const commit: typeof checkpoints.commit = async (source, change) => {
    const report = await checkpoints.commit(source, change);
    const done = moment();
    const prices = (change.records ?? []).flatMap(({ records }) =>
      records.map(({ values: { ListPrice: price } }) => Number(price)),
    );
    if (prices.length > 0) process.send?.({ prices, done });
    const status = await sourceStatus(store, source, Date.now());
    if (status.following?.level !== undefined && status.lastPurge !== undefined) process.send?.('level');
    return report;
  };
  const watched: typeof store = Object.create(store, { checkpoints: { value: { ...checkpoints, commit } } });
  await replicate({
    from: values.from,
    interface: 'reso',
    token: values.token,
    store: watched,
    resources: ['Property'],
    watch: true,
    follow: values.by === 'entity-event' ? 'entity-event' : 'events',
    signal: stop.signal,
  });
  await store.close();
}

async function measure(): Promise<void> {
  const store = await openStore(temporaryFile(), { create: DEFAULT_SETTINGS });
  const { write } = operations(store, { text: () => '' });
  const count = listings ?? 0;
  for (let at = 0; at < count; at += BATCH) {
    const some = Array.from({ length: Math.min(BATCH, count - at) }, (_, each) => listing(String(at + each)));
    await write('Property', ...some);
  }
  const service = await startService(
    { ...SERVICE_DEFAULTS, store, clock: systemClock, log: pino({ level: 'silent' }) },
    { host: '127.0.0.1', adminHost: '127.0.0.1', ports: ANY_PORT },
  );
  const token = await makeKey(store, 'replication');
  const from = `${service.addresses.replication}/Reso/OData`;
  const copy = fork(fileURLToPath(import.meta.url), ['--from', from, '--token', token, '--by', values.by]);
  const committed = new Map<number, number>();
  const late: number[] = [];
  const level = Promise.withResolvers<void>();
  copy.on('message', (told: 'level' | { readonly prices: readonly number[]; readonly done: number }) => {
    if (told === 'level') return level.resolve();
    for (const price of told.prices) {
      const begun = committed.get(price);
      if (begun !== undefined) late.push(told.done - begun);
      committed.delete(price);
    }
  });
  await level.promise;
  const apart = 1000 / (rate ?? 1);
  const changes = (rate ?? 1) * (seconds ?? 1);
  const begun = performance.now();
  for (let change = 1; change <= changes; change++) {
    const price = 1_000_000 + change;
    await write('Property', listing(String((change * 7919) % count), { ListPrice: price }));
    committed.set(price, moment());
    await setTimeout(Math.max(0, begun + change * apart - performance.now()));
  }
  const took = (performance.now() - begun) / 1000;
  await setTimeout(3000);
  late.sort((a, b) => a - b);
  const at = (share: number): number => Math.round(late[Math.floor(share * (late.length - 1))] ?? Number.NaN);
  console.log(
    `by ${values.by}: ${(changes / took).toFixed(0)} changes a second for ${took.toFixed(0)} s; ` +
      `${late.length} of ${changes} came, p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms`,
  );
  copy.disconnect();
  await once(copy, 'exit');
  await service.close();
  await store.close();
}

await (values.from === '' ? measure() : follow());
