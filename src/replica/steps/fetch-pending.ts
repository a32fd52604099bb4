import type { Keys } from '../../store/ledger.ts';
import type { Copy } from '../copy/copy.ts';
import { PageSize } from '../copy/page-size.ts';
import { CHILDREN, entryOf, RECORD } from '../copy/pending-fetches.ts';
import { storePage } from '../copy/store-page.ts';
import { asksTooMuch, isOfRequest, isTooLarge, RequestFailure } from '../http/failure.ts';
import type { SourcePage } from '../source/source.ts';
import { type Blame, makeBlame } from './error-attribution.ts';
import { absentFrom } from './gone.ts';

const GROUP_ATTEMPTS = 2;

/**
 * Asks for records, or for collections of listings, that need requests of their own. Keys that the source does not
 * have any more are done with: the purge deletes them. A key that the source fails or refuses to give, while it gives
 * others, goes to the quarantine and blocks nothing.
 * @throws RequestFailure when the source gives nothing at all
 */
export async function fetchWanted(copy: Copy, resource: string, why: string): Promise<void> {
  const { name, store, tell } = copy;
  const step = why === RECORD ? 'fetch' : 'sub-data';
  const total = await store.ledger.wantedCount(name, resource, why);
  if (total === 0) return;
  tell({ kind: 'step', resource, step, state: 'begun' });
  const failed = new Map<string, RequestFailure>();
  const blame = makeBlame(copy, resource, (key) => ask(copy, resource, why, [key], GROUP_ATTEMPTS));
  let done = 0;
  for await (const answers of groups(copy, resource, why, blame)) {
    for (const { some, page: given } of answers) {
      if (given instanceof RequestFailure) {
        for (const key of some) failed.set(key, given);
        continue;
      }
      const { page, gone } =
        why === RECORD ? await askTwice(copy, resource, some, given) : { page: given, gone: [] };
      done += some.length;
      // A record is released when it is stored; its sub-data is here now, or the listing is gone.
      const entries = why === RECORD ? [] : some.map((key) => entryOf(key, why));
      const release = entries.filter((entry) => copy.book.isQuarantined(resource, entry));
      await storePage(copy, page, () => ({
        got: [{ resource, keys: some, why }],
        release: [{ resource, keys: release }, ...gone],
      }));
      for (const each of gone) tell({ kind: 'gone', ...each });
      tell({ kind: 'page', resource, step, rows: some.length, done, total });
    }
  }
  // An answer came of what is too large: the source gives what it has.
  const first = [...failed.values()].find((failure) => !isTooLarge(failure));
  if (first !== undefined && done === 0) await blame.onSource(first);
  if (failed.size > 0) await giveUp(copy, resource, why, failed);
  tell({ kind: 'step', resource, step, state: 'done' });
}

/**
 * Asks once more for records whose entries are in the quarantine and that the source did not give: what it does not give
 * twice it has no more.
 */
async function askTwice(
  copy: Copy,
  resource: string,
  keys: readonly string[],
  page: SourcePage,
): Promise<{ readonly page: SourcePage; readonly gone: readonly Keys[] }> {
  const { book, feed } = copy;
  const nothing = { page, gone: [] };
  if (feed.capabilities.byKey === 'none') return nothing;
  const absent = absentFrom(page, resource, keys);
  const kept = book.quarantined((of) => of.resource === resource && absent.has(of.key ?? ''));
  const doubtful = new Set(kept.map(({ subject }) => subject.key ?? ''));
  if (doubtful.size === 0) return nothing;
  const again = await feed.some(resource, [...doubtful]);
  const gone = absentFrom(again, resource, [...doubtful]);
  return {
    page: {
      ...page,
      items: [...page.items, ...again.items],
      broken: [...page.broken, ...again.broken],
      keys: [...page.keys, ...again.keys],
    },
    gone: kept
      .filter(({ subject }) => gone.has(subject.key ?? ''))
      .map((each) => ({ resource: each.resource, keys: [each.key] })),
  };
}

interface Answered {
  readonly some: readonly string[];
  readonly page: SourcePage | RequestFailure;
}

/** What is wanted, in the order of keys. The next group is on its way while one is stored, and no further. */
async function* groups(copy: Copy, resource: string, why: string, blame: Blame): AsyncGenerator<Answered[]> {
  const { feed, name, store, tell } = copy;
  const size = new PageSize(feed.someAtOnce, tell);
  const ask = async (after: string): Promise<{ answers: Answered[]; last: string } | undefined> => {
    const keys = await store.ledger.wanted(name, resource, why, after, size.now);
    const last = keys.at(-1);
    if (last === undefined) return undefined;
    const answers = await askFor(copy, resource, why, keys, blame);
    for (const { some, page } of answers) {
      if (!(page instanceof RequestFailure)) size.praise(page.weight, some.length);
    }
    return { answers, last };
  };
  for (let coming = ask(''); ; ) {
    const group = await coming;
    if (group === undefined) return;
    coming = ask(group.last);
    coming.catch(() => undefined); // told when it is waited for
    yield group.answers;
  }
}

/** Halves what is too much for the source, down to the key that is at fault. */
async function askFor(
  copy: Copy,
  resource: string,
  why: string,
  keys: readonly string[],
  blame: Blame,
): Promise<Answered[]> {
  // A group that is too much is soon halved; all the patience there is goes to the key that is left, the first time.
  const isKnown = keys.every((key) => copy.book.isQuarantined(resource, entryOf(key, why)));
  const attempts = keys.length > 1 || isKnown ? GROUP_ATTEMPTS : undefined;
  try {
    return [await answered(copy, resource, why, keys, blame, attempts)];
  } catch (error) {
    if (!isOfRequest(error)) throw error;
    // Asking on makes it worse where the token itself is refused.
    if (error.status === 403) await blame.onSource(error);
    else if (!asksTooMuch(error) && !isRejected(error)) {
      if (attempts === undefined || error.kind !== 'transient') throw error;
      return [await answered(copy, resource, why, keys, blame)];
    }
    const [only = ''] = keys;
    if (keys.length === 1) {
      if (!isTooLarge(error)) await blame.put(only, error);
      return [{ some: keys, page: error }];
    }
    const middle = keys.length >> 1;
    const first = await askFor(copy, resource, why, keys.slice(0, middle), blame);
    return [...first, ...(await askFor(copy, resource, why, keys.slice(middle), blame))];
  }
}

/** Whether the source does not take the request as it is, which may be the fault of a key in it. */
const isRejected = ({ kind, status }: RequestFailure): boolean =>
  kind === 'rejected' && status !== undefined && status >= 400;

async function answered(
  copy: Copy,
  resource: string,
  why: string,
  keys: readonly string[],
  blame: Blame,
  attempts?: number,
): Promise<Answered> {
  const page = await ask(copy, resource, why, keys, attempts);
  blame.clear();
  return { some: keys, page };
}

function ask(
  { feed }: Copy,
  resource: string,
  why: string,
  keys: readonly string[],
  attempts?: number,
): Promise<SourcePage> {
  if (why === RECORD) return feed.some(resource, keys, attempts);
  return feed.children(keys, why === CHILDREN ? feed.capabilities.expansions : [why], attempts);
}

async function giveUp(
  copy: Copy,
  resource: string,
  why: string,
  failed: ReadonlyMap<string, RequestFailure>,
): Promise<void> {
  const what = why === RECORD ? 'record' : 'sub-data';
  const quarantine = [...failed].map(([key, { message }]) => ({
    resource,
    key: entryOf(key, why),
    reason: `The source cannot give its ${what}: ${message}`,
    payload: JSON.stringify({ wanted: why, key }),
  }));
  await copy.book.commit({ quarantine, got: [{ resource, keys: [...failed.keys()], why }] });
  for (const { key, reason } of quarantine) copy.tell({ kind: 'quarantined', resource, key, reason });
}
