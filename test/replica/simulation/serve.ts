import assert from 'node:assert/strict';
import { pino } from 'pino';
import { hashToken, type KeyRecord } from '../../../src/access/index.ts';
import { Budgets } from '../../../src/service/access/budget.ts';
import { KeyStatusCache } from '../../../src/service/access/key-status-cache.ts';
import { RateLimiter } from '../../../src/service/access/rate-limits.ts';
import { UsageRecorder } from '../../../src/service/access/usage.ts';
import { ViewCache } from '../../../src/service/access/view-cache.ts';
import { BlockCache } from '../../../src/service/cache/block-cache.ts';
import { ResponseCache } from '../../../src/service/cache/response-cache.ts';
import { History } from '../../../src/service/console/history.ts';
import { HistoryKeeper } from '../../../src/service/console/history-keeper.ts';
import { LiveFeed } from '../../../src/service/console/live-feed.ts';
import { ConsoleLogin } from '../../../src/service/console/log-in.ts';
import { NO_OUTLINES } from '../../../src/service/console/outlines.ts';
import { Walks } from '../../../src/service/console/walks.ts';
import { EventStreams } from '../../../src/service/events/event-streams.ts';
import { isDeflated, type ServiceContext } from '../../../src/service/exchange.ts';
import { makeMetrics, makeTimings } from '../../../src/service/metrics.ts';
import { SERVICE_DEFAULTS, type ServiceOptions } from '../../../src/service/options.ts';
import { FilterIndexCache } from '../../../src/service/paging/filter-index.ts';
import { LoggedDamages } from '../../../src/service/reply/errors.ts';
import { PromisedDate } from '../../../src/service/reply/promised-date.ts';
import { commonHeaders } from '../../../src/service/reply/send.ts';
import { respond } from '../../../src/service/respond.ts';
import type { Responder } from '../../../src/service/responder.ts';
import { SURFACE } from '../../../src/service/surface.ts';
import type { Clock } from '../../../src/shared/clock.ts';
import { NO_USE } from '../../../src/store/keys/key-store.ts';
import type { Store } from '../../../src/store/store.ts';
import type { RoleName } from './plan.ts';
import { replaced } from './replaced.ts';

export const TOKEN = 'plat_simulation';
export const ORIGIN = 'http://feed.test:8081';

export interface ServedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export type Ask = (url: string, headers: Readonly<Record<string, string>>) => Promise<ServedAnswer>;

export interface ServeOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly role: () => RoleName;
  /** The address that the service believes it has. */
  readonly base: string;
}

/** The limits are those of the tests: the service would count by a clock that a test cannot move. */
const NO_LIMIT = { requests: 1e9, seconds: 1 };
const SILENT = pino({ level: 'silent' });

/** The replication surface of a real service, without a socket. */
export function serve({ store: given, clock, role, base }: ServeOptions): Ask {
  const store = replaced(given, { keys: keysOf(role), look: lookOf(given, role) });
  const { limits: usual, ...defaults } = SERVICE_DEFAULTS;
  const limits = { ...usual, replication: NO_LIMIT };
  const options: ServiceOptions = { ...defaults, limits, store, clock, log: SILENT };
  const { minutes, megabytes } = options.filterIndex;
  const context: ServiceContext = {
    store,
    clock,
    indexes: new FilterIndexCache({ milliseconds: minutes * 60_000, bytes: megabytes * 2 ** 20 }, clock),
    kept: new BlockCache(store, 0), // what compresses does so in real time
    read: { milliseconds: options.querySeconds * 1000 },
    fileHours: options.fileHours,
    addressOf: () => base,
  };
  const usage = new UsageRecorder(store.keys, SILENT);
  void usage.close(); // what it notes is written by a real timer
  const history = new History(clock.now());
  const days = new HistoryKeeper(history, { store: store.history, clock, log: SILENT });
  void days.close(); // the same
  const responder: Responder = {
    options,
    context,
    date: new PromisedDate(store, clock),
    files: { store, files: [] },
    admin: {
      store,
      metrics: makeMetrics(),
      usage,
      problems: async () => ({}),
      addressOf: () => base,
      logIn: new ConsoleLogin(store),
      history,
      days,
      live: new LiveFeed(async () => ({})),
      walks: new Walks(),
      clock,
      limits,
      outlines: NO_OUTLINES,
    },
    limiter: new RateLimiter(),
    queue: { enter: () => Promise.resolve() }, // turns end by real time
    usage,
    views: new ViewCache(),
    streams: new EventStreams(store, {
      perKey: 0, // a stream takes real time
      metrics: {
        sent: () => undefined,
        lag: () => undefined,
        failed: () => undefined,
        unannounced: () => undefined,
      },
    }),
    standings: new KeyStatusCache(store, 0),
    replies: new ResponseCache(context, () => undefined),
    damages: new LoggedDamages(),
    log: SILENT,
  };
  const budgets = new Budgets(SERVICE_DEFAULTS.budget, { now: () => 0, refused: () => undefined });
  return async (url, headers) => {
    const { pathname, search } = new URL(url);
    using taken = new DisposableStack();
    const exchange = {
      id: 'simulated',
      method: 'GET',
      path: pathname,
      query: search.slice(1),
      headers,
      surface: SURFACE.replication,
      client: 'simulated',
      base,
      timings: makeTimings(),
      taken,
      account: budgets.open('simulated'),
      body: () => Promise.resolve(Buffer.alloc(0)),
    };
    const reply = await respond(responder, exchange);
    const pieces: Uint8Array[] = [];
    for (const part of reply.body) {
      if (isDeflated(part)) assert.fail('Nothing is kept');
      else pieces.push(Buffer.from(part));
    }
    const body = Buffer.concat(pieces);
    exchange.account.close();
    const common = commonHeaders({ requestId: exchange.id, now: await responder.date.now() });
    return {
      status: reply.status,
      headers: { ...common, 'content-length': String(body.length), ...reply.headers },
      body,
    };
  };
}

/** One key, whose role may be changed. */
function keysOf(role: () => RoleName): Store['keys'] {
  return {
    add: async () => undefined,
    list: async () => [{ ...keyOf(role()), use: NO_USE }],
    revoke: async () => false,
    recordUse: async () => undefined,
  };
}

function lookOf(store: Store, role: () => RoleName): Store['look'] {
  const hash = hashToken(TOKEN);
  return async (asked) => ({ ...(await store.look('')), key: asked === hash ? keyOf(role()) : undefined });
}

const keyOf = (role: RoleName): KeyRecord => ({
  id: 'k',
  name: 'simulation',
  kind: 'replication',
  role,
  systems: [],
  createdAt: '2020-01-01T00:00:00Z',
  expiresAt: null,
  revokedAt: null,
});
