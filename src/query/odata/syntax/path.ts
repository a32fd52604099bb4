import { parseArguments } from './call.ts';
import { accept, type Cursor, expect, isSymbol, peek, take, touches, unexpected } from './cursor.ts';
import { bracketed, parseExpression } from './expression.ts';
import type { Token } from './lexer.ts';
import type { Node, Segment } from './nodes.ts';
import { parseOptionList } from './option-list.ts';
import { shown } from './source.ts';

const COUNT_OPTIONS = new Set(['filter', 'search'] as const);

const isLambda = (name: string): name is 'any' | 'all' => name === 'any' || name === 'all';

/** Reads a path: a head and what follows it after slashes (OData ABNF, firstMemberExpr). */
export function parsePath(cursor: Cursor): Node {
  const { start } = peek(cursor);
  const head = parseHead(cursor);
  const segments = parseRest(cursor, head);
  if (segments.length === 1 && head.kind === 'name' && head.name.includes('.')) {
    throw unexpected(cursor, `"(" or "/" after ${shown(head.name)}`);
  }
  if (segments.length === 1 && head.kind === 'root') throw unexpected(cursor, '"/" after $root');
  return { kind: 'path', segments, start };
}

/** Reads on after a head that was read already. */
export function parseRest(cursor: Cursor, head: Segment): [Segment, ...Segment[]] {
  const segments: [Segment, ...Segment[]] = [head];
  let last = head;
  while (last.kind !== 'lambda' && last.kind !== 'count') {
    if (addressable(last) && touches(cursor, '(')) {
      const { start } = peek(cursor);
      last = { kind: 'key', arguments: parseArguments(cursor), start };
    } else if (accept(cursor, '/')) {
      last = parseSegment(cursor);
    } else {
      break;
    }
    segments.push(last);
  }
  return segments;
}

const addressable = (segment: Segment): boolean => segment.kind === 'call' || segment.kind === 'filter';

function parseHead(cursor: Cursor): Segment {
  const token = peek(cursor);
  const head = headOf(token);
  if (head === undefined) throw unexpected(cursor, 'a field, $it or $this');
  take(cursor);
  return head;
}

function headOf(token: Token): Segment | undefined {
  const { start } = token;
  switch (token.kind) {
    case 'name':
      return { kind: 'name', name: token.name, start };
    case 'at':
      return { kind: 'at', name: token.name, start };
    case 'system':
      switch (token.name) {
        case 'it':
        case 'this':
        case 'root':
          return { kind: token.name, start };
      }
  }
  return undefined;
}

function parseSegment(cursor: Cursor): Segment {
  const token = peek(cursor);
  const { start } = token;
  switch (token.kind) {
    case 'name': {
      take(cursor);
      if (!touches(cursor, '(')) return { kind: 'name', name: token.name, start };
      const operator = token.name.toLowerCase();
      if (isLambda(operator)) return parseLambda(cursor, operator, start);
      return { kind: 'call', name: token.name, arguments: parseArguments(cursor), start };
    }
    case 'at':
      take(cursor);
      return { kind: 'at', name: token.name, start };
    case 'system':
      if (token.name === 'count') {
        take(cursor);
        return parseCount(cursor, start);
      }
      if (token.name === 'filter') {
        take(cursor);
        if (!touches(cursor, '(')) throw unexpected(cursor, '"(" after $filter');
        return bracketed(cursor, () => {
          const predicate = parseExpression(cursor);
          expect(cursor, ')', ' or an operator');
          return { kind: 'filter', predicate, start };
        });
      }
  }
  throw unexpected(cursor, 'a name, any, all, $count or $filter after "/"');
}

function parseCount(cursor: Cursor, start: number): Segment {
  if (!touches(cursor, '(')) return { kind: 'count', start };
  const { filter, search } = bracketed(cursor, () => parseOptionList(cursor, COUNT_OPTIONS));
  return {
    kind: 'count',
    ...(filter && { filter: filter.value }),
    ...(search && { search }),
    start,
  };
}

function parseLambda(cursor: Cursor, operator: 'any' | 'all', start: number): Segment {
  return bracketed(cursor, () => {
    if (operator === 'any' && accept(cursor, ')')) return { kind: 'lambda', operator, start };
    const variable = peek(cursor);
    if (variable.kind !== 'name' || variable.name.includes('.')) {
      throw unexpected(cursor, `a variable, such as ${operator}(x: …)`);
    }
    take(cursor);
    if (!isSymbol(peek(cursor), ':'))
      throw unexpected(cursor, `":" after the variable ${shown(variable.name)}`);
    take(cursor);
    const predicate = parseExpression(cursor);
    expect(cursor, ')', ' or an operator');
    return { kind: 'lambda', operator, variable: variable.name, predicate, start };
  });
}
