/** Which fields a source masks: a change shows that the rights of the key differ from those at the time of the copy. */
import type { Masks } from '../checkpoint/notes.ts';
import type { SourcePage } from '../source/source.ts';

export const NO_MASKS: Masks = { masked: [], open: [] };

/**
 * Whether a page shows that the rights of the key have changed: a field that was always masked is readable, or vice
 * versa. A field that is masked in some records only proves nothing.
 */
export function contradicts({ masked, open }: Masks, page: Pick<SourcePage, 'masked' | 'open'>): boolean {
  const wasMasked = new Set(masked);
  const wasOpen = new Set(open);
  return (
    page.masked.some((name) => wasOpen.has(name) && !wasMasked.has(name)) ||
    page.open.some((name) => wasMasked.has(name) && !wasOpen.has(name))
  );
}

/** The knowledge after a page; the same object if nothing is new. */
export function withPage(masks: Masks, page: Pick<SourcePage, 'masked' | 'open'>): Masks {
  const masked = new Set([...masks.masked, ...page.masked]);
  const open = new Set([...masks.open, ...page.open]);
  if (masked.size === masks.masked.length && open.size === masks.open.length) return masks;
  return { masked: [...masked].toSorted(), open: [...open].toSorted() };
}
