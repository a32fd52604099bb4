import { LONGEST_BLOCK, retryAfter } from './told-limits.ts';

/**
 * What can go wrong with a request, by what to do about it.
 * - `transient`: ask again, later.
 * - `too-large`: the answer was more than is read; ask for less.
 * - `refused`: the key may not do this; asking again would only make it worse.
 * - `rejected`: the request itself is wrong for this source (a link that died, an option it does not know).
 * - `stopped`: the consumer was told to stop.
 */
export type FailureKind = 'transient' | 'too-large' | 'refused' | 'rejected' | 'stopped';

export class RequestFailure extends Error {
  override readonly name = 'RequestFailure';
  readonly kind: FailureKind;
  /** HTTP status; absent when there was no answer. */
  readonly status: number | undefined;
  /** Code of the native envelope. */
  readonly code: number | undefined;
  /** The least time to wait before asking again, in milliseconds. */
  readonly retryAfter: number | undefined;

  constructor(
    kind: FailureKind,
    message: string,
    facts: { status?: number; code?: number; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.kind = kind;
    this.status = facts.status;
    this.code = facts.code;
    this.retryAfter = facts.retryAfter;
  }
}

/**
 * What else is needed to read an answer could not be had, though the answer itself came. It says nothing of the request
 * for that answer, nor of the records in it: to ask anew, or for less, would only make the source list them once more.
 */
export class AuxiliaryFailure extends RequestFailure {
  constructor(what: string, failure: RequestFailure) {
    const { kind, message, status, code, retryAfter } = failure;
    const facts = {
      ...(status === undefined ? {} : { status }),
      ...(code === undefined ? {} : { code }),
      ...(retryAfter === undefined ? {} : { retryAfter }),
    };
    super(kind, `${what}: ${message}`, { ...facts, cause: failure });
  }
}

/** Whether an error is the failure of the very request that was made. */
export const isOfRequest = (error: unknown): error is RequestFailure =>
  error instanceof RequestFailure && !(error instanceof AuxiliaryFailure);

/** Whether an answer came, with success, that is too large to be read. */
export const isTooLarge = (error: unknown): boolean => isOfRequest(error) && error.kind === 'too-large';

/** Names of what the network library throws when a source is too slow. */
const SLOW = /TIMEOUT/;

/** Whether a smaller request may fare better: it took too long, was too large, or was too much for the server. */
export function asksTooMuch({ kind, status, message }: RequestFailure): boolean {
  if (kind === 'too-large') return true;
  return kind === 'transient' && ((status !== undefined && status >= 500) || SLOW.test(message));
}

/** Statuses that say that a request is wrong, and with which some servers mean that it asks for too much. */
const PERHAPS_TOO_MUCH: ReadonlySet<unknown> = new Set([400, 413, 414, 422]);

/** Whether a request that was rejected may have been so for its size alone. */
export const mayAskTooMuch = ({ kind, status }: RequestFailure): boolean =>
  kind === 'rejected' && PERHAPS_TOO_MUCH.has(status);

/** Codes with which no connection comes about, so that nobody was asked anything. */
const UNREACHED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EADDRNOTAVAIL',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
]);

const codeIn = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

/** Whether nothing took the connection for a request. */
export const isUnreached = ({ cause }: RequestFailure): boolean => UNREACHED.has(codeIn(cause));

/** What the network throws is transient, unless it says that it cannot be otherwise. */
export function asFailure(error: unknown): RequestFailure {
  if (error instanceof RequestFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  const code = codeIn(error);
  const isTls = /CERT|SSL|TLS|SELF_SIGNED/i.test(code);
  return new RequestFailure(isTls ? 'refused' : 'transient', code === '' ? message : `${code}: ${message}`, {
    cause: error,
  });
}

/** Codes of the native interface that say "not with this key" (reference: native-v1, Error codes). */
const REFUSALS = new Set([1000, 1010, 1015, 1019, 1020, 1021, 1030, 1500]);
/** Characters of an error's body that are told. */
const TOLD = 300;

/** The failure that an answer with an error status is. */
export function failureOf(
  status: number,
  headers: Readonly<Record<string, string>>,
  text: string,
  now: number,
): RequestFailure {
  const { code, message } = explanation(text);
  const told = `${status}${code === undefined ? '' : ` (code ${code})`}: ${message}`;
  const wait = retryAfter(headers, now);
  const facts = {
    status,
    ...(code === undefined ? {} : { code }),
    ...(wait === undefined ? {} : { retryAfter: Math.min(wait, LONGEST_BLOCK) }),
  };
  if (status === 401 || status === 403 || (code !== undefined && REFUSALS.has(code))) {
    return new RequestFailure('refused', told, facts);
  }
  const isKnownGap = status === 501; // the server says that it will never do this
  if (status === 429 || status === 408 || (status >= 500 && !isKnownGap))
    return new RequestFailure('transient', told, facts);
  return new RequestFailure('rejected', told, facts);
}

/** Code and message in either envelope, or the beginning of whatever came. */
function explanation(text: string): { code?: number; message: string } {
  try {
    const body: { D?: { Code?: number; Message?: string }; error?: { message?: string } } = JSON.parse(text);
    if (body.D?.Message !== undefined) {
      return { ...(body.D.Code === undefined ? {} : { code: body.D.Code }), message: body.D.Message };
    }
    if (typeof body.error?.message === 'string') return { message: body.error.message };
  } catch {
    // No JSON: the text itself is told.
  }
  return { message: text.slice(0, TOLD) };
}
