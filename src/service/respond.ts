/**
 * Answers a request: passes it to the right interface (route.ts), with the session of the client (session.ts), and turns everything
 * that is thrown into an error in the envelope of that interface. It must not know how requests arrive or how replies are written.
 */
import { PlatError, platError, type ResumePoint } from '../errors/index.ts';
import { DamagedRecord } from '../records/damage.ts';
import type { AssumedLook, Look } from '../store/store.ts';
import { refuseTokenInQuery } from './access/authenticate.ts';
import type { RequestUse } from './access/usage.ts';
import { allowedOf, answerAdmin } from './admin/router.ts';
import { consoleReply } from './console/console-files.ts';
import { answerFacets } from './console/facets.ts';
import { resolveViewAs } from './console/view-as.ts';
import { openApiDocument } from './description/openapi.ts';
import { answerEvents } from './events/events.ts';
import { byteLengthOf, type Exchange, hasEvents, JSON_TYPE, type Reply } from './exchange.ts';
import { greeting } from './front/greeting.ts';
import { servedFile } from './front/media.ts';
import { describedBy, documentReply, type Front } from './front/paths.ts';
import { meaningOf, methodNotAllowed, type RequestMeaning } from './http/methods.ts';
import { negotiateVersion } from './http/negotiation.ts';
import { LONGEST_URL, withPostedQuery, withUnpackedQuery } from './http/posted-query.ts';
import { answerNative } from './native/routes.ts';
import { nativeError, resoError } from './reply/errors.ts';
import { enumerationsOf } from './reso/enumerations.ts';
import { answerReso } from './reso/router.ts';
import type { Responder } from './responder.ts';
import {
  allowsAnonymous,
  isNativeRoute,
  mayAssume,
  nearestPath,
  odataVersionHeader,
  type Route,
  routeOf,
} from './route.ts';
import {
  admitRequest,
  type ClientState,
  callerOf,
  freshLook,
  keyStatusOf,
  NO_CALLER,
  sessionFromLook,
  sessionOf,
  withConfirmedState,
} from './session.ts';

/**
 * Answers a request, always in the envelope of the requested interface.
 * @param isOfSurface whether the host of the request belongs to a surface; for any other host, every path is unknown
 */
export async function respond(responder: Responder, received: Exchange, isOfSurface = true): Promise<Reply> {
  const { date, usage, options } = responder;
  const exchange = resolveViewAs(received);
  const route: Route = isOfSurface ? routeOf(exchange) : { kind: 'none', path: exchange.path };
  const extra = odataVersionHeader(exchange, route);
  let caller = NO_CALLER;
  let use: RequestUse = { rows: 0, bytes: 0 };
  let promised: number | undefined;
  try {
    // Authentication comes first, so that every request of a key counts, whatever its outcome, and every response reports the key's
    // remaining requests.
    if (!allowsAnonymous(exchange, route)) {
      if (exchange.headers.authorization !== undefined) exchange.timings.start('auth');
      caller = await callerOf(responder, received, mayAssume(exchange, route));
      const seen = freshLook(caller);
      promised = seen && date.promised(seen.now);
      await admitRequest(responder, exchange, { caller, extra });
    }
    const reply = await answerRoute(responder, exchange, { route, extra, caller });
    if (exchange.method !== 'HEAD') use = useOf(reply);
    if (freshLook(caller) === undefined) promised = undefined;
    const own = hasEvents(reply) ? { standing: () => keyStatusOf(responder, received) } : {};
    return { ...reply, ...own, headers: { ...extra, ...reply.headers }, date: promised };
  } catch (error) {
    const reply = replyToError(responder, exchange, extra, error);
    // A promise is a request to the store as well, and would be in vain after the same wait.
    const isUnavailable = error instanceof PlatError && error.code === 'storeUnavailable';
    return isUnavailable ? { ...reply, date: date.covered() } : reply;
  } finally {
    if (caller.kind === 'known') usage.addRequest(caller.key.id, use, options.clock.now());
  }
}

function useOf({ rows = 0, window, walk, body }: Reply): RequestUse {
  const bytes = body.reduce((sum, part) => sum + byteLengthOf(part), 0);
  return { rows, bytes, window, walk };
}

/** The response to a CORS preflight request on a public surface. */
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

/** What is known about a request before it is handled. */
interface PendingRequest extends ClientState {
  readonly route: Route;
}

async function answerRoute(responder: Responder, exchange: Exchange, begun: PendingRequest): Promise<Reply> {
  const { route, extra } = begun;
  const { context } = responder;
  const { method, headers, path, query } = exchange;
  if (route.kind === 'admin') return answerAdminPort(responder, exchange, begun, route.path);
  const meaning = meaningOf(exchange, route.kind === 'reso' || route.kind === 'native');
  if (meaning.kind === 'options') return preflight(extra, meaning.allow);
  if (meaning.kind === 'refused') {
    extra.allow = meaning.allow;
    throw methodNotAllowed(method, meaning.takes);
  }
  if (path.length + query.length + 1 > LONGEST_URL) throw platError('uriTooLong', { limit: LONGEST_URL });
  refuseTokenInQuery(query);
  if (route.kind === 'reso') negotiateVersion(headers);
  switch (route.kind) {
    case 'none':
      if (path === '/') Object.assign(extra, describedBy(exchange.base));
      throw platError('pathNotFound', { path, nearest: nearestPath(exchange) });
    case 'front':
      return answerFront(responder, exchange, begun, route.front);
    case 'media':
      return servedFile(responder.files, exchange, route.path, await context.store.now());
    case 'console':
      return consoleReply(route.path);
    case 'events': {
      const { views, streams, queue } = responder;
      const session = await sessionOf(responder, exchange, begun);
      const own = { ...context, views, streams, turn: (name: string) => queue.enter(name) };
      return answerEvents(own, exchange, session);
    }
    case 'reso':
    case 'native':
    case 'facets': {
      const { replies, views } = responder;
      const damaged = responder.options.damaged?.();
      const answerBy = { reso: answerReso, native: answerNative, facets: answerFacets }[route.kind];
      const serve = async (seen: Look | AssumedLook): Promise<Reply> => {
        const session = await sessionFromLook(responder, exchange, begun, seen);
        const look = 'holds' in seen ? seen : undefined;
        const read = { ...context.read, caller: exchange.account, damaged, look };
        const asked = await withWholeQuery(exchange, meaning);
        const own = asked.path === path ? route : routeOf(asked);
        const make = () => answerBy({ context: { ...context, read }, exchange: asked, session }, own.path);
        return damaged === undefined ? replies.getOrMake(asked, session, seen.commit, make) : make();
      };
      return withConfirmedState(begun.caller, serve, ({ key, model }) => {
        if (damaged !== undefined || exchange.as !== undefined) return false;
        return replies.shouldQueryStoreFirst(exchange, { key, view: views.viewOf(key, model), model });
      });
    }
  }
}

async function answerAdminPort(
  responder: Responder,
  exchange: Exchange,
  begun: PendingRequest,
  path: string,
): Promise<Reply> {
  const { method, query } = exchange;
  const allow = allowedOf(path);
  if (method === 'OPTIONS') return { status: 204, headers: { ...begun.extra, allow }, body: [] };
  refuseTokenInQuery(query);
  if (!allowsAnonymous(exchange, begun.route)) await sessionOf(responder, exchange, begun);
  try {
    return await answerAdmin(responder.admin, exchange, path);
  } catch (error) {
    if (error instanceof PlatError && error.status === 405) begun.extra.allow = allow;
    throw error;
  }
}

/** Handles the paths that need no key. The store is read only for a description of what a key may see. */
async function answerFront(
  responder: Responder,
  exchange: Exchange,
  begun: PendingRequest,
  asked: Front,
): Promise<Reply> {
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
      const text = openApiDocument(surface, base, model, session?.view, members);
      return { status: 200, headers: { 'content-type': JSON_TYPE, ...describedBy(base) }, body: [text] };
    }
  }
}

/** The exchange with all options in its query, including those in the body or in compressed form. */
async function withWholeQuery(
  exchange: Exchange,
  { kind, path }: Extract<RequestMeaning, { readonly path: string }>,
): Promise<Exchange> {
  const posted = kind === 'posted' ? await withPostedQuery({ ...exchange, path, method: 'GET' }) : exchange;
  const whole = withUnpackedQuery(posted);
  if (whole !== exchange) refuseTokenInQuery(whole.query);
  return whole;
}

/** Seconds after which a client may retry if the store cannot be used. */
const STORE_PATIENCE = 30;

/** Hides the address of the store and what is wrong with it from clients; the log has both. */
function hideStoreDetails(error: PlatError): PlatError {
  if (!error.code.startsWith('store') || error.code === 'storeUnavailable') return error;
  return platError('storeUnavailable', {}, { cause: error, retryAfter: error.retryAfter ?? STORE_PATIENCE });
}

/**
 * Turns whatever was thrown into a response. Errors that are not meant for clients are logged, and the client gets a general error.
 */
function replyToError(
  { log, damages, options }: Responder,
  exchange: Exchange,
  extra: Record<string, string>,
  error: unknown,
): Reply {
  const shown =
    error instanceof PlatError
      ? hideStoreDetails(error)
      : platError('internal', { requestId: exchange.id }, { cause: error });
  const isDamage = error instanceof PlatError && error.code === 'storeDamaged';
  if (isDamage && !(error.cause instanceof DamagedRecord)) options.onUnknownDamage?.();
  // An unsupported feature (501) is not a fault of the service. An error with a cause is logged with its stack, and a rejection
  // without a stack.
  if (shown.status >= 500 && shown.code !== 'notImplemented' && !damages.wasLogged(error)) {
    const facts = { requestId: exchange.id, ...(shown.cause === undefined ? {} : { err: shown.cause }) };
    log[shown.code === 'internal' ? 'error' : 'warn'](facts, shown.message);
  }
  return envelopedError(exchange, shown, extra);
}

/** The header that tells a client whose position in the sequence of changes has expired where to start again. */
function resumeHeaders(goOn: ResumePoint | undefined): Readonly<Record<string, string>> {
  switch (goOn?.kind) {
    case undefined:
      return {};
    case 'address':
      return { location: goOn.address };
    case 'position':
      return { 'x-plat-position': goOn.position };
  }
}

/** An error in the envelope of the requested interface. */
export function envelopedError(
  exchange: Exchange,
  error: PlatError,
  extra: Readonly<Record<string, string>> = {},
): Reply {
  const route = routeOf(exchange);
  const headers = {
    ...odataVersionHeader(exchange, route),
    ...extra,
    ...(error.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    ...(error.retryAfter === undefined ? {} : { 'retry-after': String(error.retryAfter) }),
    ...resumeHeaders(error.goOn),
  };
  return isNativeRoute(exchange, route) ? nativeError(error, headers) : resoError(error, headers);
}
