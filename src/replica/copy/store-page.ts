import type { ParsedRecord } from '../../records/parsed-record.ts';
import type { Keys, LedgerChange } from '../../store/ledger.ts';
import type { WriteReport } from '../../store/write/report.ts';
import type { BookChange, Kept } from '../checkpoint/checkpoint.ts';
import type { SourcePage } from '../source/source.ts';
import { collectionOf, resourcesIn } from '../source/source.ts';
import type { Copy } from './copy.ts';
import { filesOf } from './files-wanted.ts';
import { entryOf, subDataEntries } from './pending-fetches.ts';
import { type Intake, nameInAccount, takeIn } from './read-page.ts';
import { wantable } from './wantable.ts';

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
  const gone = goneWith(copy, intake);
  const report = await copy.book.alone((commit) =>
    commit({
      ...more,
      records: intake.records,
      remove: [...intake.remove, ...(more.remove ?? [])],
      quarantine: [...intake.quarantine, ...quarantine, ...(more.quarantine ?? [])],
      seen: [...marksOf(copy, page, intake), ...(more.seen ?? [])],
      want: [...partsWanted(intake), ...filesWanted(copy, intake), ...want],
      release: [...releases(copy, intake), ...gone, ...(more.release ?? [])],
    }),
  );
  for (const { resource, keys } of gone) copy.tell({ kind: 'gone', resource, keys });
  tellOf(copy, { ...intake, quarantine: [...intake.quarantine, ...quarantine] }, report);
  return report;
}

/** Marks of the running sweeps for all keys of the page, those that could not be stored included: the source has them. */
function marksOf(
  copy: Copy,
  { keys }: Pick<SourcePage, 'keys'>,
  { remove, quarantine }: Intake,
): NonNullable<LedgerChange['seen']> {
  const gone = new Set(
    remove.flatMap(({ resource, keys: every }) => every.map((key) => `${resource} ${key}`)),
  );
  const byResource = new Map<string, string[]>();
  const note = (resource: string, key: string): void => {
    const list = byResource.get(resource);
    if (list === undefined) byResource.set(resource, [key]);
    else list.push(key);
  };
  for (const { resource, key } of keys) {
    if (!gone.has(`${resource} ${key}`)) note(resource, nameInAccount(key));
  }
  // What has no key at all is known by the name that it has in the quarantine.
  for (const { resource, key } of quarantine) {
    if (resourcesIn(collectionOf(copy.feed.capabilities, resource)).includes(resource)) note(resource, key);
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

/**
 * What is in the quarantine of records that the source deleted, and of members that a collection, which came whole, has
 * no more.
 */
function goneWith({ book }: Copy, { records, remove, quarantine }: Intake): Keys[] {
  const kept = Map.groupBy(
    book.quarantined(({ key }) => key !== undefined),
    ({ subject }) => nameOf(subject.resource, subject.key ?? ''),
  );
  if (kept.size === 0) return [];
  const again = new Set(quarantine.map(({ resource, key }) => nameOf(resource, key)));
  const found: Kept[] = [];
  for (const { resource, keys } of remove) {
    for (const key of keys) found.push(...(kept.get(nameOf(resource, key)) ?? []));
  }
  const look = ({ resource, key, children }: ParsedRecord): void => {
    const under = children.size === 0 ? undefined : kept.get(nameOf(resource.name, key));
    for (const [name, members] of children) {
      const target = resource.navigations.get(name)?.target;
      const given = new Set(members.map((member) => member.key));
      found.push(...(under ?? []).filter((each) => each.resource === target && !given.has(each.key)));
      members.forEach(look);
    }
  };
  for (const group of records) group.records.forEach(look);
  return found.flatMap(({ resource, key }) =>
    again.has(nameOf(resource, key)) ? [] : [{ resource, keys: [key] }],
  );
}

const nameOf = (resource: string, key: string): string => `${resource} ${key}`;

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
