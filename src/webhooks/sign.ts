/** The signature of a message, by the Standard Webhooks specification 1.0.0. It knows nothing of what the message says. */
import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
/** The specification requests 24 to 64. */
const SECRET_BYTES = 32;

/** A new secret, as the receiver is given it. */
export const makeSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64');

interface Message {
  /** The same for each repetition; without a full stop. */
  readonly id: string;
  /** Of the attempt, in whole seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
}

/** The headers that show who sent a message, and that nobody has changed it. @param secrets of which any one is known */
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
