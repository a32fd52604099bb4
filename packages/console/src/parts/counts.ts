/** Numbers of records as roles see them, requested a few at a time. */
import { ask, pathSeenBy, Refused } from '../app/api.ts';

interface Counted {
  /** A name by which the caller identifies the number. */
  readonly name: string;
  readonly viewer: string;
  readonly resource: string;
  /** An OData filter; absent: all records that the role sees. */
  readonly filter?: string;
}

const AT_ONCE = 4;

/**
 * Requests numbers of records.
 *
 * @param each is called whenever a number arrives
 * @param until aborts the requests
 * @returns the numbers by name; a resource that a role does not see has none
 * @throws Refused
 */
export async function countsOf(
  wanted: readonly Counted[],
  each: (counts: ReadonlyMap<string, number>) => void = () => undefined,
  until?: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const left = wanted.values();
  const work = async (): Promise<void> => {
    for (const one of left) {
      const number = await countOf(one);
      if (until?.aborted === true) return;
      if (number === undefined) continue;
      counts.set(one.name, number);
      each(new Map(counts));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return counts;
}

async function countOf({ viewer, resource, filter }: Counted): Promise<number | undefined> {
  const search = filter === undefined ? '' : `?$filter=${encodeURIComponent(filter)}`;
  try {
    const { body } = await ask(pathSeenBy(viewer, 'api', `/Reso/OData/${resource}/$count${search}`), {
      headers: { accept: 'text/plain' },
    });
    return Number(body);
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return undefined;
    throw error;
  }
}
