import { performance } from 'node:perf_hooks';
import type { Logger } from 'pino';
import { PlatError, platError } from '../errors/index.ts';
import { authenticate, refuseTokenInQuery } from './access/authenticate.ts';
import { type RequestLimiter, rateLimited, rateLimitHeaders } from './access/rate-limiter.ts';
import type { RequestUse, UsageRecorder } from './access/usage.ts';
import type { Views } from './access/views.ts';
import { type AdminContext, admin, isOpenAdminPath } from './admin/router.ts';
import type { ServiceContext } from './context.ts';
import { isNativePath, nativeError } from './envelope/native-error.ts';
import { resoError } from './envelope/reso-error.ts';
import { bytesOf, type Exchange, type Reply, type Session } from './exchange.ts';
import { type FileContext, servedFile } from './files/served-file.ts';
import { ALLOWED } from './http/methods.ts';
import { negotiateVersion, ODATA_VERSION } from './http/odata-version.ts';
import { native } from './native/router.ts';
import type { ServiceOptions } from './options.ts';
import { reso } from './reso/router.ts';

/** Longest URL that is read, in bytes. */
export const LONGEST_URL = 16_384;

const MEDIA = '/media/';

/** Another one where the store went back in time: what a consumer keeps of its timestamps means nothing any more. */
const EPOCH_HEADER = 'x-plat-epoch';

const NOTHING = { rows: 0, bytes: 0 };

/** Everything that answering needs. */
export interface Responder {
  readonly options: ServiceOptions;
  readonly context: ServiceContext;
  readonly files: FileContext;
  readonly admin: AdminContext;
  readonly limiter: RequestLimiter;
  readonly usage: UsageRecorder;
  readonly views: Views;
  readonly log: Logger;
}

/** The interface that a request is for, and its path there. */
type Route =
  | { readonly kind: 'reso' | 'native'; readonly path: string }
  | { readonly kind: 'media'; readonly path: string }
  | { readonly kind: 'admin' }
  | { readonly kind: 'none' };

function routeOf({ surface, path }: Exchange): Route {
  if (surface.name === 'admin') return { kind: 'admin' };
  if (path.startsWith(MEDIA)) return { kind: 'media', path: path.slice(MEDIA.length) };
  for (const [kind, root] of [['reso', surface.resoRoot] as const, ['native', surface.nativeRoot] as const]) {
    if (root === undefined) continue;
    if (path.startsWith(root)) return { kind, path: path.slice(root.length) };
    if (`${path}/` === root) return { kind, path: '' };
  }
  return { kind: 'none' };
}

/** A path that leads nowhere is of the interface that it looks like. */
const isNative = ({ path }: Exchange, { kind }: Route): boolean =>
  kind === 'native' || (kind === 'none' && isNativePath(path));

/** Whether the answer is one of the RESO interface, as an error of no other interface is, too. */
const isOdata = (exchange: Exchange, route: Route): boolean =>
  route.kind === 'reso' || (route.kind === 'none' && !isNative(exchange, route));

const versionOf = (exchange: Exchange, route: Route): Record<string, string> =>
  isOdata(exchange, route) ? { ...ODATA_VERSION } : {};

/** Answers a request: always with a reply, in the envelope of the interface that was asked. */
export async function respond(responder: Responder, exchange: Exchange): Promise<Reply> {
  const route = routeOf(exchange);
  const extra = versionOf(exchange, route);
  try {
    if (exchange.method === 'OPTIONS') return preflight(extra);
    if (exchange.method !== 'GET' && exchange.method !== 'HEAD') {
      extra.allow = ALLOWED;
      throw platError('methodNotAllowed', { method: exchange.method });
    }
    if (exchange.path.length + exchange.query.length + 1 > LONGEST_URL) {
      throw platError('uriTooLong', { limit: LONGEST_URL });
    }
    if (route.kind === 'reso') {
      extra['odata-version'] = negotiateVersion(
        exchange.headers['odata-version'],
        exchange.headers['odata-maxversion'],
      );
    }
    const reply = await answer(responder, exchange, route, extra);
    return { ...reply, headers: { ...extra, ...reply.headers } };
  } catch (error) {
    return explain(responder, exchange, extra, error);
  }
}

/** Browsers of other origins may read; what protects the data is the token, which no browser adds by itself. */
function preflight(extra: Readonly<Record<string, string>>): Reply {
  const headers = {
    ...extra,
    allow: ALLOWED,
    'access-control-allow-methods': ALLOWED,
    'access-control-allow-headers': '*, Authorization',
    'access-control-max-age': '86400',
  };
  return { status: 204, headers, body: [] };
}

async function answer(
  responder: Responder,
  exchange: Exchange,
  route: Route,
  extra: Record<string, string>,
): Promise<Reply> {
  const { context, options } = responder;
  const now = await context.store.now();
  switch (route.kind) {
    case 'none':
      throw platError('pathNotFound', { path: exchange.path });
    case 'media':
      return servedFile(responder.files, exchange, route.path, now);
    case 'admin':
      if (!isOpenAdminPath(exchange.path)) await identify(responder, exchange, extra, now);
      return admin(responder.admin, exchange);
    case 'reso':
    case 'native': {
      const session = await identify(responder, exchange, extra, now);
      const serve = route.kind === 'reso' ? reso : native;
      const note = (use: RequestUse): Promise<void> =>
        responder.usage.note(session.key.id, use, options.clock.now());
      let reply: Reply | undefined;
      try {
        reply = await serve(context, exchange, session, route.path);
        const { rows = 0, window, walk, body } = reply;
        const bytes = body.reduce((sum, part) => sum + bytesOf(part), 0);
        await note(exchange.method === 'HEAD' ? NOTHING : { rows, bytes, window, walk });
        return reply;
      } catch (error) {
        reply?.release?.();
        await note(NOTHING);
        throw error;
      }
    }
  }
}

async function identify(
  { context, options, limiter, views }: Responder,
  exchange: Exchange,
  extra: Record<string, string>,
  now: number,
): Promise<Session> {
  exchange.timings.start('auth');
  refuseTokenInQuery(exchange.query);
  const { authorization } = exchange.headers;
  const host = context.addressOf('replication');
  const key = await authenticate(context.store, exchange.surface, authorization, now, host);
  const limit = options.limits[exchange.surface.name];
  const allowance = await limiter.take(key.id, limit, performance.now());
  Object.assign(extra, rateLimitHeaders(allowance));
  if (allowance.exceeded) throw rateLimited(allowance);
  const model = await context.store.model();
  extra[EPOCH_HEADER] = model.epoch;
  return { key, model, view: views.of(key, model), now };
}

/** Tells an error. What is not meant for users is logged and not told. */
function explain(
  { log }: Responder,
  exchange: Exchange,
  extra: Record<string, string>,
  error: unknown,
): Reply {
  const told =
    error instanceof PlatError ? error : platError('internal', { requestId: exchange.id }, { cause: error });
  if (told.status >= 500) {
    log[told.code === 'internal' ? 'error' : 'warn'](
      { err: told.cause ?? told, requestId: exchange.id },
      told.message,
    );
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
