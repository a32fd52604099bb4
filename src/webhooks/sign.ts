/** The signature of a message, according to Standard Webhooks 1.0.0. This module knows nothing of the content of messages. */
import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
/** The specification requires 24 to 64 bytes. */
const SECRET_BYTES = 32;

/** A new secret, in the form that the receiver gets. */
export const makeSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64');

interface Message {
  /** The id of the message, which is the same for each repetition. It contains no period. */
  readonly id: string;
  /** The time of the attempt, in whole seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
}

/**
 * The headers by which the receiver verifies the sender and the content.
 * @param secrets the valid secrets, of which the receiver knows at least one
 */
export function signatureHeaders(message: Message, secrets: readonly string[]): Record<string, string> {
  const { id, timestamp } = message;
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': secrets.map((secret) => `v1,${signature(message, secret)}`).join(' '),
  };
}

function signature({ id, timestamp, body }: Message, secret: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
}
