/**
 * A scope within a test, for what is created in each run of a property: if they were kept until the end of the test, the stores of
 * all runs would use up the connections and the memory of a server.
 */
import type { Scope } from './engine.ts';

/** Does the work, and then cleans up in reverse order. */
export async function inScope<T>(work: (scope: Scope) => Promise<T>): Promise<T> {
  await using stack = new AsyncDisposableStack();
  return await work({ after: (cleaning) => stack.defer(async () => await cleaning()) });
}
