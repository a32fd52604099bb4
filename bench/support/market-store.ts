import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { type TestClock, testClock } from '../../test/support/clock.ts';
import { type MarketFile, marketConfig, writeMarket } from './market-files.ts';
import { startPlat, type Usage } from './process.ts';

/** Listings that are stored last, for windows of what changed lately. */
export const LATE = 1000;

/** A file, and what importing it took as a process. */
export interface Imported {
  readonly file: MarketFile;
  readonly usage: Usage;
}

export interface MarketStore {
  readonly store: Store;
  /** Where the store and all files of the benchmark lie. */
  readonly folder: string;
  readonly path: string;
  /** The configuration that it was made with. */
  readonly config: string;
  readonly clock: TestClock;
  readonly imported: readonly Imported[];
  /** A moment before the last listings were stored, and after all others. */
  readonly lately: string;
  dispose(): Promise<void>;
}

/** A store of a market in a folder of its own, made by `plat import`. */
export async function makeMarketStore(
  listings: number,
  onProgress: (text: string) => void,
): Promise<MarketStore> {
  const folder = mkdtempSync(join(tmpdir(), 'plat-bench-'));
  const path = join(folder, 'market.db');
  const config = join(folder, 'plat.config.json');
  writeFileSync(config, JSON.stringify(marketConfig()));
  const files = writeMarket(folder, listings, LATE);
  onProgress(`wrote ${files.length} files`);
  const imported: Imported[] = [];
  let lately = '';
  for (const file of files) {
    lately = new Date().toISOString();
    imported.push({ file, usage: await importFile({ path, config }, file) });
    onProgress(`imported ${file.records} of ${file.resource}`);
  }
  const clock = testClock(new Date().toISOString());
  const store = await openSqliteStore({ path, clock, pageReaders: 1, searchReaders: 1 });
  return {
    ...{ store, folder, path, config, clock, imported, lately },
    async dispose() {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
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
