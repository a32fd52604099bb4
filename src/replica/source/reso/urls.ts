/** URLs and query options of a RESO server. */
import type { Walk } from '../source.ts';

/** A key as an OData string literal. */
export const quoted = (key: string): string => `'${key.replaceAll("'", "''")}'`;

/** A key as a literal of the source: digits without quotes if its keys are numbers. */
export const literalOf = (key: string, isNumeric: boolean): string =>
  isNumeric && /^\d+$/.test(key) ? key : quoted(key);

export const recordAddress = (collection: string, literal: string): string =>
  `${collection}(${encodeURIComponent(literal)})`;

/** The form of the URL of a listing's sub-resources: `Property('key')/Media`, or `Property/key/Media` (specification 4.2). */
export type ChildAddress = 'key' | 'segment';

export function childAddress(collection: string, literal: string, child: string, form: ChildAddress): string {
  if (form === 'key') return `${recordAddress(collection, literal)}/${child}`;
  const bare = literal.startsWith("'") ? literal.slice(1, -1).replaceAll("''", "'") : literal;
  return `${collection}/${encodeURIComponent(bare)}/${child}`;
}

/** Adds query options to a URL. Characters with a meaning in OData are not percent-encoded in their values. */
export function withOptions(address: string, options: readonly string[]): string {
  const encoded = options.map((option) => {
    const [name = '', value = ''] = option.split(/=(.*)/s, 2);
    return `${name}=${encodeURIComponent(value).replace(/%(?:2C|24|28|29|27|3A)/g, decodeURIComponent)}`;
  });
  return encoded.length === 0 ? address : `${address}?${encoded.join('&')}`;
}

/** The condition of a window as in the specification: exclusive bounds, in parentheses (4.2). */
export const windowCondition = (walk: Walk): string | undefined =>
  walk.kind === 'all' ? undefined : `(${walk.field} gt ${walk.lower} and ${walk.field} lt ${walk.upper})`;

/** The number of seconds after which the condition below recurs for keys that are numbers, so that it fits into 32 bits. */
const RECURS = 1_000_000_000;

/**
 * A condition that every record meets, and that no request of an earlier walk had. A source may keep the list that it found for a
 * filter, as plat does for ten minutes: a walk with the same filter as an earlier one would miss every record that has been added
 * since, and a sweep would delete it.
 * @param now milliseconds since 1970
 */
export const newCondition = (key: string, now: number, hasNumericKeys: boolean): string =>
  `${key} ne ${hasNumericKeys ? -(1 + (Math.floor(now / 1000) % RECURS)) : quoted(`plat-${now}`)}`;

/** The query option for records that meet all of the conditions; none if there are none. */
export function filterBy(...conditions: readonly (string | undefined)[]): string[] {
  const given = conditions.filter((each) => each !== undefined);
  const grouped = given.map((each) => (given.length > 1 && / or /i.test(each) ? `(${each})` : each));
  return given.length === 0 ? [] : [`$filter=${grouped.join(' and ')}`];
}

/** Changes a next link to request keys only; undefined if the link does not show what it requests. */
export function withKeysAlone(url: string, key: string, expansions: readonly string[]): string | undefined {
  if (expansions.length === 0) return `${url}${url.includes('?') ? '&' : '?'}$select=${key}`;
  const expand = /([?&])(?:\$|%24)expand=[^&]*/i;
  return expand.test(url) ? url.replace(expand, `$1$select=${key}`) : undefined;
}

/** Changes a next link for keys to request complete records; undefined if the link does not show what it requests. */
export function withRecords(url: string, key: string, expansions: readonly string[]): string | undefined {
  const select = new RegExp(`[?&](?:\\$|%24)select=${key}(?=&|$)`, 'i');
  if (!select.test(url)) return undefined;
  const expand = expansions.length === 0 ? '' : `$expand=${expansions.join(',')}`;
  return url.replace(select, (found) => `${found.charAt(0)}${expand}`);
}

/** Changes the page size of a next link. */
export const withTop = (url: string, size: number): string =>
  url.replace(/([?&](?:\$|%24)?top=)\d+/i, `$1${size}`);
