import { PlatError } from '../../errors/index.ts';
import { JSON_TYPE, type Reply } from '../exchange.ts';

/** Whether a path is where the native interface would lie, in this version or another. */
export const isNativePath = (path: string): boolean => /^\/v\d+(?:[/?]|$)/.test(path);

/** An error in the native envelope (reference: native-v1, Envelope). */
export function nativeError(error: PlatError, headers: Readonly<Record<string, string>>): Reply {
  const { native, message, target, details, sparkql } = error;
  const faults = sparkql.map(({ token, message: text, status }) => ({
    Token: token,
    Message: text,
    Status: status,
  }));
  const parameters = [
    ...(target === undefined ? [] : [{ Type: 'Parameter', Attribute: target, Message: message }]),
    ...details.map((detail) => ({ Type: 'Parameter', Attribute: detail.target, Message: detail.message })),
  ];
  const body = {
    D: {
      Success: false,
      Code: native,
      Message: message,
      ...(faults.length > 0 ? { SparkQLErrors: faults } : {}),
      ...(faults.length === 0 && parameters.length > 0 ? { Errors: parameters } : {}),
    },
  };
  return {
    status: error.status,
    headers: { 'content-type': JSON_TYPE, ...headers },
    body: [JSON.stringify(body)],
  };
}

/** An error in the envelope of OData (JSON format 4.01, 21.1). */
export function resoError(error: PlatError, headers: Readonly<Record<string, string>>): Reply {
  const { code, message, target, details } = error;
  const body = {
    error: {
      code,
      message,
      ...(target === undefined ? {} : { target }),
      ...(details.length === 0 ? {} : { details: details.map((detail) => ({ code, ...detail })) }),
    },
  };
  return {
    status: error.status,
    headers: { 'content-type': JSON_TYPE, ...headers },
    body: [JSON.stringify(body)],
  };
}

/** Which damages of the store the log has already: each is met again by every request that reads there. */

/** Damages that are remembered; a store has few, since they are told by their kind and not by their place. */
const MOST = 100;

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
