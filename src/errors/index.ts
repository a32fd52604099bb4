/**
 * The one error that users see. Its text, status and codes come from the catalogue; anything else that is thrown is a fault of
 * plat's own.
 */
import { catalogue, type ErrorCode, type ErrorEntry, type ErrorFacts } from './catalogue.ts';

/** One part of a native filter that was at fault, as `SparkQLErrors` gives it (native-v1, envelope). */
export interface FilterFault {
  readonly token: string;
  readonly message: string;
  readonly status: 'Fatal' | 'Dropped' | 'Recovered';
}

/**
 * Where a reader continues: with everything at an address, or after a full download behind a position in the sequence of changes.
 */
export type ResumePoint =
  | { readonly kind: 'address'; readonly address: string }
  | { readonly kind: 'position'; readonly position: string };

export interface ErrorExtras {
  /** The option, parameter or field that is at fault. */
  readonly target?: string;
  readonly sparkql?: readonly FilterFault[];
  /** Seconds after which to try again. */
  readonly retryAfter?: number;
  readonly goOn?: ResumePoint;
  readonly cause?: unknown;
}

export class PlatError extends Error {
  override readonly name = 'PlatError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly native: number;
  readonly target: string | undefined;
  readonly sparkql: readonly FilterFault[];
  readonly retryAfter: number | undefined;
  readonly goOn: ResumePoint | undefined;

  constructor(
    code: ErrorCode,
    entry: { readonly status: number; readonly native: number },
    message: string,
    extras: ErrorExtras,
  ) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.code = code;
    this.status = entry.status;
    this.native = entry.native;
    this.target = extras.target;
    this.sparkql = extras.sparkql ?? [];
    this.retryAfter = extras.retryAfter;
    this.goOn = extras.goOn;
  }
}

/** The catalogue in the form that ties each code to its facts. */
const entries: { readonly [C in ErrorCode]: ErrorEntry<ErrorFacts<C>> } = catalogue;

/** Makes the error of a code from the facts that its message needs. */
export function platError<C extends ErrorCode>(
  code: C,
  facts: ErrorFacts<C>,
  extras: ErrorExtras = {},
): PlatError {
  const entry = entries[code];
  return new PlatError(code, entry, entry.message(facts), extras);
}

/** The error of a command, a setting or a value that cannot be used as given. @param reason what is wrong, and what would be right */
export const usageError = (reason: string, extras?: ErrorExtras): PlatError =>
  platError('usage', { reason }, extras);

/** The error of work that could not be done. */
export const failedError = (reason: string, extras?: ErrorExtras): PlatError =>
  platError('failed', { reason }, extras);

/** The error of a request that cannot be read. */
export const malformedError = (reason: string, extras?: ErrorExtras): PlatError =>
  platError('requestMalformed', { reason }, extras);

/** Whether the disk of a store is full: reads then continue without what would be stored for them. */
export const isStoreFull = (error: unknown): boolean =>
  error instanceof PlatError && error.code === 'storeFull';

export type { ErrorCode, ErrorFacts } from './catalogue.ts';
