import { PlatError, platError } from '../../errors/index.ts';
import { LARGEST_ANSWER } from '../largest-answer.ts';
import { DEADLINE_MESSAGE } from './functions.ts';

/** SQLite's primary result codes that users can meet. */
const BUSY = 5;
const LOCKED = 6;
const FULL = 13;
const CANNOT_OPEN = 14;
const TOO_BIG = 18;
const NOT_A_DATABASE = 26;
const CORRUPT = 11;

function resultCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

export const isBusy = (error: unknown): boolean => {
  const code = resultCode(error);
  return code === BUSY || code === LOCKED;
};

export function isDeadline(error: unknown): boolean {
  return error instanceof Error && error.message.includes(DEADLINE_MESSAGE);
}

/** Turns what the engine throws into what a user is told; anything unknown stays as it is. */
export function translateError(error: unknown, store: string, seconds: number): unknown {
  if (error instanceof PlatError) return error;
  if (isDeadline(error)) return platError('queryTimedOut', { seconds }, { cause: error });
  switch (resultCode(error)) {
    case BUSY:
    case LOCKED:
      return platError('storeBusy', { store }, { cause: error, retryAfter: 1 });
    case FULL:
      return platError('storeFull', { store }, { cause: error });
    case TOO_BIG:
      return platError('answerTooLarge', { megabytes: LARGEST_ANSWER }, { cause: error });
    case CANNOT_OPEN:
      return platError('storeUnavailable', {}, { cause: error });
    case NOT_A_DATABASE:
      return platError('storeNotOurs', { store, reason: 'it is no SQLite database' }, { cause: error });
    case CORRUPT:
      return platError('storeNotOurs', { store, reason: 'the file is damaged' }, { cause: error });
    default:
      return error;
  }
}
