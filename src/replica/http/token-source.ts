/**
 * Where the tokens of requests come from: a fixed one, or a file whose content may change. Tokens that a server issues are in
 * client-credentials.ts. This module does not know what a token is sent to.
 */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { codeOf } from '../../shared/error-code.ts';
import type { Environment } from '../environment.ts';
import type { Listener } from '../events.ts';
import { AuxiliaryFailure, RequestFailure } from './failure.ts';
import type { BackoffOptions } from './retry.ts';

/** How the requests of a client are sent: by what clock and network, how often they are repeated, and until when. */
export interface RequestContext {
  readonly environment: Environment;
  readonly listener: Listener;
  readonly backoff: BackoffOptions;
  /** Used instead of `backoff` until a connection has been accepted; default: `backoff`. */
  readonly firstContact?: BackoffOptions | undefined;
  readonly signal: AbortSignal;
}

/** Tokens for the requests to one source. All clients of the source share one. */
export interface TokenSource {
  /** What the source counts requests for: the token, or the client that it is issued to. Only its hash is stored. */
  readonly identity: string;
  /** The token for a request. @throws AuxiliaryFailure */
  current(context: RequestContext): Promise<string>;
  /**
   * Replaces a token that the source has rejected with 401, unless that has been done already.
   * @returns whether there is another token now, so that the request is worth repeating
   * @throws AuxiliaryFailure
   */
  replace(rejected: string, context: RequestContext): Promise<boolean>;
  /** Called if the source has rejected a token that had just replaced another one, so that its reason is not the age of the token. */
  noteUseless(token: string): void;
}

/** A text in the encoding of forms, which the parts of the header Authorization have as well (RFC 6749, 2.3.1). */
export const formEncoded = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);

/** A text from a server, which may repeat what it was sent, also in a URL, without a secret. */
export const withoutSecret = (text: string, secret: string): string =>
  [secret, formEncoded(secret), encodeURIComponent(secret)].reduce(
    (shown, form) => (form === '' ? shown : shown.replaceAll(form, '[hidden]')),
    text,
  );

/** A token that never changes. */
const fixedToken = (token: string): TokenSource => ({
  identity: token,
  current: async () => token,
  replace: async () => false,
  noteUseless: () => undefined,
});

/** The source of tokens that an option stands for, which a plain token does as well. */
export const tokenSourceOf = (given: string | TokenSource): TokenSource =>
  typeof given === 'string' ? fixedToken(given) : given;

/** Whether a text can be sent as a token, in a header. */
export const isSendable = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);

/** What is wrong with a secret (RFC 6749, A.2); undefined if it is valid. */
export const faultOfSecret = (text: string): string | undefined =>
  text === '' ? 'is empty' : /^[\x20-\x7e]+$/.test(text) ? undefined : 'has characters other than ASCII';

/**
 * Reads a token or a secret from a file, without the line break that editors put at its end.
 * @throws Error whose message does not contain the content
 */
export async function readSecret(path: string): Promise<string> {
  let text: string;
  try {
    text = (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    throw new Error(`The file ${path} cannot be read (${codeOf(cause) ?? 'error'})`, { cause });
  }
  const amiss = faultOfSecret(text);
  if (amiss === undefined) return text;
  throw new Error(`The file ${path} ${amiss}`);
}

/** A token in a file, which is read again when the source rejects the token: secrets that are mounted as files are rotated. */
export function tokenFile(path: string): TokenSource {
  let held: Promise<string> | undefined;
  const read = (): Promise<string> => {
    const reading = readSecret(path).catch((error: unknown) => {
      if (held === reading) held = undefined;
      const { message } = error instanceof Error ? error : new Error(String(error));
      throw new AuxiliaryFailure('The token', new RequestFailure('refused', message));
    });
    return reading;
  };
  return {
    identity: `file ${resolve(path)}`,
    current: () => (held ??= read()),
    async replace(rejected) {
      const token = await held;
      if (token !== rejected) return token !== undefined;
      held = read();
      return (await held) !== rejected;
    },
    noteUseless: () => undefined,
  };
}
