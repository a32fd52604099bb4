/**
 * What has to be requested separately from the source: records that are not stored, sub-resources that do not arrive
 * with their listing, media files. It decides what is pending and why; it makes no requests.
 */
import { isStorableKey, KEY_LIMIT } from '../../records/parsed-record.ts';
import type { Keys, QuarantineEntry } from '../../store/checkpoint/checkpoints.ts';
import { storedKeys } from '../checkpoint/checkpoint.ts';
import { requestInHalves } from '../source/pages.ts';
import { type Capabilities, expandsCustomFields, type Source, type SourcePage } from '../source/source.ts';
import type { Copy } from './copy.ts';
import { CHILDREN, entryName, nameOfPayload, type PendingFetch, RECORD } from './quarantine-entry.ts';
import type { Intake } from './read-page.ts';

/** The reason for examining listings: their media records may have other files than before. */
export const FILES = 'files';

/** Why listings of a download are requested again; empty if everything arrives with them. */
export function reasonsToFetchSeparately(capabilities: Capabilities, resource: string): readonly string[] {
  const { interface: kind, children, expansions } = capabilities;
  if (resource !== 'Property' || children === 'none') return [];
  if (expandsCustomFields(capabilities)) return [RECORD];
  // The native download sends only _limit, _skiptoken and _select (reference: consumer, trap 11).
  if (kind === 'native') return [CHILDREN];
  return children === 'per-listing' ? expansions : [];
}

const OPEN_HOUSES = ['OpenHousesChangeTimestamp'];
/**
 * The timestamps that show when a collection of a listing changed (specification 4.4, rule 3). The others have none.
 */
const TIMESTAMPS_OF: Readonly<Record<string, readonly string[]>> = {
  Media: ['PhotosChangeTimestamp', 'VideosChangeTimestamp', 'DocumentsChangeTimestamp'],
  OpenHouse: OPEN_HOUSES,
  OpenHouses: OPEN_HOUSES,
};

/** The sub-resources of the listings in an update: those that changed, and those without a timestamp. */
export async function changedChildren(
  { feed, store }: Copy,
  resource: string,
  { records }: Intake,
): Promise<PendingFetch[]> {
  if (resource !== 'Property' || feed.capabilities.children !== 'per-listing') return [];
  const listings = records.find((group) => group.resource === resource)?.records ?? [];
  const before = await store.checkpoints.timestamps(
    resource,
    listings.map(({ key }) => key),
  );
  return feed.capabilities.expansions.map((why) => {
    const moved = listings.filter(({ key, values }) => {
      const known = before.get(key);
      const timestamps = TIMESTAMPS_OF[why]?.filter((name) => typeof values[name] === 'string');
      // A source without timestamps may have changed anything.
      if (known === undefined || timestamps === undefined || timestamps.length === 0) return true;
      return timestamps.some((name) => values[name] !== known[name]);
    });
    return { resource, keys: moved.map(({ key }) => key), why };
  });
}

/** The sub-resources of listings, in halves if they are too large to be read together. */
export const fetchChildren = (
  feed: Source,
  keys: readonly string[],
  collections = feed.capabilities.expansions,
): Promise<SourcePage> =>
  requestInHalves(
    'Property',
    keys,
    (some) => feed.children(some, collections),
    (key) => entryName(key, CHILDREN),
  );

/** Listings that are stored or deleted, if files are kept: their media may now have other files. */
export const pendingFiles = ({ files }: Pick<Copy, 'files'>, changed: readonly Keys[]): PendingFetch[] =>
  files === undefined
    ? []
    : changed
        .filter(({ resource }) => resource === 'Property')
        .map(({ resource, keys }) => ({ resource, keys, why: FILES }));

/** Makes everything that is stored of a resource pending. */
export async function makeStoredPending(
  copy: Copy,
  resource: string,
  whys: readonly string[],
): Promise<void> {
  for await (const keys of storedKeys(copy, resource)) {
    await copy.checkpoint.commit({ want: whys.map((why) => ({ resource, keys, why })) });
  }
}

/** What can be requested. A record whose key is not valid here is quarantined instead. */
export async function separateUnstorable(
  { checkpoint, store }: Pick<Copy, 'checkpoint' | 'store'>,
  wants: readonly PendingFetch[],
): Promise<{ readonly want: readonly PendingFetch[]; readonly quarantine: readonly QuarantineEntry[] }> {
  if (wants.every(({ keys }) => keys.every(isStorableKey))) return { want: wants, quarantine: [] };
  const model = await store.model();
  const quarantine = wants.flatMap(({ resource, keys, why }) => {
    if (why !== RECORD) return []; // its record is there, or is quarantined itself
    const { key: field } = model.resource(resource);
    const reason = `${field} takes at most ${KEY_LIMIT} characters and no control characters`;
    return keys
      .filter((key) => !isStorableKey(key) && !checkpoint.isQuarantined(resource, nameOfPayload(key)))
      .map((key) => {
        const payload = JSON.stringify({ [field]: key });
        return { resource, key: nameOfPayload(key), reason, payload };
      });
  });
  const want = wants.map(({ keys, ...each }) => ({ ...each, keys: keys.filter(isStorableKey) }));
  return { want, quarantine };
}

/** The names of all sub-resources of listings in the quarantine. */
export function quarantinedChildren(
  { checkpoint, feed }: Pick<Copy, 'checkpoint' | 'feed'>,
  resource: string,
  keys: readonly string[],
): string[] {
  const whys = [CHILDREN, ...feed.capabilities.expansions];
  return keys
    .flatMap((key) => whys.map((why) => entryName(key, why)))
    .filter((entry) => checkpoint.isQuarantined(resource, entry));
}
