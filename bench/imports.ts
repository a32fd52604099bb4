/** Imports JSON lines with a complete process, and measures how long it takes to read and store the bare lines. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import type { Imported, MarketStore } from './support/market-store.ts';
import { type Measurement, megabytes } from './support/measure.ts';
import { startPlat } from './support/process.ts';
import { FREE_PORTS } from './support/service.ts';
import type { Subject } from './support/subject.ts';

export const LINES = 'lines parsed, and stored as they are';

/** The number of lines that the floor stores, in transactions of the same size as those of an import. */
const LINES_STORED = 10_000;
const BATCH = 1000;
const LONGEST_READ = 400_000_000;

export const imports: Subject = {
  title: 'import, per listing with its children',
  floors: [LINES],
  async run(context) {
    const { imported, engine, path, listings } = context;
    const market = imported.filter(({ file }) => file.resource === 'Property');
    const first = market[0];
    if (first === undefined) throw new Error('A market has listings');
    const perListing = (await engine.size(path)) / listings;
    return [
      await storeLines(context, first.file.path),
      told('plat import, new records', first, `, ${(perListing / 1000).toFixed(1)} kB each in the store`),
      ...market.slice(1).map((more) => told('plat import, few into many', more, '')),
      await demo(context),
    ];
  },
};

function told(name: string, { file, usage, server }: Imported, more: string): Measurement {
  const seconds = usage.wall / 1000;
  const rate = (records: number): string => Math.round(records / seconds).toLocaleString('en');
  const rates = `${rate(file.records)} listings/s, ${rate(file.records + file.children)} records/s`;
  const gave = `${file.records} in ${seconds.toFixed(1)} s, ${rates}, ${megabytes(file.bytes / seconds)}/s, memory ${megabytes(usage.peak)}${more}`;
  const each = (milliseconds: number): number => milliseconds / file.records;
  return { name, wall: each(usage.wall), cpu: each(usage.cpu), server: each(server), gave };
}

/** Runs `plat demo` until the market is created, stored and served. */
async function demo({ engine, listings }: MarketStore): Promise<Measurement> {
  const path = await engine.newStore('demo');
  const before = engine.used();
  const start = performance.now();
  const process = startPlat(['demo', '--listings', String(listings), '--store', path, ...FREE_PORTS]);
  await process.said(/http:/);
  const wall = performance.now() - start;
  const { cpu } = await process.used();
  const server = engine.used() - before;
  const { peak } = await process.stop();
  const gave = `${listings} made and stored in ${(wall / 1000).toFixed(1)} s, memory ${megabytes(peak)}`;
  const each = (milliseconds: number): number => milliseconds / listings;
  return { name: 'plat demo, until it serves', wall: each(wall), cpu: each(cpu), server: each(server), gave };
}

/** The floor: parses every line with JSON.parse and inserts its text into a table by key, without validation or indexes. */
async function storeLines({ engine }: MarketStore, file: string): Promise<Measurement> {
  const lines = firstLines(file, LINES_STORED);
  const cpu = process.cpuUsage();
  const before = engine.used();
  const wall = await engine.storeLines(lines, BATCH);
  const { user, system } = process.cpuUsage(cpu);
  const each = (milliseconds: number): number => milliseconds / lines.length;
  const gave = `${Math.round((lines.length / wall) * 1000).toLocaleString('en')} listings/s`;
  const server = each(engine.used() - before);
  return { name: LINES, wall: each(wall), cpu: each((user + system) / 1000), server, gave };
}

function firstLines(file: string, count: number): string[] {
  const buffer = Buffer.alloc(Math.min(statSync(file).size, LONGEST_READ));
  const descriptor = openSync(file, 'r');
  const length = readSync(descriptor, buffer);
  closeSync(descriptor);
  const lines: string[] = [];
  for (let start = 0; lines.length < count; ) {
    const end = buffer.indexOf('\n', start);
    if (end < 0 || end >= length) break;
    lines.push(buffer.toString('utf8', start, end));
    start = end + 1;
  }
  return lines;
}
