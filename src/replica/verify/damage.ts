import type { RowFaults, RowPlace } from '../../store/check/row-faults.ts';
import type { StoreModel } from '../../store/model.ts';
import type { Store } from '../../store/store.ts';
import type { Difference } from './verify.ts';

/** Rows that are checked at once. */
const AT_ONCE = 1000;

/** Resources and all that is part of their records, as far as the store has them. */
export function withParts({ dictionary, stores }: StoreModel, resources: readonly string[]): string[] {
  const found = new Set<string>();
  const add = (name: string): void => {
    const resource = dictionary.resources.get(name);
    if (resource === undefined || found.has(name) || !stores(name)) return;
    found.add(name);
    for (const { collection, target } of resource.navigations.values()) {
      if (collection && dictionary.resources.get(target)?.parent !== undefined) add(target);
    }
  };
  resources.forEach(add);
  return [...found];
}

/** What in a copy does not agree with itself: rows with their texts and flags, counts and indexes with the rows. */
export async function findDamage(
  store: Store,
  resource: string,
  onProgress: (rows: number) => void,
): Promise<Difference[]> {
  const found: Difference[] = [];
  const note = ({ key, what }: RowFaults): void =>
    void found.push({ resource, key, kind: 'damaged', fields: what });
  let rows = 0;
  for (let place: RowPlace | undefined, isLast = false; !isLast; isLast = place === undefined) {
    const page = await store.rowFaults(resource, { kind: 'after', place, limit: AT_ONCE });
    page.faults.forEach(note);
    place = page.next;
    rows += page.rows;
    onProgress(rows);
  }
  (await store.tableFaults(resource)).forEach(note);
  return found;
}
