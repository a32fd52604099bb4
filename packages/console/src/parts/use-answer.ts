/**
 * An answer of the service as a part of a page shows it: asked for again when the address changes, and
 * when a service that was away is back; never out of order.
 */
import { useEffect, useState } from 'preact/hooks';
import { type Answer, ask, Refused } from '../app/api.ts';
import { returns } from '../app/connection.ts';

export type Asked<T> =
  | { readonly kind: 'loading'; readonly before?: Answer<T> }
  | { readonly kind: 'answered'; readonly answer: Answer<T> }
  | { readonly kind: 'failed'; readonly error: unknown };

const NO_HEADERS = {};

/**
 * @param path on the admin port; undefined: nothing is asked yet
 * @param headers of the request, the same object each time
 * @returns the answer, and what asks again
 */
export function useAnswer<T>(
  path: string | undefined,
  headers: Readonly<Record<string, string>> = NO_HEADERS,
): readonly [Asked<T>, () => void] {
  const [asked, setAsked] = useState<Asked<T>>({ kind: 'loading' });
  const [turn, setTurn] = useState(0);
  const returned = returns.value;
  useEffect(() => {
    const wasAway = asked.kind === 'failed' && asked.error instanceof Refused && asked.error.status === 0;
    if (wasAway) setTurn((before) => before + 1);
  }, [returned]);
  useEffect(() => {
    if (path === undefined) return undefined;
    const gone = new AbortController();
    setAsked((was) => ({ kind: 'loading', ...(was.kind === 'answered' ? { before: was.answer } : {}) }));
    ask<T>(path, { signal: gone.signal, headers }).then(
      (answer) => {
        if (!gone.signal.aborted) setAsked({ kind: 'answered', answer });
      },
      (error: unknown) => {
        if (!gone.signal.aborted) setAsked({ kind: 'failed', error });
      },
    );
    return () => gone.abort();
  }, [path, headers, turn]);
  return [asked, () => setTurn((before) => before + 1)];
}
