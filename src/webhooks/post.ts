/** How a message gets to its receiver: passed in, so that this room knows no network. */

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
      /** Milliseconds that the receiver asks to wait. */
      readonly retryAfter?: number | undefined;
    }
  | { readonly kind: 'unanswered'; readonly why: string };

/** Sends one request, follows no redirect, and throws nothing. */
export type Post = (request: PostRequest) => Promise<PostResult>;
