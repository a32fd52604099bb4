/** Comma-separated names: `_select`, `_expand` and `_orderby`. */

import { platError } from '../../errors/index.ts';
import { shortened } from './faults.ts';
import { characterCount } from './syntax/lexer.ts';

export interface Item {
  readonly text: string;
  /** Of its first character in the parameter, counted from 1. */
  readonly position: number;
}

const ITEM = /(\s*)((?:"[^"]*"|[^",])*)(,|$)/y;

/**
 * The items of a list, without the spaces around them. Commas inside double quotes belong to the name.
 * An empty value is an empty list.
 * @throws PlatError `optionInvalid` when nothing stands between two commas, or a double quote is not closed
 */
export function readList(name: string, value: string): readonly Item[] {
  if (value.trim() === '') return [];
  const items: Item[] = [];
  let position = 1;
  for (let offset = 0; ; ) {
    ITEM.lastIndex = offset;
    const [whole = '', space = '', item = '', end] = ITEM.exec(value) ?? [];
    const text = item.trimEnd();
    if (text === '') {
      const expected = 'names with one comma between two of them';
      throw platError('optionInvalid', { name, value: shortened(value), expected }, { target: name });
    }
    items.push({ text, position: position + space.length });
    position += characterCount(whole);
    offset += whole.length;
    if (end === '') return items;
  }
}
