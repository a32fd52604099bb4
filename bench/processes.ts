/**
 * Several processes and a standby (docs/scaling.md): `npx node bench/processes.ts [--listings 3000]`. Since all of them share the
 * cores, wall times say little, so the CPU time of each part per request is printed.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openStore } from '../src/open-store.ts';
import type { SharedState } from '../src/store/shared.ts';
import { runOn, startServer } from '../test/support/postgres-server.ts';
import { makeKey } from '../test/support/service.ts';
import { marketConfig, writeMarket } from './support/market-files.ts';
import { importFile } from './support/market-store.ts';
import { type Running, startPlat } from './support/process.ts';
import { postmasterOf, usedBy } from './support/server-usage.ts';
import { FREE_PORTS } from './support/service.ts';

const { values } = parseArgs({ options: { listings: { type: 'string', default: '3000' } } });
const listings = Number(values.listings);

const REQUESTS = 120;

const folder = mkdtempSync(join(tmpdir(), 'plat-bench-'));
const config = join(folder, 'plat.config.json');
writeFileSync(config, JSON.stringify(marketConfig()));
const primary = await startServer();
await runOn(primary.address('postgres'), 'CREATE DATABASE market');
const path = primary.address('market');
for (const file of writeMarket(folder, listings, 1000)) await importFile({ path, config }, file);
await runOn(path, 'VACUUM ANALYZE');
const store = await openStore(path);
const token = await makeKey(store, 'replication', { role: 'idx' });
const standby = await primary.standby();

const ofPrimary = await postmasterOf(primary.address('market'));
const ofStandby = await postmasterOf(standby.address('market'));

interface Service {
  readonly process: Running;
  readonly root: string;
}

async function startServices(count: number, readStores: readonly string[]): Promise<Service[]> {
  const file = join(folder, `serve-${readStores.length}.json`);
  writeFileSync(
    file,
    JSON.stringify({ ...marketConfig(), ...(readStores.length > 0 ? { readStores } : {}) }),
  );
  const args = ['serve', '--store', path, '--config', file, '--log-level', 'warn', ...FREE_PORTS];
  const processes = Array.from({ length: count }, () => startPlat(args));
  return Promise.all(
    processes.map(async (process) => {
      const [, root = ''] = await process.said(/^replication\s+(\S+)\s/m);
      return { process, root };
    }),
  );
}

const PATHS = {
  'page of 1,000 full listings': () => 'Property?$top=1000',
  'page of 1,000 keys': () => 'Property?$top=1000&$select=ListingKey',
  'record by key': (index: number) => `Property('${keys[index % keys.length]}')`,
  'page of a filter, cached': () => 'Property?$top=100&$select=ListingKey&$filter=BedroomsTotal ge 2',
} as const;

const authorization = { headers: { authorization: `Bearer ${token}` } };
const keys = await keysOf();

async function keysOf(): Promise<string[]> {
  const [service] = await startServices(1, []);
  const answer = await fetch(`${service?.root}Property?$top=500&$select=ListingKey`, authorization);
  const { value }: { value: { ListingKey: string }[] } = JSON.parse(await answer.text());
  await service?.process.stop();
  return value.map(({ ListingKey }) => ListingKey);
}

async function measure(count: number, readStores: readonly string[]): Promise<void> {
  const services = await startServices(count, readStores);
  const ask = async (wanted: string, index: number): Promise<void> => {
    const answer = await fetch(`${services[index % count]?.root}${wanted}`, authorization);
    if (answer.status !== 200) throw new Error(await answer.text());
    await answer.arrayBuffer();
  };
  const used = async (): Promise<number[]> => {
    const own = await Promise.all(services.map(({ process }) => process.used()));
    return [own.reduce((sum, { cpu }) => sum + cpu, 0), usedBy(ofPrimary), usedBy(ofStandby)];
  };
  for (const [title, wanted] of Object.entries(PATHS)) {
    for (let index = 0; index < 5 * count; index++) await ask(wanted(index), index);
    const [before, started] = [await used(), performance.now()];
    const walker = async (first: number): Promise<void> => {
      for (let index = first; index < REQUESTS; index += 4) await ask(wanted(index), index);
    };
    await Promise.all([0, 1, 2, 3].map(walker));
    const wall = (performance.now() - started) / REQUESTS;
    const each = (await used()).map((after, index) => (after - (before[index] ?? 0)) / REQUESTS);
    const [own = 0, first = 0, second = 0] = each.map((milliseconds) => milliseconds.toFixed(1));
    console.log(
      `| ${count} | ${readStores.length > 0 ? 'yes' : 'no'} | ${title} | ${own} | ${first} | ${second} | ${wall.toFixed(1)} |`,
    );
  }
  for (const { process } of services) await process.stop();
}

console.log(
  '| processes | standby | | ms of services | of primary | of standby | wall |\n|---|---|---|---|---|---|---|',
);
for (const readStores of [[], [standby.address('market')]]) {
  for (const count of [1, 3]) await measure(count, readStores);
}

async function timed(title: string, times: number, work: () => Promise<unknown>): Promise<void> {
  await work();
  const started = performance.now();
  for (let time = 0; time < times; time++) await work();
  console.log(`${title}: ${((performance.now() - started) / times).toFixed(2)} ms`);
}

async function measureShared(shared: SharedState): Promise<void> {
  const limit = { requests: 1e9, seconds: 300 };
  const left = { window: 0, requests: 0 };
  await timed('requests are lent', 300, () => shared.lendRequests({ key: 'bench', limit, left }));
  const bounds = { age: 0, milliseconds: 600_000, bytes: 2 ** 26 };
  for (const size of [1000, 1_000_000]) {
    const ids = Uint32Array.from({ length: size }, (_, index) => index * 3);
    let lists = 0;
    const keep = () =>
      shared.keepList(`${size} ${++lists}`, { id: `${lists}`, ids, order: '', openWindow: false }, bounds);
    await timed(`a list of ${size} is kept`, 10, keep);
    await timed(`a list of ${size} is fetched`, 10, () => shared.findList(`${size} 1`));
    await timed(`a list of ${size} is found to be current`, 100, () =>
      shared.isListCurrent(`${size} 1`, '1'),
    );
  }
}

if (store.shared !== undefined) await measureShared(store.shared);
await store.close();
rmSync(folder, { recursive: true });
process.exit(0); // the servers end with this process
