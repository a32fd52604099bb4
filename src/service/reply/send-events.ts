/** Writes an answer without an end, as server-sent events are (HTML, 9.2): what comes is written, until the client leaves. */
import type { EventReply } from '../exchange.ts';
import { bodyOf, type HttpResponse, writeHead } from '../http/server.ts';
import { type Common, commonHeaders } from './send.ts';

/**
 * Resolves when the client has left, when the events end, or when the service closes. Events wait for a client that is slow,
 * so that one takes no more memory than what was written last.
 * @param closing aborted when the service closes
 * @returns bytes that were written
 */
export async function sendEvents(
  response: HttpResponse,
  { headers, events }: EventReply,
  common: Common,
  closing: AbortSignal,
): Promise<number> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const until = AbortSignal.any([gone.signal, closing]);
  writeHead(response, 200, {
    ...commonHeaders(common),
    'content-type': 'text/event-stream',
    // A proxy that collects answers would keep events back.
    'x-accel-buffering': 'no',
    ...headers,
  });
  const out = bodyOf(response);
  let bytes = 0;
  for await (const text of events(until)) {
    if (until.aborted) break;
    bytes += Buffer.byteLength(text);
    if (!out.write(text)) await drainedOr(until, out);
  }
  out.end();
  return bytes;
}

/** Resolves when the client has taken what was written, or nobody waits for that any more. */
function drainedOr(until: AbortSignal, out: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      out.removeListener('drain', end);
      until.removeEventListener('abort', end);
      resolve();
    };
    out.once('drain', end);
    until.addEventListener('abort', end);
    if (until.aborted) end();
  });
}
