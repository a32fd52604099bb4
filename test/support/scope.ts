/**
 * A scope within a test, for what is recreated with each run of a property: kept until the test ends, the stores of all
 * runs would take the connections of a server, and its memory.
 */
import type { Scope } from './engine.ts';

/** Does the work, and then cleans up, what was made last first. */
export async function inScope<T>(work: (scope: Scope) => Promise<T>): Promise<T> {
  await using stack = new AsyncDisposableStack();
  return await work({ after: (cleaning) => stack.defer(async () => await cleaning()) });
}
