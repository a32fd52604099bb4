/** What a part of a page makes of several answers: made anew when its name changes, and never out of order. */
import { useEffect, useState } from 'preact/hooks';
import { Refused } from '../app/api.ts';
import { returns } from '../app/connection.ts';

export type Loaded<T> =
  | { readonly kind: 'loading'; readonly before?: T }
  | { readonly kind: 'loaded'; readonly value: T }
  | { readonly kind: 'failed'; readonly error: unknown };

/**
 * @param name of what is loaded; undefined: nothing yet
 * @param load asks the service
 * @returns what was loaded, and what loads it again
 */
export function useLoaded<T>(
  name: string | undefined,
  load: () => Promise<T>,
): readonly [Loaded<T>, () => void] {
  const [loaded, setLoaded] = useState<Loaded<T>>({ kind: 'loading' });
  const [turn, setTurn] = useState(0);
  const again = () => setTurn((before) => before + 1);
  const returned = returns.value;
  useEffect(() => {
    if (loaded.kind === 'failed' && loaded.error instanceof Refused && loaded.error.status === 0) again();
  }, [returned]);
  useEffect(() => {
    if (name === undefined) return undefined;
    let isGone = false;
    setLoaded((was) => ({ kind: 'loading', ...(was.kind === 'loaded' ? { before: was.value } : {}) }));
    load().then(
      (value) => {
        if (!isGone) setLoaded({ kind: 'loaded', value });
      },
      (error: unknown) => {
        if (!isGone) setLoaded({ kind: 'failed', error });
      },
    );
    return () => {
      isGone = true;
    };
  }, [name, turn]);
  return [loaded, again];
}
