/** Errors in the envelopes of the two interfaces. This module must not know what caused them. */
import { PlatError } from '../../errors/index.ts';
import { JSON_TYPE, type Reply } from '../exchange.ts';

/** Whether a path is where the native interface would lie, in this version or another. */
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
  const { native: Code, message: Message, target, details, sparkql } = error;
  const parameters = [...(target === undefined ? [] : [{ target, message: Message }]), ...details].map(
    (each) => ({ Type: 'Parameter', Attribute: each.target, Message: each.message }),
  );
  const faults = sparkql.map(({ token, message, status }) => ({
    Token: token,
    Message: message,
    Status: status,
  }));
  const more =
    faults.length > 0 ? { SparkQLErrors: faults } : parameters.length > 0 ? { Errors: parameters } : {};
  return errorReply(error, { D: { Success: false, Code, Message, ...more } }, headers);
}

/** An error in the envelope of OData (JSON format 4.01, 21.1). */
export function resoError(error: PlatError, headers: Readonly<Record<string, string>>): Reply {
  const { code, message, target, details } = error;
  const body = {
    code,
    message,
    ...(target === undefined ? {} : { target }),
    ...(details.length === 0 ? {} : { details: details.map((detail) => ({ code, ...detail })) }),
  };
  return errorReply(error, { error: body }, headers);
}

/** Damages that are remembered; a store has few, since their messages name their kind and not their place. */
const MOST = 100;

/** Which damages of the store the log has already: every request that reads there meets them again. */
export class LoggedDamages {
  readonly #messages = new Set<string>();

  /** Whether an error is a damage that was asked about before. */
  wasLogged(error: unknown): boolean {
    if (!(error instanceof PlatError) || error.code !== 'storeDamaged') return false;
    if (this.#messages.has(error.message)) return true;
    if (this.#messages.size < MOST) this.#messages.add(error.message);
    return false;
  }
}
