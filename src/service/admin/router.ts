/**
 * The operator's port: probes, and what the console and an operator's own programs ask. The table of its paths is what answers
 * them and what describes them.
 */
import { KEY_KINDS } from '../../access/index.ts';
import { platError } from '../../errors/index.ts';
import type { Clock } from '../../store/clock.ts';
import { spanText } from '../../store/clock-jump.ts';
import type { Store } from '../../store/store.ts';
import { aheadText } from '../../store/write/bring-back.ts';
import type { WebhookDesk } from '../../webhooks/desk.ts';
import {
  deleteWebhook,
  pauseWebhook,
  resumeWebhook,
  rotateWebhook,
  shown,
} from '../../webhooks/operations.ts';
import type { UsageRecorder } from '../access/usage.ts';
import { FACET_OPTIONS } from '../console/facet-wish.ts';
import type { History } from '../console/history.ts';
import type { HistoryKeeper } from '../console/history-keeper.ts';
import { allKeys, endKey, newKey } from '../console/keys.ts';
import { AWAY, type Live } from '../console/live.ts';
import type { LogIn } from '../console/log-in.ts';
import { QUARANTINE_OPTIONS, quarantine, type ReplicaDesk, retry } from '../console/replication.ts';
import { rolesInForce } from '../console/roles.ts';
import type { Walks } from '../console/walks.ts';
import { type Json, TEXT } from '../description/parts.ts';
import { type Exchange, json, type Reply } from '../exchange.ts';
import { ALLOWED, methodNotAllowed } from '../http/methods.ts';
import type { Metrics } from '../metrics.ts';
import type { RateLimit } from '../options.ts';
import { PUBLIC_SURFACES, SURFACE, type SurfaceName } from '../surface.ts';
import { PROBES, type Probed } from './probes.ts';
import { done, newWebhook, replay } from './webhooks.ts';

/** What the admin port reports on. */
export interface AdminContext {
  readonly store: Store;
  readonly metrics: Metrics;
  /** Keeps what keys did since their accounts were last written. */
  readonly usage: UsageRecorder;
  readonly logIn: LogIn;
  /** What this process answered. */
  readonly history: History;
  /** What all processes did in the last day. */
  readonly days: HistoryKeeper;
  readonly live: Live;
  readonly walks: Walks;
  /** Absent: the store is no replica, or nobody reports of it. */
  readonly replica?: ReplicaDesk | undefined;
  readonly webhooks?: WebhookDesk | undefined;
  readonly clock: Clock;
  /** Requests of a key, by its kind. */
  readonly limits: Readonly<Record<SurfaceName, RateLimit>>;
  /** The address of a surface as a client reaches it that came in on an address of this machine. */
  readonly addressOf: (surface: SurfaceName, arrival?: string) => string;
  /** Further conditions of readiness, such as the freshness of a replica. */
  readonly readiness: readonly ReadinessCheck[];
}

export interface ReadinessCheck {
  readonly name: string;
  /** Undefined when all is well; else what is not. */
  check(): Promise<string | undefined>;
}

/** A request of the admin port, once its path is known. */
interface AdminRequest {
  readonly exchange: Exchange;
  /** The parts of the path that the route has in braces. */
  readonly names: Readonly<Record<string, string>>;
}

interface BodySchema {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, Json>>;
}

/** A path as it is described. */
interface DescribedRoute {
  /** With its variable parts in braces. */
  readonly path: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** What it gives or does, for people. */
  readonly gives: string;
  readonly type: string;
  /** The JSON object that it takes (JSON Schema). */
  readonly body?: BodySchema;
  /** What its query takes, by name, for people. */
  readonly query?: Readonly<Record<string, string>>;
  /** Whether it needs no token: probes and scrapers have none. */
  readonly isOpen: boolean;
}

interface AdminRoute extends DescribedRoute {
  readonly answer: (context: AdminContext, request: AdminRequest) => Reply | Promise<Reply>;
}

const JSON_NAME = 'application/json';

const ADMIN_ROUTES: readonly AdminRoute[] = [
  {
    path: '/live',
    method: 'GET',
    gives: 'that the process runs',
    type: JSON_NAME,
    isOpen: true,
    answer: PROBES['/live'],
  },
  {
    path: '/ready',
    method: 'GET',
    gives: 'whether it can answer, and if not (503), why',
    type: JSON_NAME,
    isOpen: true,
    answer: (context) => PROBES['/ready'](probed(context)),
  },
  {
    path: '/metrics',
    method: 'GET',
    gives: 'figures for Prometheus',
    type: 'text/plain',
    isOpen: true,
    answer: (context) => PROBES['/metrics'](probed(context)),
  },
  {
    path: '/session',
    method: 'POST',
    gives: 'a session of the console, for the token in the body',
    type: JSON_NAME,
    body: { required: ['token'], properties: { token: TEXT } },
    isOpen: true,
    answer: ({ logIn }, { exchange }) => logIn.begin(exchange),
  },
  {
    path: '/session',
    method: 'DELETE',
    gives: 'the end of a session of the console',
    type: JSON_NAME,
    isOpen: true,
    answer: ({ logIn }, { exchange }) => logIn.end(exchange),
  },
  {
    path: '/about',
    method: 'GET',
    gives: 'where the interfaces are, and which roles there are',
    type: JSON_NAME,
    isOpen: false,
    answer: async ({ store, addressOf }, { exchange }) => json(await about(store, addressOf, exchange)),
  },
  {
    path: '/status',
    method: 'GET',
    gives: 'counts, lag and settings of the store',
    type: JSON_NAME,
    isOpen: false,
    answer: async ({ store }) => json(await store.status()),
  },
  {
    path: '/roles',
    method: 'GET',
    gives: 'the roles in force, and the fields of each resource by the class that decides who sees them',
    type: JSON_NAME,
    isOpen: false,
    answer: async ({ store }) => json(rolesInForce(await store.model())),
  },
  {
    path: '/keys',
    method: 'GET',
    gives: 'every key with what it has used, in all and in the last day, and the limits of each kind',
    type: JSON_NAME,
    isOpen: false,
    answer: async (context) => {
      await context.usage.flush();
      return allKeys(context.store, context);
    },
  },
  {
    path: '/keys',
    method: 'POST',
    gives: 'a new key, with its token, which is shown this once',
    type: JSON_NAME,
    body: {
      required: ['name', 'kind', 'role'],
      properties: {
        name: TEXT,
        kind: { enum: KEY_KINDS },
        role: TEXT,
        systems: { type: 'array', items: TEXT },
        expires: TEXT,
      },
    },
    isOpen: false,
    answer: ({ store }, { exchange }) => newKey(store, exchange),
  },
  {
    path: '/keys/{id}',
    method: 'DELETE',
    gives: 'the end of a key, at once, in every process',
    type: JSON_NAME,
    isOpen: false,
    answer: ({ store }, { names }) => endKey(store, names.id ?? ''),
  },
  {
    path: '/keys/{id}/history',
    method: 'GET',
    gives:
      'what a key used in each minute of the last day, in all processes, and null where none is known to have counted',
    type: JSON_NAME,
    isOpen: false,
    answer: async ({ days }, { names }) => json((await days.day()).key(names.id ?? '')),
  },
  {
    path: '/history',
    method: 'GET',
    gives:
      'requests, refusals, failures and times of each surface in each minute of the last day, in all processes, and null where none is known to have counted',
    type: JSON_NAME,
    isOpen: false,
    answer: async ({ days }) => json((await days.day()).surfaces()),
  },
  {
    path: '/figures',
    method: 'GET',
    gives: 'the figures of /metrics as JSON',
    type: JSON_NAME,
    isOpen: false,
    answer: async ({ metrics }) => json({ figures: await metrics.figures() }),
  },
  {
    path: '/replication',
    method: 'GET',
    gives:
      'of a replica what its copies do and did in the last day; of every key what it walks through, as far as this process saw it',
    type: JSON_NAME,
    isOpen: false,
    answer: async ({ walks, replica, clock }) => {
      const now = clock.now();
      return json({ at: now, sources: [], ...(await replica?.report(now)), walks: walks.all(now) });
    },
  },
  {
    path: '/replication/quarantine',
    method: 'GET',
    gives: 'records that a replica could not store, with their payloads and the reasons',
    type: JSON_NAME,
    query: QUARANTINE_OPTIONS,
    isOpen: false,
    answer: ({ replica }, { exchange }) => quarantine(replica, exchange),
  },
  {
    path: '/replication/quarantine/retry',
    method: 'POST',
    gives:
      'what became of a retry of a source, or of one of its quarantined records: the next update asks for them again',
    type: JSON_NAME,
    body: { required: ['source'], properties: { source: TEXT, resource: TEXT, key: TEXT } },
    isOpen: false,
    answer: ({ replica }, { exchange }) => retry(replica, exchange),
  },
  {
    path: '/webhooks',
    method: 'GET',
    gives: 'every webhook, how far its deliveries are, and what went wrong',
    type: JSON_NAME,
    isOpen: false,
    answer: async ({ store }) => json({ webhooks: (await store.webhooks.list()).map(shown) }),
  },
  {
    path: '/webhooks',
    method: 'POST',
    gives: 'a new webhook on the public internet, with its secret, which is shown this once',
    type: JSON_NAME,
    body: {
      required: ['url', 'role'],
      properties: {
        url: TEXT,
        role: TEXT,
        resources: { type: 'array', items: TEXT },
        systems: { type: 'array', items: TEXT },
        bearer: TEXT,
      },
    },
    isOpen: false,
    answer: ({ store }, { exchange }) => newWebhook(store, exchange),
  },
  {
    path: '/webhooks/{id}',
    method: 'DELETE',
    gives: 'the end of a webhook',
    type: JSON_NAME,
    isOpen: false,
    answer: ({ store }, { names }) => done(deleteWebhook(store, names.id ?? '')),
  },
  {
    path: '/webhooks/{id}/test',
    method: 'POST',
    gives: 'what the receiver answers to a message without events',
    type: JSON_NAME,
    isOpen: false,
    answer: async ({ webhooks }, { names }) => {
      if (webhooks === undefined) throw platError('recordNotFound', { resource: 'webhook' });
      return json(await webhooks.test(names.id ?? ''));
    },
  },
  {
    path: '/webhooks/{id}/pause',
    method: 'POST',
    gives: 'that nothing more is sent until it is resumed',
    type: JSON_NAME,
    isOpen: false,
    answer: ({ store }, { names }) => done(pauseWebhook(store, names.id ?? '')),
  },
  {
    path: '/webhooks/{id}/resume',
    method: 'POST',
    gives: 'that deliveries go on where they stopped, at once',
    type: JSON_NAME,
    isOpen: false,
    answer: ({ store }, { names }) => done(resumeWebhook(store, names.id ?? '')),
  },
  {
    path: '/webhooks/{id}/replay',
    method: 'POST',
    gives: 'that changes since a position (a number, start or end) are delivered again',
    type: JSON_NAME,
    body: { required: ['since'], properties: { since: TEXT } },
    isOpen: false,
    answer: ({ store }, { names, exchange }) => replay(store, names.id ?? '', exchange),
  },
  {
    path: '/webhooks/{id}/rotate',
    method: 'POST',
    gives: 'a new secret, which is shown this once; for a day the one before signs, too',
    type: JSON_NAME,
    isOpen: false,
    answer: async ({ store }, { names }) => json({ secret: await rotateWebhook(store, names.id ?? '') }),
  },
  {
    path: '/stream',
    method: 'GET',
    gives: 'figures of the present every two seconds, as server-sent events',
    type: 'text/event-stream',
    isOpen: false,
    answer: ({ live }) => {
      if (live.isFull) throw platError('overloaded', { seconds: 10 }, { retryAfter: 10 });
      return {
        status: 200,
        headers: {},
        body: [],
        events: (until: AbortSignal) => live.events(until),
        away: AWAY,
      };
    },
  },
];

/** Whose eyes: the paths before those of a surface. */
const EYES = [
  ['/as/role/{role}/{surface}', 'a key of this role'],
  ['/as/key/{id}/{surface}', 'this key'],
] as const;

/** The interfaces through another's eyes. `see-as.ts` leads them to their surface before a path is looked for here. */
const SEEN_ROUTES: readonly DescribedRoute[] = EYES.flatMap(([root, who]): DescribedRoute[] => [
  {
    path: `${root}/{path}`,
    method: 'GET',
    gives: `what the surface (api, replication or floorplans) answers to ${who} at any path of its own description, such as Reso/OData/Property`,
    type: '*/*',
    isOpen: false,
  },
  {
    path: `${root}/facets/{resource}`,
    method: 'GET',
    gives: `the values of fields with the numbers of records that ${who} sees, of a resource of the RESO interface`,
    type: JSON_NAME,
    query: { ...FACET_OPTIONS, $filter: 'A condition of the RESO interface.', $search: 'Words to look for.' },
    isOpen: false,
  },
  {
    path: `${root}/facets/v1/{collection}`,
    method: 'GET',
    gives: `the same of listings, openhouses or accounts of the native interface, in its names`,
    type: JSON_NAME,
    query: { ...FACET_OPTIONS, _filter: 'A condition of the native interface.' },
    isOpen: false,
  },
]);

/** All paths that an operator may ask, for the description. */
export const DESCRIBED_ROUTES: readonly DescribedRoute[] = [...ADMIN_ROUTES, ...SEEN_ROUTES];

/** A route with the variable parts of its path. */
interface Found {
  readonly route: AdminRoute;
  readonly names: AdminRequest['names'];
}

/** The routes of a path, one for each method that it takes. */
function routesOf(path: string): Found[] {
  const parts = path.split('/');
  return ADMIN_ROUTES.flatMap((route) => {
    const names = namesIn(route.path.split('/'), parts);
    return names === undefined ? [] : [{ route, names }];
  });
}

function namesIn(wanted: readonly string[], parts: readonly string[]): AdminRequest['names'] | undefined {
  if (wanted.length !== parts.length) return undefined;
  const names: Record<string, string> = {};
  for (const [at, part] of wanted.entries()) {
    const given = parts[at] ?? '';
    if (part.startsWith('{')) names[part.slice(1, -1)] = given;
    else if (part !== given) return undefined;
  }
  return names;
}

const isReading = (method: string): boolean => method === 'GET' || method === 'HEAD';
const takes = ({ route }: Found, method: string): boolean =>
  route.method === method || (isReading(method) && route.method === 'GET');

/** Whether a request needs no token. A method that an open path does not take is refused without one, too. */
export function isOpenAdminPath({ method }: Pick<Exchange, 'method'>, path: string): boolean {
  const routes = routesOf(path);
  const found = routes.find((each) => takes(each, method)) ?? routes[0];
  return found?.route.isOpen ?? false;
}

const methodsOf = (path: string): string[] =>
  routesOf(path).flatMap(({ route: { method } }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));

/** The methods that a path of the admin port takes, as `Allow` names them. */
export function allowedOf(path: string): string {
  const methods = methodsOf(path);
  return methods.length === 0 ? ALLOWED : [...methods, 'OPTIONS'].join(', ');
}

/** @throws PlatError `pathNotFound`, `methodNotAllowed` */
export async function admin(context: AdminContext, exchange: Exchange, path: string): Promise<Reply> {
  const routes = routesOf(path);
  if (routes.length === 0) throw platError('pathNotFound', { path });
  const found = routes.find((each) => takes(each, exchange.method));
  if (found === undefined) throw methodNotAllowed(exchange.method, methodsOf(path).join(' and '));
  return found.route.answer(context, { exchange, names: found.names });
}

/** What the console must know before it asks anything else. */
async function about(store: Store, addressOf: AdminContext['addressOf'], { arrival }: Exchange) {
  const { settings, rules } = await store.model();
  const surfaces = PUBLIC_SURFACES.map((name) => {
    const { resoRoot, nativeRoot } = SURFACE[name];
    return { name, address: addressOf(name, arrival), resoRoot, nativeRoot };
  });
  return { store: store.name, owner: settings.owner, surfaces, roles: [...rules.roles.keys()] };
}

/** What is wrong with the clock, or was when the store was last written to. */
async function clockProblem(store: Store): Promise<string | undefined> {
  const jump = await store.clockJump();
  if (jump > 0) {
    return `the clock was set ahead by ${spanText(jump)} since the store was last written to; nothing is written until it is right, or, if it was behind before and is right now, until a command with --allow-clock-jump says so`;
  }
  const ahead = await store.ahead();
  return ahead === undefined ? undefined : aheadText(ahead);
}

/** What keeps the service from being ready, by name; nothing when it is. */
export async function problemsOf({
  store,
  readiness,
}: Pick<AdminContext, 'store' | 'readiness'>): Promise<Readonly<Record<string, string>>> {
  const problems: Record<string, string> = {};
  try {
    await store.model();
    // Pages are bounded by it, and a server that is not the one to write to has none.
    await store.horizon();
    const problem = await clockProblem(store);
    if (problem !== undefined) problems.clock = problem;
  } catch {
    problems.store = 'the store cannot be used';
  }
  const trouble = store.trouble?.();
  if (trouble !== undefined) problems.store = trouble;
  for (const { name, check } of readiness) {
    const problem = await check();
    if (problem !== undefined) problems[name] = problem;
  }
  return problems;
}

const probed = (context: AdminContext): Probed => ({
  metrics: context.metrics,
  problems: () => problemsOf(context),
});
