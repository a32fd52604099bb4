/** Sends what webhooks are told, by the guarded client of foreign addresses. */
import { RequestFailure } from '../replica/http/failure.ts';
import { retryAfter } from '../replica/http/rate-limit-headers.ts';
import { networkTransport } from '../replica/http/transport.ts';
import { systemClock } from '../store/clock.ts';
import type { Post } from '../webhooks/post.ts';

/** Bytes of an answer that are read, so that its connection can be used again. */
const READ = 64 * 1024;

export function webhookPost(): { readonly post: Post; readonly close: () => Promise<void> } {
  const transport = networkTransport();
  const post: Post = async ({ url, headers, body, privateHosts, timeout, signal }) => {
    try {
      const answer = await transport({
        ...{ url, headers, body, timeout, longest: timeout },
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
        egress: privateHosts ? 'any' : 'public',
      });
      let bytes = 0;
      for await (const piece of answer.body) {
        bytes += piece.length;
        if (bytes > READ) break;
      }
      return {
        kind: 'answered',
        status: answer.status,
        retryAfter: retryAfter(answer.headers, systemClock.now()),
      };
    } catch (error) {
      return { kind: 'unanswered', why: reasonOf(error) };
    }
  };
  return { post, close: () => transport.close() };
}

function reasonOf(error: unknown): string {
  if (error instanceof RequestFailure)
    return 'its host is in a private network, and --private-hosts was not given';
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError' || error.name === 'AbortError')
    return 'the receiver did not answer in time';
  return 'code' in error && typeof error.code === 'string'
    ? `${error.code}: ${error.message}`
    : error.message;
}
