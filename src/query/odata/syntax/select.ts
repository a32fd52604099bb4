import { accept, type Cursor, commaList, expect, moveTo, peek, take, touches, unexpected } from './cursor.ts';
import type { PathPart, SelectNode } from './nodes.ts';
import { parseOptionList } from './option-list.ts';

const SELECT_OPTIONS = new Set([
  'filter',
  'search',
  'count',
  'orderby',
  'skip',
  'top',
  'compute',
  'select',
] as const);

/** One name or annotation of a path; undefined when something else comes next. */
export function parsePart(cursor: Cursor): PathPart | undefined {
  const token = peek(cursor);
  const { start } = token;
  if (token.kind !== 'name' && token.kind !== 'at') return undefined;
  take(cursor);
  return { kind: token.kind === 'at' ? 'annotation' : 'name', name: token.name, start };
}

/** Reads one item of `$select` (OData ABNF, selectItem). */
export function parseSelectItem(cursor: Cursor): SelectNode {
  const { start } = peek(cursor);
  if (accept(cursor, '*')) return { kind: 'all', start };
  const path: PathPart[] = [];
  do {
    const part = parsePart(cursor);
    if (part === undefined) throw unexpected(cursor, 'a field or *');
    path.push(part);
  } while (accept(cursor, '/'));
  if (path.length === 1 && accept(cursor, '.')) {
    expect(cursor, '*', ' after a namespace and a dot');
    return { kind: 'operations', start };
  }
  if (!touches(cursor, '(')) return { kind: 'path', path, start };
  take(cursor);
  if (isOption(cursor))
    return { kind: 'path', path, options: parseOptionList(cursor, SELECT_OPTIONS), start };
  commaList(cursor, () => {
    if (parsePart(cursor) === undefined) throw unexpected(cursor, 'an option or the name of a parameter');
  });
  expect(cursor, ')', ' or ","');
  return { kind: 'operations', start };
}

/** Whether `name =` or an alias comes next: an option, and not the name of a function's parameter. */
function isOption(cursor: Cursor): boolean {
  const token = peek(cursor);
  if (token.kind !== 'name') return true;
  take(cursor);
  const named = accept(cursor, '=');
  moveTo(cursor, token.start);
  return named;
}
