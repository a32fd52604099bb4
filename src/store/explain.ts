/**
 * What an engine's error means to a user, once for every engine; the engine only determines the kind of an error. Every part of a
 * store translates its errors (`withTranslatedErrors`), so that none leaves the store untranslated.
 */
import { PlatError, platError, usageError } from '../errors/index.ts';
import { Damage, DamagedRecord, describeConflict } from '../records/damage.ts';
import { answerTooLargeError } from './read/page-memory.ts';
import { LAYOUT_VERSION, LayoutTooNew } from './state/meta.ts';
import { OutdatedServer } from './state/takeovers.ts';

/** What an engine knows about an error; `error` is one that the user receives unchanged. */
export type Trouble =
  | { readonly kind: 'damaged' | 'not-ours' | 'blocked'; readonly reason: string }
  | { readonly kind: 'unavailable'; readonly retryAfter?: number }
  | { readonly kind: 'overloaded'; readonly seconds: number }
  | { readonly kind: 'error'; readonly error: unknown }
  | {
      readonly kind:
        | 'busy'
        | 'full'
        | 'timed-out'
        | 'too-large'
        | 'too-much-memory'
        | 'out-of-range'
        | 'too-complex'
        | 'in-the-way';
    };

/** Where an error occurred, and the time limit of the statement; 0: no limit of its own. */
interface ErrorContext {
  readonly store: string;
  readonly seconds: number;
  /** Who has the write lock, as far as the engine can find out. */
  readonly holder?: () => string | null;
}

/** @param holder who has the write lock; null if that is unknown */
export const storeBusyError = (store: string, holder: string | null, cause: unknown): PlatError =>
  busyError(`${holder ?? 'Another process'} has the write lock of ${store}`, cause);

const busyError = (reason: string, cause: unknown): PlatError =>
  platError('storeBusy', { reason }, { cause, retryAfter: 1 });

/** @param troubleIn undefined for an error that the engine does not know, which is passed on unchanged */
export function explainError(
  error: unknown,
  { store, seconds, holder }: ErrorContext,
  troubleIn: (error: unknown) => Trouble | undefined,
): unknown {
  if (error instanceof PlatError) return error;
  if (error instanceof LayoutTooNew) {
    return platError('storeTooNew', { store, found: error.found, known: LAYOUT_VERSION }, { cause: error });
  }
  if (error instanceof OutdatedServer) return platError('storeOutdated', { store }, { cause: error });
  const isRecord = error instanceof DamagedRecord;
  const trouble: Trouble | undefined = isRecord
    ? { kind: 'damaged', reason: error.message }
    : troubleIn(error);
  if (trouble === undefined) return error;
  const cause = { cause: error };
  const busy = () => storeBusyError(store, holder?.() ?? null, error);
  switch (trouble.kind) {
    case 'damaged':
      return platError('storeDamaged', { store, reason: trouble.reason }, cause);
    case 'in-the-way':
      return platError('storeDamaged', { store, reason: describeConflict(error) }, cause);
    case 'not-ours':
      return platError('storeNotOurs', { store, reason: trouble.reason }, cause);
    case 'unavailable': {
      const { retryAfter } = trouble;
      return platError('storeUnavailable', {}, retryAfter === undefined ? cause : { ...cause, retryAfter });
    }
    case 'overloaded':
      return platError('overloaded', { seconds: trouble.seconds }, { ...cause, retryAfter: trouble.seconds });
    case 'busy':
      return busy();
    case 'blocked':
      return busyError(`Another session seems to block ${store}: ${trouble.reason}`, error);
    case 'timed-out':
      return seconds > 0 ? platError('queryTimedOut', { seconds }, cause) : busy();
    case 'full':
      return platError('storeFull', { store }, cause);
    case 'too-large':
      return answerTooLargeError(error);
    case 'too-much-memory':
      return platError('queryTooLarge', {}, cause);
    case 'out-of-range':
      return usageError('A number of the query exceeds the range of numbers.', cause);
    case 'too-complex':
      return usageError('The regular expressions of the query are too complex.', cause);
    case 'error':
      return trouble.error;
  }
}

/**
 * The damage that an error proves; undefined for any other error.
 * @param ofEngine determines the damage that an error of the engine itself proves
 */
export function damageOf(
  error: unknown,
  ofEngine: (error: unknown) => string | undefined,
): string | undefined {
  if (error instanceof Damage) return error.message;
  if (!(error instanceof PlatError)) return ofEngine(error);
  return error.code === 'storeDamaged' ? damageOf(error.cause, ofEngine) : undefined;
}

/** An object whose methods throw translated errors: synchronously, asynchronously, or while a result is read. */
export function withTranslatedErrors<T extends object>(part: T, translate: (error: unknown) => unknown): T {
  const made = { ...part };
  for (const [name, value] of Object.entries(part)) {
    if (typeof value !== 'function') continue;
    Reflect.set(made, name, (...given: unknown[]): unknown => {
      try {
        return translateResult(Reflect.apply(value, part, given), translate);
      } catch (error) {
        throw translate(error);
      }
    });
  }
  return made;
}

function translateResult(result: unknown, translate: (error: unknown) => unknown): unknown {
  if (result instanceof Promise) {
    return result.catch((error: unknown) => {
      throw translate(error);
    });
  }
  return isStream(result) ? translateStream(result, translate) : result;
}

async function* translateStream<T>(
  stream: AsyncIterable<T>,
  translate: (error: unknown) => unknown,
): AsyncGenerator<T, void> {
  try {
    yield* stream;
  } catch (error) {
    throw translate(error);
  }
}

const isStream = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
