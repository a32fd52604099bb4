import { PlatError } from '../errors/index.ts';

/** The message of an error, or of any other value that was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The message of an error for an operator, with the reason why a store is unavailable, which clients must not see. */
export function operatorMessage(error: unknown): string {
  const message = messageOf(error);
  if (!(error instanceof PlatError && error.code === 'storeUnavailable')) return message;
  const reason = error.cause === undefined ? '' : messageOf(error.cause);
  return reason === '' ? message : `${message.replace(/\.$/, '')}: ${reason.replace(/\.$/, '')}.`;
}

/** Converts a thrown value to an Error. */
export const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/** The code of an error of Node.js, of the operating system or of a driver; undefined if it has none. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** The result code of an error of `node:sqlite`, extended by its cause; its last byte is the primary code. 0: it has none. */
export const sqliteCodeOf = (error: unknown): number =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0;

/** What the codes of network errors say about a server. */
export const NETWORK_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'it accepts no connections',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up',
  ETIMEDOUT: 'it does not answer',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'its network cannot be reached',
  ENOENT: 'there is no such socket',
};
