/** Numbers of records as roles see them, requested a few at a time. */
import { ask, Refused, seenThrough } from '../app/api.ts';

interface Counted {
  /** What the number is of, for whoever asks. */
  readonly name: string;
  readonly eyes: string;
  readonly resource: string;
  /** OData; absent: all that the role sees. */
  readonly filter?: string;
}

const AT_ONCE = 4;

/**
 * @param each is told of every number as soon as it is there
 * @param until whoever asks has gone
 * @returns the numbers by their names; what does not exist for a role has none
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

async function countOf({ eyes, resource, filter }: Counted): Promise<number | undefined> {
  const search = filter === undefined ? '' : `?$filter=${encodeURIComponent(filter)}`;
  try {
    const { body } = await ask(seenThrough(eyes, 'api', `/Reso/OData/${resource}/$count${search}`), {
      headers: { accept: 'text/plain' },
    });
    return Number(body);
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return undefined;
    throw error;
  }
}
