import { finished, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Rest } from '../../compile/read.ts';
import { bytesOf, isRest, type Part, type Reply } from '../exchange.ts';
import { chooseEncoding, type Encoding } from '../http/negotiation.ts';
import { bodyOf, type HttpResponse, waitingIn, writeHead } from '../http/server.ts';
import { compressBody, compressor } from './compress.ts';
import type { Sender } from './pace.ts';

/** Headers that every response has. */
export interface Common {
  readonly requestId: string;
  /** Milliseconds since 1970 on the clock that stamps records (I2). */
  readonly now: number;
  /** The steps of the request; empty or absent: it was refused before the first. */
  readonly serverTiming?: string;
}

export function commonHeaders({ requestId, now, serverTiming = '' }: Common): Record<string, string> {
  return {
    date: new Date(now).toUTCString(),
    'x-request-id': requestId,
    ...(serverTiming === '' ? {} : { 'server-timing': serverTiming }),
    'cache-control': 'private, no-cache',
    vary: 'Authorization, Accept, Accept-Encoding, Prefer',
    'access-control-allow-origin': '*',
    'access-control-expose-headers': '*',
    'x-content-type-options': 'nosniff',
  };
}

/** Content that is packed already, or too rarely asked for to be worth it. */
const COMPRESSIBLE = /^(?:application\/(?:json|xml)|text\/|image\/svg)/;

/** Whether a body of this type is compressed for clients that take it so. */
export const isCompressible = (type: string): boolean => COMPRESSIBLE.test(type);

/** What a request says of how its answer is written. */
interface Asked {
  readonly method: string;
  readonly acceptEncoding: string | undefined;
  readonly taking: Taking;
  /** Gives back what the body lies in, once it is sent from elsewhere. */
  readonly spent: () => void;
}

/**
 * Writes a reply: head and parts one after the other, as they are or in the encoding that the client asked for.
 * Resolves when all is written, or the client is gone.
 * @returns bytes of the body that were sent
 * @throws what a part that still comes from the store fails with: then the response has begun, and cannot be ended well
 */
export async function send(
  response: HttpResponse,
  reply: Reply,
  common: Common,
  request: Asked,
): Promise<number> {
  const type = reply.headers['content-type'] ?? '';
  // A part of a file is one of its bytes as they are.
  const isPart = reply.headers['content-range'] !== undefined;
  const encoding = isCompressible(type) && !isPart ? chooseEncoding(request.acceptEncoding) : undefined;
  const size = reply.body.reduce((sum, part) => sum + bytesOf(part), 0);
  const whole = wholeOf(reply.body);
  request.taking.holds(sizeOf(whole ?? []));
  const compressed = whole === undefined ? undefined : await compressBody(encoding, whole);
  if (compressed !== undefined) {
    request.taking.holds(sizeOf(compressed));
    request.spent();
  }
  const encoded = compressed !== undefined || (whole === undefined && encoding !== undefined);
  const body = compressed ?? whole;
  // Of what is compressed on its way, nobody knows the length.
  const length = body === undefined ? (encoded ? undefined : size) : sizeOf(body);
  const empty = reply.status === 204 || reply.status === 304;
  writeHead(response, reply.status, {
    ...commonHeaders(common),
    ...(encoded && encoding !== undefined ? { 'content-encoding': encoding } : {}),
    ...(empty || length === undefined ? {} : { 'content-length': String(length) }),
    ...reply.headers,
  });
  const sends = request.method !== 'HEAD' && !empty;
  if (sends && body === undefined) {
    return sendAsRead(
      bodyOf(response),
      reply.body,
      encoding === undefined ? undefined : { encoding, size },
      request.taking,
    );
  }
  return sendWhole(response, sends ? (body ?? []) : [], request.taking);
}

/** The parts as bytes; undefined when some still come from the store. */
function wholeOf(parts: readonly Part[]): readonly Uint8Array[] | undefined {
  const whole: Uint8Array[] = [];
  for (const part of parts) {
    if (isRest(part)) return undefined;
    whole.push(typeof part === 'string' ? Buffer.from(part) : part);
  }
  return whole;
}

const sizeOf = (body: readonly Uint8Array[]): number => body.reduce((sum, part) => sum + part.length, 0);

/** Writes a body that is there: at once, where it can be seen how much of it still waits; else slice by slice. */
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
  if (length <= SLICE || left !== undefined) {
    out.cork();
    for (const part of body) out.write(part);
    out.end();
    out.uncork();
    sender.waits(left);
  } else {
    sender.waits();
    await sendInSlices(out, body, sender, written);
  }
  await written;
  return length;
}

/** Writes a slice when the client has taken the one before. */
async function sendInSlices(
  response: Writable,
  body: readonly Uint8Array[],
  sender: Sender,
  written: Promise<void>,
): Promise<void> {
  for (const part of body) {
    for (let at = 0; at < part.length; at += SLICE) {
      const slice = part.subarray(at, at + SLICE);
      if (!response.write(slice)) {
        const { promise, resolve } = Promise.withResolvers<void>();
        response.once('drain', resolve);
        await Promise.race([promise, written]);
        response.off('drain', resolve);
      }
      if (response.destroyed) return;
      sender.took(slice.length, true);
    }
  }
  response.end();
}

/** Resolves when the response has been handed to the system, or never will be. */
function whenWritten(response: Writable): Promise<void> {
  return new Promise((resolve) => {
    finished(response, { readable: false }, () => resolve());
  });
}

/** What a body that is being sent is counted by, and what watches how its client takes it. */
interface Taking {
  /** Sets how many bytes wait in memory for the client. */
  holds(bytes: number): void;
  /** Whether so many bytes wait for this client's key that no more may. */
  isOver(): boolean;
  readonly sender: Sender;
  /** Ends the connection. */
  cut(): void;
}

/** Milliseconds that a client may keep the store waiting in all; then the rest waits for it in memory. */
const PATIENCE = 2000;

/** Bytes that are written at a time: so it is seen how quickly a client takes them. */
const SLICE = 128 * 1024;

/**
 * Writes a body while it is read, so that no more of it is held than what is on its way. Resolves when all is written,
 * or the client is gone.
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
    // Nobody is there to be told.
    if (taking.isGone()) return taking.taken();
    throw error;
  }
}

/** @throws when the store gives more or less than it said: a part of an answer must not look like all of it */
async function* read(parts: readonly Part[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
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
    throw new Error(`The store gave ${given} bytes of the ${rest.length} that it said`);
}

/** How a client takes what is written to it. */
function takingBy(response: Writable, by: Taking) {
  let gone = false;
  let patience = PATIENCE;
  let bytes = 0;
  let waiting = 0;
  const end = new Promise<void>((resolve) => {
    finished(response, { readable: false }, () => {
      gone = true;
      waiting = 0;
      by.holds(0);
      resolve();
    });
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
  const drained = async (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const began = performance.now();
    const timer = setTimeout(resolve, patience);
    response.once('drain', resolve);
    await Promise.race([promise, end]);
    response.off('drain', resolve);
    clearTimeout(timer);
    patience -= performance.now() - began;
  };
  return {
    isGone: () => gone,
    async all(pieces: AsyncIterable<Uint8Array>): Promise<void> {
      for await (const piece of pieces) {
        for (let at = 0; at < piece.length; at += SLICE) {
          if (gone) return;
          const isTaken = give(piece.subarray(at, at + SLICE));
          if (!isTaken && patience > 0) await drained();
          // What the store waited for long enough would now fill the memory, where its key has filled it already.
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
