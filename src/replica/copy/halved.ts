import { isTooLarge } from '../http/failure.ts';
import type { SourcePage } from '../source/source.ts';
import { entryOf } from './pending-fetches.ts';

/** What a source gives of keys. */
export type Part = Pick<SourcePage, 'items' | 'broken' | 'keys'>;

/**
 * What is too large to be read together is asked for in halves. Of what is so by itself it is known that the source has
 * it, and not what it is.
 * @param why the keys are asked for, as in `wanted.ts`
 */
export async function halved(
  resource: string,
  keys: readonly string[],
  why: string,
  ask: (keys: readonly string[]) => Promise<SourcePage>,
): Promise<Part> {
  try {
    return await ask(keys);
  } catch (error) {
    if (!isTooLarge(error) || !(error instanceof Error)) throw error;
    const [only = ''] = keys;
    const reason = `The source cannot give it: ${error.message}`;
    const broken = { resource, key: entryOf(only, why), payload: JSON.stringify(only), reason };
    if (keys.length < 2) return { items: [], broken: [broken], keys: [{ resource, key: only }] };
  }
  const middle = keys.length >> 1;
  const first = await halved(resource, keys.slice(0, middle), why, ask);
  const second = await halved(resource, keys.slice(middle), why, ask);
  return {
    items: [...first.items, ...second.items],
    broken: [...first.broken, ...second.broken],
    keys: [...first.keys, ...second.keys],
  };
}
