/** Errors in the envelopes of the two interfaces. This module must not know what caused them. */
import { PlatError } from '../../errors/index.ts';
import { JSON_TYPE, type Reply } from '../exchange.ts';

/** Whether a path is one of the native interface, in this version or another. */
export const isNativePath = (path: string): boolean => /^\/v\d+(?:[/?]|$)/.test(path);

const errorReply = (
  { status }: PlatError,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): Reply => ({
  status,
  headers: { 'content-type': JSON_TYPE, ...headers },
  body: [JSON.stringify(body)],
});

/** An error in the native envelope (reference: native-v1, Envelope). */
export function nativeError(error: PlatError, headers: Readonly<Record<string, string>>): Reply {
  const { native: Code, message: Message, target: Attribute, sparkql } = error;
  const faults = sparkql.map(({ token, message, status }) => ({
    Token: token,
    Message: message,
    Status: status,
  }));
  const parameters = Attribute === undefined ? undefined : [{ Type: 'Parameter', Attribute, Message }];
  const more = faults.length > 0 ? { SparkQLErrors: faults } : { Errors: parameters };
  return errorReply(error, { D: { Success: false, Code, Message, ...more } }, headers);
}

/** An error in the envelope of OData (JSON format 4.01, 21.1). */
export function resoError(error: PlatError, headers: Readonly<Record<string, string>>): Reply {
  const { code, message, target } = error;
  return errorReply(error, { error: { code, message, target } }, headers);
}

/**
 * The maximum number of distinct damages to remember. A store has few, because messages name the kind of damage and not its
 * location.
 */
const MOST = 100;

/**
 * The damages that have been logged. Every request that reads a damaged record fails in the same way, so each damage is logged
 * once.
 */
export class LoggedDamages {
  readonly #messages = new Set<string>();

  /** Whether an error is a damage that has been logged before. Remembers a new one. */
  wasLogged(error: unknown): boolean {
    if (!(error instanceof PlatError) || error.code !== 'storeDamaged') return false;
    if (this.#messages.has(error.message)) return true;
    if (this.#messages.size < MOST) this.#messages.add(error.message);
    return false;
  }
}
