/** Combines several responses to one page, and requests keys in smaller groups if necessary. */
import {
  isDirectFailure,
  isServerError,
  isTooLarge,
  mayBeRejectedForSize,
  type RequestFailure,
} from '../http/failure.ts';
import type { Source, SourcePage } from './source.ts';

/** Combines the responses to several requests to one page, without a next page. */
export function joinPages(pages: readonly SourcePage[]): SourcePage {
  return {
    items: pages.flatMap(({ items }) => items),
    broken: pages.flatMap(({ broken }) => broken),
    keys: pages.flatMap(({ keys }) => keys),
    masked: [...new Set(pages.flatMap(({ masked }) => masked))],
    open: [...new Set(pages.flatMap(({ open }) => open))],
    serverTime: Math.max(0, ...pages.map(({ serverTime }) => serverTime)),
    weight: pages.reduce((sum, { weight }) => sum + weight, 0),
  };
}

export const EMPTY_PAGE = joinPages([]);

type Ask = (keys: readonly string[]) => Promise<SourcePage>;

/**
 * Requests the records of keys. If they are too large to be read together, or more than the source accepts in one request, they are
 * requested in halves, down to single records. A record that is too large by itself is returned as one that exists but cannot be
 * read.
 * @param nameOf the quarantine name of the response for a key
 */
export async function requestInHalves(
  resource: string,
  keys: readonly string[],
  ask: Ask,
  nameOf: (key: string) => string = (key) => key,
): Promise<SourcePage> {
  try {
    return await ask(keys);
  } catch (error) {
    const isAlone = keys.length < 2;
    const isForMany = !isAlone && isDirectFailure(error) && mayBeRejectedForSize(error);
    if (!isTooLarge(error) && !isForMany) throw error;
    const [only = ''] = keys;
    if (isAlone) return unreturnablePage(resource, only, nameOf(only), error.message);
  }
  const middle = keys.length >> 1;
  return joinPages([
    await requestInHalves(resource, keys.slice(0, middle), ask, nameOf),
    await requestInHalves(resource, keys.slice(middle), ask, nameOf),
  ]);
}

/** Requests records by their keys, in halves if they are too large to be read together. */
export const fetchRecords = (
  feed: Source,
  resource: string,
  keys: readonly string[],
  attempts?: number,
  distinct?: string,
): Promise<SourcePage> =>
  requestInHalves(resource, keys, (some) => feed.recordsByKey(resource, some, attempts, distinct));

/** The number of attempts at a record at which the source may always fail. */
const ATTEMPTS = 2;

/**
 * Like `fetchRecords`, but a record at which the source fails while it returns others is returned as one that exists but cannot be
 * read.
 * @param known keys of records that the source returned earlier
 * @throws RequestFailure if the source fails at every record, including those of `known`
 */
export async function fetchRecordsSkippingFailing(
  feed: Source,
  resource: string,
  keys: readonly string[],
  known: readonly string[],
): Promise<SourcePage> {
  if (keys.length > 1) {
    try {
      return await fetchRecords(feed, resource, keys);
    } catch (error) {
      if (!isDirectFailure(error) || !isServerError(error)) throw error;
    }
  }
  const ask = (key: string): Promise<SourcePage> => fetchRecords(feed, resource, [key], ATTEMPTS);
  const { returned, refused } = await fetchEach(resource, keys, ask, known);
  return joinPages([...returned, ...refused]);
}

/** Requests each key separately. */
export async function requestOneByOne(
  keys: readonly string[],
  ask: (key: string) => Promise<SourcePage>,
): Promise<SourcePage> {
  const pages: SourcePage[] = [];
  for (const key of keys) pages.push(await ask(key));
  return joinPages(pages);
}

/**
 * The number of records in a row that the source fails to return, after which a known record has to prove that it still returns
 * any.
 */
const PATIENCE = 3;

/**
 * Adds the records to a page of keys, each by a separate request, because they cannot be read together. A record that is too large
 * by itself, or at which the source fails while it returns others, does not affect the other records.
 * @param known keys of records that the source returned earlier, in case it returns none of this page
 * @throws RequestFailure if the source fails at every record, including those of `known`
 */
export async function withRecordsOneByOne(
  resource: string,
  page: SourcePage,
  ask: (key: string) => Promise<SourcePage>,
  known: readonly string[] = [],
): Promise<SourcePage> {
  const keys = page.keys.map(({ key }) => key);
  const { returned, refused } = await fetchEach(resource, keys, ask, known);
  const { items, broken, masked, open } = joinPages([...returned, page, ...refused]);
  return { ...page, items, broken, masked, open };
}

/** Requests the record of each key separately. Returns those that the source returned, and those at which it fails. */
async function fetchEach(
  resource: string,
  keys: readonly string[],
  ask: (key: string) => Promise<SourcePage>,
  known: readonly string[],
): Promise<Readonly<Record<'returned' | 'refused', readonly SourcePage[]>>> {
  const returned: SourcePage[] = [];
  const failed = new Map<string, RequestFailure>();
  let workingKey: string | undefined;
  const mustReturnOne = async (failure: RequestFailure): Promise<void> => {
    workingKey ??= await firstReturned(known.filter((key) => !failed.has(key)).slice(0, PATIENCE), ask);
    if (workingKey === undefined) throw failure;
  };
  let inARow = 0;
  for (const key of keys) {
    try {
      returned.push(await requestInHalves(resource, [key], () => ask(key)));
      workingKey ??= key;
      inARow = 0;
    } catch (error) {
      if (!isDirectFailure(error) || !isServerError(error)) throw error;
      failed.set(key, error);
      if (++inARow >= PATIENCE) await mustReturnOne(error);
    }
  }
  const [failure] = failed.values();
  if (failure !== undefined) await mustReturnOne(failure);
  // The last request failed, so check that the source still works.
  if (inARow > 0 && workingKey !== undefined) await ask(workingKey);
  const refused = [...failed].map(([key, { message }]) => unreturnablePage(resource, key, key, message));
  return { returned, refused };
}

/** The first of these keys whose record the source returns; undefined if there is none. */
async function firstReturned(
  keys: readonly string[],
  ask: (key: string) => Promise<SourcePage>,
): Promise<string | undefined> {
  for (const key of keys) if ((await ask(key)).keys.some((each) => each.key === key)) return key;
  return undefined;
}

/** A page with a record that the source has but cannot return. */
function unreturnablePage(resource: string, key: string, name: string, why: string): SourcePage {
  const reason = `The source cannot return the record: ${why}`;
  const broken = [{ resource, key: name, payload: JSON.stringify(key), reason }];
  return { ...EMPTY_PAGE, broken, keys: [{ resource, key }] };
}
