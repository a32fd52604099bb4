/** Children that were stored before the record that they belong to. */
import type { FieldValues } from '../../dictionary/index.ts';
import { hashOfStoredContent } from '../../records/content-hash.ts';
import { isMediaOfListing, systemFieldsOfMedia } from '../../records/media.ts';
import { isAbsent } from '../../records/parsed-record.ts';
import type { RowToPut } from '../../records/rows.ts';
import type { Owner } from '../../records/settings.ts';
import type { Tally } from './report.ts';
import {
  type MutableRow,
  putWithTimestamps,
  type RowWithoutTimestamps,
  type WriteTransaction,
} from './transaction.ts';

/** A record that is new or has changed its originating system. */
interface NewParent {
  readonly key: string;
  readonly system: string | null;
}

/**
 * Finds children that were stored before these parents, by resource, in the form in which they must be stored again: with their
 * parent's originating system and a new timestamp, since readers see them from now on (I2).
 * @param skips whether a navigation is omitted because the parent brings its children
 */
export async function findOrphans(
  transaction: WriteTransaction,
  resource: string,
  parents: readonly NewParent[],
  skips: (navigation: string, parent: string) => boolean,
): Promise<Map<string, RowWithoutTimestamps[]>> {
  const { model } = transaction;
  const orphans = new Map<string, RowWithoutTimestamps[]>();
  if (parents.length === 0) return orphans;
  const systems = new Map(parents.map(({ key, system }) => [key, system]));
  for (const { name, target, collection } of model.resource(resource).navigations.values()) {
    if (!collection || !model.stores(target) || model.resource(target).parent === undefined) continue;
    const found = await transaction.children(target, resource, [...systems.keys()]);
    const rows = [...found].flatMap(([parent, children]) => (skips(name, parent) ? [] : children));
    if (rows.length === 0) continue;
    const contents = await transaction.load(target, rows);
    const put = rows.map((row): RowWithoutTimestamps => {
      const system = systems.get(row.parent ?? '') ?? null;
      const content = contents.get(row.key) ?? {};
      const isListings = isMediaOfListing(model.resource(target), content);
      const { settings } = model;
      const values = isListings ? withSystem(content, system, row.system, settings.owner) : content;
      // From now on, the system that a child names is compared with its parent's.
      const hash =
        settings.owner === 'replica' && row.hash !== ''
          ? hashOfStoredContent(model.resource(target), values, settings, system)
          : row.hash;
      const placed: MutableRow = { ...row, stored: row, system, hash, values };
      return { row: placed, before: content, after: undefined };
    });
    orphans.set(target, [...(orphans.get(target) ?? []), ...put]);
  }
  return orphans;
}

/**
 * A medium of a listing that gets an originating system, or loses it: in an authority it names the system of its listing, whatever it
 * named while that was not stored or had another one. A replica keeps what its source sent.
 * @param former the system that the medium was stored with
 */
function withSystem(
  content: FieldValues,
  system: string | null,
  former: string | null,
  owner: Owner,
): FieldValues {
  const { OriginatingSystemResourceRecordSystemID: named, ...rest } = content;
  const isKept = !isAbsent(named) && (owner === 'replica' || (system === null && named !== former));
  return isKept
    ? content
    : { ...rest, ...Object.fromEntries(systemFieldsOfMedia(undefined, system ?? undefined)) };
}

/** Stores the children again whose parents were just stored. */
export async function adoptOrphans(
  transaction: WriteTransaction,
  resource: string,
  stored: readonly RowToPut[],
  tally: Tally,
): Promise<void> {
  const fresh = stored.filter((row) => row.stored === undefined);
  for (const [target, rows] of await findOrphans(transaction, resource, fresh, () => false)) {
    await putWithTimestamps(transaction, target, rows);
    tally.children.stored += rows.length;
  }
}
