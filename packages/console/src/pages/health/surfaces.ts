/** The surfaces of the service, in the words of the console, and what GET /history says of them. */

export const SURFACES = [
  { name: 'api', title: 'Queries' },
  { name: 'replication', title: 'Replication' },
  { name: 'floorplans', title: 'Floor plans' },
  { name: 'admin', title: 'Console and admin' },
] as const;

export type Surface = (typeof SURFACES)[number]['name'];

type Row = readonly number[];
type Times = readonly (number | null)[];

/** An entry for each minute. */
export interface SurfaceHistory {
  readonly requests: Row;
  readonly refused: Row;
  readonly failed: Row;
  /** Milliseconds within which half of the requests were answered. */
  readonly half: Times;
  /** The same for 95 of 100. */
  readonly most: Times;
}

export interface History {
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly surfaces: Readonly<Record<Surface, SurfaceHistory>>;
}

export const sum = (row: Row): number => row.reduce((total, each) => total + each, 0);

/** The time of the minute in the middle, when minutes with requests are put in order; undefined without any. */
export function typical(times: Times): number | undefined {
  const there = times.filter((each) => each !== null).toSorted((a, b) => a - b);
  return there[Math.floor(there.length / 2)];
}
