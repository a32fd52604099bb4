/** Compares the media records of a listing with the files in the folder. This module sends no requests. */
import type { FieldValues, MediaKind } from '../../dictionary/index.ts';
import { mediaKind } from '../../records/media.ts';
import type { Store } from '../../store/store.ts';
import type { MediaFile, MediaFolder } from './media-folder.ts';

/** Milliseconds until a failed file is tried again, at most. */
export const LONGEST_WAIT = 24 * 3_600_000;

/** The kinds of media that must be images. Others, such as virtual tours, may be HTML pages. */
const IMAGES: ReadonlySet<MediaKind> = new Set(['photo', 'plan']);

/** Media of one listing whose file is to be fetched. */
export interface FileJob extends Pick<MediaFile, 'mediaKey' | 'listingKey' | 'version' | 'failures'> {
  readonly url: string;
  readonly isImage: boolean;
  /** Whether the URL was requested from the source just now, so that no newer one exists. */
  readonly isRenewed: boolean;
}

/**
 * Finds the files of a listing that the folder does not have, and deletes files without a record.
 * @returns the files to fetch now, and the number of those that have to wait after a failure
 */
export async function missingFiles(
  store: Pick<Store, 'contents'>,
  folder: MediaFolder,
  listingKey: string,
  now: number,
): Promise<{ jobs: FileJob[]; waiting: number }> {
  const records = await store.contents('Media', { parent: listingKey, parentResource: 'Property' });
  const known = folder.filesOfListing(listingKey);
  const jobs: FileJob[] = [];
  let waiting = 0;
  for (const record of records) {
    const { MediaKey: mediaKey, MediaURL: url } = record;
    if (typeof mediaKey !== 'string' || typeof url !== 'string' || url === '') continue;
    const file = known.get(mediaKey);
    known.delete(mediaKey);
    const version = versionOf(record);
    if (file?.version === version && (await folder.has(file))) continue;
    if (file !== undefined && hasToWait(file, version, now)) waiting++;
    else {
      const { failures = 0 } = file ?? {};
      const isImage = IMAGES.has(mediaKind(record));
      jobs.push({ mediaKey, listingKey, url, version, isImage, failures, isRenewed: false });
    }
  }
  for (const mediaKey of known.keys()) folder.deleteFile(mediaKey);
  return { jobs, waiting };
}

/** The version of a file: its timestamp, or its URL without the signature if it has none. */
export function versionOf({
  MediaURL,
  MediaModificationTimestamp,
  ModificationTimestamp,
}: FieldValues): string {
  const timestamp = MediaModificationTimestamp ?? ModificationTimestamp;
  return typeof timestamp === 'string' ? timestamp : String(MediaURL).replace(/[?#].*$/, '');
}

/**
 * Whether a file has to wait after a failure of its current version. If an older file is stored, the entry has the version of that
 * file, and does not show which version failed. A time further ahead than any wait was recorded before the clock was set back.
 */
const hasToWait = (
  { notBefore, sha256, version: failed }: MediaFile,
  version: string,
  now: number,
): boolean =>
  notBefore > now && notBefore - now <= LONGEST_WAIT && (sha256 !== undefined || failed === version);
