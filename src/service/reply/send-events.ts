/**
 * Writes a response without an end, as server-sent events are (HTML, 9.2). It requests a text when the client has taken
 * those before, so that one which is slow or has thousands beside it holds one text in memory; it ends with the key
 * that asked, and within the time that a closing service has. It must not know what the events say.
 */
import type { EventReply, Standing } from '../exchange.ts';
import { bodyOf, breakOff, flushHead, type HttpResponse, writeHead } from '../http/server.ts';
import { type Common, commonHeaders, type Taking } from './send.ts';

export interface EventTimes {
  /** Milliseconds of silence after which the client gets a comment, so that no proxy takes the connection for dead. */
  readonly beat: number;
  /** Milliseconds between two questions in silence whether the client may still see events. */
  readonly look: number;
  /** Milliseconds for which it need not be asked again. */
  readonly trust: number;
}

/** A line that clients skip. */
const COMMENT = ':\n\n';

/** Bytes that wait for a client at a time. */
const SLICE = 128 * 1024;

interface Streaming {
  /** Aborted when the service closes. */
  readonly closing: AbortSignal;
  /** Cuts a client that takes what waits for it too slowly, and charges that to its key. */
  readonly taking: Taking;
  readonly times: EventTimes;
}

/**
 * Resolves when the client has left, when its key or session has ended, when the events end, or when the service closes.
 * @returns bytes that were written
 */
export async function sendEvents(
  response: HttpResponse,
  { headers, events, standing = mayGoOn, away }: EventReply,
  common: Common,
  { closing, taking: { holds, sender }, times: { beat, look, trust } }: Streaming,
): Promise<number> {
  const over = new AbortController();
  response.once('close', () => over.abort());
  const until = AbortSignal.any([over.signal, closing]);
  writeHead(response, 200, {
    ...commonHeaders(common),
    'content-type': 'text/event-stream',
    // A proxy that collects answers would keep events back.
    'x-accel-buffering': 'no',
    ...headers,
  });
  flushHead(response);
  const out = bodyOf(response);
  const stands = trusted(standing, trust);
  let bytes = 0;
  let isSilent = false;

  const write = async (text: string | Uint8Array): Promise<void> => {
    isSilent = false;
    const whole = typeof text === 'string' ? Buffer.from(text) : text;
    for (let at = 0; at < whole.length && !until.aborted && !out.destroyed; at += SLICE) {
      const slice = whole.subarray(at, at + SLICE);
      bytes += slice.length;
      if (out.write(slice)) continue;
      holds(whole.length - at);
      sender.waits();
      await drainedOr(until, out);
      holds(0);
      sender.took(slice.length, false);
    }
    // The system has it, and so has what was charged for reading it.
    holds(0);
  };
  const writeAll = async (): Promise<void> => {
    for await (const text of events(until)) {
      const now = await stands();
      const shown = now === 'stands' ? text : now === 'unknown' ? away : undefined;
      // No event is omitted where nothing takes its place: the client comes back, and says where it was.
      if (shown === undefined || until.aborted) return;
      await write(shown);
    }
  };
  const looks = setInterval(async () => {
    if ((await stands()) === 'ended') over.abort();
  }, look).unref();
  const beats = setInterval(async () => {
    if (isSilent && !out.writableNeedDrain) await write(COMMENT);
    isSilent = true;
  }, beat).unref();
  try {
    await Promise.race([writeAll(), aborted(until)]);
  } finally {
    clearInterval(looks);
    clearInterval(beats);
  }
  // Nobody waits for a client to take the rest.
  if (out.writableNeedDrain) breakOff(response);
  else out.end();
  return bytes;
}

const mayGoOn = (): Promise<Standing> => Promise.resolve('stands');

/** The standing of who asked, as it was a moment ago. */
function trusted(standing: () => Promise<Standing>, milliseconds: number): () => Promise<Standing> {
  // The request itself was allowed.
  let asked = performance.now();
  let last: Promise<Standing> = mayGoOn();
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
