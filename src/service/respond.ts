/**
 * The answer to a request: finds the interface, checks the key, hands over to the interface, and turns whatever is thrown on
 * the way into an error in its envelope. It must not know how requests arrive or how replies are written.
 */
import { performance } from 'node:perf_hooks';
import type { Logger } from 'pino';
import { PlatError, platError } from '../errors/index.ts';
import { type AssumedLook, type Look, LookChanged } from '../store/store.ts';
import {
  authenticate,
  type Caller,
  recognize,
  refuseTokenInQuery,
  sentTokenHash,
} from './access/authenticate.ts';
import type { RequestQueue } from './access/budget.ts';
import { type RequestLimiter, rateLimited, rateLimitHeaders } from './access/rate-limits.ts';
import type { RequestUse, UsageRecorder } from './access/usage.ts';
import type { Views } from './access/views.ts';
import { type AdminContext, admin, allowedOf, isOpenAdminPath } from './admin/router.ts';
import { FACETS_ROOT, facets } from './console/facets.ts';
import { AWAY } from './console/live.ts';
import { CONSOLE_ROOT, consoleReply } from './console/pages.ts';
import { keySeen, seenAs } from './console/see-as.ts';
import { description } from './description/openapi.ts';
import {
  bytesOf,
  type EventReply,
  type Exchange,
  hasEvents,
  JSON_TYPE,
  type Reply,
  type ServiceContext,
  type Session,
} from './exchange.ts';
import { greeting } from './front/greeting.ts';
import { type FileContext, servedFile } from './front/media.ts';
import { describedBy, documentReply, type Front, frontOf } from './front/paths.ts';
import { meaningOf, methodNotAllowed, type RequestMeaning } from './http/methods.ts';
import { negotiateVersion, ODATA_VERSION } from './http/negotiation.ts';
import { LONGEST_URL, withPostedQuery, withUnpackedQuery } from './http/posted-query.ts';
import type { KeptReplies } from './kept/kept-replies.ts';
import { native } from './native/routes.ts';
import type { ServiceOptions } from './options.ts';
import { isNativePath, type LoggedDamages, nativeError, resoError } from './reply/errors.ts';
import type { PromisedDate } from './reply/promised-date.ts';
import { enumerationsOf } from './reso/enumerations.ts';
import { reso } from './reso/router.ts';
import { SURFACE } from './surface.ts';

const MEDIA = '/media/';

/** Changes where the store went back in time: the timestamps that a consumer keeps mean nothing any more. */
const EPOCH_HEADER = 'x-plat-epoch';

/** Who asks where no key is needed, or none is known yet. */
const NOBODY: Caller = { kind: 'unknown', why: platError('tokenMissing', {}) };

/** Everything that answering needs. */
export interface Responder {
  readonly options: ServiceOptions;
  readonly context: ServiceContext;
  readonly date: PromisedDate;
  readonly files: FileContext;
  readonly admin: AdminContext;
  readonly limiter: RequestLimiter;
  readonly queue: Pick<RequestQueue, 'enter'>;
  readonly usage: UsageRecorder;
  readonly views: Views;
  readonly replies: KeptReplies;
  readonly log: Logger;
  /** Every reader meets the same damage of a store; it is logged once. */
  readonly damages: LoggedDamages;
}

/** The interface that a request is for, and its path there. */
type Route =
  | { readonly kind: 'reso' | 'native' | 'facets' | 'media' | 'console' | 'none'; readonly path: string }
  | { readonly kind: 'admin'; readonly path: string }
  | { readonly kind: 'front'; readonly path: string; readonly front: Front };

function routeOf({ surface, path, headers, as }: Exchange): Route {
  const plain = path.includes('//') ? path.replaceAll(/\/{2,}/g, '/') : path;
  const named = plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain;
  const front = frontOf(named, headers.accept);
  if (front !== undefined) return { kind: 'front', path: named, front };
  if (surface.name === 'admin') {
    if (!`${named}/`.startsWith(`${CONSOLE_ROOT}/`)) return { kind: 'admin', path: named };
    return { kind: 'console', path: named.slice(CONSOLE_ROOT.length + 1) };
  }
  if (as !== undefined && named.startsWith(FACETS_ROOT)) {
    return { kind: 'facets', path: named.slice(FACETS_ROOT.length) };
  }
  if (path.startsWith(MEDIA)) return { kind: 'media', path: path.slice(MEDIA.length) };
  for (const [kind, root] of [['reso', surface.resoRoot] as const, ['native', surface.nativeRoot] as const]) {
    if (root === undefined) continue;
    if (plain.startsWith(root)) return { kind, path: plain.slice(root.length) };
    if (`${plain}/` === root) return { kind, path: '' };
  }
  return { kind: 'none', path };
}

/** A path that leads nowhere belongs to the interface that it looks like. */
const isNative = ({ path }: Exchange, { kind }: Route): boolean =>
  kind === 'native' || (kind === 'none' && isNativePath(path));

/** Whether the answer is one of the RESO interface, which also answers for paths of no interface. */
const isOdata = (exchange: Exchange, route: Route): boolean =>
  route.kind === 'reso' || (route.kind === 'none' && !isNative(exchange, route));

const versionOf = (exchange: Exchange, route: Route): Record<string, string> =>
  isOdata(exchange, route) ? { ...ODATA_VERSION } : {};

/**
 * Answers a request, always in the envelope of the interface that was asked.
 * @param isOfSurface whether it came to a host that a surface has; otherwise there is nothing at any path
 */
export async function respond(responder: Responder, came: Exchange, isOfSurface = true): Promise<Reply> {
  const { context, date, usage, options } = responder;
  const exchange = seenAs(came);
  const route: Route = isOfSurface ? routeOf(exchange) : { kind: 'none', path: exchange.path };
  const extra = versionOf(exchange, route);
  let caller = NOBODY;
  let use: RequestUse = { rows: 0, bytes: 0 };
  let promised: number | undefined;
  try {
    // The key comes first: whatever becomes of the request, it counts, and its answer says where the key stands.
    if (!isOpen(exchange, route)) {
      if (exchange.headers.authorization !== undefined) exchange.timings.start('auth');
      const tokenHash = await tokenHashOf(responder, came);
      caller = await recognize(context.store, tokenHash, mayAssume(exchange, route));
      const seen = latelySeen(caller);
      promised = seen && date.promised(seen.now);
      await count(responder, exchange, caller, extra);
    }
    const reply = await answer(responder, exchange, { route, extra, caller });
    if (exchange.method !== 'HEAD') use = useOf(reply);
    if (latelySeen(caller) === undefined) promised = undefined;
    return { ...reply, headers: { ...extra, ...reply.headers }, date: promised };
  } catch (error) {
    return explain(responder, exchange, extra, error);
  } finally {
    if (caller.kind === 'known') usage.note(caller.key.id, use, options.clock.now());
  }
}

/** The hash of the token of a request: of its own, or of the session of the console that it belongs to. */
async function tokenHashOf({ admin }: Responder, came: Exchange): Promise<string | undefined> {
  const { authorization } = came.headers;
  if (authorization !== undefined || came.surface.name !== 'admin') return sentTokenHash(authorization);
  return admin.logIn.tokenHashOf(came);
}

const latelySeen = (caller: Caller) => (caller.kind === 'known' ? caller.lately?.() : undefined);

/** Whether no key is needed: files carry a signature in their address, and probes have no key. */
function isOpen(exchange: Exchange, route: Route): boolean {
  switch (route.kind) {
    case 'media':
    case 'console':
      return true;
    case 'admin':
      return isOpenAdminPath(exchange, route.path);
    case 'front':
      // With a key, an interface is described as the key sees it.
      return route.front.kind !== 'description' || exchange.headers.authorization === undefined;
    default:
      return false;
  }
}

function useOf({ rows = 0, window, walk, body }: Reply): RequestUse {
  const bytes = body.reduce((sum, part) => sum + bytesOf(part), 0);
  return { rows, bytes, window, walk };
}

/**
 * Counts a request of a known key against its limit, opens its budget, and waits for the key's turn.
 * @throws PlatError `rateLimited`, or as of `RequestAccount`
 */
async function count(
  { options, limiter, queue, admin: { history } }: Responder,
  { account }: Exchange,
  caller: Caller,
  extra: Record<string, string>,
): Promise<void> {
  if (caller.kind === 'unknown') return;
  const { id, kind } = caller.key;
  const allowance = await limiter.take(id, options.limits[kind], performance.now());
  Object.assign(extra, rateLimitHeaders(allowance));
  if (allowance.exceeded) {
    history.noteLimited(id, options.clock.now());
    throw rateLimited(allowance);
  }
  account.belongsTo(`key ${id}`);
  await queue.enter(account.name);
}

/** What browsers of other origins may ask of a public surface. */
function preflight(extra: Readonly<Record<string, string>>, allow: string): Reply {
  const headers = {
    ...extra,
    allow,
    'access-control-allow-methods': allow,
    'access-control-allow-headers': '*, Authorization',
    'access-control-max-age': '86400',
  };
  return { status: 204, headers, body: [] };
}

/** What is known of a request before it is read. */
interface Begun {
  readonly route: Route;
  /** Headers that the answer gets, whatever it is. */
  readonly extra: Record<string, string>;
  readonly caller: Caller;
}

async function answer(responder: Responder, exchange: Exchange, begun: Begun): Promise<Reply> {
  const { route, extra } = begun;
  const { context } = responder;
  const { method, headers, path, query } = exchange;
  if (route.kind === 'admin') return operate(responder, exchange, begun, route.path);
  const meaning = meaningOf(exchange, route.kind === 'reso' || route.kind === 'native');
  if (meaning.kind === 'options') return preflight(extra, meaning.allow);
  if (meaning.kind === 'refused') {
    extra.allow = meaning.allow;
    throw methodNotAllowed(method, meaning.takes);
  }
  if (path.length + query.length + 1 > LONGEST_URL) throw platError('uriTooLong', { limit: LONGEST_URL });
  refuseTokenInQuery(query);
  if (route.kind === 'reso') extra['odata-version'] = negotiateVersion(headers);
  switch (route.kind) {
    case 'none':
      if (path === '/') Object.assign(extra, describedBy(exchange.base));
      throw platError('pathNotFound', { path });
    case 'front':
      return front(responder, exchange, begun, route.front);
    case 'media':
      return servedFile(responder.files, exchange, route.path, await context.store.now());
    case 'console':
      return consoleReply(route.path);
    case 'reso':
    case 'native':
    case 'facets': {
      const damaged = responder.options.damaged?.();
      const serve = { reso, native, facets }[route.kind];
      return surely(begun.caller, async (seen) => {
        const session = await sessionBy(responder, exchange, begun, seen);
        const look = 'holds' in seen ? seen : undefined;
        const read = { ...context.read, caller: exchange.account, damaged, look };
        const asked = await withWholeQuery(exchange, meaning);
        const make = () => serve({ ...context, read }, asked, session, routeOf(asked).path);
        return damaged === undefined ? responder.replies.of(asked, session, seen.commit, make) : make();
      });
    }
  }
}

/** What an operator asks or does. */
async function operate(
  responder: Responder,
  exchange: Exchange,
  begun: Begun,
  path: string,
): Promise<Reply | EventReply> {
  const { method, query } = exchange;
  const allow = allowedOf(path);
  if (method === 'OPTIONS') return { status: 204, headers: { ...begun.extra, allow }, body: [] };
  refuseTokenInQuery(query);
  if (!isOpen(exchange, begun.route)) await sessionOf(responder, exchange, begun);
  try {
    const reply = await admin(responder.admin, exchange, path);
    return hasEvents(reply) ? { ...reply, events: eventsWhileAllowed(responder, exchange, reply) } : reply;
  } catch (error) {
    if (error instanceof PlatError && error.status === 405) begun.extra.allow = allow;
    throw error;
  }
}

/** The events of a reply, which end with the key or the session that asked for them. */
const eventsWhileAllowed = (responder: Responder, exchange: Exchange, reply: EventReply) =>
  async function* allowed(until: AbortSignal): AsyncGenerator<string> {
    for await (const text of reply.events(until)) {
      try {
        await stillOperates(responder, exchange);
      } catch (error) {
        if (error instanceof PlatError && error.status < 500) return;
        yield AWAY;
        continue;
      }
      yield text;
    }
  };

/** @throws PlatError as of `authenticate`, for an operator whose key or session has ended since the request */
async function stillOperates({ admin, context: { store } }: Responder, exchange: Exchange): Promise<void> {
  const { authorization } = exchange.headers;
  const hash =
    authorization === undefined
      ? await admin.logIn.tokenHashOf(exchange, false)
      : sentTokenHash(authorization);
  if (hash === undefined) throw platError('tokenMissing', {});
  authenticate(await store.look(hash), SURFACE.admin, () => '');
}

/** What a surface shows of itself. The store is read only for what a key may see. */
async function front(responder: Responder, exchange: Exchange, begun: Begun, asked: Front): Promise<Reply> {
  switch (asked.kind) {
    case 'greeting':
      return greeting(exchange);
    case 'document':
      return documentReply(exchange, asked.name);
    case 'description': {
      const { surface, base, headers, account } = exchange;
      const { store, read } = responder.context;
      const isGeneral = begun.caller.kind === 'unknown' && headers.authorization === undefined;
      const session = isGeneral ? undefined : await sessionOf(responder, exchange, begun);
      const model = session?.model ?? (await store.model());
      const context = { ...responder.context, read: { ...read, caller: account } };
      const members =
        session === undefined ? undefined : await enumerationsOf({ context, exchange, session });
      const text = description(surface, base, model, session?.view, members);
      return { status: 200, headers: { 'content-type': JSON_TYPE, ...describedBy(base) }, body: [text] };
    }
  }
}

/** The exchange as if all its options had come in its address. */
async function withWholeQuery(
  exchange: Exchange,
  { kind, path }: Extract<RequestMeaning, { readonly path: string }>,
): Promise<Exchange> {
  const posted = kind === 'posted' ? await withPostedQuery({ ...exchange, path, method: 'GET' }) : exchange;
  const whole = withUnpackedQuery(posted);
  if (whole !== exchange) refuseTokenInQuery(whole.query);
  return whole;
}

/** Whether a request may be answered twice, and most of the answer comes from the store. */
const mayAssume = ({ method }: Exchange, { kind }: Route): boolean =>
  (method === 'GET' || method === 'HEAD') && (kind === 'reso' || kind === 'native');

/**
 * Answers by what is known of the store; where that does not hold, nothing of the answer counts, be it a refusal, and the
 * store is asked first.
 */
async function surely(caller: Caller, serve: (seen: Look | AssumedLook) => Promise<Reply>): Promise<Reply> {
  if (caller.kind === 'unknown') throw caller.why;
  const assumed = caller.assume?.();
  if (assumed === undefined) return serve(await caller.look());
  try {
    const reply = await serve(assumed);
    if (await assumed.holds()) return reply;
  } catch (error) {
    // A store that is away confirms nothing, and need not: whoever asks, that is the answer.
    const isAway = error instanceof PlatError && error.code === 'storeUnavailable';
    if (isAway || (!(error instanceof LookChanged) && (await assumed.holds()))) throw error;
  }
  return serve(await caller.look());
}

async function sessionOf(responder: Responder, exchange: Exchange, begun: Begun): Promise<Session> {
  const { caller } = begun;
  if (caller.kind === 'unknown') throw caller.why;
  return sessionBy(responder, exchange, begun, await caller.look());
}

async function sessionBy(
  { context, views }: Responder,
  exchange: Exchange,
  { extra }: Begun,
  seen: Look,
): Promise<Session> {
  const { model, now } = seen;
  const { as, arrival } = exchange;
  const surface = as === undefined ? exchange.surface : SURFACE.admin;
  const own = authenticate(seen, surface, () => context.addressOf('replication', arrival));
  const key = as === undefined ? own : await keySeen(as, own, exchange, context.store.keys);
  extra[EPOCH_HEADER] = model.epoch;
  return { key, model, view: views.of(key, model), now };
}

/** Seconds after which a client may try again where the store cannot be used. */
const STORE_PATIENCE = 30;

/** Where a store lies and what is wrong with it concerns its operator alone, who finds it in the log. */
function withoutPlace(error: PlatError): PlatError {
  if (!error.code.startsWith('store') || error.code === 'storeUnavailable') return error;
  return platError('storeUnavailable', {}, { cause: error, retryAfter: error.retryAfter ?? STORE_PATIENCE });
}

/** The reply to an error. What is not meant for users is logged instead. */
function explain(
  { log, damages }: Responder,
  exchange: Exchange,
  extra: Record<string, string>,
  error: unknown,
): Reply {
  const shown =
    error instanceof PlatError
      ? withoutPlace(error)
      : platError('internal', { requestId: exchange.id }, { cause: error });
  // What this service does not have (501) is no fault of it. A cause is logged with its stack, a refusal without.
  if (shown.status >= 500 && shown.code !== 'notImplemented' && !damages.wasLogged(error)) {
    const facts = { requestId: exchange.id, ...(shown.cause === undefined ? {} : { err: shown.cause }) };
    log[shown.code === 'internal' ? 'error' : 'warn'](facts, shown.message);
  }
  return refusal(exchange, shown, extra);
}

/** An error in the envelope of the interface that was asked. */
export function refusal(
  exchange: Exchange,
  error: PlatError,
  extra: Readonly<Record<string, string>> = {},
): Reply {
  const route = routeOf(exchange);
  const headers = {
    ...versionOf(exchange, route),
    ...extra,
    ...(error.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    ...(error.retryAfter === undefined ? {} : { 'retry-after': String(error.retryAfter) }),
  };
  return isNative(exchange, route) ? nativeError(error, headers) : resoError(error, headers);
}
