import type { WriteReport } from '../../src/store/write/report.ts';
import type { Json } from './world.ts';

/** What a write did, without its stamp and without what did not happen. */
export function told({ stamp: _, children, rejected, ...counts }: WriteReport): Json {
  const happened = (numbers: Readonly<Record<string, number>>): Record<string, number> =>
    Object.fromEntries(Object.entries(numbers).filter(([, number]) => number !== 0));
  const below = happened(children);
  return {
    ...happened(counts),
    ...(Object.keys(below).length === 0 ? {} : { children: below }),
    ...(rejected.length === 0 ? {} : { rejected }),
  };
}
