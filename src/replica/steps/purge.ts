/** Deletes the records that a complete sweep did not see, and releases their quarantine entries. It sends no requests. */
import { chunked } from '../../shared/chunked.ts';
import type { QuarantinedRecord } from '../checkpoint/checkpoint.ts';
import type { Copy } from '../copy/copy.ts';
import { pendingFiles, quarantinedChildren, reasonsToFetchSeparately } from '../copy/pending-fetches.ts';
import { type PendingFetch, RECORD } from '../copy/quarantine-entry.ts';
import { resourcesIn } from '../source/source.ts';

/** The number of records that are deleted in one transaction. */
const AT_ONCE = 500;
/**
 * The number of records that may be deleted whatever their share is, unless none would be left: one of four offices is not a mass
 * deletion.
 */
const FEW = 2;

/**
 * Deletes the records without a mark, unless they are more than a few and a larger share than is permitted. Nothing can be stored
 * between reading the keys and deleting their records.
 */
export async function deleteUnseen(copy: Copy, collection: string): Promise<void> {
  const { checkpoint, name, settings, store, report } = copy;
  const begun = checkpoint.sweep(collection);
  if (begun.kind !== 'deleting') return;
  const resources = resourcesIn(collection);
  if (begun.deleted === 0 && !settings.force) {
    let rows = 0;
    let of = 0;
    for (const resource of resources) {
      rows += await store.checkpoints.unseenCount(name, resource, begun.base);
      of += await store.checkpoints.stored(name, resource);
    }
    if (rows > settings.purgeShare * of && (rows > FEW || rows === of)) {
      await checkpoint.commit({ sweep: { collection, event: { kind: 'guard', rows, of } } });
      report({ kind: 'guarded', resource: collection, rows, of });
      return;
    }
  }
  for (const resource of resources) {
    for (let after = ''; ; ) {
      const keys = await checkpoint.runExclusively(async (commit) => {
        const unseen = await store.checkpoints.unseen(name, resource, begun.base, after, AT_ONCE);
        if (unseen.length > 0) {
          await commit({
            remove: [{ resource, keys: unseen }],
            release: [{ resource, keys: [...unseen, ...quarantinedChildren(copy, resource, unseen)] }],
            want: pendingFiles(copy, [{ resource, keys: unseen }]),
            sweep: { collection, event: { kind: 'deleted', rows: unseen.length } },
          });
        }
        return unseen;
      });
      const last = keys.at(-1);
      if (last === undefined) break;
      after = last;
      report({ kind: 'deleted', resource, keys });
    }
    await releaseUnseen(copy, resource, begun.base);
  }
  await checkpoint.commit({ sweep: { collection, event: { kind: 'purged' } } });
}

/** Releases quarantine entries whose record a complete sweep did not see. */
async function releaseUnseen(copy: Copy, resource: string, base: number): Promise<void> {
  const { checkpoint, name, store, report } = copy;
  const entries = checkpoint.quarantined((of) => of.resource === resource);
  for (const some of chunked(entries, AT_ONCE)) {
    const released = await checkpoint.runExclusively(async (commit) => {
      const names = some.map(markName).filter((each) => each !== undefined);
      const marked = new Set(await store.checkpoints.marked(name, resource, base, names));
      const unseen = some.filter((each) => {
        const own = markName(each);
        // In the meantime, the record may have been stored, or the entry removed.
        return own !== undefined && !marked.has(own) && checkpoint.isQuarantined(each.resource, each.key);
      });
      const release = [...Map.groupBy(unseen, (each) => each.resource)].map(([of, group]) => ({
        resource: of,
        keys: group.map(({ key }) => key),
      }));
      const want = pendingAgain(
        copy,
        resource,
        some.filter((each) => !unseen.includes(each)),
      );
      if (release.length + want.length > 0) await commit({ release, want });
      return release;
    });
    for (const each of released) report({ kind: 'gone', ...each });
  }
}

/**
 * Fetches that become pending after a sweep: records that the source could not return earlier, and the records of quarantined
 * members, which no sweep sees. Their next response stores them or shows that they no longer exist.
 */
function pendingAgain(
  { feed }: Copy,
  resource: string,
  entries: readonly QuarantinedRecord[],
): readonly PendingFetch[] {
  const { capabilities } = feed;
  const apart = reasonsToFetchSeparately(capabilities, resource);
  return entries.flatMap((each): PendingFetch[] => {
    const { key } = each.subject;
    if (key === undefined) return [];
    if (each.pending !== undefined) return [{ resource, keys: [key], why: each.pending }];
    if (each.resource === resource || capabilities.children === 'none') return [];
    return (apart.length > 0 ? apart : [RECORD]).map((why) => ({ resource, keys: [key], why }));
  });
}

/** The name under which a sweep marks that it saw the record of an entry. */
const markName = ({ resource, key, subject }: QuarantinedRecord): string | undefined =>
  subject.key ?? (subject.resource === resource ? key : undefined);
