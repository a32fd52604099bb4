import { platError } from '../../../errors/index.ts';
import { type Cursor, commaList, moveTo, peek, take, unexpected } from './cursor.ts';
import { parseExpandItem } from './expand.ts';
import { parseExpression } from './expression.ts';
import { skipSpace } from './lexer.ts';
import { matchAt } from './literal.ts';
import type { ComputeNode, OptionNodes, OrderNode } from './nodes.ts';
import type { ParsedOption } from './option-name.ts';
import { parseSearch } from './search.ts';
import { parseSelectItem } from './select.ts';
import { shown } from './source.ts';

/** Up to the end of the option where others follow, or to the end of the text. */
const PLAIN_IN_LIST = /[^;)]*/y;
const PLAIN = /.*/sy;

/** Reads the value of one option. */
export function readOption(cursor: Cursor, option: ParsedOption, inList: boolean): Partial<OptionNodes> {
  const { source } = cursor;
  switch (option) {
    case 'filter':
      return { filter: { source, value: parseExpression(cursor) } };
    case 'orderby':
      return { orderby: { source, value: commaList(cursor, () => parseOrderItem(cursor)) } };
    case 'compute':
      return { compute: { source, value: commaList(cursor, () => parseComputeItem(cursor)) } };
    case 'select':
      return { select: { source, value: commaList(cursor, () => parseSelectItem(cursor)) } };
    case 'expand':
      return { expand: { source, value: commaList(cursor, () => parseExpandItem(cursor)) } };
    case 'search':
      return { search: parseSearch(cursor, inList) };
    case 'top':
      return { top: readWhole(cursor, '$top', inList) };
    case 'skip':
      return { skip: readWhole(cursor, '$skip', inList) };
    case 'count':
      return { count: readBoolean(cursor, inList) };
    case 'levels':
      return { levels: readLevels(cursor, inList) };
  }
}

function readPlain(cursor: Cursor, inList: boolean): string {
  const start = skipSpace(cursor.source.text, cursor.offset);
  const found = matchAt(inList ? PLAIN_IN_LIST : PLAIN, cursor.source.text, start) ?? '';
  moveTo(cursor, start + found.length);
  return found.trimEnd();
}

const invalid = (name: string, value: string, expected: string) =>
  platError('optionInvalid', { name, value: shown(value), expected }, { target: name });

function readWhole(cursor: Cursor, name: string, inList: boolean): number {
  const text = readPlain(cursor, inList);
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number)) return number;
  throw invalid(name, text, 'a whole number, 0 or more');
}

function readBoolean(cursor: Cursor, inList: boolean): boolean {
  const text = readPlain(cursor, inList);
  switch (text.toLowerCase()) {
    case 'true':
      return true;
    case 'false':
      return false;
    default:
      throw invalid('$count', text, 'true or false');
  }
}

function readLevels(cursor: Cursor, inList: boolean): number | 'max' {
  const text = readPlain(cursor, inList);
  if (text.toLowerCase() === 'max') return 'max';
  const number = Number(text);
  if (/^[1-9]\d*$/.test(text) && Number.isSafeInteger(number)) return number;
  throw invalid('$levels', text, 'a whole number, 1 or more, or max');
}

function parseOrderItem(cursor: Cursor): OrderNode {
  const expression = parseExpression(cursor);
  const token = peek(cursor);
  const word = token.kind === 'name' ? token.name.toLowerCase() : '';
  if (word === 'asc' || word === 'desc') take(cursor);
  return { expression, descending: word === 'desc' };
}

function parseComputeItem(cursor: Cursor): ComputeNode {
  const expression = parseExpression(cursor);
  const as = peek(cursor);
  if (as.kind !== 'name' || as.name.toLowerCase() !== 'as') throw unexpected(cursor, 'an operator or "as"');
  take(cursor);
  const token = peek(cursor);
  if (token.kind !== 'name' || token.name.includes('.')) throw unexpected(cursor, 'a name after "as"');
  take(cursor);
  return { expression, name: token.name, start: token.start };
}
