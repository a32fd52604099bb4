/** The surfaces of the service with titles for people, and the response of GET /history. */
import type { Covered, Series } from '../../parts/counted-by.tsx';

export const SURFACES = [
  { name: 'api', title: 'Queries' },
  { name: 'replication', title: 'Replication' },
  { name: 'floorplans', title: 'Floor plans' },
  { name: 'admin', title: 'Console and admin' },
] as const;

export type Surface = (typeof SURFACES)[number]['name'];

/** An entry for each minute. */
export interface SurfaceHistory {
  readonly requests: Series;
  readonly refused: Series;
  readonly failed: Series;
  /** The median duration in milliseconds. */
  readonly half: Series;
  /** The 95th percentile of the duration in milliseconds. */
  readonly most: Series;
}

export interface History extends Covered {
  readonly surfaces: Readonly<Record<Surface, SurfaceHistory>>;
}

/** The median over the minutes with requests; undefined if there are none. */
export function typical(times: Series): number | undefined {
  const there = times.filter((each) => each !== null).toSorted((a, b) => a - b);
  return there[Math.floor(there.length / 2)];
}
