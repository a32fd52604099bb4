/** The network: one request and its response. This module knows nothing about tokens, retries, or the content of requests. */
import { Duplex, pipeline, Readable } from 'node:stream';
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';
import type { Agent, request } from 'undici';
import { assertEgress, type Egress, publicLookup } from './egress-policy.ts';
import { RequestFailure } from './failure.ts';

/** One request. Redirects are not followed: the client decides where a token goes. */
export interface TransportRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body of a POST; absent: the request is a GET. */
  readonly body?: string;
  /** Maximum milliseconds until the headers of the response, and between two chunks of its body. */
  readonly timeout: number;
  /** Maximum milliseconds from the headers of the response to its end. Absent: the reader limits the time. */
  readonly longest?: number;
  readonly signal: AbortSignal;
  /** Default: `any`. Requests for untrusted URLs have `public`. */
  readonly egress?: Egress;
}

export interface TransportResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The decoded content. The caller has to read it to its end, or at least begin and then stop reading: the connection is busy
   * until then.
   */
  readonly body: AsyncIterable<Uint8Array>;
}

/** The network, passed in so that a test can replace it. */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>;

/**
 * The number of connections to one source. With more, requests would only queue there. One of them may be used by a stream of
 * changes.
 */
const CONNECTIONS = 5;
const CONNECT_TIMEOUT = 10_000;

/** The HTTP client, and its connection pools by egress policy. */
interface Network {
  readonly request: typeof request;
  readonly agents: Readonly<Record<Egress, Agent>>;
}

/**
 * Loads the HTTP client on first use: loading takes a fifth of the start of a service, and a service that queries no source never
 * needs it.
 */
async function openNetwork(connections: number | null): Promise<Network> {
  const { Agent, request } = await import('undici');
  const common = { connections, connectTimeout: CONNECT_TIMEOUT };
  // Connections are kept alive, so each policy has its own: a request with the policy `public` must not reuse a connection to a
  // private host.
  const agents = {
    any: new Agent(common),
    public: new Agent({ ...common, connect: { lookup: publicLookup } }),
  };
  return { request, agents };
}

/**
 * The real network.
 * @param connections the maximum number of connections to one origin; null: no limit
 */
export function networkTransport(
  connections: number | null = CONNECTIONS,
): Transport & { close(): Promise<void> } {
  let opened: Promise<Network> | undefined;
  const transport = async ({
    url,
    headers,
    body,
    timeout,
    longest,
    signal,
    egress = 'any',
  }: TransportRequest): Promise<TransportResponse> => {
    assertEgress(url, egress);
    opened ??= openNetwork(connections);
    const { request, agents } = await opened;
    const response = await request(url, {
      dispatcher: agents[egress],
      ...(body === undefined ? {} : { method: 'POST', body }),
      headers: { 'accept-encoding': 'zstd, gzip', ...headers },
      headersTimeout: timeout,
      bodyTimeout: timeout,
      signal,
    }).catch((error: unknown) => {
      throw error instanceof Error && error.cause instanceof RequestFailure ? error.cause : error;
    });
    if (longest !== undefined) endAfter(response.body, longest);
    const plain: Record<string, string> = {};
    for (const [name, value] of Object.entries(response.headers)) {
      if (value !== undefined) plain[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
    }
    return {
      status: response.statusCode,
      headers: plain,
      body: decodeBody(response.body, plain['content-encoding']),
    };
  };
  return Object.assign(transport, {
    close: async () => {
      const network = await opened;
      await Promise.all(Object.values(network?.agents ?? {}).map((agent) => agent.close()));
    },
  });
}

/** Ends a response that arrives too slowly, even if its chunks decode to nothing. */
function endAfter(body: Readable, longest: number): void {
  const late = Object.assign(new Error(`The response was not complete after ${longest / 1000} s`), {
    code: 'ANSWER_TIMEOUT',
  });
  const timer = setTimeout(() => body.destroy(late), longest).unref();
  body.once('close', () => clearTimeout(timer));
  body.once('error', () => undefined); // the reader of the body handles it
}

/** @param encodings in the order in which they were applied */
function decodeBody(body: Readable, encodings = ''): AsyncIterable<Uint8Array> {
  return encodings
    .split(',')
    .toReversed()
    .reduce((encoded, encoding) => {
      const decoder = DECODERS.get(encoding.trim().toLowerCase())?.();
      if (decoder === undefined) return encoded;
      // If the reader stops early, pipeline destroys both streams, which frees the connection.
      pipeline(encoded, decoder, () => undefined);
      return decoder;
    }, body);
}

/** Decodes `deflate`, which some servers send without the zlib format that HTTP requires (RFC 9110, 8.4.1.2). */
async function* inflated(encoded: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const pieces = encoded[Symbol.asyncIterator]();
  const { value: first, done } = await pieces.next();
  if (done === true) return;
  async function* all() {
    yield first;
    yield* { [Symbol.asyncIterator]: () => pieces };
  }
  const isZlib = ((first[0] ?? 0) & 0x0f) === 8;
  yield* pipeline(Readable.from(all()), isZlib ? createInflate() : createInflateRaw(), () => undefined);
}

const DECODERS = new Map<string, () => Duplex>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', () => Duplex.from(inflated)],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
]);
