import { isTooLarge } from '../http/failure.ts';
import type { BrokenItem, SourcePage } from './source.ts';

/** What came of records that were asked for one by one. */
export interface Gathered {
  readonly items: SourcePage['items'];
  readonly broken: readonly BrokenItem[];
  readonly masked: readonly string[];
  readonly open: readonly string[];
}

/**
 * Records of a page each in a request of its own, since together they are too large to be read. Of one that is so by
 * itself the key is all that is known; it takes no other with it.
 */
export async function oneByOne(
  resource: string,
  keys: readonly string[],
  ask: (key: string) => Promise<SourcePage>,
): Promise<Gathered> {
  const pages: Gathered[] = [];
  for (const key of keys) {
    try {
      pages.push(await ask(key));
    } catch (error) {
      if (!isTooLarge(error) || !(error instanceof Error)) throw error;
      const payload = JSON.stringify(key);
      const reason = `The source cannot give its record: ${error.message}`;
      pages.push({ items: [], broken: [{ resource, key, payload, reason }], masked: [], open: [] });
    }
  }
  return {
    items: pages.flatMap(({ items }) => items),
    broken: pages.flatMap(({ broken }) => broken),
    masked: [...new Set(pages.flatMap(({ masked }) => masked))],
    open: [...new Set(pages.flatMap(({ open }) => open))],
  };
}
