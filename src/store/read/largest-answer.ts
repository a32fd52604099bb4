/** The maximum size of a response, whatever it consists of. It knows no engine. */
import { type PlatError, platError } from '../../errors/index.ts';

/**
 * The maximum size of a response in megabytes. Expansions inside expansions multiply, and no client would read the
 * result; 1000 listings with all of their parts take 30.
 */
const LARGEST_ANSWER = 256;

export const MOST_BYTES = LARGEST_ANSWER * 1_000_000;

/** @param cause the error of an engine that stopped by itself */
export const answerTooLargeError = (cause?: unknown): PlatError =>
  platError('answerTooLarge', { megabytes: LARGEST_ANSWER }, cause === undefined ? {} : { cause });

/** @throws PlatError `answerTooLargeError` */
export function mustNotBeTooLarge(bytes: number, most = MOST_BYTES): void {
  if (bytes > most) throw answerTooLargeError();
}
