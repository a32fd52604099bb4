/** Which operators go with which values. */
import type { Token } from './lexer.ts';
import { ARITHMETIC_OPERATORS, type ArithmeticWord, type ComparisonWord, type Values } from './nodes.ts';
import { typeName } from './type-names.ts';

const COMPARISONS = ['Eq', 'Ne', 'Gt', 'Ge', 'Lt', 'Le', 'Bt'] as const;
const PRODUCTS: ReadonlySet<string> = new Set(['Mul', 'Div', 'Mod']);

export const comparisonWord = ({ kind, text }: Token): ComparisonWord | undefined =>
  kind === 'operator' || kind === 'range' ? COMPARISONS.find((word) => word === text) : undefined;

/** The arithmetic operator at hand, if it binds as strongly as is asked. */
export function arithmeticWord(
  { kind, text }: Token,
  strength: 'sum' | 'product',
): ArithmeticWord | undefined {
  if (kind !== 'arithmetic' || PRODUCTS.has(text) !== (strength === 'product')) return undefined;
  return ARITHMETIC_OPERATORS.find((word) => word === text);
}

/** Why the operator cannot compare with these values; undefined when it can. */
export function operatorMisfit(operator: ComparisonWord, { type, values }: Values): string | undefined {
  if (operator === 'Eq' || operator === 'Ne') return undefined;
  if (type === 'character' || type === 'boolean' || type === 'null' || type === 'shape') {
    return `${operator} cannot compare with ${typeName(type)}, only Eq and Ne can`;
  }
  return operator !== 'Bt' && values.length > 1
    ? `${operator} takes one value, only Eq and Ne take a list`
    : undefined;
}
