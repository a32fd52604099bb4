/** Finds contradictions within a copy. This module knows nothing about the source. */
import { PUBLISHED_RESOURCES } from '../../compile/layout/index.ts';
import type { StoreModel } from '../../compile/model.ts';
import type { RowFaults, RowPlace, RowRange } from '../../store/check/checks.ts';
import type { Store } from '../../store/store.ts';
import type { Difference } from './results.ts';

/** The number of rows of a part. */
const AT_ONCE = 1000;
/** The number of parts that are checked concurrently; a store with fewer threads queues the others. */
const SIDE_BY_SIDE = 16;

/**
 * The given resources, the resources of their collections, and the resources that the store itself publishes, as far as it has
 * them.
 */
export function withRelatedResources(
  { dictionary, stores }: StoreModel,
  resources: readonly string[],
): string[] {
  const found = new Set<string>();
  const add = (name: string): void => {
    const resource = dictionary.resources.get(name);
    if (resource === undefined || found.has(name) || !stores(name)) return;
    found.add(name);
    for (const { collection, target } of resource.navigations.values()) {
      if (collection && dictionary.resources.get(target)?.parent !== undefined) add(target);
    }
  };
  [...resources, ...PUBLISHED_RESOURCES].forEach(add);
  return [...found];
}

/** A search for damage that is in progress. */
interface DamageSearch {
  readonly found: Promise<readonly Difference[]>;
  /** Ends the search early; resolves when it no longer reads. */
  stop(): Promise<void>;
}

/** Compares the rows with their texts and visibility flags, and the counts and indexes with the rows. */
export function findAllDamage(
  store: Store,
  resources: readonly string[],
  onProgress: (resource: string, rows: number) => void,
): DamageSearch {
  const stopping = new AbortController();
  const found: Difference[][] = [];
  const checked = new Map<string, number>();
  const parts = partsOf(store, resources, stopping.signal);
  const work = async (): Promise<void> => {
    for await (const part of parts) {
      const { rows, faults } = await checkPart(store, part);
      const { place, resource } = part;
      found[place] = faults.map(({ key, what }) => ({ resource, key, kind: 'damaged', fields: what }));
      if (stopping.signal.aborted) return;
      const every = (checked.get(resource) ?? 0) + rows;
      checked.set(resource, every);
      onProgress(resource, every);
    }
  };
  const workers = Array.from({ length: SIDE_BY_SIDE }, work);
  const every = Promise.all(workers).then(() => found.flat());
  every.catch(() => stopping.abort()); // thrown when it is awaited
  return {
    found: every,
    stop: async () => {
      stopping.abort();
      await Promise.allSettled(workers);
    },
  };
}

/** A part of a check: rows of a resource, or data that is stored for all of them. */
type Part = {
  /** The index of the part. */
  readonly place: number;
  readonly resource: string;
} & ({ readonly kind: 'rows'; readonly rows: RowRange } | { readonly kind: 'table' });

/** The parts in order. The next part is determined while earlier ones are checked. */
async function* partsOf(
  store: Store,
  resources: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<Part, void> {
  let place = 0;
  for (const resource of resources) {
    for (let after: RowPlace | undefined, isLast = false; !isLast && !signal.aborted; ) {
      const upTo = await store.rowAfter(resource, after, AT_ONCE);
      yield { place: place++, resource, kind: 'rows', rows: { after, upTo } };
      after = upTo;
      isLast = upTo === undefined;
    }
    if (signal.aborted) return;
    yield { place: place++, resource, kind: 'table' };
  }
}

async function checkPart(
  store: Store,
  part: Part,
): Promise<{ readonly rows: number; readonly faults: readonly RowFaults[] }> {
  switch (part.kind) {
    case 'rows':
      return store.rowFaults(part.resource, { kind: 'range', ...part.rows });
    case 'table':
      return { rows: 0, faults: await store.tableFaults(part.resource) };
  }
}
