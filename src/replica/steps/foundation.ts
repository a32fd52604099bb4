/** Renews the basis of a copy that is kept current only by reported changes: windows and sweeps, which find every difference. */
import { timestampFrom } from '../../dictionary/index.ts';
import type { Copy } from '../copy/copy.ts';

/** Requires that the basis be renewed: by windows that end, and a sweep that begins, after this moment. */
export async function requireNewFoundation({ checkpoint, feed }: Copy): Promise<void> {
  if (checkpoint.get('chain') === undefined) return;
  const since = timestampFrom(await feed.serverTime());
  await checkpoint.commit({ state: { foundation: { since, fresh: [] } } });
}

/**
 * Makes the next purge due soon for a copy that follows reported changes; otherwise, it would be compared with its source only
 * after a week.
 */
export async function requestFollowedPurge(copy: Copy): Promise<void> {
  if (copy.checkpoint.get('chain') === undefined) return;
  await requireNewFoundation(copy);
  await copy.checkpoint.requestPurge();
}
