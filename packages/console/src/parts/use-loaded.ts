/**
 * Data that a part of a page loads from the service. It is loaded again when its name changes and when the service is back.
 * Responses out of order are ignored, and data is never shown under another name, not even for one frame.
 */
import { useEffect, useState } from 'preact/hooks';
import { type Answer, ask, Refused } from '../app/api.ts';
import { returns } from '../app/connection.ts';

export type Loaded<T> =
  | { readonly kind: 'loading'; readonly before?: T }
  | { readonly kind: 'loaded'; readonly value: T }
  | { readonly kind: 'failed'; readonly error: unknown };

/** The loaded data, or the previous data while it is being loaded again. */
export function latestOf<T>(loaded: Loaded<T>): T | undefined {
  switch (loaded.kind) {
    case 'loaded':
      return loaded.value;
    case 'loading':
      return loaded.before;
    case 'failed':
      return undefined;
  }
}

/** The part of a name that identifies the subject: of an address, all but its query. */
const subjectOf = (name: string): string => name.split('?', 1)[0] ?? '';

/** While data is being loaded, the previous data is kept only if it has the same subject. */
function loading<T>(name: string | undefined, was: Named<T>): Loaded<T> {
  const before = latestOf(was.loaded);
  const isAlike = name !== undefined && was.name !== undefined && subjectOf(name) === subjectOf(was.name);
  return { kind: 'loading', ...(isAlike && before !== undefined ? { before } : {}) };
}

interface Named<T> {
  readonly name: string | undefined;
  readonly loaded: Loaded<T>;
}

/**
 * @param name identifies the data and everything that it depends on; undefined: nothing is loaded yet
 * @param load requests the data
 * @returns the data, and a function that loads it again
 */
export function useLoaded<T>(
  name: string | undefined,
  load: (until: AbortSignal) => Promise<T>,
): readonly [Loaded<T>, () => void] {
  const [known, setKnown] = useState<Named<T>>({ name: undefined, loaded: { kind: 'loading' } });
  const [turn, setTurn] = useState(0);
  const again = () => setTurn((before) => before + 1);
  const { loaded } = known;
  const returned = returns.value;
  useEffect(() => {
    if (loaded.kind === 'failed' && loaded.error instanceof Refused && loaded.error.status === 0) again();
  }, [returned]);
  useEffect(() => {
    if (name === undefined) return undefined;
    const gone = new AbortController();
    const keep = (now: Loaded<T>) => {
      if (!gone.signal.aborted) setKnown({ name, loaded: now });
    };
    setKnown((was) => ({ name, loaded: loading(name, was) }));
    load(gone.signal).then(
      (value) => keep({ kind: 'loaded', value }),
      (error: unknown) => keep({ kind: 'failed', error }),
    );
    return () => gone.abort();
  }, [name, turn]);
  // Effects run after a frame has been drawn, so until then the data may belong to the previous name.
  return [known.name === name ? loaded : loading(name, known), again];
}

/**
 * A response with its headers.
 *
 * @param path on the admin port; undefined: nothing is requested yet
 * @param headers of the request; they must not change
 */
export const useAnswer = <T>(
  path: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): readonly [Loaded<Answer<T>>, () => void] =>
  useLoaded(path, (signal) => ask<T>(path ?? '', { signal, headers }));
