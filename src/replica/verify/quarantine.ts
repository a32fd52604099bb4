/**
 * What is in the quarantine of a copy and no longer at its source: neither side has it, so it is no difference. It leaves
 * the quarantine with the next purge.
 */
import type { Quarantined } from '../../store/ledger.ts';
import type { Copy } from '../copy/copy.ts';
import { seekGone } from '../steps/gone.ts';

/** The name of an entry. */
export const nameOf = ({ resource, key }: { readonly resource: string; readonly key: string }): string =>
  JSON.stringify([resource, key]);

/**
 * Entries of records that the source has no more.
 * @param met names of what could not be read in a walk over everything; absent: there was none
 */
export async function goneSince(
  copy: Copy,
  entries: readonly Quarantined[],
  met: ReadonlySet<string> | undefined,
): Promise<readonly Quarantined[]> {
  const { gone, unknown } = await seekGone(copy, entries);
  if (met === undefined) return gone;
  // What nobody can ask for by a key would have been met by the walk.
  const unmet = unknown.filter((entry) => !met.has(nameOf(entry)));
  const found: Quarantined[] = [...gone];
  for (const entry of unmet) {
    // Equal ranges are not walked: what they hold is stored here.
    const missing = await copy.store.ledger.missing(copy.name, entry.resource, [entry.key]);
    if (missing.length > 0) found.push(entry);
  }
  return found;
}
