/** Writes a reply: its headers, and its body, plain or compressed. It must not know the content of the body. */
import { finished, type Writable } from 'node:stream';
import { gzipMember } from '../../shared/gzip-member.ts';
import { type BodyPart, hasEvents, type Reply } from '../exchange.ts';
import { chooseEncoding } from '../http/negotiation.ts';
import { ServerResponse } from '../http/node-http.ts';
import { bodyStreamOf, type HttpResponse, writeHead, writeQueueOf } from '../http/server.ts';
import { compressBody } from './compress.ts';
import type { Sender } from './read-pace.ts';

/** The values from which the headers of every response are made. */
export interface CommonHeaderValues {
  readonly requestId: string;
  /** Milliseconds since 1970 on the clock that assigns timestamps to records (I2). */
  readonly now: number;
  /** The steps of the request; empty or absent if it was refused before the first one. */
  readonly serverTiming?: string;
  /** Whether the response is one of the admin port, which only the console of the same origin reads in a browser. */
  readonly isOfOperator?: boolean;
}

/** Pages of any origin may read responses. The data is protected by the token, which browsers do not send by themselves. */
const FOR_ALL_ORIGINS = { 'access-control-allow-origin': '*', 'access-control-expose-headers': '*' };

/**
 * On the admin port, a session is a cookie. Therefore, no other origin may read, embed or frame a response, and content that is
 * opened directly runs no scripts.
 */
const FOR_OWN_ORIGIN = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
};

export function commonHeaders({
  requestId,
  now,
  serverTiming = '',
  isOfOperator = false,
}: CommonHeaderValues): Record<string, string> {
  const headers: Record<string, string> = {
    date: dateText(now),
    'x-request-id': requestId,
    'cache-control': 'private, no-cache',
    vary: 'Authorization, Accept, Accept-Encoding, Prefer',
    'x-content-type-options': 'nosniff',
  };
  if (serverTiming !== '') headers['server-timing'] = serverTiming;
  return Object.assign(headers, isOfOperator ? FOR_OWN_ORIGIN : FOR_ALL_ORIGINS);
}

/** The `Date` header of a time, in whole seconds. */
function dateText(now: number): string {
  const second = Math.floor(now / 1000);
  if (second !== lastDate.second) lastDate = { second, text: new Date(now).toUTCString() };
  return lastDate.text;
}

let lastDate = { second: Number.NaN, text: '' };

/** The compressible media types. Other content is already compressed, or requested too rarely to be worth it. */
const COMPRESSIBLE = /^(?:application\/(?:json|xml)|text\/|image\/svg)/;

/** Whether a body of this type is compressed for clients that accept an encoding. */
export const isCompressible = (type: string): boolean => COMPRESSIBLE.test(type);

/** Charges the bytes of a response to an account while they are sent, and monitors how fast the client reads them. */
export interface SendMonitor {
  /** Sets the number of bytes in memory that wait for the client. */
  holds(bytes: number): void;
  readonly sender: Sender;
}

/** How a response is to be written. */
interface SendOptions {
  readonly method: string;
  readonly acceptEncoding: string | undefined;
  readonly taking: SendMonitor;
  /** Releases the memory of the body once it has been compressed; until then, and if it is sent as it is, its bytes are needed. */
  readonly spent: () => void;
}

/** The number of bytes that are written at a time, so that the pace of the client can be observed. */
const SLICE = 128 * 1024;
/** The parts of a smaller body are joined, because one write costs less than several. */
const SMALL = 16 * 1024;

/**
 * Writes a reply. Resolves when all of it has been written, or the client has disconnected.
 *
 * @returns the number of bytes of the body that were sent
 */
export async function send(
  response: HttpResponse,
  reply: Reply,
  common: CommonHeaderValues,
  { method, acceptEncoding, taking, spent }: SendOptions,
): Promise<number> {
  // A range applies to the uncompressed bytes of a file.
  const isPart = reply.headers['content-range'] !== undefined;
  // For a stream of events, only the head is written here (for HEAD); a stream has no length and is never compressed.
  const isStream = hasEvents(reply);
  const canCompress = isCompressible(reply.headers['content-type'] ?? '') && !isPart && !isStream;
  const { bytes: plain, isGzip } = bytesIn(reply.body);
  // A body that is cached as gzip is used only for clients that prefer no other encoding.
  const encoding = isGzip ? 'gzip' : canCompress ? chooseEncoding(acceptEncoding) : undefined;
  taking.holds(sizeOf(plain));
  const encoded = isGzip ? undefined : await compressBody(encoding, plain);
  using sending = new DisposableStack();
  if (encoded !== undefined) {
    sending.defer(encoded.release);
    taking.holds(sizeOf(encoded.body));
    spent();
  }
  const body = encoded?.body ?? plain;
  const isEmpty = reply.status === 204 || reply.status === 304;
  const headers = commonHeaders(common);
  if (encoding !== undefined && (isGzip || encoded !== undefined)) headers['content-encoding'] = encoding;
  if (!isEmpty && !isStream) headers['content-length'] = String(sizeOf(body));
  writeHead(response, reply.status, Object.assign(headers, reply.headers));
  return await writeBody(response, method === 'HEAD' || isEmpty ? [] : body, taking);
}

/** The bytes of a body. If a part of it is cached in deflated form, the whole body is one gzip member. */
function bytesIn(parts: readonly BodyPart[]): {
  readonly bytes: readonly Uint8Array[];
  readonly isGzip: boolean;
} {
  const all = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
  const plain = all.filter((part) => part instanceof Uint8Array);
  const isGzip = plain.length < all.length;
  return { bytes: isGzip ? gzipMember(all) : plain, isGzip };
}

const sizeOf = (body: readonly Uint8Array[]): number => body.reduce((sum, part) => sum + part.length, 0);

/** Writes a body: at once if the length of the write queue can be observed, otherwise in slices. */
async function writeBody(
  response: HttpResponse,
  body: readonly Uint8Array[],
  { holds, sender }: SendMonitor,
): Promise<number> {
  const length = sizeOf(body);
  holds(length);
  const out = bodyStreamOf(response);
  const written = whenWritten(out);
  const left = writeQueueOf(response);
  if (length <= SMALL) {
    out.end(body.length === 1 ? body[0] : Buffer.concat(body, length));
    sender.reportWaiting(left);
  } else if (length <= SLICE || left !== undefined) {
    out.cork();
    for (const part of body) out.write(part);
    out.end();
    out.uncork();
    sender.reportWaiting(left);
  } else {
    sender.reportWaiting();
    for (const slice of slicesOf(body)) {
      if (!out.write(slice)) await drained(out, written);
      if (out.destroyed) break;
      sender.reportRead(slice.length, true);
    }
    if (!out.destroyed) out.end();
  }
  await written;
  return length;
}

function* slicesOf(parts: Iterable<Uint8Array>): Generator<Uint8Array> {
  for (const part of parts) {
    for (let at = 0; at < part.length; at += SLICE) yield part.subarray(at, at + SLICE);
  }
}

/** Resolves when the operating system has accepted the whole response, or never will. */
function whenWritten(response: Writable): Promise<void> {
  return new Promise((resolve) => {
    // A response that is not closed yet will eventually emit `close`. `finished` would cost several times as much.
    if (response instanceof ServerResponse && !response.destroyed) response.once('close', resolve);
    else finished(response, { readable: false }, () => resolve());
  });
}

/** Resolves when the client has read what was written, or has disconnected. */
async function drained(response: Writable, written: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once('drain', resolve);
  await Promise.race([promise, written]);
  response.off('drain', resolve);
}
