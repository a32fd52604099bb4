import type { Kept } from '../checkpoint/checkpoint.ts';
import type { Copy } from '../copy/copy.ts';
import { filesOf } from '../copy/files-wanted.ts';
import { RECORD, subDataEntries, wantedApart } from '../copy/pending-fetches.ts';
import { resourcesIn } from '../source/source.ts';
import type { Want } from './children.ts';

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
  await releaseUnseen(copy, resources, begun.base);
  await book.commit({ sweep: { collection, event: { kind: 'purged' } } });
}

/** What could not be stored leaves the quarantine when a whole sweep did not see the record that it is of. */
async function releaseUnseen(copy: Copy, resources: readonly string[], base: number): Promise<void> {
  const { book, name, store, tell } = copy;
  for (const resource of resources) {
    const kept = book.quarantined((of) => of.resource === resource);
    for (let at = 0; at < kept.length; at += AT_ONCE) {
      const some = kept.slice(at, at + AT_ONCE);
      const gone = await book.alone(async (commit) => {
        const names = some.map(sweptName).filter((each) => each !== undefined);
        const marked = new Set(await store.ledger.marked(name, resource, base, names));
        const unseen = some.filter((each) => {
          const own = sweptName(each);
          // It may have been stored, or have gone, meanwhile.
          return own !== undefined && !marked.has(own) && book.isQuarantined(each.resource, each.key);
        });
        const release = [...Map.groupBy(unseen, (each) => each.resource)].map(([of, entries]) => ({
          resource: of,
          keys: entries.map(({ key }) => key),
        }));
        const left = some.filter((each) => !unseen.includes(each));
        const want = wantedAgain(copy, resource, left);
        if (release.length + want.length > 0) await commit({ release, want });
        return release;
      });
      for (const each of gone) tell({ kind: 'gone', ...each });
    }
  }
}

/**
 * What is asked for once more after a sweep: what the source could not give, since it may give it by now, and the records
 * of parts that could not be stored, which no sweep sees. Both come, or are gone, then.
 */
function wantedAgain({ feed }: Copy, resource: string, kept: readonly Kept[]): readonly Want[] {
  const { capabilities } = feed;
  const apart = wantedApart(capabilities, resource);
  return kept.flatMap((each): Want[] => {
    const { key } = each.subject;
    if (key === undefined) return [];
    if (each.wanted !== undefined) return [{ resource, keys: [key], why: each.wanted }];
    if (each.resource === resource || capabilities.children === 'none') return [];
    return (apart.length > 0 ? apart : [RECORD]).map((why) => ({ resource, keys: [key], why }));
  });
}

/** Under which name a sweep marks that it saw the record of an entry. */
const sweptName = ({ resource, key, subject }: Kept): string | undefined =>
  subject.key ?? (subject.resource === resource ? key : undefined);
