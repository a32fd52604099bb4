import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CUSTOM_FIELDS, CUSTOM_LOOKUPS, marketRecords } from '../../src/demo/index.ts';
import { parseRecord } from '../../src/store/record/parse-record.ts';
import { DEFAULT_SETTINGS } from '../../src/store/settings.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { type TestClock, testClock } from '../../test/support/clock.ts';
import type { Measurement } from './measure.ts';

const SEED = 20260601;
/** Records of one write, and how far the clock goes on with each. */
const BATCH = 500;
const PACE = 10_000;

export interface MarketStore {
  readonly store: Store;
  readonly clock: TestClock;
  /** What the import took, per listing with its children. */
  readonly imported: Measurement;
  /** The moment at which the last thousand listings began to be stored. */
  readonly lately: string;
  dispose(): Promise<void>;
}

/** A store of a market in a folder of its own, imported as `plat import` does it. */
export async function makeMarketStore(
  listings: number,
  onProgress: (done: number) => void,
): Promise<MarketStore> {
  const folder = mkdtempSync(join(tmpdir(), 'plat-bench-'));
  const path = join(folder, 'market.db');
  const clock = testClock('2026-06-01T00:00:00Z');
  const declarations = { customFields: CUSTOM_FIELDS, lookups: CUSTOM_LOOKUPS };
  const store = await openSqliteStore({
    path,
    clock,
    create: { ...DEFAULT_SETTINGS, declarations },
    pageReaders: 1,
    searchReaders: 1,
  });
  const spent = { wall: 0, cpu: 0 };
  let lately = clock.text();
  let done = 0;
  const write = async (resource: string, records: readonly unknown[]): Promise<void> => {
    const cpu = process.cpuUsage();
    const start = performance.now();
    const model = await store.model();
    const parsed = records.map((record) => {
      const result = parseRecord(model.resource(resource), record, model);
      if (!result.ok) throw new Error(result.invalid.reasons.join('; '));
      return result.record;
    });
    await store.write(resource, parsed);
    clock.advance(PACE);
    if (resource !== 'Property') return;
    const { user, system } = process.cpuUsage(cpu);
    spent.wall += performance.now() - start;
    spent.cpu += (user + system) / 1000;
    done += records.length;
    if (done <= listings - 1000) lately = clock.text();
    onProgress(done);
  };
  let batch: unknown[] = [];
  let resource = '';
  for (const next of marketRecords({ seed: SEED, listings })) {
    if (batch.length >= BATCH || next.resource !== resource) {
      if (batch.length > 0) await write(resource, batch);
      batch = [];
      resource = next.resource;
    }
    batch.push(next.record);
  }
  if (batch.length > 0) await write(resource, batch);
  const kilobytes = statSync(path).size / 1000 / listings;
  return {
    store,
    clock,
    lately,
    imported: {
      name: 'import, per listing with its children',
      wall: spent.wall / listings,
      cpu: spent.cpu / listings,
      gave: `${kilobytes.toFixed(1)} kB in the file`,
    },
    async dispose() {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}
