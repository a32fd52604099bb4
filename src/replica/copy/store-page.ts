/** Stores the records of a page, and all resulting changes of the checkpoint, in one transaction. */
import type { ParsedRecord } from '../../records/parsed-record.ts';
import type { CheckpointChange, Keys } from '../../store/checkpoint/checkpoints.ts';
import type { WriteReport } from '../../store/write/report.ts';
import { type CopyChange, type QuarantinedRecord, recordName } from '../checkpoint/checkpoint.ts';
import { collectionOf, resourcesIn, type SourcePage } from '../source/source.ts';
import type { Copy } from './copy.ts';
import { pendingFiles, quarantinedChildren, separateUnstorable } from './pending-fetches.ts';
import { entryName, type Subject, storableName } from './quarantine-entry.ts';
import { type Intake, readPageDeclaringFields } from './read-page.ts';

/**
 * Stores a page. While a sweep is running, this also marks every record of the page, even an unchanged one, so that a purge does
 * not delete records that were received after the sweep began.
 * @param furtherChanges returns further changes to commit with the page, once its records are known
 */
export async function storePage(
  copy: Copy,
  page: Pick<SourcePage, 'items' | 'broken' | 'keys'>,
  furtherChanges: (intake: Intake) => CopyChange | Promise<CopyChange>,
): Promise<WriteReport> {
  const intake = await readPageDeclaringFields(copy, page);
  const more = await furtherChanges(intake);
  const { want, quarantine: unstorable } = await separateUnstorable(copy, more.want ?? []);
  const quarantine = [...intake.quarantine, ...unstorable];
  const absent = absentEntries(copy, intake);
  // Incomplete collections are requested separately.
  const partial = intake.partial.map(({ key, collection: why }) => ({
    resource: 'Property',
    keys: [key],
    why,
  }));
  const stored = intake.records.map(({ resource, records }) => ({
    resource,
    keys: records.map(({ key }) => key),
  }));
  // Marks and releases depend on the checkpoint, which must not change until the commit.
  const outcome = await copy.checkpoint.runExclusively((commit) =>
    commit({
      ...more,
      records: intake.records,
      remove: [...intake.remove, ...(more.remove ?? [])],
      quarantine: [...quarantine, ...(more.quarantine ?? [])],
      seen: [...marksOf(copy, page, intake), ...(more.seen ?? [])],
      want: [...partial, ...pendingFiles(copy, [...stored, ...intake.remove]), ...want],
      release: [...releasedEntries(copy, intake), ...absent, ...(more.release ?? [])],
    }),
  );
  for (const each of absent) copy.report({ kind: 'gone', ...each });
  for (const { resource, key, reason } of [...quarantine, ...outcome.rejected]) {
    copy.report({ kind: 'quarantined', resource, key, reason });
  }
  for (const { resource, keys } of intake.remove) copy.report({ kind: 'deleted', resource, keys });
  return outcome;
}

/**
 * The marks of running sweeps for all keys of the page. Records that could not be stored are marked as well, because the source has
 * them.
 */
function marksOf(
  { checkpoint, feed }: Copy,
  { keys }: Pick<SourcePage, 'keys'>,
  { remove, quarantine }: Intake,
): NonNullable<CheckpointChange['seen']> {
  const removed = new Set(
    remove.flatMap(({ resource, keys: every }) => every.map((key) => recordName({ resource, key }))),
  );
  const collection = (resource: string): string => collectionOf(feed.capabilities, resource);
  const marked = [
    ...keys
      .filter((each) => !removed.has(recordName(each)))
      .map(({ resource, key }) => ({ resource, key: storableName(key) })),
    // Data without a key is marked under its name in the quarantine.
    ...quarantine.filter(({ resource }) => resourcesIn(collection(resource)).includes(resource)),
  ];
  return [...Map.groupBy(marked, ({ resource }) => resource)].flatMap(([resource, group]) => {
    const state = checkpoint.sweep(collection(resource));
    const isAtWork = state.kind === 'walking' || state.kind === 'deleting';
    return isAtWork ? [{ resource, keys: group.map(({ key }) => key), sweep: state.sweep }] : [];
  });
}

/**
 * The quarantine entries to release: those of records and members that are now stored, and those of sub-resources that arrived with
 * their listing. The entry of a member that arrived under another record than the entry names is not released.
 */
function releasedEntries(copy: Copy, { records, partial }: Intake): Keys[] {
  const found: Keys[] = [];
  if (!copy.checkpoint.hasQuarantined) return found;
  const missing = new Set(partial.map(({ key, collection }) => entryName(key, collection)));
  const look = (record: ParsedRecord, holder?: ParsedRecord): void => {
    const { resource, key, children, onlyChildren } = record;
    const { name } = resource;
    if (!onlyChildren) {
      const subject = copy.checkpoint.findQuarantined(name, key)?.subject;
      if (subject !== undefined && (holder === undefined || concernsRecord(subject, holder)))
        found.push({ resource: name, keys: [key] });
      const entries = children.size === 0 ? [] : quarantinedChildren(copy, name, [key]);
      found.push({ resource: name, keys: entries.filter((entry) => !missing.has(entry)) });
    }
    for (const members of children.values()) for (const member of members) look(member, record);
  };
  for (const group of records) for (const record of group.records) look(record);
  return found;
}

/** Whether an entry concerns a record. An entry whose record is unknown is assumed to. */
const concernsRecord = (subject: Subject, { resource, key }: ParsedRecord): boolean =>
  subject.key === undefined || (subject.resource === resource.name && subject.key === key);

/** The quarantine entries of records that the source deleted, and of members that are missing from a complete collection. */
function absentEntries({ checkpoint }: Copy, { records, remove, quarantine }: Intake): Keys[] {
  if (!checkpoint.hasQuarantined) return [];
  const entries = Map.groupBy(
    checkpoint.quarantined(({ key }) => key !== undefined),
    ({ subject: { resource, key = '' } }) => recordName({ resource, key }),
  );
  const again = new Set(quarantine.map(recordName));
  const found: QuarantinedRecord[] = [];
  for (const { resource, keys } of remove) {
    for (const key of keys) found.push(...(entries.get(recordName({ resource, key })) ?? []));
  }
  const look = ({ resource, key, children }: ParsedRecord): void => {
    const under =
      children.size === 0 ? [] : (entries.get(recordName({ resource: resource.name, key })) ?? []);
    for (const [name, members] of children) {
      const target = resource.navigations.get(name)?.target;
      const given = new Set(members.map((member) => member.key));
      found.push(...under.filter((each) => each.resource === target && !given.has(each.key)));
      members.forEach(look);
    }
  };
  for (const group of records) group.records.forEach(look);
  return found
    .filter((each) => !again.has(recordName(each)))
    .map(({ resource, key }) => ({ resource, keys: [key] }));
}
