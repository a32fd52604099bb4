import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { platError } from '../errors/index.ts';
import type { Budgets, RequestAccount } from './access/budget.ts';
import type { Connection, Connections } from './access/connections.ts';
import { baseAddress, type Listener } from './base-address.ts';
import type { Exchange, Reply } from './exchange.ts';
import { bodyReader } from './http/body.ts';
import { notAllowed } from './http/methods.ts';
import type { Pace } from './http/pace.ts';
import { isOfHttp, refuse, type Unread, whatIsWrong } from './http/refuse.ts';
import { type Common, send } from './http/send.ts';
import type { Metrics } from './metrics.ts';
import { type Responder, refusal, respond } from './respond.ts';
import { SURFACE, type SurfaceName } from './surface.ts';
import { makeTimings } from './timings.ts';

/** What a listener answers for: one surface, or several that are told apart by host. */
export type Dispatch = (host: string | undefined) => SurfaceName | undefined;

export interface ListenerOptions {
  readonly responder: Responder;
  readonly metrics: Metrics;
  readonly budgets: Budgets;
  readonly connections: Connections;
  readonly pace: Pace;
  /** Notes that a client was cut which took its answer too slowly. */
  readonly cut: (surface: SurfaceName) => void;
  readonly dispatch: Dispatch;
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
  /** The place of a surface, known once the listener listens. */
  readonly where: (surface: SurfaceName) => Listener;
}

/** Room for a URL of 16 KB and the headers beside it; Node's own limit would answer without an envelope. */
const LARGEST_HEAD = 64 * 1024;
/** Requests that a connection sends before the first of them is answered. */
const MOST_AHEAD = 250;
/** Milliseconds for a silent connection. */
const SOCKET_PATIENCE = 120_000;

/** A server that hands every request to the responder and writes what it answers. */
export function makeListener(options: ListenerOptions): FastifyInstance {
  const { tls, connections } = options;
  const { log, options: settings } = options.responder;
  const { requestSeconds, idleSeconds } = settings.connections;
  const requestPatience = Math.ceil(requestSeconds * 1000);
  const bounds = {
    maxHeaderSize: LARGEST_HEAD,
    requireHostHeader: false, // Node would answer without an envelope
    headersTimeout: requestPatience,
    requestTimeout: requestPatience,
    connectionsCheckingInterval: Math.ceil(requestPatience / 4),
  };
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    reply.hijack();
    const { socket } = request.raw;
    if (inTurn.waiting(socket) >= MOST_AHEAD) {
      // Nothing but the end of the connection keeps a client from sending more.
      if (!socket.destroyed) log.warn({ requests: MOST_AHEAD }, 'a client that sends too far ahead is cut');
      socket.destroy();
      return;
    }
    const ended = at.of(socket)?.begin();
    let key: string | undefined;
    // One page at a time is held for a connection, however many requests it sends at once.
    await inTurn.enter(socket, async () => {
      if (!socket.destroyed) key = await handle(options, request.raw, reply.raw, request.id);
    });
    ended?.(key);
  };
  const inTurn = makeTurns();
  const at = connectionsOf(connections);
  const refuseNext = async (unread: Unread, socket: Duplex): Promise<void> => {
    const common = await commonOf(options.responder, randomUUID());
    await inTurn.enter(socket, () => Promise.resolve(refuse(unread, socket, common)));
  };
  const server = fastify({
    ...(tls === undefined
      ? { http: bounds }
      : { https: { ...bounds, ...tls, minVersion: 'TLSv1.2', handshakeTimeout: requestPatience } }),
    logger: false,
    requestTimeout: requestPatience,
    connectionTimeout: SOCKET_PATIENCE,
    keepAliveTimeout: Math.ceil(idleSeconds * 1000),
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    exposeHeadRoutes: false,
    genReqId: requestId,
    routerOptions: { maxParamLength: LARGEST_HEAD, ignoreTrailingSlash: false },
    frameworkErrors: (_error, request, reply) => void answer(request, reply),
    clientErrorHandler: (error, socket) => {
      // On a connection that was lost, or has no TLS yet, nobody can be told anything.
      if (isOfHttp(error)) void refuseNext(whatIsWrong(error), socket);
      else socket.destroy();
    },
  });
  server.server.on('connection', at.open);
  server.server.on('connect', (request, socket) => {
    const told = notAllowed(String(request.method));
    void refuseNext({ told, path: '' }, socket);
  });
  // What a client expects beyond HTTP is no reason to refuse it (RFC 9110, 10.1.1).
  server.server.on('checkExpectation', (request, response) => {
    server.server.emit('request', request, response);
  });
  server.removeAllContentTypeParsers();
  // A body is read only once it is known who asks, and dropped where none is wanted.
  server.addContentTypeParser('*', (_request, _payload, done) => done(null));
  server.all('*', answer);
  // Requests that the framework itself would refuse: methods that its router does not know, bodies without a type.
  server.setNotFoundHandler(answer);
  server.setErrorHandler((_error, request, reply) => answer(request, reply));
  return server;
}

/** The requests of each connection, one after the other, so that no answer comes before its turn. */
function makeTurns() {
  /** The end of the latest of each connection: it ends after all before it. */
  const latest = new WeakMap<Duplex, Promise<void>>();
  const counts = new WeakMap<Duplex, number>();
  const waiting = (socket: Duplex): number => counts.get(socket) ?? 0;
  return {
    /** How many of a connection have not ended. */
    waiting,
    async enter(socket: Duplex, work: () => Promise<void>): Promise<void> {
      const ahead = waiting(socket);
      counts.set(socket, ahead + 1);
      const before = latest.get(socket) ?? Promise.resolve();
      // What else has arrived comes between two of one connection.
      const done = ahead === 0 ? work() : before.then(() => setImmediate()).then(work);
      latest.set(
        socket,
        done.catch(() => undefined),
      );
      try {
        await done;
      } finally {
        counts.set(socket, waiting(socket) - 1);
      }
    },
  };
}

/** The connections of a listener, by their ends: over TLS, requests come on another socket than the one that was taken. */
function connectionsOf(connections: Connections) {
  const open = new Map<string, Connection>();
  const endsOf = ({ remoteAddress, remotePort, localPort }: Socket): string =>
    `${remoteAddress} ${remotePort} ${localPort}`;
  return {
    open(socket: Socket): void {
      const ends = endsOf(socket);
      const connection = connections.open(socket.remoteAddress ?? '', () => socket.destroy());
      if (connection === undefined) {
        socket.destroy();
        return;
      }
      open.set(ends, connection);
      socket.once('close', () => {
        connection.ended();
        if (open.get(ends) === connection) open.delete(ends);
      });
    },
    of: (socket: Socket): Connection | undefined => open.get(endsOf(socket)),
  };
}

const REQUEST_ID = /^[\w.:/+=-]{1,128}$/;

/** A client's own id of a request, if it is a harmless one. */
function requestId(request: { headers: IncomingMessage['headers'] }): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

/**
 * Answers a request. Whatever fails, and wherever: what the request has taken is given back, and its client hears it.
 * @returns the key that asked, if it had a known one
 */
async function handle(
  options: ListenerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  id: string,
): Promise<string | undefined> {
  const { socket } = request;
  const account = options.budgets.open(
    socket.remoteAddress ?? '',
    () => socket.destroyed || !socket.writable,
  );
  try {
    await answerRequest(options, account, request, response, id);
  } catch (error) {
    options.responder.log.warn({ err: error, requestId: id }, 'a response could not be written');
    // A part of an answer is not to be taken for the whole: the connection breaks off.
    response.destroy();
  } finally {
    account.close();
  }
  return account.key;
}

async function answerRequest(
  { responder, metrics, dispatch, where, pace, cut }: ListenerOptions,
  account: RequestAccount,
  request: IncomingMessage,
  response: ServerResponse,
  id: string,
): Promise<void> {
  const started = performance.now();
  const { log, options } = responder;
  const { headers } = request;
  const dispatched = dispatch(headers.host);
  const name = dispatched ?? 'api';
  const arrival = request.socket.localAddress;
  const base = baseAddress(where(name), options.publicUrls[name], options.trustProxy, { arrival, headers });
  using own = new DisposableStack();
  // The operator must be able to look when all else is refused.
  if (name === 'admin') account.exempt();
  const exchange = makeExchange(request, {
    id,
    surface: name,
    base,
    arrival,
    account,
    body: bodyReader(request, options.connections.requestSeconds * 1000),
  });
  own.use(exchange.taken);
  const endClient = (): void => {
    cut(name);
    const facts = { requestId: id, surface: name, caller: account.name };
    log.warn(facts, 'a client that takes its answer too slowly is cut');
    response.destroy();
  };
  const reply = await replyTo(responder, exchange, dispatched !== undefined, request);
  const common = { ...(await commonOf(responder, id)), serverTiming: exchange.timings.header() };
  const sender = pace.watch(endClient);
  own.defer(sender.end);
  const bytes = await send(response, reply, common, {
    method: exchange.method,
    acceptEncoding: exchange.headers['accept-encoding'],
    taking: { holds: account.holds, isOver: account.isOver, sender, cut: endClient },
    spent: () => exchange.taken.dispose(),
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
}

async function replyTo(
  responder: Responder,
  exchange: Exchange,
  isOfSurface: boolean,
  { httpVersion, headers, rawHeaders }: IncomingMessage,
): Promise<Reply> {
  if (headers.host === undefined && httpVersion === '1.1') {
    return refusal(exchange, platError('requestMalformed', { reason: 'it has no Host header' }));
  }
  if (rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length > 1) {
    return refusal(exchange, platError('requestMalformed', { reason: 'it has two Host headers' }));
  }
  return respond(responder, exchange, isOfSurface);
}

/** What every response has, by the clock of the store, or this machine's while the store cannot be read. */
async function commonOf({ told, options }: Responder, requestId: string): Promise<Common> {
  try {
    return { requestId, now: await told.now() };
  } catch {
    return { requestId, now: options.clock.now() };
  }
}

interface Given extends Pick<Exchange, 'id' | 'base' | 'arrival' | 'account' | 'body'> {
  readonly surface: SurfaceName;
}

function makeExchange(request: IncomingMessage, { surface, ...given }: Given): Exchange {
  const url = originForm(request.url ?? '/');
  const mark = url.indexOf('?');
  const headers: Record<string, string | undefined> = {};
  for (const [header, value] of Object.entries(request.headers)) {
    headers[header] = Array.isArray(value) ? value.join(', ') : value;
  }
  return {
    ...given,
    method: request.method ?? 'GET',
    path: mark < 0 ? url : url.slice(0, mark),
    query: mark < 0 ? '' : url.slice(mark + 1),
    headers,
    surface: SURFACE[surface],
    timings: makeTimings(),
    taken: new DisposableStack(),
  };
}

/** A client may send the whole address (RFC 9112, 3.2.2). */
function originForm(url: string): string {
  const origin = /^https?:\/\/[^/?]*/i.exec(url)?.[0];
  return origin === undefined ? url : url.slice(origin.length);
}
