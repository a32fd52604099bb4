import type { RowPlace } from '../../src/store/check/checks.ts';
import type { Store } from '../../src/store/store.ts';

/**
 * All inconsistencies within a store: resource, key and description.
 *
 * @param limit the number of rows to check at once
 */
export async function faultsIn(store: Store, limit = 1000): Promise<string[][]> {
  const { dictionary, stores } = await store.model();
  const found: string[][] = [];
  for (const { name } of dictionary.resources.values()) {
    if (!stores(name)) continue;
    const note = ({ key, what }: { readonly key: string; readonly what: readonly string[] }): void =>
      void found.push([name, key, ...what]);
    for (let place: RowPlace | undefined, isLast = false; !isLast; isLast = place === undefined) {
      const page = await store.rowFaults(name, { kind: 'after', place, limit });
      page.faults.forEach(note);
      place = page.next;
    }
    (await store.tableFaults(name)).forEach(note);
  }
  return found;
}
