/**
 * Determines what has to be requested separately from the source, and why: records that are not stored, sub-resources that do not
 * arrive with their listing, and media files. This module makes no requests.
 */
import { isStorableKey, KEY_LIMIT } from '../../records/parsed-record.ts';
import type { Keys, QuarantineEntry } from '../../store/checkpoint/checkpoints.ts';
import { storedKeys } from '../checkpoint/checkpoint.ts';
import { requestInHalves } from '../source/pages.ts';
import { type Capabilities, expandsCustomFields, type Source, type SourcePage } from '../source/source.ts';
import type { Copy } from './copy.ts';
import { CHILDREN, entryName, nameOfPayload, type PendingFetch, RECORD } from './quarantine-entry.ts';
import type { Intake } from './read-page.ts';

/** The reason of fetches for media files: the media records of a listing may have other files than before. */
export const FILES = 'files';

/** The reasons for which the listings of a download are requested again; empty if everything arrives with them. */
export function reasonsToFetchSeparately(capabilities: Capabilities, resource: string): readonly string[] {
  const { interface: kind, children, expansions } = capabilities;
  if (resource !== 'Property' || children === 'none') return [];
  const isApart = children === 'per-listing';
  if (expandsCustomFields(capabilities)) return isApart ? [RECORD, CHILDREN] : [RECORD];
  // The native download sends only _limit, _skiptoken and _select (reference: consumer, trap 11).
  if (kind === 'native') return [CHILDREN];
  return isApart ? expansions : [];
}

const OPEN_HOUSES = ['OpenHousesChangeTimestamp'];
/**
 * The timestamps of a listing that show when one of its collections changed (specification 4.4, rule 3). Collections that are not
 * listed here have none.
 */
const TIMESTAMPS_OF: Readonly<Record<string, readonly string[]>> = {
  Media: ['PhotosChangeTimestamp', 'VideosChangeTimestamp', 'DocumentsChangeTimestamp'],
  OpenHouse: OPEN_HOUSES,
  OpenHouses: OPEN_HOUSES,
};

/** The collections of updated listings that have to be fetched: those that changed, and those without a timestamp. */
export async function changedChildren(
  { feed, store }: Copy,
  resource: string,
  { records }: Intake,
): Promise<PendingFetch[]> {
  if (resource !== 'Property' || feed.capabilities.children !== 'per-listing') return [];
  const listings = records.find((group) => group.resource === resource)?.records ?? [];
  // Rooms and units, which are among all sub-resources, have no timestamp.
  if (feed.capabilities.interface === 'native')
    return [{ resource, keys: listings.map(({ key }) => key), why: CHILDREN }];
  const before = await store.checkpoints.timestamps(
    resource,
    listings.map(({ key }) => key),
  );
  return feed.capabilities.expansions.map((why) => {
    const moved = listings.filter(({ key, values }) => {
      const known = before.get(key);
      const timestamps = TIMESTAMPS_OF[why]?.filter((name) => typeof values[name] === 'string');
      // Without a timestamp, the collection may have changed.
      if (known === undefined || timestamps === undefined || timestamps.length === 0) return true;
      return timestamps.some((name) => values[name] !== known[name]);
    });
    return { resource, keys: moved.map(({ key }) => key), why };
  });
}

/**
 * Requests the sub-resources of listings, with half as many listings per request whenever they are too large to be read together.
 */
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

/**
 * Pending fetches for the files of listings that are stored or deleted, if files are copied: their media may now have other files.
 */
export const pendingFiles = ({ files }: Pick<Copy, 'files'>, changed: readonly Keys[]): PendingFetch[] =>
  files === undefined
    ? []
    : changed
        .filter(({ resource }) => resource === 'Property')
        .map(({ resource, keys }) => ({ resource, keys, why: FILES }));

/** Makes all stored records of a resource pending. */
export async function makeStoredPending(
  copy: Copy,
  resource: string,
  whys: readonly string[],
): Promise<void> {
  for await (const keys of storedKeys(copy, resource)) {
    await copy.checkpoint.commit({ want: whys.map((why) => ({ resource, keys, why })) });
  }
}

/** Separates the fetches whose keys can be stored from the records whose keys cannot, which are quarantined instead. */
export async function separateUnstorable(
  { checkpoint, store }: Pick<Copy, 'checkpoint' | 'store'>,
  wants: readonly PendingFetch[],
): Promise<{ readonly want: readonly PendingFetch[]; readonly quarantine: readonly QuarantineEntry[] }> {
  if (wants.every(({ keys }) => keys.every(isStorableKey))) return { want: wants, quarantine: [] };
  const model = await store.model();
  const quarantine = wants.flatMap(({ resource, keys, why }) => {
    if (why !== RECORD) return []; // its record is stored, or quarantined itself
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

/** The names of the quarantine entries for sub-resources of listings. */
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
