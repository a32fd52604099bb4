/** Protects a copy against mass deletions that a source reports. This module deletes nothing. */

import { hasSwept, requireNewFoundation } from '../checkpoint/chain.ts';
import type { Chain, Deletions } from '../checkpoint/notes.ts';
import type { Copy } from '../copy/copy.ts';

/** The number of deletions within a period that is never considered a mass deletion, however few records there are. */
const FEW = 10;
/** The period in which deletions are counted together, in milliseconds; about the interval between two purges. */
const COUNTED = 20 * 3_600_000;

/**
 * Decides which of the records that the source no longer has are deleted now. If more than the share that one purge may delete
 * would be deleted, all of them wait for the next purge, whose guard decides: the source may have reported them because the key
 * lost rights.
 */
export async function guardDeletions(
  copy: Copy,
  resource: string,
  chain: Chain,
  absent: readonly string[],
): Promise<{ readonly chain: Chain; readonly removed: string[]; readonly guarded: boolean }> {
  const { checkpoint, environment, name, report, settings, store } = copy;
  if (absent.length === 0) return { chain, removed: [], guarded: false };
  const missing = new Set(await store.checkpoints.missing(name, resource, absent));
  const removed = absent.filter((key) => !missing.has(key));
  if (removed.length === 0) return { chain, removed, guarded: false };
  const now = environment.clock.now();
  const lately = chain.deletions?.[resource];
  const isOver =
    lately === undefined || Math.abs(now - lately.since) >= COUNTED || isPurged(copy, resource, lately);
  const period = isOver
    ? { since: now, rows: 0, of: await store.checkpoints.stored(name, resource) }
    : lately;
  const rows = period.rows + removed.length;
  const isMass = rows > FEW && rows > settings.purgeShare * period.of && !settings.force;
  const keep = (deletions: Deletions): Chain => ({
    ...chain,
    deletions: { ...chain.deletions, [resource]: deletions },
  });
  if (!isMass) return { chain: keep({ ...period, rows }), removed, guarded: false };
  // The chain keeps the copy current again once a sweep that begins after this moment has compared all keys.
  await requireNewFoundation(copy);
  if (period.isGuarded !== true) {
    report({ kind: 'guarded', resource, rows, of: period.of });
    await checkpoint.requestPurge();
  }
  return { chain: keep({ ...period, isGuarded: true }), removed: [], guarded: true };
}

/** Whether a sweep has completed since these deletions were held back. */
function isPurged({ checkpoint }: Copy, resource: string, { isGuarded }: Deletions): boolean {
  const foundation = checkpoint.get('foundation');
  return (
    isGuarded === true &&
    foundation !== undefined &&
    hasSwept(foundation, resource, checkpoint.sweep(resource))
  );
}
