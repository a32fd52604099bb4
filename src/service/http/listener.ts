import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { platError } from '../../errors/index.ts';
import type { Budgets, RequestAccount } from '../access/budget.ts';
import type { Connection, Connections } from '../access/connections.ts';
import type { Exchange, Reply } from '../exchange.ts';
import { type Metrics, makeTimings } from '../metrics.ts';
import type { Pace } from '../reply/pace.ts';
import { type Common, send } from '../reply/send.ts';
import { type Responder, refusal, respond } from '../respond.ts';
import { SURFACE, type SurfaceName } from '../surface.ts';
import { baseAddress, forwardedHost, type Listener } from './base-address.ts';
import { bodyReader } from './body.ts';
import { notAllowed } from './methods.ts';
import {
  breakOff,
  type Carrier,
  carrierOf,
  endRequest,
  type HttpRequest,
  type HttpResponse,
  type HttpServer,
  headersOf,
  makeServer,
} from './server.ts';
import { isOfHttp, refuse, type Unread, whatIsWrong } from './unreadable.ts';

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

/** Requests that a connection sends before the first of them is answered. */
const MOST_AHEAD = 250;

/** A server that hands every request to the responder and writes what it answers. */
export function makeListener(options: ListenerOptions): HttpServer {
  const { tls, connections } = options;
  const { log, options: settings } = options.responder;
  const { requestSeconds, idleSeconds } = settings.connections;
  const inTurn = makeTurns();
  const at = connectionsOf(connections);
  const answer = async (request: HttpRequest, response: HttpResponse): Promise<void> => {
    const carrier = carrierOf(request, response);
    if (inTurn.waiting(carrier.connection) >= MOST_AHEAD) {
      // Nothing but the end of the connection keeps a client from sending more.
      if (!carrier.isGone()) log.warn({ requests: MOST_AHEAD }, 'a client that sends too far ahead is cut');
      carrier.cut();
      return;
    }
    const ended = at.of(carrier.socket)?.begin();
    let key: string | undefined;
    await inTurn.enter(carrier, async () => {
      if (!carrier.isGone()) key = await handle(options, request, response, carrier);
    });
    endRequest(request, response);
    ended?.(key);
  };
  const refuseNext = async (unread: Unread, socket: Duplex): Promise<void> => {
    const common = await commonOf(options.responder, randomUUID());
    const carrier = { connection: socket, isMultiplexed: false };
    await inTurn.enter(carrier, () => Promise.resolve(refuse(unread, socket, common)));
  };
  return makeServer(
    {
      tls,
      requestPatience: Math.ceil(requestSeconds * 1000),
      idlePatience: Math.ceil(idleSeconds * 1000),
    },
    {
      request: (request, response) => {
        answer(request, response).catch((error: unknown) => {
          log.error({ err: error }, 'a request could not be answered');
          breakOff(response);
        });
      },
      connection: at.open,
      fault: (error, socket) => {
        // On a connection that was lost, or has no TLS yet, nobody can be told anything.
        if (isOfHttp(error)) void refuseNext(whatIsWrong(error), socket);
        else socket.destroy();
      },
      connect: (request, socket) =>
        void refuseNext({ told: notAllowed(String(request.method)), path: '' }, socket),
    },
  );
}

/**
 * The requests of each connection. Those of HTTP/1.1 are answered one after the other, so that no answer comes before its
 * turn, and one page at a time is held for a connection, however many requests it sends at once.
 */
function makeTurns() {
  /** The end of the latest of each connection: it ends after all before it. */
  const latest = new WeakMap<object, Promise<void>>();
  const counts = new WeakMap<object, number>();
  const waiting = (connection: object): number => counts.get(connection) ?? 0;
  return {
    /** How many of a connection have not ended. */
    waiting,
    async enter(
      { connection, isMultiplexed }: Pick<Carrier, 'connection' | 'isMultiplexed'>,
      work: () => Promise<void>,
    ): Promise<void> {
      const ahead = waiting(connection);
      counts.set(connection, ahead + 1);
      const before = isMultiplexed ? Promise.resolve() : (latest.get(connection) ?? Promise.resolve());
      // What else has arrived comes between two of one connection.
      const done = ahead === 0 ? work() : before.then(() => setImmediate()).then(work);
      latest.set(
        connection,
        done.catch(() => undefined),
      );
      try {
        await done;
      } finally {
        counts.set(connection, waiting(connection) - 1);
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
    of: (socket: Socket | undefined): Connection | undefined =>
      socket === undefined ? undefined : open.get(endsOf(socket)),
  };
}

const REQUEST_ID = /^[\w.:/+=-]{1,128}$/;

/** A client's own id of a request, if it is a harmless one. */
function requestId(given: string | undefined): string {
  return given !== undefined && REQUEST_ID.test(given) ? given : randomUUID();
}

/**
 * Answers a request. Whatever fails, and wherever: what the request has taken is given back, and its client hears it.
 * @returns the key that asked, if it had a known one
 */
async function handle(
  options: ListenerOptions,
  request: HttpRequest,
  response: HttpResponse,
  carrier: Carrier,
): Promise<string | undefined> {
  const headers = headersOf(request);
  const id = requestId(headers['x-request-id']);
  const account = options.budgets.open(carrier.socket?.remoteAddress ?? '', () => carrier.isGone());
  try {
    await answerRequest(options, { account, request, response, carrier, headers, id });
  } catch (error) {
    options.responder.log.warn({ err: error, requestId: id }, 'a response could not be written');
    // A part of an answer is not to be taken for the whole.
    breakOff(response);
  } finally {
    account.close();
  }
  return account.key;
}

/** A request with what carries it. */
interface Begun {
  readonly account: RequestAccount;
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly carrier: Carrier;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly id: string;
}

async function answerRequest(
  { responder, metrics, dispatch, where, pace, cut }: ListenerOptions,
  { account, request, response, carrier, headers, id }: Begun,
): Promise<void> {
  const started = performance.now();
  const { log, options } = responder;
  const forwarded = options.trustProxy ? forwardedHost(headers) : undefined;
  const dispatched = (forwarded === undefined ? undefined : dispatch(forwarded)) ?? dispatch(headers.host);
  const name = dispatched ?? 'api';
  const arrival = carrier.socket?.localAddress;
  const base = baseAddress(where(name), options.publicUrls[name], options.trustProxy, { arrival, headers });
  using own = new DisposableStack();
  // The operator must be able to look when all else is refused.
  if (name === 'admin') account.exempt();
  const exchange = makeExchange(request, {
    id,
    headers,
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
    breakOff(response);
  };
  const reply = await replyTo(responder, exchange, dispatched !== undefined, request);
  const common = { ...(await commonOf(responder, id, name)), serverTiming: exchange.timings.header() };
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
  { httpVersion, rawHeaders, headers }: HttpRequest,
): Promise<Reply> {
  if (exchange.headers.host === undefined && httpVersion !== '1.0') {
    return refusal(exchange, platError('requestMalformed', { reason: 'it has no Host header' }));
  }
  if (rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length > 1) {
    return refusal(exchange, platError('requestMalformed', { reason: 'it has two Host headers' }));
  }
  const authority = headers[':authority'];
  if (authority !== undefined && exchange.headers.host !== authority) {
    return refusal(
      exchange,
      platError('requestMalformed', { reason: 'its Host header is not its authority' }),
    );
  }
  return respond(responder, exchange, isOfSurface);
}

/**
 * What every response has, by the clock of the store, or this machine's while the store cannot be read. Operators get no
 * records and take no moment for the end of a window: probes and metrics wait for no promise of the store.
 */
async function commonOf(
  { told, options, context }: Responder,
  requestId: string,
  surface?: SurfaceName,
): Promise<Common> {
  try {
    return { requestId, now: await (surface === 'admin' ? context.store.now() : told.now()) };
  } catch {
    return { requestId, now: options.clock.now() };
  }
}

interface Given extends Pick<Exchange, 'id' | 'base' | 'arrival' | 'account' | 'body' | 'headers'> {
  readonly surface: SurfaceName;
}

function makeExchange(request: HttpRequest, { surface, ...given }: Given): Exchange {
  const url = originForm(request.url ?? '/');
  const mark = url.indexOf('?');
  return {
    ...given,
    method: request.method ?? 'GET',
    path: mark < 0 ? url : url.slice(0, mark),
    query: mark < 0 ? '' : url.slice(mark + 1),
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
