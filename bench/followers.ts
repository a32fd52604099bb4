/**
 * How soon followers of `GET /events` receive what another process commits, and how many events per second are possible: one
 * service, with clients and a writer in separate processes. `node bench/followers.ts [--followers 1,100,1000] [--store
 * sqlite|postgres] [--commits 60] [--burst 20000] [--records]`
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { openStore } from '../src/open-store.ts';
import { DEFAULT_SETTINGS } from '../src/records/settings.ts';
import { SERVICE_DEFAULTS } from '../src/service/options.ts';
import { startService } from '../src/service/service.ts';
import { systemClock } from '../src/shared/clock.ts';
import { listing } from '../test/support/builders.ts';
import { emptyDatabase } from '../test/support/postgres-engine.ts';
import { makeKey } from '../test/support/service.ts';
import { temporaryFile } from '../test/support/temporary.ts';
import { operations } from '../test/support/world.ts';

const { values } = parseArgs({
  options: {
    followers: { type: 'string', default: '1,100,1000' },
    store: { type: 'string', default: 'sqlite' },
    commits: { type: 'string', default: '60' },
    burst: { type: 'string', default: '20000' },
    records: { type: 'boolean', default: false },
    role: { type: 'string', default: 'bench' },
    address: { type: 'string', default: '' },
    port: { type: 'string', default: '0' },
    tokens: { type: 'string', default: '' },
  },
});

/** Milliseconds between two commits that are timed, and the number of records in a commit of a burst. */
const APART = 150;
const BATCH = 500;
/** The number of streams per key. */
const PER_KEY = 100;

/** Milliseconds since 1970, with fractions, by the clock that all processes of the machine share. */
const moment = (): number => performance.timeOrigin + performance.now();

const say = (message: unknown): void => void process.send?.(message);

/** Makes the commits that it is sent, and reports the time of each. */
async function write(): Promise<void> {
  const store = await openStore(values.address);
  const clock = { text: () => '' };
  const { write: put } = operations(store, clock);
  process.on('message', async ({ name, records }: { name: string; records: number }) => {
    await put('Property', ...Array.from({ length: records }, (_, at) => listing(`${name}-${at}`)));
    say({ name, done: moment() });
  });
  process.once('disconnect', () => process.exit());
  say('ready');
}

/**
 * Follows events on many connections. It reports when each connection has received the last record of a commit, and how many events
 * it received.
 */
async function follow(): Promise<void> {
  const tokens = values.tokens.split(',');
  const sockets: Socket[] = [];
  let events = 0;
  let begun = 0;
  const arrived = new Map<string, number[]>();
  for (const token of tokens) {
    const socket = connect(Number(values.port), '127.0.0.1');
    sockets.push(socket);
    const query = values.records ? '?records=true' : '';
    socket.write(
      `GET /events${query} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    );
    let rest = '';
    let hasBegun = false;
    socket.once('close', () => process.exit(1)); // the connection was refused
    socket.on('data', (part: Buffer) => {
      const text = rest + part.toString('latin1');
      const now = moment();
      for (const [, key = ''] of text.matchAll(/"key":"([^"]+)","kind":"created"/g)) {
        events++;
        const [name = '', at] = key.split('-');
        if (at === '0') arrived.set(name, [...(arrived.get(name) ?? []), now]);
      }
      const end = text.lastIndexOf('\n');
      rest = text.slice(end + 1);
      if (hasBegun || !text.includes('event: position')) return;
      hasBegun = true;
      begun++;
      if (begun === tokens.length) say('ready');
    });
    socket.on('error', () => undefined);
    if (sockets.length % 10 === 0) await setTimeout(50);
  }
  process.on('message', (name: string) => {
    if (name === 'events') say({ events });
    else say({ name, arrived: arrived.get(name) ?? [] });
  });
  process.once('disconnect', () => process.exit());
}

async function ask<T>(child: ChildProcess, message: string | object): Promise<T> {
  child.send(message);
  const [answer] = await once(child, 'message');
  return answer;
}

async function child(role: string, more: readonly string[]): Promise<ChildProcess> {
  const started = fork(fileURLToPath(import.meta.url), ['--role', role, ...more]);
  await once(started, 'message');
  return started;
}

const share = (sorted: readonly number[], part: number): string =>
  (sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN).toFixed(0);

async function bench(): Promise<void> {
  const isServer = values.store === 'postgres';
  const database = isServer ? await emptyDatabase(DEFAULT_SETTINGS) : undefined;
  const address = database?.address ?? temporaryFile();
  const store = await openStore(address, { create: DEFAULT_SETTINGS });
  await operations(store, { text: () => '' }).write('Property', listing('first'));
  const service = await startService(
    { ...SERVICE_DEFAULTS, store, clock: systemClock, log: pino({ level: 'warn' }) },
    {
      host: '127.0.0.1',
      adminHost: '127.0.0.1',
      ports: { api: 0, replication: 0, floorplans: 0, admin: 0 },
    },
  );
  const { port } = new URL(service.addresses.replication);
  const writer = await child('writer', ['--address', address]);
  for (const count of values.followers.split(',').map(Number)) {
    const keys = await Promise.all(
      Array.from({ length: Math.ceil(count / PER_KEY) }, () => makeKey(store, 'replication')),
    );
    const tokens = Array.from({ length: count }, (_, at) => keys[Math.floor(at / PER_KEY)]).join(',');
    const records = values.records ? ['--records'] : [];
    const clients = await child('clients', ['--port', port, '--tokens', tokens, ...records]);
    const lags: number[] = [];
    const before = process.cpuUsage();
    for (let at = 0; at < Number(values.commits); at++) {
      const name = `c${count}x${at}`;
      const { done } = await ask<{ done: number }>(writer, { name, records: 1 });
      await setTimeout(APART);
      let arrived: number[] = [];
      for (let tries = 0; tries < 40 && arrived.length < count; tries++) {
        ({ arrived } = await ask<{ arrived: number[] }>(clients, name));
        if (arrived.length < count) await setTimeout(50);
      }
      if (arrived.length < count) throw new Error(`${arrived.length} of ${count} got ${name}`);
      lags.push(...arrived.map((each) => each - done));
    }
    const { user, system } = process.cpuUsage(before);
    const sorted = lags.toSorted((one, other) => one - other);
    const each = (user + system) / 1000 / Number(values.commits);
    console.log(
      `${values.store}, ${count} followers: commit to delivery p50 ${share(sorted, 0.5)}, p95 ${share(sorted, 0.95)}, p99 ${share(sorted, 0.99)}, most ${share(sorted, 1)} ms; ${each.toFixed(1)} ms of CPU a commit`,
    );
    const { events: first } = await ask<{ events: number }>(clients, 'events');
    const wanted = Math.max(
      BATCH,
      Math.ceil(Number(values.burst) / Math.max(1, count / 100) / BATCH) * BATCH,
    );
    const began = moment();
    const busy = process.cpuUsage();
    for (let at = 0; at * BATCH < wanted; at++) {
      await ask(writer, { name: `b${count}y${at}`, records: BATCH });
    }
    let events = 0;
    while (events < wanted * count) {
      await setTimeout(20);
      ({ events } = await ask<{ events: number }>(clients, 'events'));
      events -= first;
    }
    const seconds = (moment() - began) / 1000;
    const used = process.cpuUsage(busy);
    console.log(
      `${values.store}, ${count} followers: ${wanted} changes in ${seconds.toFixed(1)} s, ${Math.round((wanted * count) / seconds)} events a second, ${(((used.user + used.system) * 1000) / (wanted * count)).toFixed(0)} ns of CPU of the service for each`,
    );
    clients.disconnect();
    await once(clients, 'exit');
  }
  writer.disconnect();
  await service.close();
  await store.close();
  await database?.drop();
}

if (values.role === 'writer') await write();
else if (values.role === 'clients') await follow();
else {
  await bench();
  process.exit();
}
