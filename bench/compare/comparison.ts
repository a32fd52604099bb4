/**
 * Compares plat with floors and with a plain server, on the same engine and the same records, in one run. It prints ratios of CPU
 * time with their targets. The servers alternate within each work, in another order in each round, so that a drift in the speed of
 * the machine affects all of them equally.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Asking, type Client, makeClient, nextLinkOf } from '../support/client.ts';
import type { MarketStore } from '../support/market-store.ts';
import { median } from '../support/measure.ts';
import { type Running, startHelper } from '../support/process.ts';
import { type RunningService, startService } from '../support/service.ts';
import { milliseconds, ratio, tableOf } from '../support/table.ts';
import { type Figures, measureLoad, sum } from './load-loop.ts';
import { type PlainRecord, writePlainMarket } from './plain-market.ts';
import { MEMORY, POSTGRES_TARGETS, SQLITE_TARGETS, type Target } from './targets.ts';
import { factsOf, type Request, WHAT, WORK_NAMES, type WorkName, worksOf } from './works.ts';

const SIDES = ['plat', 'plain', 'floor'] as const;
type Side = (typeof SIDES)[number];

/** The request to the floor server, for works that have a floor. */
const FLOORS: Readonly<Partial<Record<WorkName, string>>> = {
  page: 'page',
  'page-gzip-second': 'gzip',
  key: 'key',
};
const ROUNDS = 2;
/** Milliseconds for each work, server and round. */
const TIME = 500;
/** More than the number of requests for any work in a round. */
const MANY = 100_000;

/** A server that is compared. */
interface Contestant {
  readonly process: Running;
  used(): Promise<readonly number[]>;
  /** The address of a request; undefined if the server does not offer this work. */
  address(name: WorkName, request: Request): string | undefined;
}

type Contestants = Readonly<Record<Side, Contestant>>;

/** The results of all rounds, by work and server. */
type Figured = ReadonlyMap<WorkName, ReadonlyMap<Side, readonly Figures[]>>;

/** @returns a Markdown table, followed by the memory of the service */
export async function compare(context: MarketStore): Promise<string> {
  const service = await startService(context);
  const client = makeClient();
  const asking = { token: service.tokens.private };
  const records = await recordsOf('Property', service, client, asking);
  const contestants = await startAll(context, service, client, records);
  const figures = await measureAll(context, contestants, service, client, records);
  client.close();
  const stopped = SIDES.map((side) => contestants[side].process.stop());
  const [{ peak } = { peak: 0 }] = await Promise.all(stopped);
  return render(context, figures, peak);
}

async function startAll(
  context: MarketStore,
  service: RunningService,
  client: Client,
  records: readonly PlainRecord[],
): Promise<Contestants> {
  const { engine, folder } = context;
  const asking = { token: service.tokens.private };
  const plain = await startPlain(context, records, await recordsOf('Media', service, client, asking));
  const file = join(folder, `page-${engine.name}.json`);
  writeFileSync(file, await client.read(`${service.reso}Property?$top=1000`, asking));
  const floor = await startServer('../compare/floor-server.ts', file);
  const cpuOf = async ({ process }: { process: Running }): Promise<number> => (await process.used()).cpu;
  return {
    plat: {
      process: service.process,
      used: async () => [await cpuOf(service), engine.used()],
      address: (_, { plat }) => service.reso + plat,
    },
    plain: {
      process: plain.process,
      used: async () => [await cpuOf(plain), engine.used()],
      address: (name, request) => (name === 'page-gzip-second' ? undefined : plain.root + request.plain),
    },
    floor: {
      process: floor.process,
      used: async () => [await cpuOf(floor)],
      address: (name) => (FLOORS[name] === undefined ? undefined : floor.root + FLOORS[name]),
    },
  };
}

async function measureAll(
  { listings }: MarketStore,
  contestants: Contestants,
  service: RunningService,
  client: Client,
  records: readonly PlainRecord[],
): Promise<Figured> {
  const works = worksOf(factsOf(records));
  const figures = new Map(WORK_NAMES.map((name) => [name, new Map<Side, Figures[]>()]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, ofWork] of figures) {
      const isSecond = name === 'page-gzip-second';
      if (isSecond) await walkFirst(service, client, listings);
      const asking: Asking = isSecond
        ? { token: service.tokens.second, encoding: 'gzip' }
        : { token: service.tokens.private };
      for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
        const { used, address } = contestants[side];
        if (address(name, works[name](0)) === undefined) continue;
        // Each round begins at another number, so that requests that must be new are new in every round.
        let number = round * MANY;
        const next = (): string => address(name, works[name](number++)) ?? '';
        const found = await measureLoad({ used, asking, next }, client, TIME);
        ofWork.set(side, [...(ofWork.get(side) ?? []), found]);
      }
    }
  }
  return figures;
}

function render({ engine, listings }: MarketStore, figures: Figured, peak: number): string {
  const targets = engine.name === 'file' ? SQLITE_TARGETS : POSTGRES_TARGETS;
  const rows = WORK_NAMES.map((name) =>
    rowOf(WHAT[name], targets[name], (side) => {
      const rounds = figures.get(name)?.get(side);
      if (rounds === undefined) return undefined;
      return {
        cpu: median(rounds.map(({ cpu }) => sum(cpu))),
        wall: median(rounds.map(({ wall }) => wall)),
      };
    }),
  );
  const head = [
    'ms of CPU a request',
    'plat',
    'floor',
    'plain',
    '× floor',
    '× plain',
    'wall ms of plat',
    'target',
  ];
  const title = engine.name === 'file' ? 'SQLite' : 'PostgreSQL, the server included';
  const memory = `Memory of \`plat serve\`: ${Math.round(peak / 1e6)} MB at the most (target at 50,000 listings: ${MEMORY}).`;
  return [`${title}, ${listings} listings:`, '', ...tableOf(head, rows, 1), '', memory].join('\n');
}

/** Medians over the rounds, in milliseconds. */
interface Middle {
  readonly cpu: number;
  readonly wall: number;
}

function rowOf(
  what: string,
  target: Target | undefined,
  middle: (side: Side) => Middle | undefined,
): string[] {
  const [plat, plain, floor] = SIDES.map(middle);
  if (plat === undefined) throw new Error(`${what} was not measured`);
  const times = (other: Middle | undefined): string =>
    other === undefined ? '' : ratio(plat.cpu, other.cpu);
  const shown = (other: Middle | undefined): string => (other === undefined ? '' : milliseconds(other.cpu));
  return [
    ...[what, shown(plat), shown(floor), shown(plain), times(floor), times(plain)],
    ...[milliseconds(plat.wall), verdict(plat, target, { plain, floor })],
  ];
}

/** The target in words, and whether it is met. */
function verdict(
  plat: Middle,
  target: Target | undefined,
  others: Readonly<Partial<Record<Side, Middle | undefined>>>,
): string {
  const limits = (['floor', 'plain'] as const).flatMap((side) => {
    const [most, other] = [target?.[side], others[side]];
    return most === undefined || other === undefined
      ? []
      : [{ side, most, isMet: plat.cpu <= most * other.cpu }];
  });
  if (limits.length === 0) return '';
  const isMet = limits.every((limit) => limit.isMet);
  return `${isMet ? 'met' : 'MISSED'}: ${limits.map(({ side, most }) => `≤ ${most.toFixed(2)} × ${side}`).join(', ')}`;
}

/** All records of a resource, as the role `private` sees them. */
async function recordsOf(
  resource: string,
  { reso }: RunningService,
  client: Client,
  asking: Asking,
): Promise<PlainRecord[]> {
  const records: PlainRecord[] = [];
  for (let address: string | undefined = `${reso}${resource}?$top=1000`; address !== undefined; ) {
    const body = await client.read(address, asking);
    const page: { value: PlainRecord[]; '@odata.nextLink'?: string } = JSON.parse(body.toString());
    for (const record of page.value) records.push(record);
    address = page['@odata.nextLink'];
  }
  return records;
}

/** Walks all pages with gzip, so that the service caches the blocks of the role. */
async function walkFirst({ reso, tokens }: RunningService, client: Client, listings: number): Promise<void> {
  const links: string[] = [];
  const asking = { token: tokens.private };
  for (let address: string | undefined = `${reso}Property?$top=1000`; address !== undefined; ) {
    links.push(address);
    address = links.length * 1000 < listings ? nextLinkOf(await client.get(address, asking)) : undefined;
  }
  for (const link of links) await client.get(link, { ...asking, encoding: 'gzip' });
}

async function startPlain(
  { engine, folder }: MarketStore,
  records: readonly PlainRecord[],
  media: readonly PlainRecord[],
): Promise<{ process: Running; root: string }> {
  const indexes = [['City', 'ListPrice'], ['ModificationTimestamp']];
  const address = await writePlainMarket(engine, folder, [
    { name: 'Property', key: 'ListingKey', records, indexes },
    { name: 'Media', key: 'MediaKey', records: media, indexes: [['ResourceRecordKey']] },
  ]);
  return startServer('../compare/plain-server.ts', address);
}

async function startServer(file: string, argument: string): Promise<{ process: Running; root: string }> {
  const process = startHelper(file, [argument]);
  const [root] = await process.said(/http:\S+/);
  return { process, root };
}
