/** A server on loopback that sends whatever a test requires, including responses that no correct server would send. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Scope } from '../../support/engine.ts';

/** A request as the server saw it. */
export interface Seen {
  /** Path and query, decoded. */
  readonly url: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly method: string;
  /** The body of the request, which can be read once. */
  readonly body: () => Promise<string>;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The connection is closed after that many bytes of the body, whatever Content-Length says. */
  readonly cutAfter?: number;
  /** The body never ends. */
  readonly stalls?: boolean;
  /** The body is sent again and again, each time after that many milliseconds, and never ends. */
  readonly drips?: number;
}

export interface Loopback {
  /** Without a trailing slash. */
  readonly origin: string;
  /** All requests so far, in order. */
  readonly seen: Seen[];
  /** Sockets that are open now. */
  readonly open: () => number;
}

export type Handler = (seen: Seen, count: number) => Reply | Promise<Reply>;

export interface LoopbackOptions {
  /** The time in the Date header of its responses, in milliseconds since 1970; absent: no such header. */
  readonly now?: () => number;
  readonly tls?: { readonly key: string; readonly cert: string };
}

export async function listen(
  scope: Scope,
  handler: Handler,
  { now, tls }: LoopbackOptions = {},
): Promise<Loopback> {
  const seen: Seen[] = [];
  const onRequest = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://loopback');
    const each: Seen = {
      url: decodeURIComponent((request.url ?? '').replaceAll('+', ' ')),
      path: decodeURIComponent(url.pathname),
      query: url.searchParams,
      headers: request.headers,
      method: request.method ?? '',
      body: () => text(request),
    };
    seen.push(each);
    response.sendDate = false;
    if (now !== undefined) response.setHeader('date', new Date(now()).toUTCString());
    send(response, await handler(each, seen.length));
  };
  const server = tls === undefined ? createServer(onRequest) : createTlsServer(tls, onRequest);
  let sockets = 0;
  server.on('connection', (socket) => {
    sockets++;
    socket.on('close', () => sockets--);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  scope.after(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const { port } = address(server.address());
  return { origin: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`, seen, open: () => sockets };
}

function address(given: AddressInfo | string | null): AddressInfo {
  if (given === null || typeof given === 'string') throw new Error('The server has no port');
  return given;
}

function send(response: ServerResponse, { status = 200, headers = {}, body = '', ...reply }: Reply): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.statusCode = status;
  if (reply.cutAfter !== undefined) {
    if (!response.hasHeader('content-length')) response.setHeader('content-length', bytes.length);
    response.write(bytes.subarray(0, reply.cutAfter), () => response.destroy());
    response.flushHeaders();
    return;
  }
  if (reply.drips !== undefined) {
    const timer = setInterval(() => response.write(bytes), reply.drips);
    response.on('close', () => clearInterval(timer));
    return;
  }
  if (reply.stalls) {
    response.write(bytes);
    return;
  }
  response.end(bytes);
}

export const json = (value: unknown, reply: Omit<Reply, 'body'> = {}): Reply => ({
  ...reply,
  headers: { 'content-type': 'application/json', ...reply.headers },
  body: JSON.stringify(value),
});
