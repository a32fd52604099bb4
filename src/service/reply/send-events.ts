/**
 * Writes a stream of server-sent events (HTML, 9.2). It requests the next text when the client has read the previous ones, so that
 * a client that is slow, or thousands of events behind, has only one text in memory. The stream ends when its key becomes invalid,
 * and soon after the service begins to close. It must not know what the events mean.
 */
import type { EventReply, KeyStatus } from '../exchange.ts';
import { abortResponse, bodyStreamOf, flushHead, type HttpResponse, writeHead } from '../http/server.ts';
import { type CommonHeaderValues, commonHeaders, type SendMonitor } from './send.ts';

export interface EventTimes {
  /** Milliseconds without an event after which the client gets a comment, so that proxies do not close the connection as idle. */
  readonly beat: number;
  /** Milliseconds between two checks, while there are no events, whether the client may still see events. */
  readonly look: number;
  /** Milliseconds for which the result of such a check is trusted. */
  readonly trust: number;
}

/** A line that clients ignore. */
const COMMENT = ':\n\n';

/** The maximum number of bytes that wait for a client. */
const SLICE = 128 * 1024;

interface Streaming {
  /** Aborted when the service closes. */
  readonly closing: AbortSignal;
  /** Disconnects a client that reads too slowly, and charges waiting bytes to its key. */
  readonly taking: SendMonitor;
  readonly times: EventTimes;
}

/**
 * Resolves when the client has disconnected, when its key or session has ended, when the events end, or when the service closes.
 *
 * @returns the number of bytes that were written
 */
export async function sendEvents(
  response: HttpResponse,
  { headers, events, standing = alwaysValid, away }: EventReply,
  common: CommonHeaderValues,
  { closing, taking: { holds, sender }, times: { beat, look, trust } }: Streaming,
): Promise<number> {
  const over = new AbortController();
  response.once('close', () => over.abort());
  const until = AbortSignal.any([over.signal, closing]);
  writeHead(response, 200, {
    ...commonHeaders(common),
    'content-type': 'text/event-stream',
    // Asks proxies not to buffer the response, which would delay events.
    'x-accel-buffering': 'no',
    ...headers,
  });
  flushHead(response);
  const out = bodyStreamOf(response);
  const currentStatus = cachedStatus(standing, trust);
  let bytes = 0;
  let isIdle = false;

  const write = async (text: string | Uint8Array): Promise<void> => {
    isIdle = false;
    const whole = typeof text === 'string' ? Buffer.from(text) : text;
    for (let at = 0; at < whole.length && !until.aborted && !out.destroyed; at += SLICE) {
      const slice = whole.subarray(at, at + SLICE);
      bytes += slice.length;
      if (out.write(slice)) continue;
      holds(whole.length - at);
      sender.reportWaiting();
      await drainedOr(until, out);
      holds(0);
      sender.reportRead(slice.length, false);
    }
    // The system has accepted all bytes, so no memory is charged any more.
    holds(0);
  };
  const writeAll = async (): Promise<void> => {
    for await (const text of events(until)) {
      const now = await currentStatus();
      const shown = now === 'stands' ? text : now === 'unknown' ? away : undefined;
      // The stream ends rather than skip an event: the client reconnects and reports the last event that it received.
      if (shown === undefined || until.aborted) return;
      await write(shown);
    }
  };
  const statusTimer = setInterval(async () => {
    if ((await currentStatus()) === 'ended') over.abort();
  }, look).unref();
  const heartbeatTimer = setInterval(async () => {
    if (isIdle && !out.writableNeedDrain) await write(COMMENT);
    isIdle = true;
  }, beat).unref();
  try {
    await Promise.race([writeAll(), aborted(until)]);
  } finally {
    clearInterval(statusTimer);
    clearInterval(heartbeatTimer);
  }
  // The service does not wait for the client to read the rest.
  if (out.writableNeedDrain) abortResponse(response);
  else out.end();
  return bytes;
}

const alwaysValid = (): Promise<KeyStatus> => Promise.resolve('stands');

/** The status of the key, cached for some milliseconds. */
function cachedStatus(standing: () => Promise<KeyStatus>, milliseconds: number): () => Promise<KeyStatus> {
  // The key was valid when the request began.
  let asked = performance.now();
  let last: Promise<KeyStatus> = alwaysValid();
  return () => {
    if (performance.now() - asked >= milliseconds) {
      last = standing().catch(() => 'unknown');
      asked = performance.now();
    }
    return last;
  };
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Resolves when the client has read what was written, or when the signal is aborted. */
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
