import { type Capabilities, givesCustomFields } from '../source/source.ts';
import type { Copy } from './copy.ts';

/** The reason of records that are fetched whole; any other is the name of a collection, or `children` for all. */
export const RECORD = 'record';
export const CHILDREN = 'children';

/**
 * The name in the quarantine of what was asked for and could not be given: a record under its key, sub-data of a listing
 * under its own name, so that the listing may be stored meanwhile and nothing is forgotten.
 */
export const entryOf = (key: string, why: string): string => (why === RECORD ? key : `${key}/${why}`);

/** What the quarantine holds of the sub-data of listings. */
export function subDataEntries(
  { book, feed }: Pick<Copy, 'book' | 'feed'>,
  resource: string,
  keys: readonly string[],
): string[] {
  const whys = [CHILDREN, ...feed.capabilities.expansions];
  return keys
    .flatMap((key) => whys.map((why) => entryOf(key, why)))
    .filter((entry) => book.isQuarantined(resource, entry));
}

/** Names under which the rest of a download is wanted; empty where everything comes with the listings. */
export function wantedApart(capabilities: Capabilities, resource: string): readonly string[] {
  const { interface: kind, children, expansions } = capabilities;
  if (resource !== 'Property' || children === 'none') return [];
  if (givesCustomFields(capabilities)) return [RECORD];
  // The native download sends nothing but _limit, _skiptoken and _select (reference: consumer, trap 11).
  if (kind === 'native') return [CHILDREN];
  return children === 'per-listing' ? expansions : [];
}
