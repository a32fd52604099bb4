import type { PlatError } from '../../../errors/index.ts';
import { MAX_DEPTH } from '../limits.ts';
import { describeToken, readToken, type Token } from './lexer.ts';
import { type Source, syntaxError, tooLarge } from './source.ts';

/** A place in a text that is being read. */
export interface Cursor {
  readonly source: Source;
  /** Everything before it is read. */
  offset: number;
  /** Levels of nesting that are open. */
  depth: number;
  /** Inside the condition of a `case` branch (see readBareLiteral). */
  splitTimes: boolean;
  /** The token after `offset`, when it was looked at already. */
  ahead: Token | undefined;
}

export const startAt = (source: Source): Cursor => ({
  source,
  offset: 0,
  depth: 0,
  splitTimes: false,
  ahead: undefined,
});

export function peek(cursor: Cursor): Token {
  cursor.ahead ??= readToken(cursor.source, cursor.offset, cursor.splitTimes);
  return cursor.ahead;
}

export function take(cursor: Cursor): Token {
  const token = peek(cursor);
  moveTo(cursor, token.end);
  return token;
}

/** Goes on (or back) to an offset. */
export function moveTo(cursor: Cursor, offset: number): void {
  cursor.offset = offset;
  cursor.ahead = undefined;
}

export const isSymbol = (token: Token, symbol: string): boolean =>
  token.kind === 'symbol' && token.symbol === symbol;

/** Whether the very next character, without white space before it, is this one. */
export const touches = (cursor: Cursor, character: string): boolean =>
  cursor.source.text[cursor.offset] === character;

/** Takes a symbol if it comes next. */
export function accept(cursor: Cursor, symbol: string): boolean {
  if (!isSymbol(peek(cursor), symbol)) return false;
  take(cursor);
  return true;
}

/** @throws syntax when another token comes next. */
export function expect(cursor: Cursor, symbol: string, or = ''): void {
  if (!accept(cursor, symbol)) throw unexpected(cursor, `"${symbol}"${or}`);
}

/** @throws syntax when anything is left. */
export function expectEnd(cursor: Cursor, or: string): void {
  if (peek(cursor).kind !== 'end') throw unexpected(cursor, `${or} or the end`);
}

/** The error that the next token is not what should stand here. */
export function unexpected(cursor: Cursor, expected: string): PlatError {
  const token = peek(cursor);
  return syntaxError(cursor.source, token.start, describeToken(cursor.source, token), expected);
}

/**
 * Reads something one level deeper.
 * @throws filterTooLarge beyond MAX_DEPTH, so that no text exhausts the stack.
 */
export function nested<T>(cursor: Cursor, read: () => T): T {
  if (cursor.depth >= MAX_DEPTH) {
    throw tooLarge(cursor.source, peek(cursor).start, 'levels of nesting', MAX_DEPTH);
  }
  cursor.depth++;
  const result = read();
  cursor.depth--;
  return result;
}

/** Reads `item , item …`. */
export function commaList<T>(cursor: Cursor, item: () => T): T[] {
  const items = [item()];
  while (accept(cursor, ',')) items.push(item());
  return items;
}
