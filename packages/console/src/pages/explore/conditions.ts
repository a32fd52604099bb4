/**
 * Filters as texts of either language: the conditions that a filter joins, and the text of a condition on a field. This module must
 * not know how they are displayed.
 */
import type { FieldInfo } from './schema.ts';
import type { InterfaceName } from './view.ts';

/** The operators that the form offers. */
export type Operator =
  | 'is'
  | 'isNot'
  | 'contains'
  | 'begins'
  | 'least'
  | 'most'
  | 'more'
  | 'less'
  | 'empty'
  | 'filled';

const WORDS: Readonly<Record<Operator, string>> = {
  is: 'is',
  isNot: 'is not',
  contains: 'contains',
  begins: 'begins with',
  least: 'is at least',
  most: 'is at most',
  more: 'is more than',
  less: 'is less than',
  empty: 'is empty',
  filled: 'is not empty',
};

const IN_TIME: Partial<Readonly<Record<Operator, string>>> = {
  least: 'is on or after',
  most: 'is on or before',
  more: 'is after',
  less: 'is before',
};

export const operatorInWords = (operator: Operator, { kind }: FieldInfo): string =>
  (kind === 'date' || kind === 'timestamp' ? IN_TIME[operator] : undefined) ?? WORDS[operator];

/** Whether an operator requires a value. */
export const takesValue = (operator: Operator): boolean => operator !== 'empty' && operator !== 'filled';

const EMPTINESS: readonly Operator[] = ['empty', 'filled'];
const ORDERED: readonly Operator[] = ['least', 'most', 'more', 'less', 'is', 'isNot', ...EMPTINESS];

/** The operators for a field, the most common first. */
export function operatorsOf({ kind, isList, lookup, values }: FieldInfo): readonly Operator[] {
  if (isList) return ['is', 'isNot', ...EMPTINESS];
  switch (kind) {
    case 'integer':
    case 'decimal':
    case 'date':
    case 'timestamp':
      return ORDERED;
    case 'boolean':
      return ['is', ...EMPTINESS];
    case 'text':
    case 'other': {
      const listed = lookup !== undefined || values !== undefined;
      return listed
        ? ['is', 'isNot', 'contains', 'begins', ...EMPTINESS]
        : ['is', 'contains', 'begins', 'isNot', ...EMPTINESS];
    }
  }
}

const COMPARISON: Partial<Readonly<Record<Operator, string>>> = {
  is: 'eq',
  isNot: 'ne',
  least: 'ge',
  most: 'le',
  more: 'gt',
  less: 'lt',
  empty: 'eq',
  filled: 'ne',
};

/** A text as a literal of the language. */
export const quoted = (name: InterfaceName, text: string): string =>
  name === 'native'
    ? `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replace(/[*?]/g, '\\$&')}'`
    : `'${text.replaceAll("'", "''")}'`;

const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);

const isText = ({ kind }: FieldInfo): boolean => kind === 'text' || kind === 'other';

function literal(name: InterfaceName, field: FieldInfo, value: string): string {
  if (isText(field)) return quoted(name, value);
  // Date and time inputs of browsers have no time zone; the console uses UTC.
  return field.kind === 'timestamp' && /T\d\d:\d\d$/.test(value) ? `${value}:00Z` : value;
}

/** A condition in the language of the interface. @param value as the person entered it */
export function conditionText(
  name: InterfaceName,
  field: FieldInfo,
  operator: Operator,
  value: string,
): string {
  return name === 'native'
    ? nativeCondition(field, operator, value)
    : odataCondition(name, field, operator, value);
}

function nativeCondition(field: FieldInfo, operator: Operator, value: string): string {
  const given = takesValue(operator) ? literal('native', field, value) : 'NULL';
  const plain = `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  if (operator === 'contains') return `${field.name} Eq contains(${plain})`;
  if (operator === 'begins') return `${field.name} Eq startswith(${plain})`;
  return `${field.name} ${capital(COMPARISON[operator] ?? 'eq')} ${given}`;
}

function odataCondition(name: InterfaceName, field: FieldInfo, operator: Operator, value: string): string {
  const own = field.name;
  const given = takesValue(operator) ? literal(name, field, value) : 'null';
  if (field.isList) {
    if (operator === 'empty') return `not ${own}/any()`;
    if (operator === 'filled') return `${own}/any()`;
    return operator === 'isNot' ? `not (${given} in ${own})` : `${given} in ${own}`;
  }
  if (operator === 'contains') return `contains(${own},${given})`;
  if (operator === 'begins') return `startswith(${own},${given})`;
  return `${own} ${COMPARISON[operator] ?? 'eq'} ${given}`;
}

// Splitting and joining conditions

interface Piece {
  readonly text: string;
  /** The preceding word, `and` or `or`, as written; empty for the first piece. */
  readonly joint: string;
}

/** Splits a filter at its outermost And, Or and Not. */
function pieces(name: InterfaceName, filter: string): readonly Piece[] {
  const found: Piece[] = [];
  let depth = 0;
  let from = 0;
  let joint = '';
  const words = name === 'native' ? /(and|or|not)(?=[\s(])/iy : /(and|or)(?=[\s(])/iy;
  for (let at = 0; at < filter.length; at += 1) {
    const letter = filter[at];
    if (letter === "'") at = endOfText(name, filter, at);
    else if (letter === '"' && name === 'native') at = Math.max(at, filter.indexOf('"', at + 1));
    else if (letter === '(') depth += 1;
    else if (letter === ')') depth -= 1;
    else if (depth === 0 && at > from && /[\s)]/.test(filter[at - 1] ?? '')) {
      words.lastIndex = at;
      const word = words.exec(filter)?.[1];
      const text = filter.slice(from, at).trim();
      if (word !== undefined && text !== '') {
        found.push({ text, joint });
        joint = word.toLowerCase();
        at += word.length - 1;
        from = at + 1;
      }
    }
  }
  return [...found, { text: filter.slice(from).trim(), joint }];
}

/** The end of a text in single quotes. */
function endOfText(name: InterfaceName, filter: string, from: number): number {
  for (let at = from + 1; at < filter.length; at += 1) {
    if (name === 'native' && filter[at] === '\\') at += 1;
    else if (filter[at] === "'") {
      if (name === 'native' || filter[at + 1] !== "'") return at;
      at += 1;
    }
  }
  return filter.length;
}

/** The conditions that a filter joins with And. A filter of another form is a single condition. */
export function conditionsIn(name: InterfaceName, filter: string): readonly string[] {
  if (filter.trim() === '') return [];
  const parts = pieces(name, filter);
  return parts.every(({ joint }) => joint === '' || joint === 'and')
    ? parts.map(({ text }) => text)
    : [filter.trim()];
}

const joined = (name: InterfaceName, conditions: readonly string[]): string =>
  conditions.join(name === 'native' ? ' And ' : ' and ');

/** A filter with a further condition. */
export function narrowed(name: InterfaceName, filter: string, condition: string): string {
  if (filter.trim() === '') return condition;
  const isPlain = pieces(name, filter).every(({ joint }) => joint === '' || joint === 'and');
  return joined(name, [isPlain ? filter.trim() : `(${filter.trim()})`, condition]);
}

/** A filter without one of its conditions. */
export const without = (name: InterfaceName, filter: string, condition: string): string =>
  joined(
    name,
    conditionsIn(name, filter).filter((each) => each !== condition),
  );

const COMPARED = /^("[^"]+"\."[^"]+"|\w+)\s+(eq|ne|ge|le|gt|lt)\s+(.+)$/is;

/** A condition in words for people, if it is a simple comparison. */
export function conditionInWords(condition: string, fields: readonly FieldInfo[]): string {
  const [, name = '', sign = '', value = ''] = COMPARED.exec(condition) ?? [];
  const field = fields.find((each) => each.name === name);
  if (field === undefined) return condition;
  const isNull = /^null$/i.test(value);
  const operator = Object.entries(COMPARISON).find(
    ([word, own]) => own === sign.toLowerCase() && (word === 'empty' || word === 'filled') === isNull,
  )?.[0];
  const known = ORDERED.find((each) => each === operator);
  if (known === undefined) return condition;
  const words = operatorInWords(known, field);
  return isNull ? `${field.label} ${words}` : `${field.label} ${words} ${plainly(field, value)}`;
}

function plainly({ kind }: FieldInfo, value: string): string {
  if (kind === 'boolean') return /^true$/i.test(value) ? 'yes' : /^false$/i.test(value) ? 'no' : value;
  if (/^'[^']*'$/.test(value)) return value.slice(1, -1);
  return /^\d{4,}$/.test(value) && kind === 'decimal' ? Number(value).toLocaleString('en-US') : value;
}

// Errors in a filter

interface Marked {
  /** In UTF-16 code units. */
  readonly from: number;
  readonly to: number;
}

const POSITION = / at position (\d+)\b/;

/** The part of a filter to which an error message of the service refers; messages count characters from 1. */
export function markedIn(filter: string, message: string): Marked | undefined {
  const position = Number(POSITION.exec(message)?.[1] ?? 0);
  if (position === 0) return undefined;
  const from = [...filter].slice(0, position - 1).join('').length;
  const token = /^(?:'(?:[^']|'')*'?|[\w./-]+|\S)/.exec(filter.slice(from))?.[0] ?? '';
  return { from, to: from + token.length };
}
