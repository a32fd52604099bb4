/** The parts of a filter that are at fault are gathered, so that one answer names them all (`SparkQLErrors`). */
import {
  type ErrorExtras,
  type ErrorFacts,
  type FilterFault,
  type PlatError,
  platError,
} from '../../errors/index.ts';

export const FILTER = '_filter';

export type FaultCode = 'syntax' | 'fieldUnknown' | 'typeMismatch' | 'filterTooLarge' | 'notImplemented';

export interface Fault extends FilterFault {
  readonly position: number;
  /** The error of this fault alone. */
  readonly raise: (extras: ErrorExtras) => PlatError;
}

const LONGEST = 60;

/** What a message or token quotes of a text that a request may have made very long. */
export const shortened = (text: string): string =>
  text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;

/** An unknown field is the one fault that the reference drops rather than dies of; this service refuses both. */
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

/** The error of the first fault in the text, which carries all of them; undefined when there is none. */
export function errorOf(faults: readonly Fault[]): PlatError | undefined {
  const inOrder = faults.toSorted((left, right) => left.position - right.position);
  const sparkql = inOrder.map(({ token, message, status }) => ({ token, message, status }));
  return inOrder[0]?.raise({ target: FILTER, sparkql });
}
