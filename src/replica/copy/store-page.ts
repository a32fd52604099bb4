/** Stores the records of pages, each with all resulting changes of the checkpoint in the same transaction. */
import type { ParsedRecord } from '../../records/parsed-record.ts';
import { recordName } from '../../records/record-name.ts';
import type { Clock } from '../../shared/clock.ts';
import type { CheckpointChange, Fits, Keys } from '../../store/checkpoint/checkpoints.ts';
import type { WriteReport } from '../../store/write/report.ts';
import type { CopyChange, QuarantinedRecord } from '../checkpoint/checkpoint.ts';
import type { OfStep } from '../events.ts';
import { collectionOf, resourcesIn, type SourcePage } from '../source/source.ts';
import type { Copy } from './copy.ts';
import { pendingFiles, quarantinedChildren, separateUnstorable } from './pending-fetches.ts';
import { entryName, type Subject, storableName } from './quarantine-entry.ts';
import { type Intake, readPageDeclaringFields } from './read-page.ts';

export interface ReadyPage {
  readonly records: Intake['records'];
  readonly remove: Intake['remove'];
  /** The change that stores it. Marks and releases depend on the checkpoint, which must not change until the commit. */
  readonly change: () => CopyChange;
  /** Reports what was stored. */
  readonly report: (rejected: WriteReport['rejected']) => void;
}

/**
 * Reads the records of a page, and makes the change that stores it. While a sweep is running, this also marks every record of the
 * page, even an unchanged one, so that a purge does not delete records that were received after the sweep began.
 * @param furtherChanges returns further changes to commit with the page, once its records are known
 */
export async function preparePage(
  copy: Copy,
  page: Pick<SourcePage, 'items' | 'broken' | 'keys'>,
  furtherChanges: (intake: Intake) => CopyChange | Promise<CopyChange>,
): Promise<ReadyPage> {
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
  const remove = [...intake.remove, ...(more.remove ?? [])];
  return {
    records: intake.records,
    remove,
    change: () => ({
      ...more,
      records: intake.records,
      remove,
      quarantine: [...quarantine, ...(more.quarantine ?? [])],
      seen: [...marksOf(copy, page, intake), ...(more.seen ?? [])],
      want: [...partial, ...pendingFiles(copy, [...stored, ...intake.remove]), ...want],
      release: [...releasedEntries(copy, intake), ...absent, ...(more.release ?? [])],
    }),
    report: reporterOf(copy, absent, quarantine, intake.remove),
  };
}

/** Reports what happened to a page apart from its records, which it does not keep in memory. */
const reporterOf =
  (
    copy: Copy,
    absent: readonly Keys[],
    quarantine: CopyChange['quarantine'] & {},
    removed: readonly Keys[],
  ): ReadyPage['report'] =>
  (rejected) => {
    for (const each of absent) copy.report({ kind: 'gone', ...each });
    for (const { resource, key, reason } of [...quarantine, ...rejected]) {
      copy.report({ kind: 'quarantined', resource, key, reason });
    }
    for (const { resource, keys } of removed) copy.report({ kind: 'deleted', resource, keys });
  };

/** Stores a page in a transaction of its own. */
export async function storePage(...given: Parameters<typeof preparePage>): Promise<WriteReport> {
  const [{ checkpoint }] = given;
  const page = await preparePage(...given);
  const outcome = await checkpoint.runExclusively((commit) => commit(page.change()));
  page.report(outcome.rejected);
  return outcome;
}

/**
 * How long a transaction waits for the next page of a walk, in milliseconds. Usually it has arrived while the previous one was
 * written, and only has to be read.
 */
const LONGEST_WAIT = 100;

/**
 * Stores the pages of a walk, in as few transactions as their limits allow: a commit writes most pages of most indexes, however few
 * records it has. A page that does not arrive in time gets another transaction, and the position of the walk is stored with each.
 * @param alone the number of pages that each get a transaction of their own, at first
 */
export async function storePages(
  {
    checkpoint,
    environment: { clock },
    report,
    signal,
  }: Pick<Copy, 'checkpoint' | 'environment' | 'report' | 'signal'>,
  step: OfStep,
  pages: AsyncIterator<ReadyPage, void>,
  alone: number,
): Promise<void> {
  // No other variable keeps a page: it takes several times the memory of its response.
  let page: ReadyPage | undefined;
  let coming: Promise<ReadyPage | undefined> | undefined;
  const request = (): Promise<ReadyPage | undefined> =>
    pages.next().then(({ done, value }) => (done === true ? undefined : value));
  for (let left = alone; ; left--) {
    page ??= await (coming ?? request());
    coming = undefined;
    if (page === undefined) return;
    const reports: ReadyPage['report'][] = [];
    const next = async (fits: Fits, awaited: Promise<void>) => {
      if (page === undefined) {
        report({ kind: 'written', ...step });
        if (signal.aborted) return undefined;
        coming ??= request();
        // If the request fails, the walk ends after the pages before are stored.
        page = await within(
          LONGEST_WAIT,
          coming.catch(() => undefined),
          { clock, signal, awaited },
        );
        if (page === undefined) return undefined;
        coming = undefined;
      }
      if (page.remove.length > 0 || !fits(page.records)) return undefined;
      const { change, report: own } = page;
      page = undefined;
      reports.push(own);
      return change;
    };
    const rejected = left > 0 || page.remove.length > 0 ? [] : await checkpoint.commitTogether(next);
    for (const [index, own] of reports.entries()) own(rejected[index] ?? []);
    if (reports.length > 0 || page === undefined) continue;
    const { change, report: own } = page;
    page = undefined;
    own((await checkpoint.commit(change())).rejected);
  }
}

interface WaitEnds {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Ends the wait when it resolves. */
  readonly awaited: Promise<void>;
}

/** Waits for work, but no longer than a time limit; undefined if the wait ended first. */
async function within<T>(
  milliseconds: number,
  work: Promise<T>,
  { clock, signal, awaited }: WaitEnds,
): Promise<T | undefined> {
  const left = new AbortController();
  try {
    const late = clock.sleep(milliseconds, AbortSignal.any([signal, left.signal])).then(() => undefined);
    return await Promise.race([work, late, awaited.then(() => undefined)]);
  } finally {
    left.abort();
  }
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
