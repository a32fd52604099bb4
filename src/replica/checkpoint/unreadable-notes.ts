/**
 * Notes on a source that a person or a disk has changed to something that plat never writes. The source can provide
 * their content again, so a refresh deletes them and starts over.
 */
import type { Lease } from '../../store/checkpoint/checkpoints.ts';
import type { Store } from '../../store/store.ts';
import { forgetMarks, replicaSources } from './checkpoint.ts';
import { unreadableNotes } from './notes.ts';

/** Deletes the unreadable notes on a source. */
export async function forgetUnreadable(store: Store, source: string, lease: () => Lease): Promise<void> {
  const names = [...unreadableNotes(await store.checkpoints.state(source)).keys()];
  if (names.length === 0) return;
  for (const name of names) {
    const [word, collection = ''] = name.split(' ');
    // Sweeps are numbered from the start, and a mark with a later number would keep a deleted record.
    if (word === 'sweep') await forgetMarks(store, source, collection);
  }
  const state = Object.fromEntries(names.map((name) => [name, null]));
  await store.checkpoints.commit(source, { lease: lease(), state });
}

/** The unreadable notes on any source, in words. */
export async function findUnreadable(store: Store): Promise<readonly string[]> {
  const found: string[] = [];
  for (const source of await replicaSources(store)) {
    const notes = unreadableNotes(await store.checkpoints.state(source));
    for (const words of notes.values()) found.push(`${source}: ${words}`);
  }
  return found;
}
