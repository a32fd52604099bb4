import { accept, type Cursor, commaList, expect, moveTo, peek, take, unexpected } from './cursor.ts';
import { bracketed, parseExpression } from './expression.ts';
import type { Argument, Node, Segment } from './nodes.ts';
import { parseRest } from './path.ts';

/** Reads a call, or the path that goes on from its result. The next token is its name, then `(` without space. */
export function parseCall(cursor: Cursor): Node {
  const token = take(cursor);
  const { start } = token;
  const name = token.kind === 'name' ? token.name : '';
  switch (name.toLowerCase()) {
    case 'cast':
      return bracketed(cursor, () => parseTyped(cursor, 'cast', start));
    case 'isof':
      return bracketed(cursor, () => parseTyped(cursor, 'isof', start));
    case 'case':
      return bracketed(cursor, () => parseCase(cursor, start));
    case 'any':
    case 'all':
      throw unexpected(cursor, `a list and "/" in front of ${name}`);
  }
  const head: Segment & { kind: 'call' } = { kind: 'call', name, arguments: parseArguments(cursor), start };
  const segments = parseRest(cursor, head);
  return segments.length === 1 ? head : { kind: 'path', segments, start };
}

/** Reads `( … )` with any number of arguments, each of which may be named. */
export function parseArguments(cursor: Cursor): Argument[] {
  return bracketed(cursor, () => {
    if (accept(cursor, ')')) return [];
    const found = commaList(cursor, () => parseArgument(cursor));
    expect(cursor, ')', ' or ","');
    return found;
  });
}

function parseArgument(cursor: Cursor): Argument {
  const token = peek(cursor);
  if (token.kind === 'name') {
    take(cursor);
    if (accept(cursor, '=')) return { name: token.name, value: parseExpression(cursor) };
    moveTo(cursor, token.start);
  }
  return { value: parseExpression(cursor) };
}

/** `cast(T)`, `cast(x,T)` and the same of `isof`. */
function parseTyped(cursor: Cursor, kind: 'cast' | 'isof', start: number): Node {
  const first = peek(cursor);
  if (first.kind === 'name') {
    const type = parseTypeName(cursor);
    if (accept(cursor, ')')) return { kind, type, start };
    moveTo(cursor, first.start);
  }
  const operand = parseExpression(cursor);
  expect(cursor, ',', ' and a type');
  const type = parseTypeName(cursor);
  expect(cursor, ')');
  return { kind, operand, type, start };
}

function parseTypeName(cursor: Cursor): string {
  const outer = takeTypeName(cursor);
  if (outer !== 'Collection' || !accept(cursor, '(')) return outer;
  const inner = takeTypeName(cursor);
  expect(cursor, ')');
  return `Collection(${inner})`;
}

function takeTypeName(cursor: Cursor): string {
  const token = peek(cursor);
  if (token.kind !== 'name') throw unexpected(cursor, 'a type, such as Edm.String');
  take(cursor);
  return token.name;
}

/** `case(condition:value, …)` (OData 4.01 URL conventions, 5.1.1.12.1). */
function parseCase(cursor: Cursor, start: number): Node {
  const branches = commaList(cursor, () => {
    cursor.splitTimes = true;
    cursor.ahead = undefined;
    const when = parseExpression(cursor);
    cursor.splitTimes = false;
    cursor.ahead = undefined;
    expect(cursor, ':', ' after the condition');
    return { when, result: parseExpression(cursor) };
  });
  expect(cursor, ')', ' or ","');
  return { kind: 'case', branches, start };
}
