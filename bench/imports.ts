/** Import from JSON lines, as a whole process; and what reading and storing the bare lines takes. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Imported } from './support/market-store.ts';
import { type Measurement, megabytes } from './support/measure.ts';
import { startPlat } from './support/process.ts';
import { FREE_PORTS } from './support/service.ts';
import type { Subject } from './support/subject.ts';

export const LINES = 'lines parsed, and stored as they are';

/** Lines that the floor stores, in transactions of as many as an import has. */
const LINES_STORED = 10_000;
const BATCH = 1000;
const PAGE_SIZE = 32_768;
const LONGEST_READ = 400_000_000;

export const imports: Subject = {
  title: 'import, per listing with its children',
  floors: [LINES],
  async run({ imported, folder, path, listings }) {
    const market = imported.filter(({ file }) => file.resource === 'Property');
    const first = market[0];
    if (first === undefined) throw new Error('A market has listings');
    const perListing = statSync(path).size / listings;
    return [
      storeLines(first.file.path, join(folder, 'lines.db')),
      told('plat import, new records', first, `, ${(perListing / 1000).toFixed(1)} kB each in the store`),
      ...market.slice(1).map((more) => told('plat import, few into many', more, '')),
      await demo(join(folder, 'demo.db'), listings),
    ];
  },
};

function told(name: string, { file, usage }: Imported, more: string): Measurement {
  const seconds = usage.wall / 1000;
  const rate = (records: number): string => Math.round(records / seconds).toLocaleString('en');
  const rates = `${rate(file.records)} listings/s, ${rate(file.records + file.children)} records/s`;
  const gave = `${file.records} in ${seconds.toFixed(1)} s, ${rates}, ${megabytes(file.bytes / seconds)}/s, memory ${megabytes(usage.peak)}${more}`;
  return { name, wall: usage.wall / file.records, cpu: usage.cpu / file.records, gave };
}

/** A market made and stored by `plat demo`, until it is served. */
async function demo(path: string, listings: number): Promise<Measurement> {
  const start = performance.now();
  const process = startPlat(['demo', '--listings', String(listings), '--store', path, ...FREE_PORTS]);
  await process.said(/http:/);
  const wall = performance.now() - start;
  const { cpu } = await process.used();
  const { peak } = await process.stop();
  const gave = `${listings} made and stored in ${(wall / 1000).toFixed(1)} s, memory ${megabytes(peak)}`;
  return { name: 'plat demo, until it serves', wall: wall / listings, cpu: cpu / listings, gave };
}

/** Every line through JSON.parse, and its text into a table by its key; nothing is checked, nothing is searchable. */
function storeLines(file: string, path: string): Measurement {
  const lines = firstLines(file, LINES_STORED);
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA page_size = ${PAGE_SIZE}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE lines (key TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;`);
  const insert = database.prepare('INSERT INTO lines VALUES (?, ?)');
  const cpu = process.cpuUsage();
  const start = performance.now();
  for (let from = 0; from < lines.length; from += BATCH) {
    database.exec('BEGIN IMMEDIATE');
    for (const line of lines.slice(from, from + BATCH)) {
      const { ListingKey }: { ListingKey: string } = JSON.parse(line);
      insert.run(ListingKey, line);
    }
    database.exec('COMMIT');
  }
  const wall = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  database.close();
  const gave = `${Math.round((lines.length / wall) * 1000).toLocaleString('en')} listings/s`;
  return { name: LINES, wall: wall / lines.length, cpu: (user + system) / 1000 / lines.length, gave };
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
