/** Sends messages to webhooks, through the HTTP client that enforces the egress policy. */

import { asFailure, RequestFailure } from '../replica/http/failure.ts';
import { retryAfter } from '../replica/http/rate-limit-headers.ts';
import { networkTransport } from '../replica/http/transport.ts';
import { systemClock } from '../shared/clock.ts';
import type { Post } from '../webhooks/post.ts';

/**
 * The maximum bytes and milliseconds for reading a response body, which is read only so that the connection can be reused. The
 * status alone shows whether the receiver has accepted the message.
 */
const READ = { bytes: 64 * 1024, milliseconds: 1000 } as const;

/** The maximum length of a reason: a receiver can put text into it, for example through the names in its certificate. */
const LONGEST_REASON = 200;

export function webhookPost(read: { readonly bytes: number; readonly milliseconds: number } = READ): {
  readonly post: Post;
  readonly close: () => Promise<void>;
} {
  // Connections per host are not limited, since every receiver has at most one request at a time.
  const transport = networkTransport(null);
  const post: Post = async ({ url, headers, body, privateHosts, timeout, signal }) => {
    try {
      const answer = await transport({
        ...{ url, headers, body, timeout, longest: read.milliseconds },
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
        egress: privateHosts ? 'any' : 'public',
      });
      await drain(answer.body, read.bytes);
      return {
        kind: 'answered',
        status: answer.status,
        retryAfter: retryAfter(answer.headers, systemClock.now()),
      };
    } catch (error) {
      return { kind: 'unanswered', why: shortenReason(reasonOf(error)) };
    }
  };
  return { post, close: () => transport.close() };
}

async function drain(body: AsyncIterable<Uint8Array>, most: number): Promise<void> {
  let bytes = 0;
  try {
    for await (const piece of body) {
      bytes += piece.length;
      if (bytes > most) return;
    }
  } catch {
    // An incomplete body does not affect the status.
  }
}

const shortenReason = (reason: string): string =>
  reason
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, LONGEST_REASON)
    .toWellFormed();

function reasonOf(error: unknown): string {
  if (error instanceof RequestFailure)
    return 'its host is in a private network, and --private-hosts was not given';
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError' || error.name === 'AbortError')
    return 'the receiver did not answer in time';
  return asFailure(error).message;
}
