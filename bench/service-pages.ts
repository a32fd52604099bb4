/**
 * Walks through the service by its own links and tokens, one page of each in turn, compared with floors of the same number of
 * bytes.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  type Answer,
  type Asking,
  type Client,
  makeClient,
  nextLinkOf,
  skipTokenOf,
} from './support/client.ts';
import { type Case, interleave } from './support/interleave.ts';
import type { MarketStore } from './support/market-store.ts';
import { LATE } from './support/market-store.ts';
import { megabytes } from './support/measure.ts';
import { PAGE } from './support/reads.ts';
import { type RunningService, startFloor, startService } from './support/service.ts';
import type { Subject } from './support/subject.ts';

const SENT = 'prepared bytes of such a page, bare HTTP';
const SELECTED = 'texts of such a page, one prepared statement of a file';

/** The number of pages whose texts the floor of the engine contains. */
const FLOOR_PAGES = 10;

export const servicePages: Subject = {
  title: 'service, a page of 1000',
  floors: [SENT, SELECTED],
  async run(context) {
    const service = await startService(context);
    const client = makeClient();
    const floor = await makeFloors(context, service, client);
    try {
      const cases = [...floor.cases, ...walks(service, client), window(context, service, client)];
      return await interleave(cases, Math.ceil(context.listings / PAGE), context.engine.used);
    } finally {
      client.close();
      floor.close();
      await Promise.all([service.process.stop(), floor.process.stop()]);
    }
  },
};

function walks(service: RunningService, client: Client): Case[] {
  const { process: by, tokens } = service;
  const { reso, native } = service;
  const full = `${reso}Property?$count=true&$top=${PAGE}`;
  const walk = (name: string, start: string, asking: Asking, trail?: string[]): Case => {
    let next: string | undefined;
    return {
      ...{ name, by },
      async call(round) {
        const address = next ?? start;
        if (trail !== undefined) trail[round] = address;
        const answer = await client.get(address, asking);
        next = nextOf(start, answer);
        return { gave: megabytes(answer.bytes) };
      },
    };
  };
  // The link in a compressed page could only be read by decompressing the page, which would use CPU time of the machine that is measured.
  const follow = (name: string, asking: Asking, trail: readonly string[]): Case => ({
    ...{ name, by },
    async call(round) {
      const { bytes } = await client.get(trail[round] ?? '', asking);
      return { gave: megabytes(bytes) };
    },
  });
  const trails: Readonly<Record<'private' | 'idx' | 'native', string[]>> = {
    private: [],
    idx: [],
    native: [],
  };
  const toPrivate = { token: tokens.private };
  const toIdx = { token: tokens.idx };
  const listings = `${native}listings?_limit=${PAGE}`;
  return [
    walk('private', full, toPrivate, trails.private),
    follow('private, gzip', { ...toPrivate, encoding: 'gzip' }, trails.private),
    follow('private, br', { ...toPrivate, encoding: 'br' }, trails.private),
    follow('private, zstd', { ...toPrivate, encoding: 'zstd' }, trails.private),
    walk('idx', full, toIdx, trails.idx),
    follow('idx, gzip', { ...toIdx, encoding: 'gzip' }, trails.idx),
    walk('idx with Media', `${full}&$expand=Media`, toIdx),
    walk('keys alone, idx', `${full}&$select=ListingKey`, toIdx),
    walk('native by _skiptoken, idx', listings, toIdx, trails.native),
    follow('native by _skiptoken, idx, gzip', { ...toIdx, encoding: 'gzip' }, trails.native),
    walk(
      'native with all parts, idx',
      `${listings}&_expand=Photos,Videos,VirtualTours,Rooms,Units,OpenHouses,Documents,FloorPlans`,
      toIdx,
    ),
  ];
}

/** The address of the next page, by link or token; undefined at the end of the walk. */
function nextOf(start: string, answer: Answer): string | undefined {
  const token = skipTokenOf(answer);
  if (token === undefined) return nextLinkOf(answer);
  return answer.tail.includes('"Results":[]')
    ? undefined
    : `${start}&_skiptoken=${encodeURIComponent(token)}`;
}

/** An update window of all recent changes. Each one is different, so that none is answered from the list of another. */
function window(
  { lately }: MarketStore,
  { process: by, reso, tokens }: RunningService,
  client: Client,
): Case {
  const from = Date.parse(lately);
  const to = new Date().toISOString();
  return {
    name: `update window of the last ${LATE}, private`,
    by,
    async call(round) {
      const filter = `ModificationTimestamp gt ${new Date(from - round).toISOString()} and ModificationTimestamp lt ${to}`;
      const options = `$count=true&$top=${PAGE}&$filter=${encodeURIComponent(filter)}`;
      const { bytes } = await client.get(`${reso}Property?${options}`, { token: tokens.private });
      return { gave: megabytes(bytes) };
    },
  };
}

/** The same pages without a service, and without any server. */
async function makeFloors({ folder, engine }: MarketStore, { reso, tokens }: RunningService, client: Client) {
  const token = tokens.private;
  const file = join(folder, 'page.json');
  const database = new DatabaseSync(join(folder, `pages-${engine.name}.db`));
  database.exec('PRAGMA page_size = 32768; PRAGMA journal_mode = WAL;');
  database.exec('CREATE TABLE pages (key TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID; BEGIN');
  const insert = database.prepare('INSERT INTO pages VALUES (?, ?)');
  let address: string | undefined = `${reso}Property?$top=${PAGE}`;
  for (let page = 0; page < FLOOR_PAGES && address !== undefined; page++) {
    const body = await client.read(address, { token });
    if (page === 0) writeFileSync(file, body);
    const { value, ...rest }: { value: { ListingKey: string }[]; '@odata.nextLink'?: string } = JSON.parse(
      body.toString(),
    );
    for (const record of value) insert.run(record.ListingKey, JSON.stringify(record));
    address = rest['@odata.nextLink'];
  }
  database.exec('COMMIT');
  const { process, root } = await startFloor([file]);
  const select =
    database.prepare(`SELECT count(*) AS n, max(key) AS last, cast(group_concat(text, ',') AS blob) AS body
    FROM (SELECT key, text FROM pages WHERE key > ? ORDER BY key LIMIT ${PAGE})`);
  let last = '';
  const cases: Case[] = [
    {
      ...{ name: SENT, by: process },
      call: async () => ({ gave: megabytes((await client.get(`${root}0`, { token })).bytes) }),
    },
    {
      name: SELECTED,
      async call() {
        const row = select.get(last) ?? {};
        last = Number(row.n) < PAGE ? '' : String(row.last);
        return { gave: megabytes(row.body instanceof Uint8Array ? row.body.length : 0) };
      },
    },
  ];
  return { cases, process, close: () => database.close() };
}
