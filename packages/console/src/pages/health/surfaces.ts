/** The surfaces of the service, in the words of the console, and what GET /history says of them. */
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
  /** Milliseconds within which half of the requests were answered. */
  readonly half: Series;
  /** The same for 95 of 100. */
  readonly most: Series;
}

export interface History extends Covered {
  readonly surfaces: Readonly<Record<Surface, SurfaceHistory>>;
}

/** The time of the minute in the middle, when minutes with requests are put in order; undefined without any. */
export function typical(times: Series): number | undefined {
  const there = times.filter((each) => each !== null).toSorted((a, b) => a - b);
  return there[Math.floor(there.length / 2)];
}
