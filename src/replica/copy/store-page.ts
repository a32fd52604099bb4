import type { Keys, LedgerChange } from '../../store/ledger.ts';
import { isStorableKey, type ParsedRecord } from '../../store/record/parsed-record.ts';
import type { WriteReport } from '../../store/write/report.ts';
import type { SourcePage } from '../source/source.ts';
import type { BookChange } from './book.ts';
import { collectionOf } from './collections.ts';
import type { Copy } from './copy.ts';
import { filesOf } from './files-wanted.ts';
import { type Intake, takeIn } from './intake.ts';
import { wantable } from './wantable.ts';
import { entryOf, subDataEntries } from './wanted.ts';

/**
 * Stores a page's records and what they mean for the account in one transaction. While a sweep is at work, every
 * record that is stored or seen is marked, also an unchanged one: no purge deletes what came after it began.
 * @param also what else happens with the page, told once its records are known
 */
export async function storePage(
  copy: Copy,
  page: Pick<SourcePage, 'items' | 'broken' | 'keys'>,
  also: (intake: Intake) => BookChange | Promise<BookChange>,
): Promise<WriteReport> {
  const intake = await takeIn(copy, page);
  const more = await also(intake);
  const { want, quarantine } = await wantable(copy, more.want ?? []);
  const report = await copy.book.alone((commit) =>
    commit({
      ...more,
      records: intake.records,
      remove: [...intake.remove, ...(more.remove ?? [])],
      quarantine: [...intake.quarantine, ...quarantine, ...(more.quarantine ?? [])],
      seen: [...marksOf(copy, page, intake), ...(more.seen ?? [])],
      want: [...partsWanted(intake), ...filesWanted(copy, intake), ...want],
      release: [...releases(copy, intake), ...(more.release ?? [])],
    }),
  );
  tellOf(copy, { ...intake, quarantine: [...intake.quarantine, ...quarantine] }, report);
  return report;
}

/** Marks of the running sweeps for all keys of the page, those that could not be stored included: the source has them. */
function marksOf(
  copy: Copy,
  { keys }: Pick<SourcePage, 'keys'>,
  { remove }: Intake,
): NonNullable<LedgerChange['seen']> {
  const gone = new Set(
    remove.flatMap(({ resource, keys: every }) => every.map((key) => `${resource} ${key}`)),
  );
  const byResource = new Map<string, string[]>();
  for (const { resource, key } of keys) {
    if (gone.has(`${resource} ${key}`) || !isStorableKey(key)) continue;
    const list = byResource.get(resource);
    if (list === undefined) byResource.set(resource, [key]);
    else list.push(key);
  }
  return [...byResource].flatMap(([resource, list]) => {
    const state = copy.book.sweep(collectionOf(copy.feed.capabilities, resource));
    const isAtWork = state.kind === 'walking' || state.kind === 'deleting';
    return isAtWork ? [{ resource, keys: list, sweep: state.sweep }] : [];
  });
}

/** Records and members that are stored after all, and sub-data that came with its listing. */
function releases(copy: Copy, { records, partial }: Intake): Keys[] {
  const found: Keys[] = [];
  const missing = new Set(partial.map(({ key, collection }) => entryOf(key, collection)));
  const look = ({ resource: { name }, key, children, onlyChildren }: ParsedRecord): void => {
    if (!onlyChildren) {
      if (copy.book.isQuarantined(name, key)) found.push({ resource: name, keys: [key] });
      const entries = children.size === 0 ? [] : subDataEntries(copy, name, [key]);
      found.push({ resource: name, keys: entries.filter((entry) => !missing.has(entry)) });
    }
    for (const members of children.values()) members.forEach(look);
  };
  for (const group of records) group.records.forEach(look);
  return found;
}

/** Collections that came without their end are asked for by themselves. */
function partsWanted({ partial }: Intake): (Keys & { readonly why: string })[] {
  return partial.map(({ key, collection }) => ({ resource: 'Property', keys: [key], why: collection }));
}

/** Listings whose media may have other files now. */
function filesWanted(copy: Copy, { records, remove }: Intake): (Keys & { readonly why: string })[] {
  const stored = records.map((group) => ({
    resource: group.resource,
    keys: group.records.map(({ key }) => key),
  }));
  return filesOf(copy, [...stored, ...remove]);
}

function tellOf({ tell }: Copy, intake: Intake, { rejected }: WriteReport): void {
  for (const { resource, key, reason } of [...intake.quarantine, ...rejected]) {
    tell({ kind: 'quarantined', resource, key, reason });
  }
  for (const { resource, keys } of intake.remove) tell({ kind: 'deleted', resource, keys });
}
