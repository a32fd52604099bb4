import { microsecondsOf } from '../../dictionary/index.ts';
import type { Comparison, ComparisonOperator, Expression, FieldReference } from '../../query/tree.ts';

/** The bounds on ModificationTimestamp that every record of a filter must keep (specification 4.4, rule 3). */
export interface Window {
  readonly from?: string;
  readonly to?: string;
  /** Whether a record stamped exactly `to` belongs to it. */
  readonly includesTo: boolean;
  /** The timestamp that `to` is of. */
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

/** What lies in both. */
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

/** The first millisecond of which no part is in the window. */
export function endOf({ to, includesTo }: Window): number {
  if (to === undefined) return Number.POSITIVE_INFINITY;
  const end = microsecondsOf(to) + (includesTo ? 1 : 0);
  return Math.ceil(end / 1000);
}

const MIRRORED: Readonly<Record<ComparisonOperator, ComparisonOperator>> = {
  eq: 'eq',
  ne: 'ne',
  gt: 'lt',
  ge: 'le',
  lt: 'gt',
  le: 'ge',
};

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

/** How an account of a key notes a window. */
export const windowText = ({ from, to }: Window): string => `${from ?? ''}/${to ?? ''}`;
