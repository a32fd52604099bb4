/**
 * Translates every error that a part of a store throws, so that no engine's error leaves the store untranslated. It
 * knows no engine.
 */

/**
 * An object with the members of another one, whose methods throw translated errors: synchronously, asynchronously, or while a
 * result is read.
 */
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

/** The items of a stream; its errors are translated. */
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
