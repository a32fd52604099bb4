/**
 * Ends what a scope leaves behind: a page that was asked for ahead, and that nobody waits for any more, would else be
 * asked for again and again, beside the next run and after the last one. It knows nothing of sources.
 */

/** A signal for as long as a scope holds it: `using scope = untilLeft(signal)`. It comes with the other one, too. */
export function untilLeft(signal: AbortSignal): Disposable & { readonly signal: AbortSignal } {
  const left = new AbortController();
  return { signal: AbortSignal.any([signal, left.signal]), [Symbol.dispose]: () => left.abort() };
}
