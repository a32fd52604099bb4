import type { Walk } from '../source.ts';

/** A key as a literal of OData. */
export const quoted = (key: string): string => `'${key.replaceAll("'", "''")}'`;

/** A key as the source writes it: digits alone where its keys are numbers. */
export const literalOf = (key: string, isNumeric: boolean): string =>
  isNumeric && /^\d+$/.test(key) ? key : quoted(key);

export const recordAddress = (collection: string, literal: string): string =>
  `${collection}(${encodeURIComponent(literal)})`;

/** Where the sub-data of a listing are: `Property('key')/Media`, or `Property/key/Media` (specification 4.2). */
export type ChildAddress = 'key' | 'segment';

export function childAddress(collection: string, literal: string, child: string, way: ChildAddress): string {
  if (way === 'key') return `${recordAddress(collection, literal)}/${child}`;
  const bare = literal.startsWith("'") ? literal.slice(1, -1).replaceAll("''", "'") : literal;
  return `${collection}/${encodeURIComponent(bare)}/${child}`;
}

/** Encodes the value of an option; the characters that OData itself uses stay readable. */
export function encodeOption(option: string): string {
  const [name = '', value = ''] = option.split(/=(.*)/s, 2);
  return `${name}=${encodeURIComponent(value).replace(/%(?:2C|24|28|29|27|3A)/g, decodeURIComponent)}`;
}

/** The window as the specification writes it: exclusive bounds, in parentheses (4.2). */
export function filterOf(walk: Walk): string[] {
  if (walk.kind === 'all') return [];
  return [`$filter=(${walk.field} gt ${walk.lower} and ${walk.field} lt ${walk.upper})`];
}

/** The same link with another page size. */
export function withTop(url: string, size: number): string {
  return url.replace(/([?&](?:\$|%24)?top=)\d+/i, `$1${size}`);
}
