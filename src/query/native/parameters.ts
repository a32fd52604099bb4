/**
 * Splits the query string of a native request into parameters, and lists of names into items. This module knows neither resources
 * nor the grammar of `_filter`.
 */
import { nearestName } from '../../dictionary/index.ts';
import { malformedError, platError } from '../../errors/index.ts';
import { mustNotHaveNul } from '../request.ts';
import { shortened } from './faults.ts';
import { characterCount } from './parser.ts';

export const PARAMETERS = [
  '_filter',
  '_orderby',
  '_select',
  '_expand',
  '_limit',
  '_skip',
  '_skiptoken',
  '_page',
  '_pagination',
  '_lat',
  '_lon',
  '_distance',
] as const;
export type ParameterName = (typeof PARAMETERS)[number];

export interface NativeParameters {
  readonly given: ReadonlyMap<ParameterName, string>;
  /** Parameters whose name does not begin with `_`, in order; the native interface ignores them. */
  readonly others: readonly { readonly name: string; readonly value: string }[];
}

/** An alternative spelling that occurs in the specification itself (4.3). */
const OTHER_SPELLINGS: ReadonlyMap<string, ParameterName> = new Map([['_$skip', '_skip']]);

/** Decodes a part of the query; `+` and `%20` are both a space. */
function decode(text: string, part: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw malformedError(`the percent-encoding of ${part} is not valid UTF-8`, { target: part });
  }
  mustNotHaveNul(decoded, part);
  return decoded;
}

const findParameter = (name: string): ParameterName | undefined =>
  PARAMETERS.find((parameter) => parameter === name) ?? OTHER_SPELLINGS.get(name);

/**
 * Parses a query string, without its question mark.
 *
 * @throws PlatError `requestMalformed`; `optionUnknown` for an unknown name that begins with `_`, since a client that pages with it
 * would loop forever; `optionRepeated`
 */
export function parseParameters(query: string): NativeParameters {
  const given = new Map<ParameterName, string>();
  const others: { name: string; value: string }[] = [];
  for (const part of query.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decode(equals < 0 ? part : part.slice(0, equals), 'a parameter name');
    const value = equals < 0 ? '' : decode(part.slice(equals + 1), shortened(name));
    const parameter = findParameter(name);
    if (parameter === undefined) {
      if (name.startsWith('_')) {
        throw platError(
          'optionUnknown',
          { name: shortened(name), nearest: nearestName(name, PARAMETERS) },
          { target: shortened(name) },
        );
      }
      others.push({ name, value });
    } else if (given.has(parameter)) {
      throw platError('optionRepeated', { name: parameter }, { target: parameter });
    } else {
      given.set(parameter, value);
    }
  }
  return { given, others };
}

/** One name in a list. */
export interface Item {
  readonly text: string;
  /** The position of its first character in the parameter, counted from 1. */
  readonly position: number;
}

const ITEM = /(\s*)((?:"[^"]*"|[^",])*)(,|$)/y;

/**
 * The items of a list, without the spaces around them. Commas inside double quotes belong to the name. An empty value
 * is an empty list.
 * @throws PlatError `optionInvalid` if there is nothing between two commas, or a double quote is not closed
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
