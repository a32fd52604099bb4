/** The fields that an expression reads. This module knows only the tree. */
import type { Field } from '../dictionary/types.ts';
import { type Expression, type Location, operandsOf } from './tree.ts';

/**
 * The record's own fields that an expression reads; undefined if it also reads something else: related or child records, or the
 * clock.
 */
export function ownFieldsOf(expression: Expression): ReadonlySet<Field> | undefined {
  const found = new Set<Field>();
  return visit(expression, found) ? found : undefined;
}

/** Collects fields. False if the expression reads anything else. */
const visit = (expression: Expression, found: Set<Field>): boolean =>
  visitAlone(expression, found) && operandsOf(expression).every((part) => visit(part, found));

/** The same for an expression without its operands. */
function visitAlone(expression: Expression, found: Set<Field>): boolean {
  switch (expression.kind) {
    case 'field':
      return own(expression, found);
    case 'call':
      return expression.function !== 'now';
    case 'distance':
      return !('key' in expression.to) && place(expression.location, found);
    case 'within':
      return place(expression.location, found);
    case 'any':
    case 'all':
    case 'count':
      return expression.over.kind === 'values' && own(expression.over, found);
    default:
      return true;
  }
}

const place = ({ scope, via, latitude, longitude }: Location, found: Set<Field>): boolean =>
  [latitude, longitude].every((field) => own({ scope, via, field }, found));

function own(
  { scope, via, field }: { scope: number; via: readonly unknown[]; field: Field },
  found: Set<Field>,
): boolean {
  if (scope !== 0 || via.length > 0 || field.joined !== undefined) return false;
  found.add(field);
  return true;
}
