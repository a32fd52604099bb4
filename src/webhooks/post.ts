/** The interface through which messages are sent; the caller passes it in, so that this room does not depend on the network. */

interface PostRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether the host may be in a private network. */
  readonly privateHosts: boolean;
  /** Milliseconds for the whole attempt. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

type PostResult =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** Milliseconds that the receiver asks the sender to wait. */
      readonly retryAfter?: number | undefined;
    }
  | { readonly kind: 'unanswered'; readonly why: string };

/** Sends one request. It follows no redirects and never throws. */
export type Post = (request: PostRequest) => Promise<PostResult>;
