import { parseArguments } from './call.ts';
import {
  type Cursor,
  expect,
  expectEnd,
  nested,
  peek,
  startAt,
  take,
  touches,
  unexpected,
} from './cursor.ts';
import { bracketed, parseExpression } from './expression.ts';
import type { Argument } from './nodes.ts';
import { decodePart } from './query-string.ts';
import { type Source, shown, syntaxError } from './source.ts';

/** One segment of a resource path, between slashes. */
export type PathSegment = {
  /** Decoded, whole: what the segment is when it stands for a key. */
  readonly text: string;
} & (
  | {
      readonly kind: 'name';
      readonly name: string;
      /** Parentheses: a key, or the arguments of a function and a key of its result. */
      readonly groups: readonly (readonly Argument[])[];
    }
  /** `$count` and its like, in lower case without dollar. */
  | { readonly kind: 'system'; readonly name: string }
  /** Nothing but a key can look like this. */
  | { readonly kind: 'text' }
);

const LAST = new Set(['count', 'ref', 'value', 'query', 'metadata', 'batch']);
const FIRST = new Set(['metadata', 'batch', 'all', 'entity', 'crossjoin']);
const LATER = new Set(['count', 'ref', 'value', 'query', 'filter', 'each']);

/**
 * Reads the path after the service root (OData ABNF, resourcePath): split at slashes, then decoded. Key-as-segment
 * is understood, so a segment after a plain name may be any text.
 * @throws syntax, requestMalformed
 */
export function parsePathText(rawPath: string): readonly PathSegment[] {
  if (rawPath === '') return [];
  const segments: PathSegment[] = [];
  for (const raw of rawPath.split('/')) {
    const before = segments.at(-1);
    const source = { option: 'path', text: decodePart(raw) };
    if (before?.kind === 'system' && LAST.has(before.name)) {
      throw syntaxError(source, 0, shown(source.text), `nothing after $${before.name}`);
    }
    segments.push(parseSegment(source, before));
  }
  return segments;
}

function parseSegment(source: Source, before: PathSegment | undefined): PathSegment {
  const { text } = source;
  const mayBeKey = before?.kind === 'text' || (before?.kind === 'name' && before.groups.length === 0);
  const cursor = startAt(source);
  if (text.startsWith('$')) return parseSystem(cursor, before === undefined ? FIRST : LATER);
  try {
    return parseNamed(cursor, before === undefined);
  } catch (error) {
    if (mayBeKey) return { kind: 'text', text };
    throw error;
  }
}

function parseSystem(cursor: Cursor, known: ReadonlySet<string>): PathSegment {
  const { text } = cursor.source;
  const token = peek(cursor);
  if (token.kind !== 'system' || !known.has(token.name)) throw unexpected(cursor, 'an entity set or a key');
  take(cursor);
  if (token.name === 'filter') {
    if (!touches(cursor, '(')) throw unexpected(cursor, '"(" after $filter');
    bracketed(cursor, () => {
      parseExpression(cursor);
      expect(cursor, ')', ' or an operator');
    });
  }
  if (token.name === 'crossjoin') {
    if (!touches(cursor, '(')) throw unexpected(cursor, '"(" after $crossjoin');
    parseArguments(cursor);
  }
  expectEnd(cursor, '"/"');
  return { kind: 'system', name: token.name, text };
}

function parseNamed(cursor: Cursor, first: boolean): PathSegment {
  const { source } = cursor;
  const token = peek(cursor);
  if (token.kind !== 'name' || (first && token.name.includes('.'))) {
    throw unexpected(cursor, first ? 'the name of an entity set' : 'a name');
  }
  take(cursor);
  const groups: (readonly Argument[])[] = [];
  while (touches(cursor, '(')) {
    const found = nested(cursor, () => parseArguments(cursor));
    for (const { value } of found) {
      const plain = value.kind === 'literal' || (value.kind === 'path' && value.segments[0].kind === 'at');
      if (!plain) throw syntaxError(source, value.start, 'no literal', 'a literal, such as a key in quotes');
    }
    groups.push(found);
  }
  expectEnd(cursor, '"("');
  return { kind: 'name', name: token.name, groups, text: source.text };
}
