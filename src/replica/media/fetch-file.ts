import type { Environment } from '../environment.ts';
import { failureOf, RequestFailure } from '../http/failure.ts';
import type { TransportResponse } from '../http/transport.ts';

const REDIRECTS = 5;
const TIMEOUT = 30_000;
/** Characters of an error's body that are read. */
const TOLD = 300;

/**
 * The file of an address. No token goes with it: media lie with anybody.
 * @throws RequestFailure, or whatever the network throws
 */
export async function fetchFile(
  { transport, clock }: Environment,
  address: string,
  signal: AbortSignal,
): Promise<{ readonly body: AsyncIterable<Uint8Array>; readonly type: string }> {
  let url = address;
  for (let redirects = 0; redirects <= REDIRECTS; redirects++) {
    if (!/^https?:/i.test(url)) throw new RequestFailure('rejected', `${url} is no address of a file`);
    const response = await transport({ url, headers: {}, timeout: TIMEOUT, signal });
    const { status, headers, body } = response;
    if (status >= 200 && status < 300) {
      return { body, type: headers['content-type'] ?? 'application/octet-stream' };
    }
    const text = await beginningOf(response);
    if (status < 300 || status >= 400 || headers.location === undefined) {
      throw failureOf(status, headers, text, clock.now());
    }
    url = new URL(headers.location, url).href;
  }
  throw new RequestFailure('rejected', `${address} redirects more than ${REDIRECTS} times`);
}

async function beginningOf({ body }: TransportResponse): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length >= TOLD) break;
  }
  return text.slice(0, TOLD);
}
