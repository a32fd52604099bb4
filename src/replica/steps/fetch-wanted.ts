import type { Copy } from '../copy/copy.ts';
import { PageSize } from '../copy/page-size.ts';
import { storePage } from '../copy/store-page.ts';
import { CHILDREN, entryOf, RECORD } from '../copy/wanted.ts';
import { asksTooMuch, RequestFailure } from '../http/failure.ts';
import type { SourcePage } from '../source/source.ts';

const GROUP_ATTEMPTS = 2;
/** Keys in a row that the source cannot give, after which it is the source that is at fault and not they. */
const PATIENCE = 3;

/**
 * Asks for records, or for collections of listings, that need requests of their own. Keys that the source does not
 * have any more are done with: the purge deletes them. A key that the source fails to give, while it gives others,
 * goes to the quarantine and blocks nothing.
 * @throws RequestFailure when the source gives nothing at all
 */
export async function fetchWanted(copy: Copy, resource: string, why: string): Promise<void> {
  const { name, store, tell } = copy;
  const step = why === RECORD ? 'fetch' : 'sub-data';
  const total = await store.ledger.wantedCount(name, resource, why);
  if (total === 0) return;
  tell({ kind: 'step', resource, step, state: 'begun' });
  const failed = new Map<string, RequestFailure>();
  let inARow = 0;
  let done = 0;
  for await (const answers of groups(copy, resource, why)) {
    for (const { some, page } of answers) {
      if (page instanceof RequestFailure) {
        for (const key of some) failed.set(key, page);
        if (++inARow >= PATIENCE) throw page;
        continue;
      }
      inARow = 0;
      done += some.length;
      // A record is released when it is stored; its sub-data is here now, or the listing is gone.
      const entries = why === RECORD ? [] : some.map((key) => entryOf(key, why));
      const release = entries.filter((entry) => copy.book.isQuarantined(resource, entry));
      await storePage(copy, page, () => ({
        got: [{ resource, keys: some, why }],
        release: [{ resource, keys: release }],
      }));
      tell({ kind: 'page', resource, step, rows: some.length, done, total });
    }
  }
  await giveUp(copy, resource, why, failed, done);
  tell({ kind: 'step', resource, step, state: 'done' });
}

interface Answered {
  readonly some: readonly string[];
  readonly page: SourcePage | RequestFailure;
}

/** What is wanted, in the order of keys. The next group is on its way while one is stored, and no further. */
async function* groups(copy: Copy, resource: string, why: string): AsyncGenerator<Answered[]> {
  const { feed, name, store, tell } = copy;
  const size = new PageSize(feed.someAtOnce, tell);
  const ask = async (after: string): Promise<{ answers: Answered[]; last: string } | undefined> => {
    const keys = await store.ledger.wanted(name, resource, why, after, size.now);
    const last = keys.at(-1);
    if (last === undefined) return undefined;
    const answers = await askFor(copy, resource, why, keys);
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
): Promise<Answered[]> {
  // A group that is too much is soon halved; all the patience there is goes to the key that is left.
  const attempts = keys.length > 1 ? GROUP_ATTEMPTS : undefined;
  try {
    return [{ some: keys, page: await ask(copy, resource, why, keys, attempts) }];
  } catch (error) {
    if (!(error instanceof RequestFailure)) throw error;
    if (!asksTooMuch(error)) {
      if (attempts === undefined || error.kind !== 'transient') throw error;
      return [{ some: keys, page: await ask(copy, resource, why, keys) }];
    }
    if (keys.length === 1) return [{ some: keys, page: error }];
    const middle = keys.length >> 1;
    const first = await askFor(copy, resource, why, keys.slice(0, middle));
    return [...first, ...(await askFor(copy, resource, why, keys.slice(middle)))];
  }
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
  done: number,
): Promise<void> {
  const [first] = failed.values();
  if (first === undefined) return;
  if (done === 0) throw first;
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
