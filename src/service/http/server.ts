/**
 * Node's servers: HTTP/1.1, and HTTP/2 over TLS. This module hides their differences: the connection that carries a request, how a
 * response is written or aborted, and when an idle connection ends. It must not know what is answered.
 */
import type { IncomingMessage, Server } from 'node:http';
import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  Http2ServerRequest,
  Http2ServerResponse,
  type Http2Session,
  type ServerHttp2Session,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { Duplex, Writable } from 'node:stream';
import { failedError } from '../../errors/index.ts';
import { codeOf } from '../../shared/error-code.ts';
import { type Queued, queueOf } from '../reply/read-pace.ts';
import { createServer, ServerResponse } from './node-http.ts';

/** Both ends of a connection. Over TLS, Node's events pass other socket objects than the one that it accepted. */
export const endsOf = ({ remoteAddress, remotePort, localPort }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localPort}`;

/**
 * The accepted sockets of HTTP/2 sessions. A destroyed session and its TLS socket wait until everything is sent, which never happens
 * if the client reads nothing; only the accepted socket ends such a connection.
 */
const acceptedSockets = new WeakMap<Http2Session, Socket>();

export type HttpRequest = IncomingMessage | Http2ServerRequest;
export type HttpResponse = ServerResponse | Http2ServerResponse;

/** The largest head that plat accepts: a URL of 16 KB and the headers. */
export const LARGEST_HEAD = 64 * 1024;
/**
 * The largest head that Node reads. Node rejects a larger one itself, and the path, which selects the error envelope, may then be
 * lost.
 */
const LARGEST_READ = 2 * LARGEST_HEAD;
/** Milliseconds after which a connection without traffic is closed. */
const SOCKET_PATIENCE = 120_000;
/** The maximum number of concurrent requests on an HTTP/2 connection. */
const MOST_STREAMS = 100;
/** Megabytes that the protocol implementation may use for an HTTP/2 connection. */
const SESSION_MEMORY = 10;
/** How many streams a client may cancel in a burst and per second. If it cancels more, its connection is closed. */
const RESETS = { streamResetBurst: 200, streamResetRate: 33 } as const;
/** Milliseconds that requests in progress get on a connection that is being closed. */
const ENDING = 5000;

interface ServerBounds {
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  /** The maximum milliseconds for a complete request to arrive, and for a connection to be idle between two requests. */
  readonly requestPatience: number;
  readonly idlePatience: number;
  /**
   * Whether a closing server ends connections without a request, as Node does. Node takes those for idle on which a request is
   * arriving, and those whose response only waits in memory for its client.
   */
  readonly endsIdle: boolean;
}

interface ServerHandlers {
  request(request: HttpRequest, response: HttpResponse): void;
  connection(socket: Socket): void;
  /** An HTTP/1.1 connection that cannot continue. */
  fault(error: Error, socket: Duplex): void;
  /** A `CONNECT` request, which plat refuses. */
  connect(request: IncomingMessage, socket: Duplex): void;
}

export interface HttpServer {
  /** @returns the port @throws PlatError `failed` if the system refuses it */
  listen(host: string, port: number): Promise<number>;
  /**
   * Accepts no new connections, and resolves when all connections have ended. The caller closes those that are idle, unless the
   * server does (`endsIdle`).
   *
   * @param patience milliseconds after which the remaining connections are destroyed
   */
  close(patience: number): Promise<void>;
}

export function makeServer(
  { tls, requestPatience, idlePatience, endsIdle }: ServerBounds,
  handlers: ServerHandlers,
): HttpServer {
  const bounds = {
    maxHeaderSize: LARGEST_READ,
    requireHostHeader: false, // Node would respond without an error envelope
    headersTimeout: requestPatience,
    requestTimeout: requestPatience,
    connectionsCheckingInterval: Math.ceil(requestPatience / 4),
    keepAliveTimeout: idlePatience,
  };
  const server = tls === undefined ? createServer(bounds) : secureServer();
  if (!endsIdle && 'closeIdleConnections' in server) server.closeIdleConnections = () => undefined;
  function secureServer(): Http2SecureServer {
    const made = createSecureServer({
      ...bounds,
      ...tls,
      ...RESETS,
      allowHTTP1: true,
      http1Options: bounds,
      minVersion: 'TLSv1.2',
      handshakeTimeout: requestPatience,
      maxSessionMemory: SESSION_MEMORY,
      settings: { maxConcurrentStreams: MOST_STREAMS, maxHeaderListSize: LARGEST_HEAD, enablePush: false },
    });
    made.on('session', (session) => {
      const socket = sockets.get(endsOf(session.socket));
      if (socket === undefined) return session.destroy(); // the client has already disconnected
      acceptedSockets.set(session, socket);
      closeWhenIdle(session, socket, requestPatience, idlePatience);
    });
    return made;
  }
  const sockets = new Map<string, Socket>();
  server.setTimeout(SOCKET_PATIENCE);
  server.on('connection', (socket: Socket) => {
    const ends = endsOf(socket);
    sockets.set(ends, socket);
    socket.once('close', () => {
      if (sockets.get(ends) === socket) sockets.delete(ends);
    });
    handlers.connection(socket);
  });
  server.on('request', handlers.request);
  // An unknown `Expect` header is no reason to refuse a request (RFC 9110, 10.1.1).
  server.on('checkExpectation', handlers.request);
  server.on('clientError', handlers.fault);
  server.on('connect', (request: HttpRequest, carrier: Duplex | Http2ServerResponse) => {
    if (carrier instanceof Http2ServerResponse) handlers.request(request, carrier);
    else if (!(request instanceof Http2ServerRequest)) handlers.connect(request, carrier);
  });
  return {
    listen: (host, port) => listen(server, host, port),
    close: (patience) => close(server, sockets, patience),
  };
}

function listen(server: Server | Http2SecureServer, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(listenError(error));
    server.once('error', fail);
    server.listen({ host, port }, () => {
      server.off('error', fail);
      const bound = server.address();
      resolve(bound !== null && typeof bound === 'object' ? bound.port : port);
    });
  });
}

/** Converts the system's error for a listener that cannot start to the error that the user sees. */
function listenError(error: Error): Error {
  const port = 'port' in error ? String(error.port) : '';
  const host = 'hostname' in error ? String(error.hostname) : 'address' in error ? String(error.address) : '';
  const reason = REASONS[codeOf(error) ?? ''];
  if (reason === undefined) return error;
  return failedError(reason(port, host), { cause: error });
}

const REASONS: Readonly<Record<string, (port: string, host: string) => string>> = {
  EADDRINUSE: (port) => `Port ${port} is in use. Choose another, or 0 for any free one.`,
  EACCES: (port) => `Port ${port} may not be used by this user.`,
  EADDRNOTAVAIL: (_, host) => `The host to listen on, ${host}, is not an address of this machine.`,
  ENOTFOUND: (_, host) => `The host to listen on, ${host}, is not known.`,
  EAI_AGAIN: (_, host) => `The host to listen on, ${host}, cannot be looked up.`,
};

async function close(
  server: Server | Http2SecureServer,
  sockets: ReadonlyMap<string, Socket>,
  patience: number,
): Promise<void> {
  if (!server.listening) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  // HTTP/2 sessions refuse new requests and end after those in progress.
  server.close(() => resolve());
  const cut = setTimeout(() => {
    for (const socket of sockets.values()) socket.destroy();
  }, patience);
  await promise;
  clearTimeout(cut);
}

/**
 * Ends an HTTP/2 session that has had no request in progress for too long, whatever frames it received. The limits are those of
 * HTTP/1.1: for the first request to arrive, and for the time between two requests.
 */
function closeWhenIdle(session: ServerHttp2Session, socket: Socket, first: number, between: number): void {
  let streams = 0;
  let timer: NodeJS.Timeout | undefined;
  const wait = (milliseconds: number): void => {
    timer = setTimeout(() => {
      session.close();
      timer = setTimeout(() => socket.destroy(), ENDING).unref();
    }, milliseconds).unref();
  };
  wait(first);
  session.on('stream', (stream) => {
    streams++;
    clearTimeout(timer);
    stream.once('close', () => {
      streams--;
      if (streams === 0 && !socket.destroyed) wait(session.destroyed ? ENDING : between);
    });
  });
  socket.once('close', () => clearTimeout(timer));
  session.on('error', () => undefined); // the client has left, or does not speak HTTP/2
}

/** The connection that carries a request. */
export interface Carrier {
  /** The same object for all requests of the connection. */
  readonly connection: object;
  /** Undefined once the connection has ended. */
  readonly socket: Socket | undefined;
  /** Whether its requests are answered concurrently, rather than one after the other. */
  readonly isMultiplexed: boolean;
  isDisconnected(): boolean;
  /** Destroys the connection, with all its requests. */
  destroy(): void;
}

export function carrierOf(request: HttpRequest, response: HttpResponse): Carrier {
  if (response instanceof Http2ServerResponse) {
    const { stream } = response;
    const { session } = stream;
    return {
      connection: session ?? stream,
      socket: session?.destroyed === false ? session.socket : undefined,
      isMultiplexed: true,
      isDisconnected: () => stream.destroyed,
      destroy: () => {
        session?.destroy();
        if (session !== undefined) acceptedSockets.get(session)?.destroy();
      },
    };
  }
  const { socket } = request;
  return {
    connection: socket,
    socket,
    isMultiplexed: false,
    isDisconnected: () => socket.destroyed || !socket.writable,
    destroy: () => void socket.destroy(),
  };
}

/** The headers of a request, without the pseudo-headers of HTTP/2. */
export function headersOf({ headers }: HttpRequest): Record<string, string | undefined> {
  const plain: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (!name.startsWith(':')) plain[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  const authority = headers[':authority'];
  if (plain.host === undefined && typeof authority === 'string') plain.host = authority;
  return plain;
}

export function writeHead(
  response: HttpResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
): void {
  response.sendDate = false;
  if (response instanceof Http2ServerResponse) response.writeHead(status, headers);
  else response.writeHead(status, headers);
}

/** Sends the head before a body that may begin much later; HTTP/2 does so anyway. */
export function flushHead(response: HttpResponse): void {
  if (response instanceof ServerResponse) response.flushHeaders();
}

/** Closes an HTTP/1.1 connection after this response. An HTTP/2 session is closed by other means. */
export function closeConnectionAfter(response: HttpResponse): void {
  if (response instanceof ServerResponse) response.shouldKeepAlive = false;
}

/** The stream to which the body of a response is written. */
export const bodyStreamOf = (response: HttpResponse): Writable =>
  response instanceof Http2ServerResponse ? response.stream : response;

/** The number of written bytes that the system has not accepted yet; undefined if it cannot be observed. */
export const writeQueueOf = (response: HttpResponse): Queued | undefined =>
  response instanceof ServerResponse ? queueOf(response.socket) : undefined;

/** Aborts a response, so that the client does not mistake an incomplete response for a complete one. */
export function abortResponse(response: HttpResponse): void {
  if (response instanceof Http2ServerResponse) response.stream.destroy(new Error('The response was aborted'));
  else response.destroy();
}

/** Ends an HTTP/2 request that was answered before its body had arrived completely. */
export function endUnreadRequest(request: HttpRequest, response: HttpResponse): void {
  if (!(response instanceof Http2ServerResponse)) return;
  const { stream } = response;
  if (stream.destroyed || stream.endAfterHeaders || request.readableEnded) return;
  stream.close(constants.NGHTTP2_NO_ERROR);
}
