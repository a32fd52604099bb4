import type { Comparison, Expression } from '../../query/tree.ts';

/** The bounds on ModificationTimestamp that every record of a filter must keep (specification 4.4, rule 3). */
export interface Window {
  readonly from?: string;
  readonly to?: string;
  /** Whether a record stamped exactly `to` belongs to it. */
  readonly includesTo: boolean;
}

const STAMPS = new Set(['ModificationTimestamp', 'ReplicaModificationTimestamp']);

/** The window of a filter, from the terms that its top level joins with `and`; undefined without bounds. */
export function windowOf(filter: Expression | undefined): Window | undefined {
  if (filter === undefined) return undefined;
  const terms = filter.kind === 'and' ? filter.terms : [filter];
  let window: Window | undefined;
  for (const term of terms.flatMap((each) => (each.kind === 'and' ? each.terms : [each]))) {
    const bound = term.kind === 'compare' ? boundOf(term) : undefined;
    if (bound !== undefined) window = { includesTo: false, ...window, ...bound };
  }
  return window;
}

function boundOf({ operator, left, right }: Comparison): Partial<Window> | undefined {
  if (left.kind !== 'field' || right.kind !== 'literal' || right.type !== 'timestamp') return undefined;
  if (left.scope !== 0 || left.via.length > 0 || !STAMPS.has(left.field.name)) return undefined;
  switch (operator) {
    case 'gt':
    case 'ge':
      return { from: right.value };
    case 'lt':
      return { to: right.value, includesTo: false };
    case 'le':
      return { to: right.value, includesTo: true };
    case 'eq':
      return { from: right.value, to: right.value, includesTo: true };
    case 'ne':
      return undefined;
  }
}

/** How an account of a key notes a window. */
export const windowText = ({ from, to }: Window): string => `${from ?? ''}/${to ?? ''}`;
