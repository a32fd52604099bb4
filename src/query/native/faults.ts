/** The faults of a filter. They are collected, so that one response names all of them (`SparkQLErrors`). */
import {
  type ErrorExtras,
  type ErrorFacts,
  type FilterFault,
  type PlatError,
  platError,
} from '../../errors/index.ts';

export const FILTER = '_filter';

type FaultCode =
  | 'syntax'
  | 'fieldUnknown'
  | 'typeMismatch'
  | 'arithmeticInvalid'
  | 'filterTooLarge'
  | 'notImplemented';

export interface Fault extends FilterFault {
  readonly position: number;
  /** Creates the error of this fault. */
  readonly raise: (extras: ErrorExtras) => PlatError;
}

const LONGEST = 60;

/** The beginning of a text, for messages: a request may contain a very long text. */
export const shortened = (text: string): string =>
  text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;

/**
 * A fault of a filter. The reference implementation drops a condition with an unknown field and rejects the filter for any other
 * fault; this service rejects it for both.
 */
export function fault<C extends FaultCode>(
  code: C,
  facts: ErrorFacts<C> & { readonly position: number },
  token: string,
): Fault {
  return {
    position: facts.position,
    token: shortened(token),
    status: code === 'fieldUnknown' ? 'Dropped' : 'Fatal',
    message: platError(code, facts).message,
    raise: (extras) => platError(code, facts, extras),
  };
}

export const typeFault = (reason: string, token: string, position: number): Fault =>
  fault('typeMismatch', { option: FILTER, position, reason }, token);

/** The error of the first fault in the text, with all other faults attached; undefined if there is none. */
export function errorOf(faults: readonly Fault[]): PlatError | undefined {
  const inOrder = faults.toSorted((left, right) => left.position - right.position);
  const sparkql = inOrder.map(({ token, message, status }) => ({ token, message, status }));
  return inOrder[0]?.raise({ target: FILTER, sparkql });
}
