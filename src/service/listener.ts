import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { platError } from '../errors/index.ts';
import { baseAddress, type Listener } from './base-address.ts';
import { resoError } from './envelope/reso-error.ts';
import type { Exchange, Reply } from './exchange.ts';
import { send } from './http/send.ts';
import type { Metrics } from './metrics.ts';
import { type Responder, respond } from './respond.ts';
import { SURFACE, type SurfaceName } from './surface.ts';
import { makeTimings } from './timings.ts';

/** What a listener answers for: one surface, or several that are told apart by host. */
export type Dispatch = (host: string | undefined) => SurfaceName | undefined;

export interface ListenerOptions {
  readonly responder: Responder;
  readonly metrics: Metrics;
  readonly dispatch: Dispatch;
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
  /** Known once the listener listens. */
  readonly where: () => Listener;
}

/** Room for a URL of 16 KB and the headers beside it; Node's own limit would answer without an envelope. */
const LARGEST_HEAD = 64 * 1024;
/** Milliseconds for a request to arrive, and for a silent connection. */
const REQUEST_PATIENCE = 30_000;
const SOCKET_PATIENCE = 120_000;

/** A server that hands every request to the responder and writes what it answers. */
export function makeListener(options: ListenerOptions): FastifyInstance {
  const { tls } = options;
  const server = fastify({
    ...(tls === undefined ? {} : { https: { cert: tls.cert, key: tls.key, minVersion: 'TLSv1.2' } }),
    http: { maxHeaderSize: LARGEST_HEAD },
    logger: false,
    requestTimeout: REQUEST_PATIENCE,
    connectionTimeout: SOCKET_PATIENCE,
    keepAliveTimeout: 75_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    exposeHeadRoutes: false,
    genReqId: requestId,
    routerOptions: { maxParamLength: LARGEST_HEAD, ignoreTrailingSlash: false },
    frameworkErrors: (_error, request, reply) => {
      reply.hijack();
      void handle(options, request.raw, reply.raw, request.id);
    },
    clientErrorHandler: (error, socket) => refuse(error, socket),
  });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume(); // no request of this service has a body
    done(null);
  });
  server.all('*', async (request, reply) => {
    reply.hijack();
    await handle(options, request.raw, reply.raw, request.id);
  });
  return server;
}

const REQUEST_ID = /^[\w.:/+=-]{1,128}$/;

/** A client's own id of a request, if it is a harmless one. */
function requestId(request: { headers: IncomingMessage['headers'] }): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

async function handle(
  { responder, metrics, dispatch, where }: ListenerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  id: string,
): Promise<void> {
  const started = performance.now();
  const { log, options, context } = responder;
  const name = dispatch(request.headers.host) ?? 'api';
  const known = dispatch(request.headers.host) !== undefined;
  const exchange = makeExchange(
    request,
    id,
    name,
    baseAddress(where(), options.publicUrls[name], options.trustProxy, request.headers),
  );
  const reply: Reply = known
    ? await respond(responder, exchange)
    : resoError(platError('pathNotFound', { path: exchange.path }), {});
  const common = {
    requestId: id,
    now: await clockOf(context.store, options.clock),
    serverTiming: exchange.timings.header(),
  };
  try {
    const bytes = await send(response, reply, common, {
      method: exchange.method,
      acceptEncoding: exchange.headers['accept-encoding'],
    });
    const seconds = (performance.now() - started) / 1000;
    metrics.observe({
      surface: name,
      status: reply.status,
      rows: reply.rows ?? 0,
      bytes,
      seconds,
      timings: exchange.timings,
    });
    log.debug(
      {
        requestId: id,
        surface: name,
        method: exchange.method,
        path: exchange.path,
        status: reply.status,
        bytes,
        seconds,
      },
      'request',
    );
  } catch (error) {
    log.warn({ err: error, requestId: id }, 'a response could not be written');
    response.destroy();
  }
}

/** The clock of the store, or this machine's while the store cannot be read. */
async function clockOf(store: { now(): Promise<number> }, clock: { now: () => number }): Promise<number> {
  try {
    return await store.now();
  } catch {
    return clock.now();
  }
}

function makeExchange(request: IncomingMessage, id: string, surface: SurfaceName, base: string): Exchange {
  const url = request.url ?? '/';
  const mark = url.indexOf('?');
  const headers: Record<string, string | undefined> = {};
  for (const [header, value] of Object.entries(request.headers)) {
    headers[header] = Array.isArray(value) ? value.join(', ') : value;
  }
  return {
    id,
    method: request.method ?? 'GET',
    path: mark < 0 ? url : url.slice(0, mark),
    query: mark < 0 ? '' : url.slice(mark + 1),
    headers,
    surface: SURFACE[surface],
    base,
    timings: makeTimings(),
  };
}

/** Requests that are no HTTP, too large in their head, or too slow, get an error as any other (RFC 9112). */
function refuse(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const told =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? platError('headersTooLarge', {})
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? platError('requestTimedOut', {})
        : platError('requestMalformed', { reason: 'it is not HTTP/1.1' });
  const { body } = resoError(told, {});
  const text = body.join('');
  socket.end(
    `HTTP/1.1 ${told.status} Error\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
  );
}
