import { type LiteralText, matchAt, readBareLiteral, readPrefixedLiteral, readQuoted } from './literal.ts';
import { type Source, shown, syntaxError } from './source.ts';

interface Span {
  /** Offsets into the text. */
  readonly start: number;
  readonly end: number;
}

export type Token = Span &
  (
    | { readonly kind: 'end' }
    | { readonly kind: 'symbol'; readonly symbol: string }
    /** Identifiers joined by dots, as written. */
    | { readonly kind: 'name'; readonly name: string }
    /** `$count` and its like: the name in lower case, without the dollar. */
    | { readonly kind: 'system'; readonly name: string }
    /** A parameter alias, or an annotation: the name without the at sign, a qualifier after `#`. */
    | { readonly kind: 'at'; readonly name: string }
    | { readonly kind: 'literal'; readonly literal: LiteralText }
    /** A JSON string, unescaped. */
    | { readonly kind: 'json'; readonly value: string }
  );

const SPACE = /[ \t\r\n]*/y;
const START = '[\\p{L}\\p{Nl}_]';
const PART = '[\\p{L}\\p{Nl}\\p{Nd}\\p{Mn}\\p{Mc}\\p{Pc}\\p{Cf}]';
const IDENTIFIER = `${START}${PART}*`;
const QUALIFIED = `${IDENTIFIER}(?:\\.${IDENTIFIER})*`;
const NAME = new RegExp(QUALIFIED, 'uy');
const SYSTEM = new RegExp(`\\$${IDENTIFIER}`, 'uy');
const AT = new RegExp(`@${QUALIFIED}(?:#${IDENTIFIER})?`, 'uy');
const JSON_TEXT = /"[^"\\]*(?:\\.[^"\\]*)*"/y;
const SYMBOLS = '(),/:;=[]{}*-.';

/** The offset of the next character that is not white space. */
export const skipSpace = (text: string, offset: number): number =>
  offset + (matchAt(SPACE, text, offset)?.length ?? 0);

function readJson(source: Source, start: number): Token {
  const found = matchAt(JSON_TEXT, source.text, start);
  if (found === undefined) throw syntaxError(source, start, 'a string that is not closed', 'a closing "');
  try {
    const value: unknown = JSON.parse(found);
    if (typeof value === 'string') return { kind: 'json', value, start, end: start + found.length };
  } catch {
    // Told below: the only fault left is an escape that JSON does not have.
  }
  throw syntaxError(source, start, shown(found), 'a JSON string');
}

function readName(source: Source, start: number, name: string): Token {
  const end = start + name.length;
  const literal = (form: 'null' | 'boolean'): Token => ({
    kind: 'literal',
    literal: { form, text: name.toLowerCase() },
    start,
    end,
  });
  if (source.text[end] === "'") return { kind: 'literal', ...readPrefixedLiteral(source, name, end), start };
  switch (name.toLowerCase()) {
    case 'null':
      return literal('null');
    case 'true':
    case 'false':
      return literal('boolean');
    default:
      return { kind: 'name', name, start, end };
  }
}

/**
 * Reads the token after white space at an offset.
 * @throws syntax for a character that begins none.
 */
export function readToken(source: Source, offset: number, splitTimes: boolean): Token {
  const { text } = source;
  const start = skipSpace(text, offset);
  const first = text[start];
  if (first === undefined) return { kind: 'end', start, end: start };
  if (first === "'") {
    const quoted = readQuoted(source, start);
    return { kind: 'literal', literal: { form: 'string', text: quoted.text }, start, end: quoted.end };
  }
  if (first === '"') return readJson(source, start);
  const literal = readBareLiteral(source, start, splitTimes);
  if (literal !== undefined) return { kind: 'literal', ...literal, start };
  const name = matchAt(NAME, text, start);
  if (name !== undefined) return readName(source, start, name);
  const system = matchAt(SYSTEM, text, start);
  if (system !== undefined) {
    return { kind: 'system', name: system.slice(1).toLowerCase(), start, end: start + system.length };
  }
  const at = matchAt(AT, text, start);
  if (at !== undefined) return { kind: 'at', name: at.slice(1), start, end: start + at.length };
  if (SYMBOLS.includes(first)) return { kind: 'symbol', symbol: first, start, end: start + 1 };
  const character = String.fromCodePoint(text.codePointAt(start) ?? 0);
  throw syntaxError(source, start, JSON.stringify(character), 'a name, a value or an operator');
}

/** A token as a message shows it. */
export function describeToken(source: Source, token: Token): string {
  return token.kind === 'end' ? 'the end' : shown(source.text.slice(token.start, token.end));
}
