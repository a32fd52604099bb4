/** Which fields an expression reads. It knows the tree alone. */
import type { Field } from '../dictionary/types.ts';
import type { Collection, Expression, Location } from './tree.ts';

/**
 * The fields of the record itself that an expression reads; undefined when it also reads something else: related or child
 * records, or the clock.
 */
export function ownFieldsOf(expression: Expression): ReadonlySet<Field> | undefined {
  const found = new Set<Field>();
  return visit(expression, found) ? found : undefined;
}

/** False when the expression reads anything but fields of the record. */
function visit(expression: Expression, found: Set<Field>): boolean {
  const all = (parts: readonly Expression[]): boolean => parts.every((part) => visit(part, found));
  switch (expression.kind) {
    case 'literal':
    case 'variable':
      return true;
    case 'field':
      return own(expression, found);
    case 'compare':
    case 'arithmetic':
      return all([expression.left, expression.right]);
    case 'in':
    case 'not':
    case 'negate':
    case 'cast':
    case 'matches':
    case 'like':
      return visit(expression.operand, found);
    case 'and':
    case 'or':
      return all(expression.terms);
    case 'call':
      return expression.function !== 'now' && all(expression.arguments);
    case 'case':
      return all(expression.branches.flatMap(({ when, then }) => [when, then]));
    case 'distance':
      return !('key' in expression.to) && place(expression.location, found);
    case 'within':
      return place(expression.location, found);
    case 'any':
    case 'all':
    case 'count':
      return (
        collection(expression.over, found) &&
        (expression.predicate === undefined || visit(expression.predicate, found))
      );
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

function collection(over: Collection, found: Set<Field>): boolean {
  return over.kind === 'values' && own(over, found);
}
