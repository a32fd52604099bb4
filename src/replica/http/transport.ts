import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { Agent, request } from 'undici';

/** One request to a source. Redirects are not followed: where a token goes is decided above. */
export interface TransportRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds until the head of the answer, and between two pieces of its body. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

export interface TransportResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The content without its encoding. It has to be read, or begun and given up: its connection is held until then. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** The network, passed in so that a test can be one. */
export type Transport = (wish: TransportRequest) => Promise<TransportResponse>;

/** Connections to one source; more would only queue there. */
const CONNECTIONS = 4;
const CONNECT_TIMEOUT = 10_000;

/** The real network. */
export function networkTransport(): Transport & { close(): Promise<void> } {
  const agent = new Agent({ connections: CONNECTIONS, connectTimeout: CONNECT_TIMEOUT });
  const transport = async ({
    url,
    headers,
    timeout,
    signal,
  }: TransportRequest): Promise<TransportResponse> => {
    const response = await request(url, {
      dispatcher: agent,
      headers: { 'accept-encoding': 'zstd, gzip', ...headers },
      headersTimeout: timeout,
      bodyTimeout: timeout,
      signal,
    });
    const plain: Record<string, string> = {};
    for (const [name, value] of Object.entries(response.headers)) {
      if (value !== undefined) plain[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
    }
    return {
      status: response.statusCode,
      headers: plain,
      body: decoded(response.body, plain['content-encoding']),
    };
  };
  return Object.assign(transport, { close: () => agent.close() });
}

function decoded(body: Readable, encoding: string | undefined): AsyncIterable<Uint8Array> {
  const decoder = decoderOf(encoding);
  if (decoder === undefined) return body;
  // Whoever stops reading ends both, and with them the connection: no other way gives it back.
  pipeline(body, decoder, () => undefined);
  return decoder;
}

function decoderOf(encoding: string | undefined): Transform | undefined {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    case 'zstd':
      return createZstdDecompress();
    default:
      return undefined;
  }
}
