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
import type { StoreModel } from '../../compile/model.ts';
import { timestampFrom } from '../../dictionary/index.ts';
import { usageError } from '../../errors/index.ts';
import type { StoreSettings } from '../../records/settings.ts';
import type { Service } from '../../service/service.ts';
import { systemClock } from '../../shared/clock.ts';
import { createKey } from '../../store/keys/new-key.ts';
import { modelOfNewStore } from '../../store/state/new-store.ts';
import type { Store } from '../../store/store.ts';
import type { ConfigFile } from '../config.ts';
import { liveReport } from '../live-report.ts';
import { marketStore, parseMarketRecord } from '../market-store.ts';
import { withConfiguration, withStore } from '../open-store.ts';
import { addOptions, applyConfig, CLOCK_OPTION, option, wholeNumber } from '../options.ts';
import { printSecret } from '../output.ts';
import { type Progress, withProgress } from '../progress.ts';
import { onShutdown } from '../shutdown.ts';
import { reportLines } from '../terminal.ts';
import {
  addressesOf,
  addServeOptions,
  type ServeSettings,
  serveStore,
  surfaceLines,
  withServedStore,
} from './serve.ts';

const SEED = 1;
const DEMO_KEY = 'demo';
const DAY = 86_400_000;

/** The tokens of the demo keys, one of each kind, created at each start. */
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
  addOptions(
    demo,
    option('--store <store>', 'the store of the market').default('./plat-demo.db'),
    option('--listings <n>', 'number of listings of a new market')
      .argParser(wholeNumber(1, 10_000_000))
      .default(2000),
    option('--live', 'keep changing the market until the command ends'),
    option('--changes-per-minute <n>', 'rate of changes with --live')
      .argParser(wholeNumber(1, 10_000))
      .default(3),
    CLOCK_OPTION(),
  );
  addServeOptions(demo).action(async (_options, self: Command) => {
    const config = await applyConfig(self);
    const settings: DemoSettings = self.opts();
    if (settings.live !== true && self.getOptionValueSource('changesPerMinute') === 'cli') {
      throw usageError('--changes-per-minute requires --live.');
    }
    const shutdown = onShutdown(true);
    const { allowClockJump } = settings;
    const listings = self.getOptionValueSource('listings') === 'default' ? undefined : settings.listings;
    await fillStore(settings, listings, config, shutdown.signal);
    if (shutdown.signal.aborted) return;
    await withServedStore(settings.store, { config, shutdown, allowClockJump }, async (store) => {
      const market = settings.live === true ? await liveMarketOf(store) : undefined;
      const tokens = await renewKeys(store);
      const service = await serveStore(store, settings, config);
      const examples = await curlLines(store, service, tokens);
      const welcome = settings.json
        ? { json: { ...addressesOf(service), tokens, examples } }
        : welcomeLines(service, tokens, examples, surfaceLines(service, settings, config));
      await printSecret(welcome, {
        what: 'the tokens of the demo',
        undo: () => Promise.all([revokeKeys(store), service.close()]),
        undone: 'they are revoked',
        left: 'the next start revokes them',
        serves: true,
      });
      if (market !== undefined) await keepChanging(market, settings.changesPerMinute, shutdown.signal);
      await shutdown.asked;
      await service.close();
    });
  });
}

/** The options of the market of a store, with the time at which its dates end. */
function optionsOf({ seed, listings, date }: NonNullable<StoreSettings['market']>): MarketOptions {
  return { seed, listings, now: date === undefined ? undefined : new Date(date) };
}

/** The market of a store, ready to be changed. @throws PlatError `usage` if the store has no demo market */
async function liveMarketOf(store: Store): Promise<LiveMarket> {
  const { settings } = await store.model();
  if (settings.market === undefined || settings.owner !== 'authority') {
    throw usageError(`--live requires a market that "plat demo" created; ${store.name} has none.`);
  }
  const random = makeRandom(settings.market.seed, 'live', Math.floor(systemClock.now() / 1000));
  return new LiveMarket(makeMarket(optionsOf(settings.market)), marketStore(store), random);
}

async function keepChanging(market: LiveMarket, perMinute: number, signal: AbortSignal): Promise<void> {
  const { end, ...report } = liveReport(market, perMinute);
  await runLive({ market, clock: systemClock, perMinute, signal, ...report });
  end();
}

/**
 * Creates the market if the store has no listings, and completes an unfinished one.
 *
 * @param asked the number of listings that the user asked for, if any
 */
async function fillStore(
  { store: address, listings, allowClockJump }: DemoSettings,
  asked: number | undefined,
  config: ConfigFile,
  signal: AbortSignal,
): Promise<void> {
  const { partitions } = config;
  // The configuration is applied to the finished market; an invalid one creates no store.
  const beforeCreation = ({ settings }: StoreModel) =>
    modelOfNewStore(withConfiguration(withMarketFields(settings), config));
  await withStore(address, { create: true, partitions, allowClockJump, beforeCreation }, async (store) => {
    const { settings } = await store.model();
    const counts = await listingCount(store);
    const present = settings.market?.listings ?? counts;
    if (asked !== undefined && present > 0 && present !== asked) {
      const what = settings.market === undefined ? '' : 'a market of ';
      reportLines(`${address} has ${what}${present} listings; --listings applies to a new market`);
    }
    if (settings.market === undefined && counts > 0) return; // the user's own records
    const market = settings.market ?? { seed: SEED, listings, date: lastNoon(await store.now()) };
    if (counts >= market.listings) return;
    await store.configure((current) => ({ ...withMarketFields(current), market }));
    const options = optionsOf(market);
    await withProgress('Making the market', sizeOf(options), (progress) =>
      storeMarket(store, options, progress, signal),
    );
    if (signal.aborted) reportLines('plat: interrupted; the next start completes the market');
  });
}

const withMarketFields = (settings: StoreSettings): StoreSettings => ({
  ...settings,
  declarations: { ...settings.declarations, customFields: CUSTOM_FIELDS, lookups: CUSTOM_LOOKUPS },
});

/** The time at which the dates of a new market end. It is noon, so that markets created on the same day are identical. */
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
    await setImmediate(); // lets signals be processed
  }
}

async function revokeKeys(store: Store): Promise<void> {
  const now = timestampFrom(Date.now());
  for (const key of await store.keys.list()) {
    if (key.name === DEMO_KEY && key.revokedAt === null) await store.keys.revoke(key.id, now);
  }
}

/** Creates one key of each kind and revokes those of an earlier start. */
async function renewKeys(store: Store): Promise<DemoTokens> {
  await revokeKeys(store);
  const systems = await systemsOf(store);
  const make = async (kind: keyof DemoTokens, role: string): Promise<string> => {
    const of = kind === 'floorplans' ? systems : [];
    return (await createKey(store, { name: DEMO_KEY, kind, role, systems: of, expiresAt: null })).token;
  };
  return {
    api: await make('api', 'idx'),
    replication: await make('replication', 'idx'),
    floorplans: await make('floorplans', 'private'),
    admin: await make('admin', 'private'),
  };
}

/** The originating systems of the market, or of the first listing of the user's own records. */
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

/** Commands that show each interface. */
async function curlLines(store: Store, { addresses }: Service, tokens: DemoTokens): Promise<string[]> {
  const [listing] = await store.contents('Property', { key: await firstListing(store) });
  const curl = (token: string, url: string): string => `curl -H 'Authorization: Bearer ${token}' '${url}'`;
  return [
    curl(tokens.replication, `${addresses.replication}/Reso/OData/Property?$top=2&$count=true`),
    curl(tokens.api, `${addresses.api}/v1/listings?_limit=2&_expand=Photos,Rooms`),
    curl(
      tokens.floorplans,
      `${addresses.floorplans}/Reso/Media?$filter=OriginatingSystemResourceRecordSystemID%20eq%20%27${listing?.OriginatingSystemID}%27&$top=1`,
    ),
  ];
}

function welcomeLines(
  service: Service,
  tokens: DemoTokens,
  examples: readonly string[],
  surfaces: readonly string[],
): string[] {
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
    'See listings, floor plans and keys in a browser; log in with the admin token:',
    `  ${addressesOf(service).console}`,
    '',
    'Try:',
    ...examples.map((line) => `  ${line}`),
    '',
  ];
}
