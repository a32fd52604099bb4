/**
 * Turns the requests that a server receives into `Exchange`s, and `Reply`s into responses. It keeps the requests of a connection in
 * order, limits connections, and releases what a request has acquired when it ends. It must not know how a request is answered.
 */
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { malformedError, type PlatError, platError } from '../../errors/index.ts';
import type { RequestAccount } from '../access/budget.ts';
import type { Connection, Connections } from '../access/connections.ts';
import { type Exchange, hasEvents, type Reply } from '../exchange.ts';
import { makeTimings } from '../metrics.ts';
import type { ServiceParts } from '../parts.ts';
import { type CommonHeaderValues, send } from '../reply/send.ts';
import { sendEvents } from '../reply/send-events.ts';
import { envelopedError, respond } from '../respond.ts';
import type { Responder } from '../responder.ts';
import { SURFACE, type SurfaceName } from '../surface.ts';
import { baseAddress, forwardedHost, type Listener } from './base-address.ts';
import { bodyReader, IncomingBody } from './body.ts';
import { methodNotAllowed } from './methods.ts';
import {
  abortResponse,
  type Carrier,
  carrierOf,
  closeConnectionAfter,
  endsOf,
  endUnreadRequest,
  type HttpRequest,
  type HttpResponse,
  type HttpServer,
  headersOf,
  LARGEST_HEAD,
  makeServer,
} from './server.ts';
import {
  isParseError,
  refuseUnreadable,
  type UnreadableRequest,
  unreadableRequestFrom,
} from './unreadable.ts';

/** Maps a Host header to a surface. A listener serves one surface, or several with host names of their own. */
export type Dispatch = (host: string | undefined) => SurfaceName | undefined;

interface ListenerOptions
  extends Pick<ServiceParts, 'responder' | 'metrics' | 'budgets' | 'pace' | 'cut' | 'streams'> {
  readonly connections: Connections;
  /** Aborted when the service closes; streams of events then end. */
  readonly closing: AbortSignal;
  readonly dispatch: Dispatch;
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
  /** The address of a surface's listener, which is known once the listener has started. */
  readonly where: (surface: SurfaceName) => Listener;
}

/** How many requests a connection may pipeline before the first of them is answered. */
const MOST_AHEAD = 250;

/** A server that passes every request to the responder and writes its reply. */
export function makeListener(options: ListenerOptions): HttpServer {
  const { tls, connections, responder } = options;
  const { log, options: settings } = responder;
  const { requestSeconds, idleSeconds } = settings.connections;
  const order = requestOrder();
  const known = knownConnections(connections);
  const bodies = new WeakMap<object, IncomingRequest>();
  const answer = async (request: HttpRequest, response: HttpResponse): Promise<void> => {
    const carrier = carrierOf(request, response);
    if (order.waiting(carrier.connection) >= MOST_AHEAD) {
      // Only closing the connection keeps the client from sending more requests.
      if (!carrier.isDisconnected())
        log.warn({ requests: MOST_AHEAD }, 'disconnected a client that has too many unanswered requests');
      carrier.destroy();
      return;
    }
    const connection = known.of(carrier.socket);
    const incoming = carrier.isMultiplexed || !hasBody(request) ? undefined : new IncomingBody();
    if (incoming !== undefined) bodies.set(carrier.connection, { request, response, body: incoming });
    const ended = connection?.beginRequest();
    let key: string | undefined;
    await order.enter(carrier, async () => {
      if (!carrier.isDisconnected())
        key = await handleRequest(options, { request, response, carrier, connection, coming: incoming });
    });
    endUnreadRequest(request, response);
    if (incoming?.isBroken === true) carrier.socket?.end();
    ended?.(key);
  };
  const refuseNext = async (unread: UnreadableRequest, socket: Duplex): Promise<void> => {
    const common = await commonHeaderValues(responder, randomUUID());
    await order.enter({ connection: socket, isMultiplexed: false }, async () =>
      refuseUnreadable(unread, socket, common),
    );
  };
  return makeServer(
    {
      tls,
      requestPatience: Math.ceil(requestSeconds * 1000),
      idlePatience: Math.ceil(idleSeconds * 1000),
      endsIdle: false,
    },
    {
      request: (request, response) => {
        answer(request, response).catch((error: unknown) => {
          log.error({ err: error }, 'a request could not be answered');
          abortResponse(response);
        });
      },
      connection: known.open,
      fault: (error, socket) => {
        const unread = unreadableRequestFrom(error);
        // No response can be sent on a connection that was lost or whose TLS handshake failed.
        if (!isParseError(error)) socket.destroy();
        // A fault within a body fails that request, which must get only one response: the client would mistake a second one for the
        // response to its next request.
        else if (!failIncomingBody(bodies.get(socket), unread.error, socket)) void refuseNext(unread, socket);
      },
      connect: (request, socket) =>
        void refuseNext(
          { error: methodNotAllowed(String(request.method)), path: String(request.url) },
          socket,
        ),
    },
  );
}

/** An HTTP/1.1 request whose body is still arriving. */
interface IncomingRequest {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly body: IncomingBody;
}

const hasBody = ({ headers }: HttpRequest): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/**
 * Fails the request whose body was arriving when a fault was found, and ends the connection after its response. @returns whether
 * there was such a request
 */
function failIncomingBody(incoming: IncomingRequest | undefined, fault: PlatError, socket: Duplex): boolean {
  if (incoming === undefined || incoming.request.complete) return false;
  const { response, body } = incoming;
  closeConnectionAfter(response);
  body.fail(fault);
  if (response.writableFinished) socket.end();
  return true;
}

/**
 * Keeps the requests of each connection in order. The requests of an HTTP/1.1 connection are answered one after the other, so that
 * responses keep their order and a connection has one page in memory at a time, however many requests it pipelines.
 */
function requestOrder() {
  /** For each connection, the number of requests that have not ended, and the latest one, which ends after all others. */
  const running = new WeakMap<object, { count: number; latest: Promise<void> | undefined }>();
  return {
    /** The number of requests of a connection that have not ended. */
    waiting: (connection: object): number => running.get(connection)?.count ?? 0,
    async enter(
      { connection, isMultiplexed }: Pick<Carrier, 'connection' | 'isMultiplexed'>,
      work: () => Promise<void>,
    ): Promise<void> {
      const own = running.getOrInsert(connection, { count: 0, latest: undefined });
      const ahead = own.count++;
      const before = isMultiplexed ? undefined : own.latest;
      // Yields between two requests of one connection, so that other connections get their share.
      const done =
        ahead === 0
          ? work()
          : Promise.resolve(before)
              .then(() => setImmediate())
              .then(work);
      own.latest = done.catch(() => undefined);
      try {
        await done;
      } finally {
        own.count--;
      }
    },
  };
}

/** The connections of a listener, by socket and by both ends. */
function knownConnections(connections: Connections) {
  const bySocket = new WeakMap<Socket, Connection>();
  const open = new Map<string, Connection>();
  return {
    open(socket: Socket): void {
      const ends = endsOf(socket);
      const connection = connections.open(socket.remoteAddress ?? '', () => socket.destroy());
      if (connection === undefined) {
        socket.destroy();
        return;
      }
      bySocket.set(socket, connection);
      open.set(ends, connection);
      socket.once('close', () => {
        connection.handleClose();
        if (open.get(ends) === connection) open.delete(ends);
      });
    },
    of: (socket: Socket | undefined): Connection | undefined =>
      socket === undefined ? undefined : (bySocket.get(socket) ?? open.get(endsOf(socket))),
  };
}

const REQUEST_ID = /^[\w.:/+=-]{1,128}$/;

interface RequestContext {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly carrier: Carrier;
  readonly connection: Connection | undefined;
  readonly coming: IncomingBody | undefined;
}

/**
 * Answers a request. Whatever fails, everything that the request has acquired is released, and the client sees that the response is
 * incomplete.
 *
 * @returns the key of the request, if it is a known one
 */
async function handleRequest(options: ListenerOptions, arrived: RequestContext): Promise<string | undefined> {
  const { request, response, carrier } = arrived;
  const given = request.headers['x-request-id'];
  // The one that the client sent, if it is safe to log.
  const id = typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
  const account = options.budgets.open(carrier.socket?.remoteAddress ?? '', () => carrier.isDisconnected());
  try {
    await answerRequest(options, arrived, account, id);
  } catch (error) {
    options.responder.log.warn({ err: error, requestId: id }, 'a response could not be written');
    // The client must not mistake an incomplete response for a complete one.
    abortResponse(response);
  } finally {
    account.close();
  }
  return account.key;
}

async function answerRequest(
  options: ListenerOptions,
  arrived: RequestContext,
  account: RequestAccount,
  id: string,
): Promise<void> {
  const started = performance.now();
  const { responder, dispatch } = options;
  const { request } = arrived;
  const headers = headersOf(request);
  const forwarded = responder.options.trustProxy ? forwardedHost(headers) : undefined;
  const dispatched = (forwarded === undefined ? undefined : dispatch(forwarded)) ?? dispatch(headers.host);
  const surface = SURFACE[dispatched ?? 'api'];
  // Operators must get responses even when all other requests are refused.
  if (surface.name === 'admin') account.exempt();
  using taken = new DisposableStack();
  const exchange = exchangeFrom(options, arrived, { id, headers, surface, account, taken });
  const reply = await replyTo(responder, exchange, dispatched !== undefined, request);
  const { begun, bytes } = await writeReply(options, arrived, exchange, reply);
  const seconds = ((begun ?? performance.now()) - started) / 1000;
  recordAnswer(options, exchange, reply, { bytes, seconds });
}

/** Makes the exchange of a request whose surface is known. */
function exchangeFrom(
  { responder: { options }, where }: ListenerOptions,
  { request, carrier, coming }: RequestContext,
  known: Pick<Exchange, 'id' | 'headers' | 'surface' | 'account' | 'taken'>,
): Exchange {
  const surface = known.surface.name;
  const url = originForm(request.url ?? '/');
  const mark = url.indexOf('?');
  const arrival = carrier.socket?.localAddress;
  const arrived = { arrival, headers: known.headers };
  return {
    ...known,
    method: request.method ?? 'GET',
    path: mark < 0 ? url : url.slice(0, mark),
    query: mark < 0 ? '' : url.slice(mark + 1),
    client: carrier.socket?.remoteAddress ?? '',
    base: baseAddress(where(surface), options.publicUrls[surface], options.trustProxy, arrived),
    arrival,
    timings: makeTimings(),
    body: bodyReader(request, options.connections.requestSeconds * 1000, coming),
  };
}

/** Writes a reply at the pace of its client. @returns the written bytes, and when a stream of events began */
async function writeReply(
  { responder, pace, cut, closing, streams }: ListenerOptions,
  { response, connection }: RequestContext,
  exchange: Exchange,
  reply: Reply,
): Promise<{ readonly bytes: number; readonly begun?: number }> {
  const { log, options } = responder;
  const { id, method, headers, account, timings, taken } = exchange;
  const surface = exchange.surface.name;
  const common = {
    ...(await commonHeaderValues(responder, id, surface, reply.date)),
    serverTiming: timings.header(),
  };
  // Otherwise, clients that send one request after the other would keep the service from closing.
  if (closing.aborted) closeConnectionAfter(response);
  const disconnectSlowClient = (): void => {
    cut(surface);
    const facts = { requestId: id, surface, caller: account.name };
    log.warn(facts, 'disconnected a client that reads its response too slowly');
    abortResponse(response);
  };
  const sender = pace.watch(disconnectSlowClient);
  const taking = { holds: (bytes: number) => account.setHeldBytes(bytes), sender };
  const isStream = hasEvents(reply) && method === 'GET';
  if (isStream) streams.open++;
  try {
    if (!isStream) {
      const acceptEncoding = headers['accept-encoding'];
      const spent = (): void => taken.dispose();
      return { bytes: await send(response, reply, common, { method, acceptEncoding, taking, spent }) };
    }
    const begun = performance.now();
    // Otherwise the connection would count as one without a key as long as the stream lasts.
    if (account.key !== undefined) connection?.attributeTo(account.key);
    return {
      bytes: await sendEvents(response, reply, common, { closing, taking, times: options.events }),
      begun,
    };
  } finally {
    sender.end();
    if (isStream) streams.open--;
  }
}

/** Records an answered request: metrics, the history of the operator's pages, the usage of its key, and the log. */
function recordAnswer(
  { responder, metrics }: ListenerOptions,
  { id, method, path, account, timings, surface: { name: surface } }: Exchange,
  reply: Reply,
  { bytes, seconds }: { readonly bytes: number; readonly seconds: number },
): void {
  const { admin, usage, options, log } = responder;
  const { status, rows = 0, reading } = reply;
  const now = options.clock.now();
  metrics.observe({ surface, status, rows, bytes, seconds, timings, index: reply.headers['x-plat-index'] });
  const key = account.key?.replace(/^key /, '');
  admin.history.addRequest({ surface, status, seconds, key, rows, bytes }, now);
  if (key !== undefined && hasEvents(reply) && method === 'GET') usage.addSentBytes(key, bytes);
  // Pages that an operator reads as another key are not part of a walk of that key.
  if (key !== undefined && reading !== undefined && surface !== 'admin' && status === 200)
    admin.walks.recordPage(key, surface, reading, rows, now);
  log.debug({ requestId: id, surface, method, path, status, bytes, seconds }, 'request');
}

async function replyTo(
  responder: Responder,
  exchange: Exchange,
  isOfSurface: boolean,
  { httpVersion, rawHeaders, headers, url = '' }: HttpRequest,
): Promise<Reply> {
  let head = url.length;
  for (const text of rawHeaders) head += text.length;
  if (head > LARGEST_HEAD) return envelopedError(exchange, platError('headersTooLarge', {}));
  const { host } = exchange.headers;
  const authority = headers[':authority'];
  const reason =
    host === undefined && httpVersion !== '1.0'
      ? 'it has no Host header'
      : hostsIn(rawHeaders) > 1
        ? 'it has two Host headers'
        : authority !== undefined && host !== authority
          ? 'its Host header is not its authority'
          : undefined;
  return reason === undefined
    ? respond(responder, exchange, isOfSurface)
    : envelopedError(exchange, malformedError(reason));
}

/** The number of Host headers. @param raw names and values in turn */
function hostsIn(raw: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < raw.length; at += 2) if (/^host$/i.test(raw[at] ?? '')) count++;
  return count;
}

/**
 * The values for the headers of every response. `now` is the time of the store's clock, or of this machine's clock while the store
 * cannot be read. Responses of the admin port contain no records, and no client begins an update window at their `Date`, so probes
 * and metrics do not wait for the store to save a horizon.
 */
async function commonHeaderValues(
  { date, options, context }: Responder,
  requestId: string,
  surface?: SurfaceName,
  known?: number,
): Promise<CommonHeaderValues> {
  const isOfOperator = surface === 'admin';
  if (known !== undefined) return { requestId, isOfOperator, now: known };
  try {
    return { requestId, isOfOperator, now: await (isOfOperator ? context.store.now() : date.now()) };
  } catch {
    return { requestId, isOfOperator, now: options.clock.now() };
  }
}

/** The path and query of a request target, which may be an absolute URI (RFC 9112, 3.2.2). */
function originForm(url: string): string {
  const origin = /^https?:\/\/[^/?]*/i.exec(url)?.[0];
  return origin === undefined ? url : url.slice(origin.length);
}
