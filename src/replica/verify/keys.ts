/** Keys that stand on one side alone. */
import type { Copy } from '../copy/copy.ts';
import { inHalves } from '../source/pages.ts';
import type { Tally } from './tally.ts';

/** The order of keys: by bytes of UTF-8 (I1). */
export const compareKeys = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other));

/** Stored keys of a range that the walk did not give, and that the source does not give when it is asked for them either. */
export async function findExtra(
  copy: Copy,
  resource: string,
  keys: ReadonlySet<string>,
  tally: Tally,
  range: { readonly after: string; readonly last?: string },
): Promise<void> {
  const { feed, name, store } = copy;
  for (let { after } = range; ; ) {
    const found = await store.ledger.storedKeys(name, resource, after, feed.someAtOnce);
    const end = found.at(-1);
    if (end === undefined) return;
    after = end;
    const { last } = range;
    const stored = last === undefined ? found : found.filter((key) => compareKeys(key, last) <= 0);
    if (stored.length === 0) return;
    const extra = stored.filter((key) => !keys.has(key));
    if (extra.length === 0) continue;
    const given = (await inHalves(resource, extra, (some) => feed.some(resource, some))).keys.filter(
      (each) => each.resource === resource,
    );
    const there = new Set(given.map(({ key }) => key));
    const gone = extra.filter((key) => !there.has(key));
    const still = await store.ledger.missing(name, resource, gone);
    for (const key of gone) {
      if (!still.includes(key)) tally.differences.push({ resource, key, kind: 'not-at-source', fields: [] });
    }
  }
}
