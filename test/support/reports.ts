import type { WriteReport } from '../../src/store/write/report.ts';
import type { Json } from './world.ts';

/** The counts of a write that are not zero, and its rejected records. */
export function nonZero({ stamp: _, children, rejected, taken, ...counts }: WriteReport): Json {
  const happened = (numbers: Readonly<Record<string, number>>): Record<string, number> =>
    Object.fromEntries(Object.entries(numbers).filter(([, number]) => number !== 0));
  const below = happened(children);
  return {
    ...happened(counts),
    ...(Object.keys(below).length === 0 ? {} : { children: below }),
    ...(rejected.length === 0 ? {} : { rejected }),
    ...(taken.length === 0 ? {} : { taken: taken.map(({ key, from, by }) => [key, from.key, by.key]) }),
  };
}
