import { accept, type Cursor, peek, take, touches, unexpected } from './cursor.ts';
import { type ExpandNode, NO_OPTIONS, type OptionNodes, type PathPart } from './nodes.ts';
import { parseOptionList } from './option-list.ts';
import type { ParsedOption } from './option-name.ts';
import { parsePart } from './select.ts';

const COUNT_OPTIONS = new Set<ParsedOption>(['filter', 'search']);
const REFERENCE_OPTIONS = new Set<ParsedOption>([...COUNT_OPTIONS, 'orderby', 'skip', 'top', 'count']);
const RECORD_OPTIONS = new Set<ParsedOption>([...REFERENCE_OPTIONS, 'select', 'expand', 'compute', 'levels']);
const STAR_OPTIONS = new Set<ParsedOption>(['levels']);
const NONE = new Set<ParsedOption>();

const EXPANSION = 'an expansion, such as Media, or *';

type Give = 'records' | 'references' | 'count';

/** Reads one item of `$expand` (OData ABNF, expandItem). */
export function parseExpandItem(cursor: Cursor): ExpandNode {
  const first = peek(cursor);
  const { start } = first;
  if (first.kind === 'system' && first.name === 'value') {
    take(cursor);
    return { kind: 'media', start };
  }
  const path: PathPart[] = [];
  let star = false;
  let give: Give = 'records';
  do {
    const part = parsePart(cursor);
    if (part !== undefined) path.push(part);
    else if (accept(cursor, '*')) star = true;
    else give = parseEnding(cursor, path);
  } while (!star && give === 'records' && accept(cursor, '/'));
  if (star && accept(cursor, '/')) give = parseEnding(cursor, path, true);
  const options = parseOptions(cursor, optionsOf(star, give));
  if (star) return { kind: 'star', path, give, options, start };
  const [head, ...rest] = path;
  if (head === undefined) throw unexpected(cursor, EXPANSION);
  return { kind: 'path', path: [head, ...rest], give, options, start };
}

function parseEnding(cursor: Cursor, path: readonly PathPart[], star = false): Give {
  const token = peek(cursor);
  if (token.kind === 'system' && (path.length > 0 || star)) {
    if (token.name === 'ref') {
      take(cursor);
      return 'references';
    }
    if (token.name === 'count' && !star) {
      take(cursor);
      return 'count';
    }
  }
  throw unexpected(cursor, star ? '$ref after */' : EXPANSION);
}

function optionsOf(star: boolean, give: Give): ReadonlySet<ParsedOption> {
  switch (give) {
    case 'references':
      return star ? NONE : REFERENCE_OPTIONS;
    case 'count':
      return COUNT_OPTIONS;
    case 'records':
      return star ? STAR_OPTIONS : RECORD_OPTIONS;
  }
}

function parseOptions(cursor: Cursor, allowed: ReadonlySet<ParsedOption>): OptionNodes {
  if (allowed === NONE || !touches(cursor, '(')) return NO_OPTIONS;
  take(cursor);
  return parseOptionList(cursor, allowed);
}
