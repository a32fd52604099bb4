import type { ServerResponse } from 'node:http';
import { finished } from 'node:stream';
import type { Reply } from '../exchange.ts';
import { chooseEncoding } from './accept.ts';
import { compressBody } from './compress.ts';

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

/** What a request says of how its answer is written. */
interface Asked {
  readonly method: string;
  readonly acceptEncoding: string | undefined;
  /** Counts the bytes that wait until the client takes them. */
  readonly held: { heldBytes: number };
}

/**
 * Writes a reply: head and parts one after the other, as they are or in the encoding that the client asked for.
 * Resolves when all is written, or the client is gone; the reply's memory is given back then.
 * @returns bytes of the body that were sent
 */
export async function send(
  response: ServerResponse,
  reply: Reply,
  common: Common,
  request: Asked,
): Promise<number> {
  try {
    return await write(response, reply, common, request);
  } finally {
    reply.release?.();
  }
}

async function write(
  response: ServerResponse,
  reply: Reply,
  common: Common,
  request: Asked,
): Promise<number> {
  const parts = reply.body.map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
  const type = reply.headers['content-type'] ?? '';
  const encoding = COMPRESSIBLE.test(type) ? chooseEncoding(request.acceptEncoding) : undefined;
  const compressed = await compressBody(encoding, parts);
  const body: readonly Uint8Array[] = compressed ?? parts;
  const length = body.reduce((sum, part) => sum + part.length, 0);
  const empty = reply.status === 204 || reply.status === 304;
  response.sendDate = false;
  response.writeHead(reply.status, {
    ...commonHeaders(common),
    ...(compressed === undefined || encoding === undefined ? {} : { 'content-encoding': encoding }),
    ...(empty ? {} : { 'content-length': String(length) }),
    ...reply.headers,
  });
  const sends = request.method !== 'HEAD' && !empty;
  const { held } = request;
  held.heldBytes += length;
  const written = whenWritten(response).finally(() => {
    held.heldBytes -= length;
  });
  response.cork();
  if (sends) for (const part of body) response.write(part);
  response.end();
  response.uncork();
  await written;
  return sends ? length : 0;
}

/** Resolves when the response has been handed to the system, or never will be. */
function whenWritten(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    finished(response, () => resolve());
  });
}
