/**
 * The soak test: a store is served, walked, searched, written to and replicated for 20 minutes, while slow readers keep
 * connections open, and one of two services and the replicator are killed repeatedly. At the end the replica must equal its
 * source, the memory of the service that was not killed must be stable, and no client may have received an error other than 429
 * or 503 with Retry-After.
 *
 *     npm run soak -- [--minutes 20] [--listings 3000] [--store postgres://…] [--seed 1]
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { makeRandom, type Random } from 'plat-demo';
import { type Client, readByKey, readSlowly, search, type Target, walk } from './clients.ts';
import { addressesIn, done, killAll, type Lasting, lasting, memoryOf, run } from './processes.ts';
import { type Memory, Tally } from './tally.ts';

const { values: given } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    listings: { type: 'string', default: '3000' },
    store: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
});
const minutes = Number(given.minutes);
const seed = Number(given.seed);
const folder = mkdtempSync(join(tmpdir(), 'plat-soak-'));
const store = given.store ?? 'source.db';
const tally = new Tally();
const over = new AbortController();
const began = performance.now();
const elapsed = (): number => (performance.now() - began) / 60_000;

const PORTS = ['api', 'replication', 'floorplans', 'admin'].flatMap((name) => [`--${name}-port`, '0']);

/** Milliseconds between two kills, and between two measurements of memory. */
const KILL_EVERY = { service: 60_000, replicator: 45_000 } as const;
const SAMPLE_EVERY = 5000;

process.on('exit', killAll);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const pause = (milliseconds: number): Promise<void> =>
  sleep(milliseconds, undefined, { signal: over.signal }).catch(() => undefined);

interface Key {
  readonly kind: 'api' | 'replication';
  readonly role: string;
}

const makeKey = async ({ kind, role }: Key, name: string): Promise<string> => {
  const args = ['key', 'create', '--store', store, '--name', name, '--kind', kind, '--role', role];
  return (await done(folder, args)).trim();
};

/** Creates a market with `plat demo`, which is stopped as soon as it serves. */
async function makeMarket(): Promise<void> {
  const demo = lasting(folder, ['demo', '--store', store, '--listings', given.listings, ...PORTS]);
  await demo.until(/^admin .*\n/m);
  demo.child.kill('SIGTERM');
  await demo.ended;
}

interface Serving {
  readonly process: Lasting;
  readonly addresses: Readonly<Record<string, string>>;
}

async function serve(ports: readonly string[] = PORTS): Promise<Serving> {
  const process = lasting(folder, ['serve', '--store', store, '--log-level', 'error', ...ports]);
  return { process, addresses: addressesIn(await process.until(/^admin .*\n/m)) };
}

/** Kills a process without warning, and waits until it has ended. */
async function kill({ child, ended }: Lasting): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}

/** A second service on the same store, which is killed and restarted, each time on other ports. */
async function mortalService(report: (serving: Serving | undefined) => void): Promise<void> {
  while (!over.signal.aborted) {
    const serving = await serve();
    report(serving);
    await pause(KILL_EVERY.service);
    report(undefined);
    await kill(serving.process);
    tally.count('kills of a service');
  }
}

/** A replicator that watches and is killed; if it ends by itself, that is an error. */
async function mortalReplicator(args: readonly string[]): Promise<void> {
  while (!over.signal.aborted) {
    const watch = ['--watch', '--update-every', '10s', '--purge-every', '60s', '--admin-port', '0'];
    const replicator = lasting(folder, ['replicate', ...args, ...watch]);
    const end = await Promise.race([replicator.ended, pause(KILL_EVERY.replicator)]);
    if (end !== undefined) tally.fail(`replicate --watch ended with ${end.code}: ${end.err.slice(-500)}`);
    await kill(replicator);
    tally.count('kills of the replicator');
  }
}

interface Line {
  readonly ListingKey: string;
  readonly [name: string]: unknown;
}

/** Changes prices, replaces media, adds listings and deletes those of the previous round, so that the store keeps its size. */
async function write(random: Random): Promise<void> {
  const lines = (await done(folder, ['export', '--store', store, '--resource', 'Property']))
    .trim()
    .split('\n');
  const listings: readonly Line[] = lines.slice(-200).flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return []; // the first line in the buffer may be truncated
    }
  });
  let added: readonly string[] = [];
  for (let round = 0; !over.signal.aborted; round++) {
    const changed = random.some(listings, 60).map((listing) => ({
      ...listing,
      ListPrice: random.integer(50, 1500) * 1000,
      ...(random.chance(0.5) ? { Media: mediaOf(listing.ListingKey, random.integer(0, 6)) } : {}),
    }));
    const fresh = random.some(listings, 20).map((listing, index) => {
      const key = `SOAK-${round}-${index}`;
      return { ...listing, ListingKey: key, ListingId: key, Media: mediaOf(key, 3) };
    });
    const file = `round-${round % 2}.ndjson`;
    writeFileSync(
      join(folder, file),
      [...changed, ...fresh].map((each) => `${JSON.stringify(each)}\n`).join(''),
    );
    await command('import', ['import', '--store', store, file]);
    if (added.length > 0)
      await command('delete', ['delete', '--store', store, '--resource', 'Property', ...added]);
    added = fresh.map(({ ListingKey }) => ListingKey);
    await pause(2000);
  }
}

const mediaOf = (key: string, count: number): unknown[] =>
  Array.from({ length: count }, (_, index) => ({
    MediaKey: `${key}-soak-${index}`,
    MediaURL: `https://media.example/${key}/${index}.jpg`,
    Order: index,
  }));

async function command(what: string, args: readonly string[]): Promise<void> {
  const { code, err } = await run(folder, args);
  tally.count(`runs of ${what}`);
  if (code !== 0) tally.fail(`${what} ended with ${code}: ${err.slice(-500)}`);
}

/** The heap of the service, from its metrics. */
async function heapOf({ addresses }: Serving): Promise<Omit<Memory, 'bytes'>> {
  const text = await (await fetch(`${addresses.admin}/metrics`)).text();
  const gauge = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
  return {
    heap: gauge('nodejs_heap_size_total_bytes'),
    heapUsed: gauge('nodejs_heap_size_used_bytes'),
    external: gauge('nodejs_external_memory_bytes'),
  };
}

async function measure(serving: Serving): Promise<void> {
  const { pid } = serving.process.child;
  while (!over.signal.aborted && pid !== undefined) {
    try {
      tally.memory(elapsed(), { bytes: memoryOf(pid), ...(await heapOf(serving)) });
    } catch {
      tally.fail('the service that is never killed has ended');
      return;
    }
    const ready = await fetch(`${serving.addresses.admin}/ready`).catch(() => undefined);
    if (ready?.status !== 200) tally.fail(`/ready returned ${ready?.status}: ${await ready?.text()}`);
    await pause(SAMPLE_EVERY);
  }
}

function clientsOf(
  target: Target,
  tokens: readonly string[],
  replication: string,
  from: number,
): Promise<void>[] {
  const client = (token: string, index: number): Client => ({
    target,
    token,
    random: makeRandom(seed, 'client', from + index),
    tally,
    signal: over.signal,
  });
  const api = tokens.map(client);
  return [
    ...api.map(search),
    ...api.map(readByKey),
    walk(client(replication, 10), 'replication', '/Reso/OData/Property?$top=500&$expand=Media'),
    ...api.slice(0, 1).map((each) => walk(each, 'api', '/Reso/OData/Property?$filter=ListPrice%20gt%200')),
    ...[11, 12, 13].map((index) => readSlowly(client(replication, index))),
  ];
}

async function soak(): Promise<void> {
  await makeMarket();
  const api = await Promise.all(
    ['idx', 'private', 'public'].map((role) => makeKey({ kind: 'api', role }, role)),
  );
  const walker = await makeKey({ kind: 'replication', role: 'private' }, 'walker');
  const token = await makeKey({ kind: 'replication', role: 'private' }, 'replicator');
  const steady = await serve();
  let mortal: Serving | undefined;
  const source = [
    '--from',
    `${steady.addresses.replication}/Reso/OData`,
    '--interface',
    'reso',
    '--token',
    token,
  ];
  const replica = [...source, '--store', 'replica.db'];
  say(`soak of ${minutes} minutes on ${given.store === undefined ? 'SQLite' : 'PostgreSQL'}, seed ${seed}`);
  const work = [
    mortalService((serving) => {
      mortal = serving;
    }),
    mortalReplicator(replica),
    write(makeRandom(seed, 'writer')),
    measure(steady),
    ...clientsOf({ addresses: () => steady.addresses, mayBreak: false }, api, walker, 0),
    ...clientsOf({ addresses: () => mortal?.addresses, mayBreak: true }, api.slice(0, 1), walker, 100),
  ];
  const all = Promise.all(work);
  await Promise.race([sleep(minutes * 60_000), all]);
  over.abort();
  await all;
  tally.checkMemory(minutes);
  await command('replicate --once', ['replicate', ...replica, '--once']);
  // Only a sweep finds records that were deleted in the last minute, and none is due yet.
  await command('replicate --step purge', ['replicate', ...replica, '--step', 'purge', '--force']);
  await command('verify', ['verify', ...replica]);
  const { out, code } = await run(folder, ['verify', ...replica, '--json']);
  say(`verify: exit ${code}, ${out.trim().slice(0, 600)}`);
  steady.process.child.kill('SIGTERM');
  const { code: ending } = await steady.process.ended;
  if (ending !== 0) tally.fail(`the service ended with ${ending}`);
  for (const each of [store, 'replica.db']) await command(`check of ${each}`, ['check', '--store', each]);
}

/** The tested commit, for the report. */
function commit(): string {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim();
  } catch {
    return 'no checkout';
  }
}

try {
  await soak();
} catch (error) {
  tally.fail(error instanceof Error ? (error.stack ?? error.message) : String(error));
}
over.abort();
killAll();
say(`commit ${commit()}, ${Math.round(elapsed())} minutes in all`);
for (const line of tally.lines()) say(line);
say(tally.failed === 0 ? 'the soak test passed' : 'the soak test failed');
rmSync(folder, { recursive: true, force: true });
process.exit(tally.failed === 0 ? 0 : 1);
