/**
 * Update windows, as filters on a modification timestamp request them (specification 4.4): their bounds, and how a response waits
 * until no further record can enter one (I2). This module must not know how pages are read.
 */
import { microsecondsOf, timestampFrom } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { allOf, type Comparison, type Expression, type FieldReference, MIRRORED } from '../../query/tree.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Store } from '../../store/store.ts';

/** The bounds on a modification timestamp that a filter sets for every record that it matches. */
interface Window {
  readonly from?: string;
  readonly to?: string;
  /** Whether a record with exactly the timestamp `to` is in the window. */
  readonly includesTo: boolean;
  /** The field that `to` bounds. */
  readonly by?: FieldReference;
}

const STAMPS = new Set(['ModificationTimestamp', 'ReplicaModificationTimestamp']);

/** The window of a filter, from its terms that are joined by `and`; undefined if none is a bound. */
export function windowOf(filter: Expression | undefined): Window | undefined {
  if (filter === undefined) return undefined;
  if (filter.kind === 'compare') return boundOf(filter);
  if (filter.kind !== 'and') return undefined;
  return filter.terms.map(windowOf).reduce(narrower, undefined);
}

/** The intersection of two windows. */
function narrower(left: Window | undefined, right: Window | undefined): Window | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  const end = endOfWindow(left) <= endOfWindow(right) ? left : right;
  return { ...end, from: later(left.from, right.from) };
}

function later(left: string | undefined, right: string | undefined): string | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return microsecondsOf(left) >= microsecondsOf(right) ? left : right;
}

/** The length of a timestamp with microseconds. A bound with more digits is later than the timestamp that it begins with. */
const MICROSECONDS = '2026-01-01T00:00:00.000001Z'.length;

/** The first millisecond that is wholly after the window. */
function endOfWindow({ to, includesTo }: Window): number {
  if (to === undefined) return Number.POSITIVE_INFINITY;
  const end = microsecondsOf(to) + (includesTo || to.length > MICROSECONDS ? 1 : 0);
  return Math.ceil(end / 1000);
}

function boundOf({ operator, left, right, ...rest }: Comparison): Window | undefined {
  if (left.kind === 'literal' && right.kind !== 'literal') {
    return boundOf({ ...rest, operator: MIRRORED[operator], left: right, right: left });
  }
  if (left.kind !== 'field' || right.kind !== 'literal' || right.type !== 'timestamp') return undefined;
  if (left.scope !== 0 || left.via.length > 0 || !STAMPS.has(left.field.name)) return undefined;
  switch (operator) {
    case 'gt':
    case 'ge':
      return { from: right.value, includesTo: false };
    case 'lt':
      return { to: right.value, includesTo: false, by: left };
    case 'le':
      return { to: right.value, includesTo: true, by: left };
    case 'eq':
      return { from: right.value, to: right.value, includesTo: true, by: left };
    case 'ne':
      return undefined;
  }
}

/** A window, in the form in which the usage of a key records it. */
export const windowText = ({ from, to }: Window): string => `${from ?? ''}/${to ?? ''}`;

/** How far ahead a client's clock may be, in milliseconds. A window that ends even later is considered unbounded. */
const MAX_CLOCK_AHEAD = 60_000;

/** How long a request waits for the end of its window, and how often it checks, in milliseconds. */
const MAX_WAIT = 5000;
const INTERVAL = 25;

/** The part of a window that a response covers. */
export interface WindowCut {
  /** The response has only records with an earlier timestamp. Canonical. */
  readonly until: string;
  readonly by: FieldReference;
}

/**
 * Waits for the end of a window that ends slightly in the future, which happens if the client's clock is ahead. Such a client
 * begins its next window at the upper bound of this one, so it must not miss anything that is written before that bound: the
 * response waits for it, or it ends at the horizon and links to the rest.
 * @param carried where an earlier page of the same walk was cut
 * @returns where to cut the response, if its window ends too far ahead to wait for
 */
export async function waitOrCut(
  { store, clock }: { readonly store: Pick<Store, 'horizon' | 'now'>; readonly clock: Pick<Clock, 'sleep'> },
  filter: Expression | undefined,
  carried?: string,
): Promise<WindowCut | undefined> {
  const window = windowOf(filter);
  if (window?.to === undefined || window.by === undefined) return undefined;
  if (carried !== undefined) return { until: carried, by: window.by };
  const end = endOfWindow(window);
  if (end <= (await store.now())) return undefined;
  const from = window.from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(window.from);
  for (let waited = 0; ; waited += INTERVAL) {
    const { now, settled } = await store.horizon();
    if (end <= now || end > now + MAX_CLOCK_AHEAD) return undefined;
    // A window that has just begun, such as that of a link to the rest, contains too little to be cut again.
    const isWorthWaiting = end <= now + MAX_WAIT - waited || from > now - MAX_WAIT;
    if (waited >= MAX_WAIT || !isWorthWaiting) return { until: timestampFrom(settled), by: window.by };
    await clock.sleep(INTERVAL);
  }
}

/** The same filter, restricted to records before the cut. */
export function beforeCut(filter: Expression | undefined, { until, by }: WindowCut): Expression | undefined {
  const right = { kind: 'literal', type: 'timestamp', value: until } as const;
  return allOf(filter, { kind: 'compare', operator: 'lt', left: by, right });
}

/**
 * Waits until no further record can enter the window (I2): until every writer that may still use a timestamp before its end has
 * finished, and, if it ends slightly in the future, until the clock has reached its end. A window that ends later is answered at
 * once.
 *
 * @returns whether the window is open, that is, ends in the future
 * @throws PlatError `windowNotSettled`, `windowAhead` if that takes too long
 */
export async function waitUntilSettled(store: Store, clock: Clock, window: Window): Promise<boolean> {
  if (window.to === undefined) return false;
  const end = endOfWindow(window);
  for (let waited = 0; ; waited += INTERVAL) {
    const { now, settled } = await store.horizon(end);
    if (end > now + MAX_CLOCK_AHEAD) return true;
    if (end <= settled) return false;
    if (end > now && (waited >= MAX_WAIT || end > now + MAX_WAIT - waited)) {
      const seconds = Math.ceil((end - now) / 1000);
      throw platError('windowAhead', { seconds }, { retryAfter: seconds });
    }
    if (waited >= MAX_WAIT) {
      throw platError('windowNotSettled', { seconds: MAX_WAIT / 1000 }, { retryAfter: MAX_WAIT / 1000 });
    }
    await clock.sleep(INTERVAL);
  }
}
