import type { RowFaults, RowPlace } from '../../store/check/row-faults.ts';
import type { StoreModel } from '../../store/model.ts';
import { PUBLISHED } from '../../store/sql/visibility.ts';
import type { Store } from '../../store/store.ts';
import type { Difference } from './results.ts';

/** Rows that are checked at once. */
const AT_ONCE = 1000;

/** Resources and all that is part of their records, and what the store says of itself, as far as the store has them. */
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
  [...resources, ...PUBLISHED].forEach(add);
  return [...found];
}

/** Resources that are checked at once. */
const SIDE_BY_SIDE = 4;

/** A search for damage that goes on by itself. */
export interface DamageSearch {
  readonly found: Promise<readonly Difference[]>;
  /** Ends it early; resolves when it does not read any more. */
  stop(): Promise<void>;
}

/** What in a copy does not agree with itself: rows with their texts and flags, counts and indexes with the rows. */
export function findAllDamage(
  store: Store,
  resources: readonly string[],
  onProgress: (resource: string, rows: number) => void,
): DamageSearch {
  const stopping = new AbortController();
  const waiting = [...resources];
  const found: Difference[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const resource = next;
      const told = (rows: number): void => onProgress(resource, rows);
      found.push(...(await findDamage(store, resource, told, stopping.signal)));
    }
  };
  const place = new Map(resources.map((resource, index) => [resource, index]));
  const placeOf = ({ resource }: Difference): number => place.get(resource) ?? 0;
  const every = Promise.all(Array.from({ length: SIDE_BY_SIDE }, work)).then(() =>
    found.toSorted((one, other) => placeOf(one) - placeOf(other)),
  );
  every.catch(() => stopping.abort()); // told when it is waited for
  return {
    found: every,
    stop: async () => {
      stopping.abort();
      await Promise.allSettled([every]);
    },
  };
}

async function findDamage(
  store: Store,
  resource: string,
  onProgress: (rows: number) => void,
  signal: AbortSignal,
): Promise<Difference[]> {
  const found: Difference[] = [];
  const note = ({ key, what }: RowFaults): void =>
    void found.push({ resource, key, kind: 'damaged', fields: what });
  let rows = 0;
  for (let place: RowPlace | undefined, isLast = false; !isLast; isLast = place === undefined) {
    if (signal.aborted) return found;
    const page = await store.rowFaults(resource, { kind: 'after', place, limit: AT_ONCE });
    page.faults.forEach(note);
    place = page.next;
    rows += page.rows;
    onProgress(rows);
  }
  (await store.tableFaults(resource)).forEach(note);
  return found;
}
