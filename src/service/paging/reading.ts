/** Which walk or window a page is a part of, for the console. It must not know of which interface the page is. */
import type { Expression } from '../../query/tree.ts';
import type { Reading, WalkStep } from '../exchange.ts';
import { windowOf, windowText } from './window.ts';

interface PageInKeyOrder {
  readonly resource: string;
  readonly filter: Expression | undefined;
  /** Whether nothing but keys is requested. */
  readonly isKeys: boolean;
  readonly step: WalkStep;
}

/** What a page in key order is a part of; undefined for one of what a filter finds. */
export function readingOf({ resource, filter, isKeys, step }: PageInKeyOrder): Reading | undefined {
  const window = windowOf(filter);
  if (window !== undefined) return { resource, of: 'window', window: windowText(window), step };
  if (filter !== undefined) return undefined;
  return { resource, of: isKeys ? 'keys' : 'records', step };
}
