/** Fetches a file from an untrusted URL: within the egress policy, unless it is too slow, and written completely or not at all. */

import { hash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../../shared/clock.ts';
import type { Environment } from '../environment.ts';
import type { Egress } from '../http/egress-policy.ts';
import { asFailure, failureOf, RequestFailure } from '../http/failure.ts';
import type { TransportResponse } from '../http/transport.ts';

const REDIRECTS = 5;
/** Maximum milliseconds until the headers of the file's response, and between two chunks of the file. */
const TIMEOUT = 30_000;
/** The number of characters of an error body, or of a URL, that a message quotes. */
const QUOTED = 300;

export interface FileRequest {
  readonly address: string;
  readonly signal: AbortSignal;
  readonly egress: Egress;
  /** The origin of the source itself, which may be requested even if it is in a private network. */
  readonly own?: string;
  /** The maximum size in bytes. */
  readonly largest: number;
  /** Whether the file must be an image, so that an HTML page or JSON counts as a failure. */
  readonly isImage: boolean;
}

/** What a host may return instead of an image, such as a login page. */
const NO_IMAGE = /^(?:text\/html|application\/(?:xhtml\+xml|json))\b/i;

/**
 * Fetches the file at a URL and passes it to `take`. The request carries no token, since anybody may host media.
 * @throws RequestFailure for everything that is wrong with the URL or its host; whatever `take` throws
 */
export async function fetchFile<T>(
  { transport, clock }: Environment,
  file: FileRequest,
  take: (content: AsyncIterable<Uint8Array>, type: string) => Promise<T>,
): Promise<T> {
  const pace = watchPace(clock, file.signal);
  try {
    const response = await fetchResponse({ transport, clock }, { ...file, signal: pace.signal });
    const { body, headers } = response;
    const type = headers['content-type'] ?? 'application/octet-stream';
    if (file.isImage && NO_IMAGE.test(type)) {
      await withRequestFailure(beginningOf(response));
      throw new RequestFailure('rejected', `the response is ${type} instead of an image`);
    }
    return await take(pace.counted(body), type);
  } catch (error) {
    throw pace.tooSlow() ?? error;
  } finally {
    pace.end();
  }
}

/** Follows redirects to the response that contains the file. */
async function fetchResponse(
  { transport, clock }: Pick<Environment, 'transport' | 'clock'>,
  { address, signal, egress, own, largest }: FileRequest,
): Promise<TransportResponse> {
  let url = address;
  for (let redirects = 0; redirects <= REDIRECTS; redirects++) {
    if (!URL.canParse(url) || !/^https?:/i.test(url)) {
      throw new RequestFailure('rejected', `${withoutSignature(url)} is not the URL of a file`);
    }
    const here = new URL(url).origin === own ? 'any' : egress;
    const response = await withRequestFailure(
      transport({ url, headers: {}, timeout: TIMEOUT, signal, egress: here }),
    );
    const { status, headers } = response;
    // 203 is the file, modified by a proxy. 206 is not accepted, because no range was requested.
    if (status === 200 || status === 203) {
      if (Number(headers['content-length'] ?? 0) <= largest) return response;
      await withRequestFailure(beginningOf(response));
      throw tooLargeFailure(largest);
    }
    const text = await withRequestFailure(beginningOf(response));
    const { location } = headers;
    if (status < 300 || status >= 400 || location === undefined) {
      throw failureOf(status, headers, text, clock.now());
    }
    url = URL.canParse(location, url) ? new URL(location, url).href : location;
  }
  throw new RequestFailure('rejected', `${withoutSignature(address)} redirects more than ${REDIRECTS} times`);
}

/** Converts errors of the network to RequestFailures. */
const withRequestFailure = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw asFailure(error);
  });

/** A URL without its signature. */
const withoutSignature = (url: string): string => url.replace(/[?#].*$/s, '').slice(0, QUOTED);

async function beginningOf({ body }: TransportResponse): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length >= QUOTED) break;
  }
  return text.slice(0, QUOTED);
}

/** The period, in milliseconds, in which a file must either be complete or deliver a minimum number of bytes. */
const WINDOW = 60_000;
const LEAST = 256 * 1024;
/** The maximum time for a file, in milliseconds. */
const LONGEST = 30 * 60_000;

/**
 * Monitors the transfer rate of a file, from the request through all redirects to the last byte. A limit on the time between two
 * bytes is not enough: a host that sends a byte now and then could keep a connection busy forever.
 */
function watchPace(clock: Clock, outer: AbortSignal) {
  const ended = new AbortController();
  const slow = new AbortController();
  let bytes = 0;
  let failure: RequestFailure | undefined;
  const watch = async (): Promise<void> => {
    for (let before = 0, elapsed = WINDOW; ; before = bytes, elapsed += WINDOW) {
      await clock.sleep(WINDOW, ended.signal);
      if (ended.signal.aborted) return;
      if (bytes - before >= LEAST && elapsed < LONGEST) continue;
      failure = new RequestFailure(
        'transient',
        `The file arrived too slowly: ${bytes} bytes in ${elapsed / 1000} s`,
      );
      slow.abort(failure);
      return;
    }
  };
  void watch();
  return {
    /** Aborted with the outer signal, or if the file arrives too slowly. */
    signal: AbortSignal.any([outer, slow.signal]),
    /** Passes the content through and counts its bytes. @throws RequestFailure for errors of the network */
    async *counted(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
      try {
        for await (const chunk of content) {
          if (failure !== undefined) throw failure;
          bytes += chunk.length;
          yield chunk;
        }
      } catch (error) {
        throw asFailure(error);
      } finally {
        // Stop timing: writing to the disk does not count against the host.
        ended.abort();
      }
    },
    /** The failure, if the file arrived too slowly. */
    tooSlow: () => failure,
    end: () => ended.abort(),
  };
}

const tooLargeFailure = (largest: number): RequestFailure =>
  new RequestFailure('too-large', `The file is larger than ${largest} bytes`);

/**
 * Writes content to a new file, completely or not at all. Content that is too large is cut off at the limit, whatever length its
 * host declared.
 * @param path must not exist yet
 * @param look called with every chunk that is written
 * @returns the number of bytes
 * @throws RequestFailure for content that is empty or too large; errors of the content or the file system are passed through
 */
export async function writeNewFile(
  content: AsyncIterable<Uint8Array>,
  path: string,
  largest: number,
  look: (piece: Uint8Array) => void = () => undefined,
): Promise<number> {
  let bytes = 0;
  async function* counted(): AsyncIterable<Uint8Array> {
    for await (const piece of content) {
      bytes += piece.length;
      if (bytes > largest) throw tooLargeFailure(largest);
      look(piece);
      yield piece;
    }
  }
  try {
    await pipeline(Readable.from(counted()), createWriteStream(path, { flags: 'wx', flush: true }));
    if (bytes === 0) throw new RequestFailure('rejected', 'The file is empty');
    return bytes;
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** The maximum length of an extension; a host may send a media type of any length. */
const LONGEST_ENDING = 20;

/** The file extension for a media type. */
export function extensionOf(type: string | undefined): string {
  const [, subtype = ''] = /^[\w-]+\/([\w.-]+)/.exec(type ?? '') ?? [];
  const plain = subtype.toLowerCase().replace(/[^a-z0-9_-]/g, '_');
  return plain === '' ? 'bin' : plain.slice(0, LONGEST_ENDING);
}

/**
 * The maximum bytes of a name without its extension: file systems permit 255 bytes in total, and desktops append ` (2)` or the like
 * to copies.
 */
const LONGEST_NAME = 120;

/** Names that are reserved for devices on Windows, whatever their extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/**
 * The file name for a key: ASCII letters, digits, `_`, `-` and `.`, so that no character is special to a shell, a terminal or a
 * file system, or affected by Unicode normalization. If a key has other characters, its name contains a hash, so that no two keys
 * share a name.
 * @param extension letters and digits
 * @param taken whether another key has the name, regardless of case
 */
export function fileNameOf(key: string, extension: string, taken: (name: string) => boolean): string {
  const plain = key
    .replace(/[^A-Za-z0-9_.-]/g, '_')
    .replace(/^[.-]/, '_')
    .slice(0, LONGEST_NAME);
  const name = `${plain}.${extension}`;
  if (plain !== '' && plain === key && !DEVICE.test(name) && !taken(name.toLowerCase())) return name;
  return `_${plain}-${hash('sha256', key).slice(0, 12)}.${extension}`;
}
