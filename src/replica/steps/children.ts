import { changesOfCollection } from '../../dictionary/index.ts';
import type { Keys } from '../../store/ledger.ts';
import type { Copy } from '../copy/copy.ts';
import { RECORD, wantedApart } from '../copy/pending-fetches.ts';
import type { Intake } from '../copy/read-page.ts';
import type { SourcePage } from '../source/source.ts';
import { fetchWanted } from './fetch-pending.ts';

/** Keys that the source is asked for, and why. */
export type Want = Keys & { readonly why: string };

/** Why listings of a download are asked for once more: what did not come with them comes in requests of its own. */
export function wantedOfNew(copy: Copy, resource: string, { keys }: Pick<SourcePage, 'keys'>): Want[] {
  return wantedApart(copy.feed.capabilities, resource).map((why) => ({
    resource,
    keys: keys.map(({ key }) => key),
    why,
  }));
}

/** The same for listings that an update brought: only what moved, and what has no stamp. */
export async function childrenOfUpdated(copy: Copy, resource: string, { records }: Intake): Promise<Want[]> {
  const { feed, store } = copy;
  if (resource !== 'Property' || feed.capabilities.children !== 'per-listing') return [];
  const listings = records.find((group) => group.resource === resource)?.records ?? [];
  const before = await store.ledger.stamps(
    resource,
    listings.map(({ key }) => key),
  );
  return feed.capabilities.expansions.map((why) => {
    const moved = listings.filter(({ key, values }) => {
      const known = before.get(key);
      const stamps = changesOfCollection(why).filter((name) => typeof values[name] === 'string');
      // A source that gives no stamps may have moved anything.
      if (known === undefined || stamps.length === 0) return true;
      return stamps.some((name) => values[name] !== known[name]);
    });
    return { resource, keys: moved.map(({ key }) => key), why };
  });
}

/** Fetches whatever is wanted: records, and collections of listings, also those that came without their end. */
export async function fetchApart(copy: Copy, resource: string): Promise<void> {
  const { expansions } = copy.feed.capabilities;
  const collections =
    resource === 'Property' ? [...wantedApart(copy.feed.capabilities, resource), ...expansions] : [];
  for (const why of new Set([RECORD, ...collections])) await fetchWanted(copy, resource, why);
}
