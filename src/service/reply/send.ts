/**
 * Writes a reply: its headers, and its body as it is or compressed, whole or while it is still being read. It must not know
 * what the body says.
 */
import { ServerResponse } from 'node:http';
import { finished, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Rest } from '../../compile/read.ts';
import { gzipMember } from '../../shared/gzip-member.ts';
import { bytesOf, isDeflated, isRest, type Part, type Reply } from '../exchange.ts';
import { chooseEncoding, type Encoding } from '../http/negotiation.ts';
import { bodyOf, type HttpResponse, waitingIn, writeHead } from '../http/server.ts';
import { compressBody, compressor } from './compress.ts';
import type { Sender } from './pace.ts';

/** What the headers of every response are made of. */
export interface Common {
  readonly requestId: string;
  /** Milliseconds since 1970 on the clock that stamps records (I2). */
  readonly now: number;
  /** The steps of the request; empty or absent: it was refused before the first. */
  readonly serverTiming?: string;
}

export function commonHeaders({ requestId, now, serverTiming = '' }: Common): Record<string, string> {
  return {
    date: dateText(now),
    'x-request-id': requestId,
    ...(serverTiming === '' ? {} : { 'server-timing': serverTiming }),
    'cache-control': 'private, no-cache',
    vary: 'Authorization, Accept, Accept-Encoding, Prefer',
    'access-control-allow-origin': '*',
    'access-control-expose-headers': '*',
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

/** Other content is packed already, or too rarely asked for to be worth it. */
const COMPRESSIBLE = /^(?:application\/(?:json|xml)|text\/|image\/svg)/;

/** Whether a body of this type is compressed for clients that accept it so. */
export const isCompressible = (type: string): boolean => COMPRESSIBLE.test(type);

/** What a body that is being sent is charged to, and what watches how its client takes it. */
interface Taking {
  /** Sets how many bytes wait in memory for the client. */
  holds(bytes: number): void;
  /** Whether so many bytes wait for this client's key that no more may. */
  isOver(): boolean;
  readonly sender: Sender;
  /** Ends the connection. */
  cut(): void;
}

/** How an answer is to be written. */
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
/** Milliseconds in all for which a client may keep the store waiting; then the rest waits for it in memory. */
const PATIENCE = 2000;

/**
 * Writes a reply. Resolves when all is written, or the client has left.
 * @returns bytes of the body that were sent
 * @throws what a part that still comes from the store fails with: then the response has begun, and cannot be ended well
 */
export async function send(
  response: HttpResponse,
  reply: Reply,
  common: Common,
  { method, acceptEncoding, taking, spent }: Asked,
): Promise<number> {
  // A part of a file is a part of its bytes as they are.
  const isPart = reply.headers['content-range'] !== undefined;
  const canCompress = isCompressible(reply.headers['content-type'] ?? '') && !isPart;
  // A body that is kept as gzip is only for clients that like nothing better.
  const kept = keptBody(reply.body);
  const encoding = kept !== undefined ? 'gzip' : canCompress ? chooseEncoding(acceptEncoding) : undefined;
  const size = reply.body.reduce((sum, part) => sum + bytesOf(part), 0);
  const whole = kept ?? wholeOf(reply.body);
  taking.holds(sizeOf(whole ?? []));
  const compressed = kept ?? (whole === undefined ? undefined : await compressBody(encoding, whole));
  if (compressed !== undefined) {
    taking.holds(sizeOf(compressed));
    spent();
  }
  const encoded = compressed !== undefined || (whole === undefined && encoding !== undefined);
  const body = compressed ?? whole;
  // The length of what is compressed on its way is not known.
  const length = body === undefined ? (encoded ? undefined : size) : sizeOf(body);
  const isEmpty = reply.status === 204 || reply.status === 304;
  writeHead(response, reply.status, {
    ...commonHeaders(common),
    ...(encoded && encoding !== undefined ? { 'content-encoding': encoding } : {}),
    ...(isEmpty || length === undefined ? {} : { 'content-length': String(length) }),
    ...reply.headers,
  });
  const sends = method !== 'HEAD' && !isEmpty;
  if (!sends || body !== undefined) return sendWhole(response, sends ? (body ?? []) : [], taking);
  return sendAsRead(bodyOf(response), reply.body, encoding && { encoding, size }, taking);
}

/** A body of which a part is kept in deflated form, as one member of gzip. */
function keptBody(parts: readonly Part[]): readonly Uint8Array[] | undefined {
  if (!parts.some(isDeflated)) return undefined;
  return gzipMember(
    parts.map((part) => {
      if (isRest(part)) throw new Error('A part of a body that is kept cannot still come from the store');
      return typeof part === 'string' ? Buffer.from(part) : part;
    }),
  );
}

/** The parts as bytes; undefined when some still come from the store. */
function wholeOf(parts: readonly Part[]): readonly Uint8Array[] | undefined {
  const whole: Uint8Array[] = [];
  for (const part of parts) {
    if (isRest(part) || isDeflated(part)) return undefined;
    whole.push(typeof part === 'string' ? Buffer.from(part) : part);
  }
  return whole;
}

const sizeOf = (body: readonly Uint8Array[]): number => body.reduce((sum, part) => sum + part.length, 0);

/** Writes a body that is there: at once, where it shows how much of it still waits; otherwise slice by slice. */
async function sendWhole(
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

/** Resolves when the client has taken what was written, has left, or has waited too long. */
async function drained(response: Writable, written: Promise<void>, patience?: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = patience === undefined ? undefined : setTimeout(resolve, patience);
  response.once('drain', resolve);
  await Promise.race([promise, written]);
  response.off('drain', resolve);
  clearTimeout(timer);
}

/**
 * Writes a body while it is read, so that no more of it is held than what is on its way. Resolves when all is written,
 * or the client has left.
 * @param compressed absent: it is sent as it is
 * @returns bytes that were sent
 * @throws what reading fails with
 */
async function sendAsRead(
  response: Writable,
  parts: readonly Part[],
  compressed: { readonly encoding: Encoding; readonly size: number } | undefined,
  by: Taking,
): Promise<number> {
  const taking = takingBy(response, by);
  try {
    if (compressed === undefined) await taking.all(read(parts));
    else await pipeline(read(parts), compressor(compressed.encoding, compressed.size), taking.all);
    if (!taking.isGone()) response.end();
    return await taking.taken();
  } catch (error) {
    // Once the client has left, no error matters.
    if (taking.isGone()) return taking.taken();
    throw error;
  }
}

/** @throws when the store gives more or less than it announced: a part of an answer must not look like all of it */
async function* read(parts: readonly Part[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (isDeflated(part)) throw new Error('A part that is kept is not read');
    if (isRest(part)) yield* announced(part);
    else yield typeof part === 'string' ? Buffer.from(part) : part;
  }
}

async function* announced(rest: Rest): AsyncGenerator<Uint8Array> {
  let given = 0;
  for await (const piece of rest) {
    given += piece.length;
    if (given > rest.length) break;
    yield piece;
  }
  if (given !== rest.length)
    throw new Error(`The store gave ${given} bytes of the ${rest.length} that it announced`);
}

/** How a client takes what is written to it. */
function takingBy(response: Writable, by: Taking) {
  let gone = false;
  let patience = PATIENCE;
  let bytes = 0;
  let waiting = 0;
  const end = whenWritten(response).then(() => {
    gone = true;
    waiting = 0;
    by.holds(0);
  });
  const give = (piece: Uint8Array): boolean => {
    bytes += piece.length;
    waiting += piece.length;
    by.holds(waiting);
    by.sender.waits();
    return response.write(piece, () => {
      if (gone) return;
      waiting -= piece.length;
      by.holds(waiting);
      by.sender.took(piece.length, waiting > 0);
    });
  };
  return {
    isGone: () => gone,
    async all(pieces: AsyncIterable<Uint8Array>): Promise<void> {
      for await (const piece of pieces) {
        for (const slice of slicesOf([piece])) {
          if (gone) return;
          const isTaken = give(slice);
          if (!isTaken && patience > 0) {
            const began = performance.now();
            await drained(response, end, patience);
            patience -= performance.now() - began;
          }
          // What the store no longer waits for fills the memory, which must not happen where the key has filled it already.
          else if (!isTaken && by.isOver()) by.cut();
        }
      }
    },
    /** @returns bytes, once they are taken or never will be */
    async taken(): Promise<number> {
      await end;
      return bytes;
    },
  };
}
