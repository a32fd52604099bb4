/**
 * Windows of time, as filters on a modification timestamp ask for them (specification 4.4): their bounds, and how a
 * response waits until no record can enter one any more (I2). This module must not know how pages are read.
 */
import { microsecondsOf, timestampFrom } from '../../dictionary/index.ts';
import { platError } from '../../errors/index.ts';
import { type Comparison, type Expression, type FieldReference, MIRRORED } from '../../query/tree.ts';
import type { Clock } from '../../store/clock.ts';
import type { Store } from '../../store/store.ts';

/** The bounds on a modification timestamp that a filter sets for every record. */
interface Window {
  readonly from?: string;
  readonly to?: string;
  /** Whether a record with exactly the timestamp `to` belongs to it. */
  readonly includesTo: boolean;
  /** The timestamp that `to` bounds. */
  readonly by?: FieldReference;
}

const STAMPS = new Set(['ModificationTimestamp', 'ReplicaModificationTimestamp']);

/** The window of a filter, from the terms that it joins with `and`; undefined without bounds. */
export function windowOf(filter: Expression | undefined): Window | undefined {
  if (filter === undefined) return undefined;
  if (filter.kind === 'compare') return boundOf(filter);
  if (filter.kind !== 'and') return undefined;
  return filter.terms.map(windowOf).reduce(narrower, undefined);
}

/** The intersection of two windows. */
function narrower(left: Window | undefined, right: Window | undefined): Window | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  const from = later(left.from, right.from);
  const end = endOf(left) <= endOf(right) ? left : right;
  const { to, includesTo, by } = end;
  return {
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(by === undefined ? {} : { by }),
    includesTo,
  };
}

function later(left: string | undefined, right: string | undefined): string | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return microsecondsOf(left) >= microsecondsOf(right) ? left : right;
}

/** The first millisecond that lies wholly behind the window. */
function endOf({ to, includesTo }: Window): number {
  if (to === undefined) return Number.POSITIVE_INFINITY;
  const end = microsecondsOf(to) + (includesTo ? 1 : 0);
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

/** A window as the use of a key records it. */
export const windowText = ({ from, to }: Window): string => `${from ?? ''}/${to ?? ''}`;

/** Milliseconds by which a client's clock may be ahead; a window that ends later is meant to have no end. */
const AHEAD = 60_000;

/** How long a request waits for the end of its window, and how often it looks, in milliseconds. */
const PATIENCE = 5000;
const INTERVAL = 25;

/** The part of a window that is answered. */
export interface Cut {
  /** Only what is before this moment. Canonical. */
  readonly until: string;
  readonly by: FieldReference;
}

/**
 * Waits for the end of a window that lies a little ahead of the clock, as where the client's clock is ahead. Such a
 * client begins its next window at its own bound, so nothing that is written until then may be omitted: the response
 * waits, or ends at the time up to which the store is settled, with a link for the rest.
 * @param carried where an earlier page of the same walk was cut
 * @returns where the response is to be cut, when the window ends too far ahead to be waited for
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
    // A window that begins now, as that of a link does, holds too little to be cut yet.
    const isWorth = end <= now + PATIENCE - waited || from > now - PATIENCE;
    if (waited >= PATIENCE || !isWorth) return { until: timestampFrom(settled), by: window.by };
    await clock.sleep(INTERVAL);
  }
}

/** The same filter, up to the cut. */
export function before(filter: Expression | undefined, { until, by }: Cut): Expression {
  const bound: Expression = {
    kind: 'compare',
    operator: 'lt',
    left: by,
    right: { kind: 'literal', type: 'timestamp', value: until },
  };
  return filter === undefined ? bound : { kind: 'and', terms: [filter, bound] };
}

/**
 * Waits until no record can enter the window any more (I2): every writer that may still use a timestamp before its end has
 * finished, and, where it ends a little ahead of the clock, the clock has reached it. A later one is answered at once.
 * @returns whether the window is open, that is, ends in the future
 * @throws PlatError `windowNotSettled`, `windowAhead` when that takes too long
 */
export async function settle(store: Store, clock: Clock, window: Window): Promise<boolean> {
  if (window.to === undefined) return false;
  const end = endOf(window);
  for (let waited = 0; ; waited += INTERVAL) {
    const { now, settled } = await store.horizon();
    if (end > now + AHEAD) return true;
    if (end <= settled) return false;
    if (end > now && (waited >= PATIENCE || end > now + PATIENCE - waited)) {
      const seconds = Math.ceil((end - now) / 1000);
      throw platError('windowAhead', { seconds }, { retryAfter: seconds });
    }
    if (waited >= PATIENCE) {
      throw platError('windowNotSettled', { seconds: PATIENCE / 1000 }, { retryAfter: PATIENCE / 1000 });
    }
    await clock.sleep(INTERVAL);
  }
}
