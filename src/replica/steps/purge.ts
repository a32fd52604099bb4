import { resourcesIn } from '../copy/collections.ts';
import type { Copy } from '../copy/copy.ts';
import { filesOf } from '../copy/files-wanted.ts';
import { subDataEntries } from '../copy/wanted.ts';

/** Records that are deleted in one transaction. */
const AT_ONCE = 500;

/**
 * Deletes what a whole sweep did not see, or stops when that would be a larger share than a person expects. Nothing can
 * be stored between the reading of the keys and their deletion.
 */
export async function deleteUnseen(copy: Copy, collection: string): Promise<void> {
  const { book, name, settings, store, tell } = copy;
  const begun = book.sweep(collection);
  if (begun.kind !== 'deleting') return;
  const resources = resourcesIn(collection);
  if (begun.deleted === 0 && !settings.force) {
    let rows = 0;
    let of = 0;
    for (const resource of resources) {
      rows += await store.ledger.unseenCount(name, resource, begun.base);
      of += await store.ledger.stored(name, resource);
    }
    if (rows > settings.purgeShare * of) {
      await book.commit({ sweep: { collection, event: { kind: 'guard', rows, of } } });
      tell({ kind: 'guarded', resource: collection, rows, of });
      return;
    }
  }
  for (const resource of resources) {
    for (let after = ''; ; ) {
      const keys = await book.alone(async (commit) => {
        const unseen = await store.ledger.unseen(name, resource, begun.base, after, AT_ONCE);
        if (unseen.length > 0) {
          const event = { kind: 'deleted', rows: unseen.length } as const;
          await commit({
            remove: [{ resource, keys: unseen }],
            release: [{ resource, keys: [...unseen, ...subDataEntries(copy, resource, unseen)] }],
            want: filesOf(copy, [{ resource, keys: unseen }]),
            sweep: { collection, event },
          });
        }
        return unseen;
      });
      const last = keys.at(-1);
      if (last === undefined) break;
      after = last;
      tell({ kind: 'deleted', resource, keys });
    }
  }
  await book.commit({ sweep: { collection, event: { kind: 'purged' } } });
}
