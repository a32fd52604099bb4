import { performance } from 'node:perf_hooks';
import type { Logger } from 'pino';
import type { StoreModel } from '../compile/model.ts';
import { PlatError, platError } from '../errors/index.ts';
import type { Store } from '../store/store.ts';
import { authenticate, type Caller, recognize, refuseTokenInQuery } from './access/authenticate.ts';
import type { MainThread } from './access/budget.ts';
import { type RequestLimiter, rateLimited, rateLimitHeaders } from './access/rate-limits.ts';
import type { RequestUse, UsageRecorder } from './access/usage.ts';
import type { Views } from './access/views.ts';
import { type AdminContext, admin, isOpenAdminPath } from './admin/router.ts';
import { description } from './description/openapi.ts';
import {
  bytesOf,
  type Exchange,
  JSON_TYPE,
  type Reply,
  type ServiceContext,
  type Session,
} from './exchange.ts';
import { greeting } from './front/greeting.ts';
import { type FileContext, servedFile } from './front/media.ts';
import { describedBy, documentReply, type Front, frontOf } from './front/paths.ts';
import { notAllowed, type Wanted, wantedBy } from './http/methods.ts';
import { negotiateVersion, ODATA_VERSION } from './http/negotiation.ts';
import { LONGEST_URL, withPostedQuery, withUnpackedQuery } from './http/posted-query.ts';
import { native } from './native/routes.ts';
import type { ServiceOptions } from './options.ts';
import { isNativePath, type LoggedDamages, nativeError, resoError } from './reply/errors.ts';
import type { ToldMoment } from './reply/promised-date.ts';
import { enumerationsOf } from './reso/enumerations.ts';
import { reso } from './reso/router.ts';

const MEDIA = '/media/';

/** Another one where the store went back in time: what a consumer keeps of its timestamps means nothing any more. */
const EPOCH_HEADER = 'x-plat-epoch';

/** Who asks where no key is needed, or none is known yet. */
const NOBODY: Caller = { kind: 'unknown', why: platError('tokenMissing', {}) };

const NOTHING: RequestUse = { rows: 0, bytes: 0 };

/** Everything that answering needs. */
export interface Responder {
  readonly options: ServiceOptions;
  readonly context: ServiceContext;
  readonly told: ToldMoment;
  readonly files: FileContext;
  readonly admin: AdminContext;
  readonly limiter: RequestLimiter;
  readonly mainThread: Pick<MainThread, 'enter'>;
  readonly usage: UsageRecorder;
  readonly views: Views;
  readonly log: Logger;
  /** What was logged of a damaged store: every reader meets the same damage, and one line tells it. */
  readonly damages: LoggedDamages;
}

/** The interface that a request is for, and its path there. */
type Route =
  | { readonly kind: 'reso' | 'native'; readonly path: string }
  | { readonly kind: 'media'; readonly path: string }
  | { readonly kind: 'front'; readonly path: string; readonly front: Front }
  | { readonly kind: 'admin' | 'none'; readonly path: string };

function routeOf({ surface, path, headers }: Exchange): Route {
  const plain = path.replaceAll(/\/{2,}/g, '/');
  const named = plain === '/' ? plain : plain.replace(/\/$/, '');
  const front = frontOf(named, headers.accept);
  if (front !== undefined) return { kind: 'front', path: named, front };
  if (surface.name === 'admin') return { kind: 'admin', path: named };
  if (path.startsWith(MEDIA)) return { kind: 'media', path: path.slice(MEDIA.length) };
  for (const [kind, root] of [['reso', surface.resoRoot] as const, ['native', surface.nativeRoot] as const]) {
    if (root === undefined) continue;
    if (plain.startsWith(root)) return { kind, path: plain.slice(root.length) };
    if (`${plain}/` === root) return { kind, path: '' };
  }
  return { kind: 'none', path };
}

/** A path that leads nowhere is of the interface that it looks like. */
const isNative = ({ path }: Exchange, { kind }: Route): boolean =>
  kind === 'native' || (kind === 'none' && isNativePath(path));

/** Whether the answer is one of the RESO interface, as an error of no other interface is, too. */
const isOdata = (exchange: Exchange, route: Route): boolean =>
  route.kind === 'reso' || (route.kind === 'none' && !isNative(exchange, route));

const versionOf = (exchange: Exchange, route: Route): Record<string, string> =>
  isOdata(exchange, route) ? { ...ODATA_VERSION } : {};

/**
 * Answers a request: always with a reply, in the envelope of the interface that was asked.
 * @param isOfSurface whether it came to a host that a surface has; else there is nothing at any path
 */
export async function respond(responder: Responder, exchange: Exchange, isOfSurface = true): Promise<Reply> {
  const route: Route = isOfSurface ? routeOf(exchange) : { kind: 'none', path: exchange.path };
  const extra = versionOf(exchange, route);
  let caller = NOBODY;
  let use: RequestUse = NOTHING;
  let model = (): Promise<StoreModel> => responder.context.store.model();
  try {
    // The key comes first: what it asks counts, and is told where the key stands, whatever becomes of the request.
    if (!isOpen(exchange, route)) {
      if (exchange.headers.authorization !== undefined) {
        exchange.timings.start('auth');
        model = modelSoon(responder.context.store);
      }
      caller = await recognize(responder.context.store, exchange.headers.authorization);
      await count(responder, exchange, caller, extra);
    }
    const reply = await answer(responder, exchange, { route, extra, caller, model });
    if (exchange.method !== 'HEAD') use = useOf(reply);
    return { ...reply, headers: { ...extra, ...reply.headers } };
  } catch (error) {
    return explain(responder, exchange, extra, error);
  } finally {
    if (caller.kind === 'known')
      await responder.usage.note(caller.key.id, use, responder.options.clock.now());
  }
}

/** Whether nobody needs a key: files carry a signature in their address, and probes have none. */
function isOpen({ headers }: Exchange, route: Route): boolean {
  switch (route.kind) {
    case 'media':
      return true;
    case 'admin':
      return isOpenAdminPath(route.path);
    case 'front':
      // With a key, an interface is described as the key sees it.
      return route.front.kind !== 'description' || headers.authorization === undefined;
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
  { options, limiter, mainThread }: Responder,
  { account }: Exchange,
  caller: Caller,
  extra: Record<string, string>,
): Promise<void> {
  if (caller.kind === 'unknown') return;
  const { id, kind } = caller.key;
  const allowance = await limiter.take(id, options.limits[kind], performance.now());
  Object.assign(extra, rateLimitHeaders(allowance));
  if (allowance.exceeded) throw rateLimited(allowance);
  account.belongsTo(`key ${id}`);
  await mainThread.enter(account.name);
}

/** Browsers of other origins may read; what protects the data is the token, which no browser adds by itself. */
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
  readonly extra: Record<string, string>;
  readonly caller: Caller;
  readonly model: () => Promise<StoreModel>;
}

/** Milliseconds for which what the store said of itself is good for a request that came before. */
const FRESH = 50;

/**
 * The model of a store, asked for at once, while the key is looked up: on a server each is a way there and back. A
 * request that has waited meanwhile asks anew.
 */
function modelSoon(store: Store): () => Promise<StoreModel> {
  const began = performance.now();
  const asked = store.model();
  asked.catch(() => undefined); // whoever waits for it is told
  return () => (performance.now() - began < FRESH ? asked : store.model());
}

async function answer(responder: Responder, exchange: Exchange, begun: Begun): Promise<Reply> {
  const { route, extra } = begun;
  const { context } = responder;
  const { method, headers, path, query } = exchange;
  const wanted = wantedBy(exchange, route.kind === 'reso' || route.kind === 'native');
  if (wanted.kind === 'options') return preflight(extra, wanted.allow);
  if (wanted.kind === 'refused') {
    extra.allow = wanted.allow;
    throw notAllowed(method, wanted.takes);
  }
  if (path.length + query.length + 1 > LONGEST_URL) throw platError('uriTooLong', { limit: LONGEST_URL });
  refuseTokenInQuery(query);
  if (route.kind === 'reso') {
    extra['odata-version'] = negotiateVersion(headers);
  }
  const now = await context.store.now();
  switch (route.kind) {
    case 'none':
      if (path === '/') Object.assign(extra, describedBy(exchange.base));
      throw platError('pathNotFound', { path });
    case 'front':
      return front(responder, exchange, begun, route.front);
    case 'media':
      return servedFile(responder.files, exchange, route.path, now);
    case 'admin':
      if (!isOpen(exchange, route)) await sessionOf(responder, exchange, begun, now);
      return admin(responder.admin, route.path);
    case 'reso':
    case 'native': {
      const session = await sessionOf(responder, exchange, begun, now);
      const damaged = responder.options.damaged?.();
      const read = { ...context.read, caller: exchange.account, damaged };
      const asked = await withWholeQuery(exchange, wanted);
      const serve = route.kind === 'reso' ? reso : native;
      return serve({ ...context, read }, asked, session, routeOf(asked).path);
    }
  }
}

/** What a surface shows of itself. A store is asked only for what a key may see. */
async function front(responder: Responder, exchange: Exchange, begun: Begun, asked: Front): Promise<Reply> {
  switch (asked.kind) {
    case 'greeting':
      return greeting(exchange);
    case 'document':
      return documentReply(exchange, asked.name);
    case 'description': {
      const { surface, base } = exchange;
      const { clock, store } = responder.context;
      const isGeneral = begun.caller.kind === 'unknown' && exchange.headers.authorization === undefined;
      const session = isGeneral ? undefined : await sessionOf(responder, exchange, begun, clock.now());
      const model = session?.model ?? (await store.model());
      const context = { ...responder.context, read: { ...responder.context.read, caller: exchange.account } };
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
  { kind, path }: Extract<Wanted, { readonly path: string }>,
): Promise<Exchange> {
  const posted = kind === 'posted' ? await withPostedQuery({ ...exchange, path, method: 'GET' }) : exchange;
  const whole = withUnpackedQuery(posted);
  if (whole !== exchange) refuseTokenInQuery(whole.query);
  return whole;
}

async function sessionOf(
  { context, views }: Responder,
  { surface, arrival }: Exchange,
  { extra, caller, model: ask }: Begun,
  begun: number,
): Promise<Session> {
  const host = context.addressOf('replication', arrival);
  authenticate(caller, surface, begun, host);
  const model = await ask();
  // A server tells its clock with the model. Until then a process knows it about, by what it heard last: behind the
  // moment at which another process has just revoked the key.
  const now = await context.store.now();
  const key = authenticate(caller, surface, now, host);
  extra[EPOCH_HEADER] = model.epoch;
  return { key, model, view: views.of(key, model), now };
}

/** Seconds after which a store that cannot be used may be asked again. */
const STORE_PATIENCE = 30;

/** Where a store lies, and what is the matter with it, is for its operator: the log has it. */
function withoutPlace(error: PlatError): PlatError {
  if (!error.code.startsWith('store') || error.code === 'storeUnavailable') return error;
  return platError('storeUnavailable', {}, { cause: error, retryAfter: error.retryAfter ?? STORE_PATIENCE });
}

/** Tells an error. What is not meant for users is logged and not told. */
function explain(
  { log, damages }: Responder,
  exchange: Exchange,
  extra: Record<string, string>,
  error: unknown,
): Reply {
  const told =
    error instanceof PlatError
      ? withoutPlace(error)
      : platError('internal', { requestId: exchange.id }, { cause: error });
  // What this service does not have (501) is no fault of it, and a cause is logged with its stack, a refusal without.
  if (told.status >= 500 && told.code !== 'notImplemented' && !damages.wasLogged(error)) {
    const facts = { requestId: exchange.id, ...(told.cause === undefined ? {} : { err: told.cause }) };
    log[told.code === 'internal' ? 'error' : 'warn'](facts, told.message);
  }
  return refusal(exchange, told, extra);
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
