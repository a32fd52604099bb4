/**
 * Makes one attempt to deliver a message to a webhook, and reports its outcome: events in the form of RESO's webhooks (RCP-28), each
 * with its type and time. It stores nothing.
 */
import type { RecordChange } from '../store/changes/change-feed.ts';
import type { WebhookSecrets, WebhookTarget } from '../store/changes/webhooks.ts';
import type { Post } from './post.ts';
import { signatureHeaders } from './sign.ts';

/** Milliseconds that the receiver has to respond. */
const RESPONSE_TIMEOUT = 20_000;

export type DeliveryOutcome =
  | { readonly kind: 'delivered' }
  /** The receiver wants no more messages (410). */
  | { readonly kind: 'ended'; readonly why: string }
  | { readonly kind: 'failed'; readonly why: string; readonly retryAfter?: number | undefined };

export interface AttemptContext {
  readonly post: Post;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

const CONTEXT = 'urn:reso:metadata:2.0:resource:entityevent';

/** @param changes empty: a test message */
export function messageBody(changes: readonly RecordChange[]): string {
  return JSON.stringify({
    '@reso.context': CONTEXT,
    value: changes.map(({ sequence, resource, key, kind, at }) => ({
      EntityEventSequence: sequence,
      ResourceName: resource,
      ResourceRecordKey: key,
      kind,
      at,
    })),
  });
}

/** The id of a message. A repeated message with the same events has the same id. */
const messageId = (webhook: string, changes: readonly RecordChange[]): string =>
  `${webhook}_${changes[0]?.sequence ?? 0}_${changes.at(-1)?.sequence ?? 0}`;

/** @param changes an empty list sends a test message, which has its own id */
export async function attemptDelivery(
  webhook: WebhookTarget & WebhookSecrets,
  changes: readonly RecordChange[],
  { post, now, signal }: AttemptContext,
): Promise<DeliveryOutcome> {
  const body = messageBody(changes);
  const at = now();
  const id = changes.length === 0 ? `${webhook.id}_test_${at}` : messageId(webhook.id, changes);
  const { former } = webhook;
  const secrets = [webhook.secret, ...(former !== null && at < former.until ? [former.secret] : [])];
  const answer = await post({
    url: webhook.url,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'plat',
      ...(webhook.bearer === null ? {} : { authorization: `Bearer ${webhook.bearer}` }),
      ...signatureHeaders({ id, timestamp: Math.floor(at / 1000), body }, secrets),
    },
    body,
    privateHosts: webhook.privateHosts,
    timeout: RESPONSE_TIMEOUT,
    signal,
  });
  if (answer.kind === 'unanswered') return { kind: 'failed', why: answer.why };
  const { status, retryAfter } = answer;
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  if (status === 410) return { kind: 'ended', why: 'the receiver answered 410 (Gone)' };
  return { kind: 'failed', why: `the receiver answered ${status}`, retryAfter };
}
