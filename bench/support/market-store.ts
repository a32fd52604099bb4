import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../../src/store/store.ts';
import { type TestClock, testClock } from '../../test/support/clock.ts';
import type { BenchEngine } from './engine.ts';
import { type MarketFile, marketConfig, writeMarket } from './market-files.ts';
import { startPlat, type Usage } from './process.ts';

/** The number of listings that are stored last, for windows of recent changes. */
export const LATE = 1000;

/** A market as files, with its configuration. */
export interface Market {
  /** The folder of all files of the benchmark. */
  readonly folder: string;
  readonly config: string;
  readonly files: readonly MarketFile[];
  readonly listings: number;
}

/** A file, and the resources that its import used, in the process and in the database server. */
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
  /** A moment after all but the last listings had been stored. */
  readonly lately: string;
}

/** @param shape as in `writeMarket` */
export function makeMarket(
  folder: string,
  listings: number,
  shape?: Parameters<typeof writeMarket>[3],
): Market {
  const config = join(folder, 'plat.config.json');
  writeFileSync(config, JSON.stringify(marketConfig()));
  return { folder, config, files: writeMarket(folder, listings, LATE, shape), listings };
}

/** A store with a market, filled by `plat import`. */
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

/** @param of a store, which is created if it does not exist */
export function importFile(
  { path, config }: Pick<MarketStore, 'path' | 'config'>,
  file: Pick<MarketFile, 'path' | 'resource'>,
): Promise<Usage> {
  return startPlat([
    ...['import', file.path, '--resource', file.resource],
    ...['--store', path, '--config', config],
  ]).ended;
}
