import type { SourcePage } from '../source.ts';

/** The interface leaves hidden fields out; it masks nothing. */
export const UNMASKED = { masked: [], open: [] } as const;
export const NOTHING: SourcePage = { items: [], broken: [], keys: [], serverTime: 0, weight: 0, ...UNMASKED };

/** Asks for one after the other. */
export async function inTurn<T>(keys: readonly string[], ask: (key: string) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (const key of keys) results.push(await ask(key));
  return results;
}

/** What came in several answers, as one page. */
export function together(pages: readonly SourcePage[]): SourcePage {
  return {
    items: pages.flatMap((page) => page.items),
    broken: pages.flatMap((page) => page.broken),
    keys: pages.flatMap((page) => page.keys),
    serverTime: Math.max(0, ...pages.map((page) => page.serverTime)),
    weight: pages.reduce((sum, page) => sum + page.weight, 0),
    ...UNMASKED,
  };
}
