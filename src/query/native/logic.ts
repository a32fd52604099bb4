/**
 * The logic of the native language, which has only true and false: anything that is not true is false. The tree has three-valued
 * logic, so negations are written in such a way that null becomes true.
 */
import type { Expression, Literal } from '../tree.ts';

const TRUE: Literal = { kind: 'literal', type: 'boolean', value: true };
export const FALSE: Literal = { kind: 'literal', type: 'boolean', value: false };

function mayBeNull(expression: Expression): boolean {
  switch (expression.kind) {
    case 'compare':
    case 'in':
    case 'any':
    case 'all':
    case 'literal':
      return false;
    case 'and':
    case 'or':
      return expression.terms.some(mayBeNull);
    case 'not':
      return mayBeNull(expression.operand);
    default:
      return true;
  }
}

/** True exactly if the expression is not true. */
export function negate(expression: Expression): Expression {
  return mayBeNull(expression)
    ? { kind: 'compare', operator: 'ne', left: expression, right: TRUE }
    : { kind: 'not', operand: expression };
}

/** Joins terms, and flattens nested ones of the same kind. */
export function joinTerms(kind: 'and' | 'or', terms: readonly Expression[]): Expression {
  const flat = terms.flatMap((term) => (term.kind === kind ? term.terms : [term]));
  const [first, second] = flat;
  return first !== undefined && second === undefined ? first : { kind, terms: flat };
}
