/**
 * Detects a source that went back in time, for instance because a backup was restored, even if it does not report that. The newest
 * records of each resource (the witnesses) are stored with their timestamps, as the source returned them; a correct source never
 * returns such a record with an older timestamp. A record that is missing or newer proves nothing, because it may have been deleted
 * or changed. An unchanged record proves that the source has not gone back beyond its timestamp. The fields that a source masks
 * show whether the rights of the key have changed since the copy was made.
 */
import { timestampFrom } from '../../dictionary/index.ts';
import type { CopyChange } from '../checkpoint/checkpoint.ts';
import type { Masks, Witness } from '../checkpoint/notes.ts';
import type { Copy } from '../copy/copy.ts';
import { RequestFailure } from '../http/failure.ts';
import { isDownloaded } from '../machine/states.ts';
import { fetchRecords } from '../source/pages.ts';
import { type SourceItem, type SourcePage, windowEdges } from '../source/source.ts';

/** The number of witnesses of a resource. Fewer deletions among the newest records leave the check effective. */
const WITNESSES = 20;
/** Other sources than plat may return a timestamp with fewer digits in one response than in another. Milliseconds. */
const PRECISION = 1000;

/** A record that the source returned with an older timestamp than before. */
interface OlderRecord {
  readonly key: string;
  readonly was: string;
  readonly is: string;
}

/** The witnesses after a page, to be stored with it. A timestamp that is later than the time of the page is from a wrong clock. */
function witnessesAfter(
  copy: Pick<Copy, 'checkpoint' | 'feed'>,
  resource: string,
  page: SourcePage,
  keyField: string,
): Pick<CopyChange, 'witnesses'> {
  const before = copy.checkpoint.witnesses(resource);
  const least =
    before.length < WITNESSES ? Number.NEGATIVE_INFINITY : Math.min(...before.map(({ at }) => at));
  const field = copy.feed.windowField(resource);
  const fresh = page.items.flatMap((item) => {
    const seen = item.resource === resource ? witnessOf(item, keyField, field) : undefined;
    return seen !== undefined && seen.at > least && seen.at <= page.serverTime ? [seen] : [];
  });
  if (fresh.length === 0) return {};
  const byKey = new Map([...before, ...fresh].map((each) => [each.key, each]));
  const newest = [...byKey.values()].toSorted((a, b) => b.at - a.at).slice(0, WITNESSES);
  return { witnesses: { resource, newest } };
}

function witnessOf({ json, onlyChildren }: SourceItem, keyField: string, field: string): Witness | undefined {
  const key = json[keyField];
  const at = Date.parse(String(json[field]));
  return onlyChildren === true || typeof key !== 'string' || Number.isNaN(at) ? undefined : { key, at };
}

/**
 * Requests the witnesses, from the newest on, until one is unchanged.
 * @returns a record that is older than before, in two requests
 */
export async function findOlderRecord(copy: Copy, resource: string): Promise<OlderRecord | undefined> {
  const { checkpoint, environment, feed, signal } = copy;
  const { asksForMany, byKey, isPlat } = feed.capabilities;
  const witnesses = checkpoint.witnesses(resource);
  if (byKey === 'none' || !isDownloaded(checkpoint.load(resource))) return undefined;
  const precision = isPlat ? 1 : PRECISION;
  const keyField = (await copy.store.model()).resource(resource).key;
  const ask = async (some: readonly Witness[]): Promise<ReadonlyMap<string, number>> => {
    const keys = some.map(({ key }) => key);
    const { items } = await fetchRecords(feed, resource, keys, 1);
    const seen = items.map((item) => witnessOf(item, keyField, feed.windowField(resource)));
    return new Map(seen.flatMap((each) => (each === undefined ? [] : [[each.key, each.at]])));
  };
  const absent = new Set<string>();
  const isOlder = ({ at }: Witness, now: number | undefined): now is number =>
    now !== undefined && now <= at - precision;
  const look = async (): Promise<OlderRecord | undefined> => {
    for (let from = 0, size = 1; from < witnesses.length; from += size, size = asksForMany ? WITNESSES : 1) {
      const group = witnesses.slice(from, from + size);
      const found = await ask(group);
      for (const witness of group) {
        const now = found.get(witness.key);
        if (now === undefined) absent.add(witness.key);
        else if (isOlder(witness, now)) {
          // A server that lags behind the others of the source may show an earlier state for a moment.
          await environment.clock.sleep(windowEdges(feed.capabilities).settle, signal);
          const again = (await ask([witness])).get(witness.key);
          if (isOlder(witness, again))
            return { key: witness.key, was: timestampFrom(witness.at), is: timestampFrom(again) };
        } else if (now < witness.at + precision) return undefined;
      }
    }
    return undefined;
  };
  try {
    return await look();
  } catch (error) {
    // A record that the source cannot return proves nothing. If the source is unreachable, the update that follows reports it.
    if (error instanceof RequestFailure && error.kind !== 'stopped') return undefined;
    throw error;
  } finally {
    if (absent.size > 0 && !signal.aborted) {
      const newest = witnesses.filter(({ key }) => !absent.has(key));
      await checkpoint.commit({ witnesses: { resource, newest } });
    }
  }
}

export const NO_MASKS: Masks = { masked: [], open: [] };

/**
 * Whether a page shows that the rights of the key have changed: a field that was always masked is readable, or vice
 * versa. A field that is masked in some records only proves nothing.
 */
export function contradictsMasks(
  { masked, open }: Masks,
  page: Pick<SourcePage, 'masked' | 'open'>,
): boolean {
  const wasMasked = new Set(masked);
  const wasOpen = new Set(open);
  return (
    page.masked.some((name) => wasOpen.has(name) && !wasMasked.has(name)) ||
    page.open.some((name) => wasMasked.has(name) && !wasOpen.has(name))
  );
}

/** Adds the masked and open fields of a page; returns the same object if none is new. */
export function mergeMasks(masks: Masks, page: Pick<SourcePage, 'masked' | 'open'>): Masks {
  const masked = new Set([...masks.masked, ...page.masked]);
  const open = new Set([...masks.open, ...page.open]);
  if (masked.size === masks.masked.length && open.size === masks.open.length) return masks;
  return { masked: [...masked].toSorted(), open: [...open].toSorted() };
}

/** What is stored with each page of a resource in addition to its records: the witnesses, and the masked fields. */
export async function notesOfPages(
  copy: Copy,
  resource: string,
): Promise<(page: SourcePage) => Pick<CopyChange, 'witnesses' | 'state'>> {
  const { key } = (await copy.store.model()).resource(resource);
  return (page) => {
    const before = copy.checkpoint.get('masks') ?? NO_MASKS;
    const masks = mergeMasks(before, page);
    return { ...witnessesAfter(copy, resource, page, key), state: masks === before ? {} : { masks } };
  };
}
