/** The fields that an expression reads. This module knows only the tree. */
import type { Field } from '../dictionary/types.ts';
import { type Expression, type Location, operandsOf } from './tree.ts';

/**
 * The record's own fields that an expression reads; undefined if it also reads something else: related or child records, or the
 * clock.
 */
export function ownFieldsOf(expression: Expression): ReadonlySet<Field> | undefined {
  const found = new Set<Field>();
  return collectFields(expression, found) ? found : undefined;
}

/** Collects fields. False if the expression reads anything else. */
const collectFields = (expression: Expression, found: Set<Field>): boolean =>
  collectWithoutOperands(expression, found) &&
  operandsOf(expression).every((part) => collectFields(part, found));

/** Collects the fields of an expression without its operands. False if it reads anything else. */
function collectWithoutOperands(expression: Expression, found: Set<Field>): boolean {
  switch (expression.kind) {
    case 'field':
      return addOwnField(expression, found);
    case 'call':
      return expression.function !== 'now';
    case 'distance':
      return !('key' in expression.to) && addLocation(expression.location, found);
    case 'within':
      return addLocation(expression.location, found);
    case 'any':
    case 'all':
    case 'count':
      return expression.over.kind === 'values' && addOwnField(expression.over, found);
    default:
      return true;
  }
}

const addLocation = ({ scope, via, latitude, longitude }: Location, found: Set<Field>): boolean =>
  [latitude, longitude].every((field) => addOwnField({ scope, via, field }, found));

function addOwnField(
  { scope, via, field }: { scope: number; via: readonly unknown[]; field: Field },
  found: Set<Field>,
): boolean {
  if (scope !== 0 || via.length > 0 || field.joined !== undefined) return false;
  found.add(field);
  return true;
}
