/** Writes a reply: its headers, and its body as it is or compressed. It must not know what the body says. */
import { ServerResponse } from 'node:http';
import { finished, type Writable } from 'node:stream';
import { gzipMember } from '../../shared/gzip-member.ts';
import { hasEvents, type Part, type Reply } from '../exchange.ts';
import { chooseEncoding } from '../http/negotiation.ts';
import { bodyOf, type HttpResponse, waitingIn, writeHead } from '../http/server.ts';
import { compressBody } from './compress.ts';
import type { Sender } from './pace.ts';

/** What the headers of every response are made of. */
export interface Common {
  readonly requestId: string;
  /** Milliseconds since 1970 on the clock that stamps records (I2). */
  readonly now: number;
  /** The steps of the request; empty or absent: it was refused before the first. */
  readonly serverTiming?: string;
  /** Whether it is one of the admin port, which only its own console reads in a browser. */
  readonly isOfOperator?: boolean;
}

/** Browsers of other origins may read; what protects the data is the token, which no browser adds by itself. */
const FOR_ALL_ORIGINS = { 'access-control-allow-origin': '*', 'access-control-expose-headers': '*' };

/** A session is a cookie, so no other origin reads, shows or frames anything, and what is opened by itself runs nothing. */
const FOR_OWN_ORIGIN = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
};

export function commonHeaders({
  requestId,
  now,
  serverTiming = '',
  isOfOperator = false,
}: Common): Record<string, string> {
  return {
    date: dateText(now),
    'x-request-id': requestId,
    ...(serverTiming === '' ? {} : { 'server-timing': serverTiming }),
    'cache-control': 'private, no-cache',
    vary: 'Authorization, Accept, Accept-Encoding, Prefer',
    ...(isOfOperator ? FOR_OWN_ORIGIN : FOR_ALL_ORIGINS),
    'x-content-type-options': 'nosniff',
  };
}

/** The `Date` of a moment, which has whole seconds. */
function dateText(now: number): string {
  const second = Math.floor(now / 1000);
  if (second !== lastDate.second) lastDate = { second, text: new Date(now).toUTCString() };
  return lastDate.text;
}

let lastDate = { second: Number.NaN, text: '' };

/** Other content is packed already, or too rarely requested to be worth it. */
const COMPRESSIBLE = /^(?:application\/(?:json|xml)|text\/|image\/svg)/;

/** Whether a body of this type is compressed for clients that accept it so. */
export const isCompressible = (type: string): boolean => COMPRESSIBLE.test(type);

/** What a body that is being sent is charged to, and what watches how its client takes it. */
export interface Taking {
  /** Sets how many bytes wait in memory for the client. */
  holds(bytes: number): void;
  readonly sender: Sender;
}

/** How a response is to be written. */
interface Asked {
  readonly method: string;
  readonly acceptEncoding: string | undefined;
  readonly taking: Taking;
  /** Releases the memory of the body, once it is sent from elsewhere. */
  readonly spent: () => void;
}

/** Bytes that are written at a time, so that it shows how quickly a client takes them. */
const SLICE = 128 * 1024;
/** Bytes up to which the parts of a body are joined: one piece costs less than several. */
const SMALL = 16 * 1024;

/**
 * Writes a reply. Resolves when all is written, or the client has left.
 * @returns bytes of the body that were sent
 */
export async function send(
  response: HttpResponse,
  reply: Reply,
  common: Common,
  { method, acceptEncoding, taking, spent }: Asked,
): Promise<number> {
  // A part of a file is a part of its bytes as they are.
  const isPart = reply.headers['content-range'] !== undefined;
  // Only the head of a stream of events is sent here, which has no length and is never compressed.
  const isStream = hasEvents(reply);
  const canCompress = isCompressible(reply.headers['content-type'] ?? '') && !isPart && !isStream;
  const { bytes: made, isGzip } = bytesIn(reply.body);
  // A body that is kept as gzip is only for clients that like nothing better.
  const encoding = isGzip ? 'gzip' : canCompress ? chooseEncoding(acceptEncoding) : undefined;
  taking.holds(sizeOf(made));
  const encoded = isGzip ? made : await compressBody(encoding, made);
  if (encoded !== undefined) {
    taking.holds(sizeOf(encoded));
    spent();
  }
  const body = encoded ?? made;
  const isEmpty = reply.status === 204 || reply.status === 304;
  writeHead(response, reply.status, {
    ...commonHeaders(common),
    ...(encoded !== undefined && encoding !== undefined ? { 'content-encoding': encoding } : {}),
    ...(isEmpty || isStream ? {} : { 'content-length': String(sizeOf(body)) }),
    ...reply.headers,
  });
  return writeBody(response, method === 'HEAD' || isEmpty ? [] : body, taking);
}

/** The bytes of a body. One of which a part is kept in deflated form is one member of gzip. */
function bytesIn(parts: readonly Part[]): {
  readonly bytes: readonly Uint8Array[];
  readonly isGzip: boolean;
} {
  const all = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
  const plain = all.filter((part) => part instanceof Uint8Array);
  const isGzip = plain.length < all.length;
  return { bytes: isGzip ? gzipMember(all) : plain, isGzip };
}

const sizeOf = (body: readonly Uint8Array[]): number => body.reduce((sum, part) => sum + part.length, 0);

/** Writes a body: at once, where it shows how much of it still waits; otherwise slice by slice. */
async function writeBody(
  response: HttpResponse,
  body: readonly Uint8Array[],
  { holds, sender }: Taking,
): Promise<number> {
  const length = sizeOf(body);
  holds(length);
  const out = bodyOf(response);
  const written = whenWritten(out);
  const left = waitingIn(response);
  if (length <= SMALL) {
    out.end(body.length === 1 ? body[0] : Buffer.concat(body, length));
    sender.waits(left);
  } else if (length <= SLICE || left !== undefined) {
    out.cork();
    for (const part of body) out.write(part);
    out.end();
    out.uncork();
    sender.waits(left);
  } else {
    sender.waits();
    for (const slice of slicesOf(body)) {
      if (!out.write(slice)) await drained(out, written);
      if (out.destroyed) break;
      sender.took(slice.length, true);
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

/** Resolves when the response has been handed to the system, or never will be. */
function whenWritten(response: Writable): Promise<void> {
  return new Promise((resolve) => {
    // Every response that is not closed yet closes in the end; `finished` costs several times as much.
    if (response instanceof ServerResponse && !response.destroyed) response.once('close', resolve);
    else finished(response, { readable: false }, () => resolve());
  });
}

/** Resolves when the client has taken what was written, or has left. */
async function drained(response: Writable, written: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once('drain', resolve);
  await Promise.race([promise, written]);
  response.off('drain', resolve);
}
