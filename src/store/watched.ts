/**
 * One place that sees whatever the parts of a store throw, so that no engine's error leaves a store untranslated. It
 * knows nothing of engines.
 */

/** The same object, whose methods throw what `translate` makes of their errors, at once, later, or while they are read. */
export function watched<T extends object>(part: T, translate: (error: unknown) => unknown): T {
  return new Proxy(part, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown => {
        try {
          return watchedResult(Reflect.apply(value, target, given), translate);
        } catch (error) {
          throw translate(error);
        }
      };
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

/** What is read from a stream; what it throws is translated. */
export async function* watchedStream<T>(
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
