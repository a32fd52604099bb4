/** Failures of requests to a source, classified by how the consumer reacts. This module does not know the content of requests. */
import { codeOf, messageOf } from '../../shared/error-code.ts';
import { isObject, tryParseJson } from '../../shared/json.ts';
import { LONGEST_BLOCK, retryAfter } from './rate-limit-headers.ts';

/**
 * - `transient`: retry later.
 * - `too-large`: the response exceeds the limit; request less.
 * - `refused`: the key may not do this; retrying would only make it worse.
 * - `rejected`: the request itself is wrong for this source (an expired link, an option that it does not support).
 * - `stopped`: the consumer was stopped.
 */
type FailureKind = 'transient' | 'too-large' | 'refused' | 'rejected' | 'stopped';

interface FailureFacts {
  /** HTTP status; absent if there was no response. */
  readonly status?: number | undefined;
  /** Error code in the native envelope, or of OAuth (RFC 6749, 5.2). */
  readonly code?: number | string | undefined;
  /** The minimum wait before the next attempt that the response requested, in milliseconds. */
  readonly retryAfter?: number | undefined;
  /** The position at which a plat source lets a follower continue whose own position has expired. */
  readonly position?: string | undefined;
  readonly cause?: unknown;
}

export class RequestFailure extends Error {
  override readonly name = 'RequestFailure';
  readonly kind: FailureKind;
  readonly status: FailureFacts['status'];
  readonly code: FailureFacts['code'];
  readonly retryAfter: FailureFacts['retryAfter'];
  readonly position: FailureFacts['position'];

  constructor(kind: FailureKind, message: string, facts: FailureFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.kind = kind;
    this.status = facts.status;
    this.code = facts.code;
    this.retryAfter = facts.retryAfter;
    this.position = facts.position;
  }
}

/**
 * A response was received, but something else that is needed to read it is unavailable. Neither the request nor its records are at
 * fault, so repeating the request, or requesting fewer records, would not help.
 */
export class AuxiliaryFailure extends RequestFailure {
  constructor(what: string, failure: RequestFailure) {
    const { kind, message, status, code, retryAfter } = failure;
    super(kind, `${what}: ${message}`, { status, code, retryAfter, cause: failure });
  }
}

/** Two pages by offset do not overlap as they should, so records between them may be missing from both. */
export class RowsMoved extends RequestFailure {
  constructor() {
    super('rejected', 'The source pages by offset, and its records moved between two pages');
  }
}

export const stopped = (): RequestFailure => new RequestFailure('stopped', 'It was stopped');

/** Whether an error is the failure of the request itself, and not of something else that is needed to read the response. */
export const isDirectFailure = (error: unknown): error is RequestFailure =>
  error instanceof RequestFailure && !(error instanceof AuxiliaryFailure);

/** Whether the request succeeded, but the response is too large to be read. */
export const isTooLarge = (error: unknown): error is RequestFailure =>
  isDirectFailure(error) && error.kind === 'too-large';

/** Whether the source no longer has a record at the URL. */
export const isGone = (error: unknown): boolean =>
  error instanceof RequestFailure && (error.status === 404 || error.status === 410);

/** The response; undefined if the source has nothing at the URL. */
export const unlessGone = <T>(asked: Promise<T>): Promise<T | undefined> =>
  asked.catch((error: unknown) => {
    if (isGone(error)) return undefined;
    throw error;
  });

/** Whether the source does not support the request, and repeating it is useless. */
export const isUnsupported = (error: unknown): boolean =>
  error instanceof RequestFailure && (error.kind === 'rejected' || error.status === 501);

/** Whether the source failed to process the request, also if it returned an error or broken JSON with status 200. */
export const isServerError = ({ kind, status = 0 }: RequestFailure): boolean =>
  kind === 'transient' && (status >= 500 || status === 200);

/**
 * The messages of network errors when a source is too slow, or when a response is cut off, which a proxy that limits its size may
 * do.
 */
const SLOW_OR_CUT = /TIMEOUT|UND_ERR_SOCKET|Z_BUF_ERROR|The response ended after/;

/**
 * Whether a smaller request may succeed, because this one took too long, or was too much for the consumer, the server or a proxy.
 */
export function mayPassIfSmaller(failure: RequestFailure): boolean {
  const { kind, message } = failure;
  if (kind === 'too-large') return true;
  return isServerError(failure) || (kind === 'transient' && SLOW_OR_CUT.test(message));
}

/** Statuses for invalid requests that some servers also send if a request asks for too much. */
const PERHAPS_TOO_MUCH: ReadonlySet<unknown> = new Set([400, 413, 414, 422]);

/** Whether a request may have been rejected only because of its size. */
export const mayBeRejectedForSize = ({ kind, status }: RequestFailure): boolean =>
  kind === 'rejected' && PERHAPS_TOO_MUCH.has(status);

/** Error codes of connections that failed before a request was sent. */
const UNREACHABLE_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EADDRNOTAVAIL',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
]);

/** Whether no connection was accepted for a request. */
export const isUnreachable = ({ cause }: RequestFailure): boolean =>
  UNREACHABLE_CODES.has(codeOf(cause) ?? '');

/** Error codes of OpenSSL if a server answers an attempt to begin TLS in another protocol. */
const NO_TLS: ReadonlySet<string> = new Set([
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
]);

/** Converts an error of the network to a RequestFailure, which is transient unless it is an error of TLS. */
export function asFailure(error: unknown): RequestFailure {
  if (error instanceof RequestFailure) return error;
  const code = codeOf(error) ?? '';
  const message = NO_TLS.has(code)
    ? 'the server does not answer in TLS; perhaps its address begins with http:'
    : messageOf(error);
  const isTls = /CERT|SSL|TLS|SELF_SIGNED/i.test(code);
  const facts = { cause: error };
  return new RequestFailure(
    isTls ? 'refused' : 'transient',
    code === '' ? message : `${code}: ${message}`,
    facts,
  );
}

/** Codes of the native interface that mean that the key may not do this (reference: native-v1, Error codes). */
const REFUSALS: ReadonlySet<unknown> = new Set([1000, 1010, 1015, 1019, 1020, 1021, 1030, 1500]);
/** The number of characters of a response body that an error message quotes. */
const QUOTED = 300;

/** Converts a response with an error status to a RequestFailure. */
export function failureOf(
  status: number,
  headers: Readonly<Record<string, string>>,
  text: string,
  now: number,
): RequestFailure {
  const { code, message: given } = explanation(text);
  const message = `${status}${code === undefined ? '' : ` (code ${code})`}: ${given}`;
  const wait = retryAfter(headers, now);
  const facts = {
    status,
    code,
    retryAfter: wait === undefined ? undefined : Math.min(wait, LONGEST_BLOCK),
    position: headers['x-plat-position'],
  };
  if (status === 401 || status === 403 || REFUSALS.has(code))
    return new RequestFailure('refused', message, facts);
  // 501 means that the server does not support the request.
  const isTransient = status === 429 || status === 408 || (status >= 500 && status !== 501);
  return new RequestFailure(isTransient ? 'transient' : 'rejected', message, facts);
}

/** The code and the message in the envelope of either interface, or of OAuth, or else the beginning of the body. */
function explanation(text: string): Pick<FailureFacts, 'code'> & { readonly message: string } {
  const body = tryParseJson(text);
  const { D: native, error: reso, error_description: description } = isObject(body) ? body : {};
  if (typeof reso === 'string' && reso !== '') {
    const message = typeof description === 'string' ? description : 'no description';
    return { code: reso.slice(0, QUOTED), message: message.slice(0, QUOTED) };
  }
  if (isObject(native) && native.Message !== undefined) {
    const code = typeof native.Code === 'number' ? native.Code : undefined;
    return { code, message: String(native.Message) };
  }
  if (isObject(reso) && typeof reso.message === 'string') return { message: reso.message };
  return { message: text.trim() === '' ? 'the response is empty' : text.slice(0, QUOTED) };
}
