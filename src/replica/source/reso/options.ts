import type { Walk } from '../source.ts';

/** A key as a literal of OData. */
export const quoted = (key: string): string => `'${key.replaceAll("'", "''")}'`;

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
