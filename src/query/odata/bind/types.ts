import type { Field } from '../../../dictionary/types.ts';
import type { Expression, ValueType } from '../../tree.ts';
import { shown } from '../syntax/source.ts';

/** The type of one value of a field. A decimal without decimal places is an integer. */
export function fieldType(field: Field): ValueType {
  const { type } = field;
  return type.kind === 'decimal' && type.scale === 0 ? 'integer' : type.kind;
}

export function typeOf(expression: Expression): ValueType {
  switch (expression.kind) {
    case 'literal':
    case 'field':
    case 'variable':
    case 'arithmetic':
    case 'negate':
    case 'call':
    case 'cast':
    case 'case':
      return expression.type;
    case 'compare':
    case 'in':
    case 'and':
    case 'or':
    case 'not':
    case 'matches':
    case 'like':
    case 'within':
    case 'any':
    case 'all':
      return 'boolean';
    case 'distance':
      return 'decimal';
    case 'count':
      return 'integer';
  }
}

export const isNumber = (type: ValueType): boolean => type === 'integer' || type === 'decimal';

const WORDS: Readonly<Record<ValueType, string>> = {
  string: 'a string',
  integer: 'an integer',
  decimal: 'a decimal',
  boolean: 'a boolean',
  date: 'a date',
  timestamp: 'a timestamp',
  time: 'a time of day',
  duration: 'a duration',
  point: 'a point',
  polygon: 'a polygon',
  null: 'null',
};

/** A type in words: "a string". */
export const typeInWords = (type: ValueType): string => WORDS[type];

/** An expression in words, by name where it has one: "ListPrice (a decimal)". */
export function inWords(expression: Expression): string {
  const words = typeInWords(typeOf(expression));
  switch (expression.kind) {
    case 'field':
      return `${[...expression.via, expression.field].map(({ name }) => name).join('/')} (${words})`;
    case 'literal':
      return expression.type === 'string'
        ? `'${shown(expression.value).replaceAll("'", "''")}' (a string)`
        : words;
    default:
      return words;
  }
}
