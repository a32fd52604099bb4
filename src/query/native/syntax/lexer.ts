/**
 * The words of `_filter`. The order in which forms are tried is part of the language: NULL goes before
 * field names (so no field may begin with "Null"), timestamps before dates before numbers.
 */

export type TokenKind =
  | '('
  | ')'
  | ','
  | 'null'
  | 'field'
  | 'custom'
  | 'datetime'
  | 'date'
  | 'time'
  | 'decimal'
  | 'integer'
  | 'minus'
  | 'character'
  | 'boolean'
  | 'function'
  | 'operator'
  | 'range'
  | 'conjunction'
  | 'not'
  | 'arithmetic'
  | 'end'
  | 'unknown';

export interface Token {
  readonly kind: TokenKind;
  /** As written, but reserved words in their standard spelling (`Eq`, `And`). */
  readonly text: string;
  /** Of its first character, counted from 1. */
  readonly position: number;
}

/** Where reading stands: the offset counts UTF-16 units, the position characters. */
export interface Reader {
  readonly text: string;
  offset: number;
  position: number;
}

const RESERVED: ReadonlyMap<string, TokenKind> = new Map([
  ...['Eq', 'Ne', 'Gt', 'Ge', 'Lt', 'Le'].map((word) => [word, 'operator'] as const),
  ['Bt', 'range'],
  ['And', 'conjunction'],
  ['Or', 'conjunction'],
  ['Not', 'not'],
  ...['Add', 'Sub', 'Mul', 'Div', 'Mod'].map((word) => [word, 'arithmetic'] as const),
]);

const SPACE = /[\t ]+/y;
const UPPER: readonly Form[] = [
  ['null', /NULL|Null/y],
  ['field', /[A-Z][A-Za-z0-9]*/y],
];
const LOWER: readonly Form[] = [
  ['null', /null/y],
  ['boolean', /true|false/y],
  ['function', /[A-Za-z]+/y],
];
const NUMERIC: readonly Form[] = [
  ['datetime', /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,50})?)?(?:[+-]\d\d:?\d\d|Z)?/y],
  ['date', /\d{4}-\d\d-\d\d/y],
  ['time', /\d\d:\d\d(?::\d\d(?:\.\d{1,50})?)?/y],
  ['decimal', /-?\d+\.\d+(?:[Ee]-?\d{1,2})?/y],
  ['integer', /-?\d+/y],
  ['minus', /-/y],
];
const TEXT: readonly Form[] = [['character', /'[^'\\]*(?:\\.[^'\\]*)*'/y]];
const CUSTOM: readonly Form[] = [['custom', /"[^$."][^."]+"\."[^$."][^."]*"/y]];
const OPEN: readonly Form[] = [['(', /\(/y]];
const CLOSE: readonly Form[] = [[')', /\)/y]];
const COMMA: readonly Form[] = [[',', /,/y]];

type Form = readonly [TokenKind, RegExp];

/** Each form is told by its first character, so only a few are tried at any place. */
function formsFrom(first: string): readonly Form[] {
  if (first >= 'A' && first <= 'Z') return UPPER;
  if (first >= 'a' && first <= 'z') return LOWER;
  if ((first >= '0' && first <= '9') || first === '-') return NUMERIC;
  switch (first) {
    case '(':
      return OPEN;
    case ')':
      return CLOSE;
    case ',':
      return COMMA;
    case "'":
      return TEXT;
    case '"':
      return CUSTOM;
    default:
      return [];
  }
}

function take(reader: Reader, form: RegExp): string | undefined {
  form.lastIndex = reader.offset;
  const text = form.exec(reader.text)?.[0];
  if (text === undefined) return undefined;
  reader.offset += text.length;
  return text;
}

/** A character beyond the basic plane is two UTF-16 units, but one position. */
export const characterCount = (text: string): number =>
  /[\ud800-\udbff]/.test(text) ? [...text].length : text.length;

/** Reads the next token; after the last one, `end` for ever. What is no token is `unknown`, one character. */
export function nextToken(reader: Reader): Token {
  reader.position += take(reader, SPACE)?.length ?? 0;
  const { position, offset, text } = reader;
  const code = text.codePointAt(offset);
  if (code === undefined) return { kind: 'end', text: '', position };
  const first = String.fromCodePoint(code);
  for (const [kind, form] of formsFrom(first)) {
    const found = take(reader, form);
    if (found === undefined) continue;
    reader.position += characterCount(found);
    return kind === 'field' || kind === 'function'
      ? reserved(kind, found, position)
      : { kind, text: found, position };
  }
  reader.offset += first.length;
  reader.position += 1;
  return { kind: 'unknown', text: first, position };
}

/** Reserved words are so in any case; digits keep a word from being one. */
function reserved(kind: TokenKind, text: string, position: number): Token {
  const word = text.charAt(0).toUpperCase() + text.slice(1).toLowerCase();
  const meant = RESERVED.get(word);
  return meant === undefined ? { kind, text, position } : { kind: meant, text: word, position };
}
