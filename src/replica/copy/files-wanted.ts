import type { Keys } from '../../store/ledger.ts';
import type { Copy } from './copy.ts';

/** The reason for which listings are looked at: their media records may have other files than before. */
export const FILES = 'files';

/** Of records that are stored or deleted, the listings to look at, where files are kept at all. */
export function filesOf(
  { files }: Pick<Copy, 'files'>,
  changed: readonly Keys[],
): (Keys & { readonly why: string })[] {
  if (files === undefined) return [];
  return changed
    .filter(({ resource }) => resource === 'Property')
    .map(({ resource, keys }) => ({ resource, keys, why: FILES }));
}
