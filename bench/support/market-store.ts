import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../../src/store/store.ts';
import { type TestClock, testClock } from '../../test/support/clock.ts';
import type { BenchEngine } from './engine.ts';
import { type MarketFile, marketConfig, writeMarket } from './market-files.ts';
import { startPlat, type Usage } from './process.ts';

/** Listings that are stored last, for windows of what changed lately. */
export const LATE = 1000;

/** A market as files, with the configuration that it needs. */
export interface Market {
  /** Where all files of the benchmark lie. */
  readonly folder: string;
  readonly config: string;
  readonly files: readonly MarketFile[];
  readonly listings: number;
}

/** A file, and what importing it took: of the process, and of the server beside it. */
export interface Imported {
  readonly file: MarketFile;
  readonly usage: Usage;
  readonly server: number;
}

export interface MarketStore extends Market {
  readonly engine: BenchEngine;
  readonly store: Store;
  /** Its address. */
  readonly path: string;
  readonly clock: TestClock;
  readonly imported: readonly Imported[];
  /** A moment before the last listings were stored, and after all others. */
  readonly lately: string;
}

/** @param shape as of `writeMarket` */
export function makeMarket(
  folder: string,
  listings: number,
  shape?: Parameters<typeof writeMarket>[3],
): Market {
  const config = join(folder, 'plat.config.json');
  writeFileSync(config, JSON.stringify(marketConfig()));
  return { folder, config, files: writeMarket(folder, listings, LATE, shape), listings };
}

/** A store of a market, made by `plat import`. */
export async function makeMarketStore(
  market: Market,
  engine: BenchEngine,
  onProgress: (text: string) => void,
): Promise<MarketStore> {
  const { config, files } = market;
  const path = await engine.newStore('market');
  const imported: Imported[] = [];
  let lately = '';
  for (const file of files) {
    lately = new Date().toISOString();
    const before = engine.used();
    const usage = await importFile({ path, config }, file);
    imported.push({ file, usage, server: engine.used() - before });
    onProgress(`imported ${file.records} of ${file.resource} (${engine.name})`);
  }
  await engine.settle(path);
  const clock = testClock(new Date().toISOString());
  const store = await engine.open(path, clock);
  return { ...market, engine, store, path, clock, imported, lately };
}

/** @param of a store that is made if there is none */
export function importFile(
  { path, config }: Pick<MarketStore, 'path' | 'config'>,
  file: Pick<MarketFile, 'path' | 'resource'>,
): Promise<Usage> {
  return startPlat([
    ...['import', file.path, '--resource', file.resource],
    ...['--store', path, '--config', config],
  ]).ended;
}
