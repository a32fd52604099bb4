/** The walk or window that a page belongs to, for the console. It must not know which interface the page is from. */
import type { Expression } from '../../query/tree.ts';
import type { WalkStep } from '../../store/shared.ts';
import type { WalkPage } from '../exchange.ts';
import { windowOf, windowText } from './window.ts';

interface PageInKeyOrder {
  readonly resource: string;
  readonly filter: Expression | undefined;
  /** Whether only keys are requested. */
  readonly isKeys: boolean;
  readonly step: WalkStep;
}

/** The walk or window that a page in key order belongs to; undefined for a page of another filter. */
export function walkPageOf({ resource, filter, isKeys, step }: PageInKeyOrder): WalkPage | undefined {
  const window = windowOf(filter);
  if (window !== undefined) return { resource, of: 'window', window: windowText(window), step };
  if (filter !== undefined) return undefined;
  return { resource, of: isKeys ? 'keys' : 'records', step };
}
