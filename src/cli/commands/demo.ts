import { setImmediate } from 'node:timers/promises';
import type { Command } from 'commander';
import {
  CUSTOM_FIELDS,
  CUSTOM_LOOKUPS,
  datedBatches,
  LiveMarket,
  type MarketOptions,
  makeMarket,
  makeRandom,
  runLive,
} from 'plat-demo';
import { timestampFrom } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import type { StoreSettings } from '../../records/settings.ts';
import type { Service } from '../../service/service.ts';
import { systemClock } from '../../store/clock.ts';
import type { PartitionField, Store } from '../../store/store.ts';
import { liveReport } from '../live-report.ts';
import { marketStore, parseMarketRecord } from '../market-store.ts';
import { openStore } from '../open-store.ts';
import { applyConfig, CLOCK_OPTION, option, wholeNumber } from '../options.ts';
import { type Progress, withProgress } from '../progress.ts';
import { onShutdown } from '../shutdown.ts';
import { writeLines } from '../terminal.ts';
import { createKey } from './keys.ts';
import { addServeOptions, type ServeSettings, serveStore, surfaceLines } from './serve.ts';

const SEED = 1;
const DEMO_KEY = 'demo';
const DAY = 86_400_000;

/** Keys that a demonstration makes, one of each kind, new at each start. */
interface DemoTokens {
  readonly api: string;
  readonly replication: string;
  readonly floorplans: string;
  readonly admin: string;
}

interface DemoSettings extends ServeSettings {
  readonly store: string;
  readonly listings: number;
  readonly live?: boolean;
  readonly changesPerMinute: number;
  readonly allowClockJump?: boolean;
}

export function defineDemo(demo: Command): void {
  demo
    .addOption(option('--store <store>', 'where the market lives').default('./plat-demo.db'))
    .addOption(
      option('--listings <n>', 'size of a new market').argParser(wholeNumber(1, 10_000_000)).default(2000),
    );
  demo
    .addOption(option('--live', 'the market goes on changing until the command ends'))
    .addOption(
      option('--changes-per-minute <n>', 'how fast, with --live')
        .argParser(wholeNumber(1, 10_000))
        .default(3),
    );
  demo.addOption(CLOCK_OPTION());
  addServeOptions(demo).action(async (_options, self: Command) => {
    const config = await applyConfig(self);
    const settings: DemoSettings = self.opts();
    if (settings.live !== true && self.getOptionValueSource('changesPerMinute') === 'cli') {
      throw platError('usage', { reason: '--changes-per-minute goes with --live.' });
    }
    const shutdown = onShutdown(true);
    const { allowClockJump } = settings;
    await fillStore(settings, config.partitions, shutdown.signal);
    if (shutdown.signal.aborted) return;
    const store = await openStore(settings.store, { create: false, threads: true, config, allowClockJump });
    try {
      const market = settings.live === true ? await liveMarketOf(store) : undefined;
      const tokens = await renewKeys(store);
      const service = await serveStore(store, { ...settings, logLevel: settings.logLevel }, config);
      writeLines(await welcome(store, service, tokens, surfaceLines(service, settings, config)));
      if (market !== undefined) await keepChanging(market, settings.changesPerMinute, shutdown.signal);
      await shutdown.asked;
      await service.close();
    } finally {
      await store.close();
    }
  });
}

/** The market of a store, with the moment that its dates lead up to. */
function optionsOf({ seed, listings, date }: NonNullable<StoreSettings['market']>): MarketOptions {
  return { seed, listings, ...(date === undefined ? {} : { now: new Date(date) }) };
}

/** The market of a store, to be changed. @throws PlatError `usage` where the store holds somebody's own records */
async function liveMarketOf(store: Store): Promise<LiveMarket> {
  const { settings } = await store.model();
  if (settings.market === undefined || settings.owner !== 'authority') {
    throw platError('usage', {
      reason: `--live changes a market that "plat demo" made; ${store.name} has none.`,
    });
  }
  const random = makeRandom(settings.market.seed, 'live', Math.floor(systemClock.now() / 1000));
  return new LiveMarket(makeMarket(optionsOf(settings.market)), marketStore(store), random);
}

/** Changes a market until the command is told to end. */
async function keepChanging(market: LiveMarket, perMinute: number, signal: AbortSignal): Promise<void> {
  const { end, ...report } = liveReport(market, perMinute);
  await runLive({ market, clock: systemClock, perMinute, signal, ...report });
  end();
}

/** Makes the market if the store holds no listing; a market that was broken off is completed. */
async function fillStore(
  { store: address, listings, allowClockJump }: { store: string; listings: number; allowClockJump?: boolean },
  partitions: PartitionField | undefined,
  signal: AbortSignal,
): Promise<void> {
  const store = await openStore(address, { create: true, partitions, allowClockJump });
  try {
    const { settings } = await store.model();
    const counts = await listingCount(store);
    if (settings.market === undefined && counts > 0) return; // records of somebody's own
    const market = settings.market ?? { seed: SEED, listings, date: lastNoon(await store.now()) };
    if (counts >= market.listings) return;
    await store.configure((current) => ({
      ...current,
      market,
      declarations: { ...current.declarations, customFields: CUSTOM_FIELDS, lookups: CUSTOM_LOOKUPS },
    }));
    const options = optionsOf(market);
    await withProgress('Making the market', sizeOf(options), (progress) =>
      storeMarket(store, options, progress, signal),
    );
  } finally {
    await store.close();
  }
}

/** The moment that a new market leads up to, the noon of two days ago: markets that are made on one day are the same. */
const lastNoon = (now: number): string => new Date(now - (now % DAY) - (3 * DAY) / 2).toISOString();

function sizeOf(options: MarketOptions): number {
  const market = makeMarket(options);
  return market.organizations().length + market.offices + market.members + market.listings;
}

async function listingCount(store: Store): Promise<number> {
  const { resources } = await store.status();
  return resources.find(({ resource }) => resource === 'Property')?.rows ?? 0;
}

async function storeMarket(
  store: Store,
  options: MarketOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  let done = 0;
  for (const { resource, records, over } of datedBatches(options)) {
    if (signal.aborted) return;
    const model = await store.model();
    const parsed = records.map((record) => parseMarketRecord(model, { resource, record }));
    await store.write(resource, parsed, { over });
    done += records.length;
    progress.update(done, `${done} records`);
    await setImmediate(); // lets signals in
  }
}

/** Makes one key of each kind; those of an earlier start stop working. */
async function renewKeys(store: Store): Promise<DemoTokens> {
  const now = timestampFrom(Date.now());
  for (const key of await store.keys.list()) {
    if (key.name === DEMO_KEY && key.revokedAt === null) await store.keys.revoke(key.id, now);
  }
  const systems = await systemsOf(store);
  const make = async (kind: keyof DemoTokens, role: string): Promise<string> => {
    const wanted = {
      name: DEMO_KEY,
      kind,
      role,
      systems: kind === 'floorplans' ? systems : [],
      expiresAt: null,
    };
    return (await createKey(store, wanted)).token;
  };
  return {
    api: await make('api', 'idx'),
    replication: await make('replication', 'idx'),
    floorplans: await make('floorplans', 'private'),
    admin: await make('admin', 'private'),
  };
}

/** The originating systems of the market, or of the first listing of somebody's own store. */
async function systemsOf(store: Store): Promise<string[]> {
  const { settings } = await store.model();
  if (settings.market !== undefined) {
    return makeMarket(optionsOf(settings.market))
      .organizations()
      .map((organization) => String(organization.OrganizationUniqueId));
  }
  const [listing] = await store.contents('Property', { key: await firstListing(store) });
  return [String(listing?.OriginatingSystemID ?? '')];
}

async function firstListing(store: Store): Promise<string> {
  for await (const line of store.export('Property')) {
    const { ListingKey }: { ListingKey: string } = JSON.parse(line);
    return ListingKey;
  }
  return '';
}

async function welcome(
  store: Store,
  service: Service,
  tokens: DemoTokens,
  surfaces: readonly string[],
): Promise<string[]> {
  const { addresses } = service;
  const key = await firstListing(store);
  const [listing] = await store.contents('Property', { key });
  const curl = (token: string, url: string): string => `  curl -H 'Authorization: Bearer ${token}' '${url}'`;
  return [
    '',
    ...surfaces,
    '',
    'Tokens (new at each start):',
    `  api          ${tokens.api}`,
    `  replication  ${tokens.replication}`,
    `  floorplans   ${tokens.floorplans}`,
    `  admin        ${tokens.admin}`,
    '',
    'Try:',
    curl(tokens.replication, `${addresses.replication}/Reso/OData/Property?$top=2&$count=true`),
    curl(tokens.api, `${addresses.api}/v1/listings?_limit=2&_expand=Photos,Rooms`),
    curl(
      tokens.floorplans,
      `${addresses.floorplans}/Reso/Media?$filter=OriginatingSystemResourceRecordSystemID%20eq%20%27${listing?.OriginatingSystemID}%27&$top=1`,
    ),
    '',
  ];
}
