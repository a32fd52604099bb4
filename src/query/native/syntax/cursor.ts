/** The state of one parse: the token at hand, the open parentheses, and the faults noted so far. */
import { type Fault, FILTER, fault, shortened } from '../faults.ts';
import { nextToken, type Reader, type Token, type TokenKind } from './lexer.ts';
import type { PatternSpending } from './work-out.ts';

/** The limits of the language; `parentheses` guards the stack where the language itself knows none. */
export const LIMITS = {
  expressions: 75,
  values: 200,
  levels: 2,
  functions: 5,
  parentheses: 100,
} as const;

export interface Cursor extends PatternSpending {
  readonly reader: Reader;
  token: Token;
  open: number;
  calls: number;
  expressions: number;
  readonly faults: Fault[];
}

export function openCursor(text: string): Cursor {
  const reader = { text, offset: 0, position: 1 };
  return { reader, token: nextToken(reader), open: 0, calls: 0, expressions: 0, patterns: 0, faults: [] };
}

/** Takes the token at hand and reads the next. */
export function advance(cursor: Cursor): Token {
  const { token } = cursor;
  cursor.token = nextToken(cursor.reader);
  return token;
}

export const at = (cursor: Cursor, kind: TokenKind): boolean => cursor.token.kind === kind;

/** Ends the parse: nothing behind this fault can be understood. */
function stop(cursor: Cursor, found: Fault): never {
  cursor.faults.push(found);
  throw found.raise({});
}

function describe(token: Token): string {
  if (token.kind === 'end') return 'the end';
  if (token.kind === 'unknown' && token.text === "'") return 'a quote that is not closed';
  if (token.kind === 'unknown' && token.text === '"') return 'a double quote that begins no "Group"."Field"';
  return `"${shortened(token.text)}"`;
}

/** Ends the parse at the token at hand. */
export function unexpected(cursor: Cursor, expected: string, token: Token = cursor.token): never {
  const facts = { option: FILTER, position: token.position, found: describe(token), expected };
  return stop(cursor, fault('syntax', facts, token.text));
}

export function tooMany(cursor: Cursor, what: string, limit: number, token: Token = cursor.token): never {
  return stop(
    cursor,
    fault('filterTooLarge', { option: FILTER, what, limit, position: token.position }, token.text),
  );
}

function expect(cursor: Cursor, kind: TokenKind, expected: string): Token {
  return at(cursor, kind) ? advance(cursor) : unexpected(cursor, expected);
}

/** Takes a `(`; each must be paid back with `closeParenthesis`. */
export function openParenthesis(cursor: Cursor): Token {
  if (cursor.open === LIMITS.parentheses) tooMany(cursor, 'open parentheses', LIMITS.parentheses);
  cursor.open += 1;
  return advance(cursor);
}

export function closeParenthesis(cursor: Cursor): void {
  expect(cursor, ')', 'a closing parenthesis');
  cursor.open -= 1;
}
