/**
 * Notes on a source that somebody, or a disk, has changed to what plat never writes. What they told is told by the source
 * again, so a refresh forgets them and begins anew what they were about.
 */
import type { Lease } from '../../store/ledger.ts';
import type { Store } from '../../store/store.ts';
import { replicaSources } from '../status.ts';
import { unreadableNotes } from './notes.ts';

/** Beyond the number of any sweep. */
const ANY_SWEEP = 2_147_483_647;

/** Forgets what cannot be read of a source. */
export async function forgetUnreadable(store: Store, source: string, lease: () => Lease): Promise<void> {
  const names = [...unreadableNotes(await store.ledger.state(source)).keys()];
  if (names.length === 0) return;
  for (const name of names) {
    const [word, collection = ''] = name.split(' ');
    // Sweeps are counted anew, and a mark of a later number would keep a record that is gone.
    if (word === 'sweep') while ((await store.ledger.forgetSeen(source, collection, ANY_SWEEP)) > 0);
  }
  const state = Object.fromEntries(names.map((name) => [name, null]));
  await store.ledger.commit(source, { lease: lease(), state });
}

/** What cannot be read of any source, in words. */
export async function findUnreadable(store: Store): Promise<readonly string[]> {
  const found: string[] = [];
  for (const source of await replicaSources(store)) {
    const notes = unreadableNotes(await store.ledger.state(source));
    for (const words of notes.values()) found.push(`${source}: ${words}`);
  }
  return found;
}
