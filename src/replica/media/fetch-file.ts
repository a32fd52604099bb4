import type { Environment } from '../environment.ts';
import type { Egress } from '../http/egress-policy.ts';
import { asFailure, failureOf, RequestFailure } from '../http/failure.ts';
import type { TransportResponse } from '../http/transport.ts';
import { watchPace } from './pace.ts';
import { tooLarge } from './take-file.ts';

const REDIRECTS = 5;
/** Milliseconds until the head of an answer, and between two pieces of its body. */
const TIMEOUT = 30_000;
/** Characters of an error's body, and of an address, that are told. */
const TOLD = 300;

export interface FileWish {
  readonly address: string;
  readonly signal: AbortSignal;
  readonly egress: Egress;
  /** An origin that may be reached wherever it lies: that of the source itself. */
  readonly own?: string;
  /** Bytes. */
  readonly largest: number;
}

/**
 * The file of an address, given to whoever takes it. No token goes with it: media lie with anybody.
 * @throws RequestFailure for everything that is wrong with the address or its host; whatever `take` throws
 */
export async function fetchFile<T>(
  environment: Environment,
  wish: FileWish,
  take: (content: AsyncIterable<Uint8Array>, type: string) => Promise<T>,
): Promise<T> {
  const pace = watchPace(environment.clock, wish.signal);
  try {
    const { body, headers } = await answerOf(environment, { ...wish, signal: pace.signal });
    return await take(pace.counted(body), headers['content-type'] ?? 'application/octet-stream');
  } catch (error) {
    throw pace.tooSlow() ?? error;
  } finally {
    pace.end();
  }
}

/** The answer that has the file, at the end of all redirects. */
async function answerOf(
  { transport, clock }: Environment,
  { address, signal, egress, own, largest }: FileWish,
): Promise<TransportResponse> {
  let url = address;
  for (let redirects = 0; redirects <= REDIRECTS; redirects++) {
    if (!URL.canParse(url) || !/^https?:/i.test(url)) {
      throw new RequestFailure('rejected', `${shown(url)} is no address of a file`);
    }
    const here = new URL(url).origin === own ? 'any' : egress;
    const response = await asked(transport({ url, headers: {}, timeout: TIMEOUT, signal, egress: here }));
    const { status, headers } = response;
    // No part was asked for, so 206 is not the file; 203 is one that a proxy has changed.
    if (status === 200 || status === 203) {
      if (Number(headers['content-length'] ?? 0) <= largest) return response;
      await asked(beginningOf(response));
      throw tooLarge(largest);
    }
    const text = await asked(beginningOf(response));
    const { location } = headers;
    if (status < 300 || status >= 400 || location === undefined) {
      throw failureOf(status, headers, text, clock.now());
    }
    url = URL.canParse(location, url) ? new URL(location, url).href : location;
  }
  throw new RequestFailure('rejected', `${shown(address)} redirects more than ${REDIRECTS} times`);
}

/** What the network throws, as a failure of the request. */
const asked = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw asFailure(error);
  });

/** An address without what is signed in it. */
const shown = (url: string): string => url.replace(/[?#].*$/s, '').slice(0, TOLD);

async function beginningOf({ body }: TransportResponse): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length >= TOLD) break;
  }
  return text.slice(0, TOLD);
}
