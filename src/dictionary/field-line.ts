/** The notation of the field tables: their lines, and the types in them, which declarations also use. */
import type { JoinedFrom, ScalarType } from './types.ts';

/** One line of a field table, before names are resolved. */
export type FieldLine =
  | {
      readonly kind: 'field';
      readonly name: string;
      readonly type: ScalarType;
      readonly collection: boolean;
      readonly lookup?: string;
      readonly closedLookup: boolean;
      readonly class: string;
      readonly joined?: JoinedFrom;
    }
  | {
      readonly kind: 'navigation';
      readonly name: string;
      readonly target: string;
      readonly collection: boolean;
      readonly via: string;
      readonly remote?: string;
    }
  | { readonly kind: 'alias'; readonly name: string; readonly of: string };

const TYPE = /^(string|integer|decimal|boolean|date|timestamp)(?:\((\d+)(?:,(\d+))?\))?(\[\])?$/;
const NAVIGATION = /^-> (\w+)(\[\])? via (\w+)(?: = (\w+))?$/;
const JOINED = /^(.+) <- (\w+)\.(\w+) via (\w+)$/;

/**
 * Parses a type such as `string(50)`, `decimal(14,2)` or `string(1024)[]`. Only strings can be multi-valued. Sizes are at least 1,
 * and the scale does not exceed the precision (CSDL 7.2.2 to 7.2.4).
 */
export function parseType(text: string): { type: ScalarType; collection: boolean } | undefined {
  const match = TYPE.exec(text);
  if (!match) return undefined;
  const [, kind, first, second, brackets] = match;
  const collection = brackets !== undefined;
  const size = first === undefined ? undefined : Number(first);
  const scale = second === undefined ? undefined : Number(second);
  if (size === 0 || (collection && kind !== 'string')) return undefined;
  if (scale !== undefined && kind !== 'decimal') return undefined;
  switch (kind) {
    case 'string':
      return { type: size === undefined ? { kind } : { kind, maxLength: size }, collection };
    case 'integer':
      return { type: size === undefined ? { kind } : { kind, digits: size }, collection };
    case 'decimal':
      if (size === undefined || scale === undefined || scale > size) return undefined;
      if (scale === 0) return { type: { kind: 'integer', digits: size }, collection };
      return { type: { kind, precision: size, scale }, collection };
    case 'boolean':
    case 'date':
    case 'timestamp':
      return size === undefined ? { type: { kind }, collection } : undefined;
    default:
      return undefined;
  }
}

/**
 * Reads one line of `data/fields/*.tsv`: name, type, lookup, class.
 * @throws Error with the line, for the editor of the table
 */
export function parseFieldLine(line: string): FieldLine {
  const [name = '', notation = '', lookup = '', visibility = ''] = line.split('\t');
  if (notation.startsWith('= ')) return { kind: 'alias', name, of: notation.slice(2) };
  const navigation = NAVIGATION.exec(notation);
  if (navigation) {
    const [, target = '', brackets, via = '', remote] = navigation;
    return {
      kind: 'navigation',
      name,
      target,
      collection: brackets !== undefined,
      via,
      ...(remote === undefined ? {} : { remote }),
    };
  }
  const joined = JOINED.exec(notation);
  const parsed = parseType(joined?.[1] ?? notation);
  if (name === '' || parsed === undefined || visibility === '') {
    throw new Error(`The dictionary line is not "name, type, lookup, class": ${line}`);
  }
  const [, , resource = '', field = '', link = ''] = joined ?? [];
  return {
    kind: 'field',
    name,
    ...parsed,
    ...(lookup === '' ? {} : { lookup: lookup.replace(/!$/, '') }),
    closedLookup: lookup.endsWith('!'),
    class: visibility,
    ...(joined ? { joined: { link, resource, field } } : {}),
  };
}
