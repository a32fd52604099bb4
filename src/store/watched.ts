/**
 * Translates every error that a part of a store throws, so that no engine's error leaves the store untranslated. It
 * knows no engine.
 */

/** The same object, whose methods throw translated errors: synchronously, asynchronously, or while a result is read. */
export function watched<T extends object>(part: T, translate: (error: unknown) => unknown): T {
  /** Every request calls a few methods: each is wrapped once. */
  const wrapped = new Map<unknown, (...given: unknown[]) => unknown>();
  return new Proxy(part, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const known = wrapped.get(value);
      if (known !== undefined) return known;
      const method = (...given: unknown[]): unknown => {
        try {
          return watchedResult(Reflect.apply(value, target, given), translate);
        } catch (error) {
          throw translate(error);
        }
      };
      wrapped.set(value, method);
      return method;
    },
  });
}

function watchedResult(result: unknown, translate: (error: unknown) => unknown): unknown {
  if (result instanceof Promise) {
    return result.catch((error: unknown) => {
      throw translate(error);
    });
  }
  return isStream(result) ? watchedStream(result, translate) : result;
}

/** The items of a stream; its errors are translated. */
async function* watchedStream<T>(
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
