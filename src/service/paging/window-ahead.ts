/**
 * Windows that end a little ahead of the clock: those of a client whose clock is ahead, or that counts the end of its window
 * itself. Such a client takes its own bound for the next window, so what is written until then must not be left out: the
 * answer waits for a moment, or ends at the moment up to which the store is settled, with a link for what is left.
 */
import { timestampFrom } from '../../dictionary/index.ts';
import type { Expression, FieldReference } from '../../query/tree.ts';
import type { Clock } from '../../store/clock.ts';
import type { Store } from '../../store/store.ts';
import { endOf, windowOf } from './window.ts';

/** Milliseconds by which clocks are ahead; a window that ends later is meant to have no end. */
export const AHEAD = 60_000;

/** How long a request waits for the end of its window, and how often it looks, in milliseconds. */
export const PATIENCE = 5000;
export const INTERVAL = 25;

/** What of a window is answered. */
export interface Cut {
  /** Only what is before this moment. Canonical. */
  readonly until: string;
  readonly by: FieldReference;
}

/**
 * Waits for the end of a window that lies a little ahead of the clock.
 * @param carried where an earlier page of the same walk was cut
 * @returns where the answer is to be cut, when the window ends too far ahead to be waited for
 */
export async function cutAhead(
  { store, clock }: { readonly store: Pick<Store, 'horizon'>; readonly clock: Pick<Clock, 'sleep'> },
  filter: Expression | undefined,
  carried?: string,
): Promise<Cut | undefined> {
  const window = windowOf(filter);
  if (window?.to === undefined || window.by === undefined) return undefined;
  if (carried !== undefined) return { until: carried, by: window.by };
  const end = endOf(window);
  const from = window.from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(window.from);
  for (let waited = 0; ; waited += INTERVAL) {
    const { now, settled } = await store.horizon();
    if (end <= now || end > now + AHEAD) return undefined;
    // What a link asks for begins now, so it is worth to wait for more.
    const isWorth = end <= now + PATIENCE - waited || from > now - PATIENCE;
    if (waited >= PATIENCE || !isWorth) return { until: timestampFrom(settled), by: window.by };
    await clock.sleep(INTERVAL);
  }
}

/** The same filter, up to where it is cut. */
export function before(filter: Expression | undefined, { until, by }: Cut): Expression {
  const bound: Expression = {
    kind: 'compare',
    operator: 'lt',
    left: by,
    right: { kind: 'literal', type: 'timestamp', value: until },
  };
  return filter === undefined ? bound : { kind: 'and', terms: [filter, bound] };
}
