import type { Space, Zone } from './spaces.ts';

/** A space with its place: feet from the back left corner of the floor, y towards the front. */
export interface Placed extends Space {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Spaces small enough to lie one behind the other. */
const SMALL: ReadonlySet<Zone> = new Set(['bath', 'ensuite', 'service', 'closet']);

/** Which of two small spaces lies at the hall: what all use before what belongs to one room. */
const HALL_NEED: Partial<Record<Zone, number>> = { bath: 0, service: 1, ensuite: 2, closet: 3 };

/** How bad it is to build a space with these sides; 0 is as it should be. */
export function shapeCost(zone: Zone, width: number, height: number): number {
  const short = Math.min(width, height);
  const ratio = Math.max(width, height) / short;
  const tooThin = (least: number): number => Math.max(0, least - short) ** 2;
  switch (zone) {
    case 'living':
    case 'bedroom':
    case 'study':
      return 4 * Math.max(0, ratio - 1.3) ** 2 + tooThin(8.5);
    case 'bath':
    case 'ensuite':
    case 'service':
      return 1.5 * Math.max(0, ratio - 1.7) ** 2 + 3 * tooThin(4.8);
    case 'closet':
      return 0.15 * Math.max(0, ratio - 3.5) ** 2 + 8 * tooThin(2);
    case 'stairs':
    case 'entry':
      return 3 * tooThin(3) + Math.max(0, ratio - 4) ** 2;
    case 'hall':
      return 0;
  }
}

const MOST_STACKED = 3;

/** Small spaces lie behind one another, and a laundry behind the room that it is entered from. */
function mayStack(spaces: readonly Space[], from: number, end: number): boolean {
  if (end - from === 2 && spaces[from]?.zone === 'living' && spaces[from + 1]?.zone === 'service')
    return true;
  for (let index = from; index < end; index++) {
    const space = spaces[index];
    if (space !== undefined && !SMALL.has(space.zone)) return false;
  }
  return true;
}

/** The sum of the shapes of a column. */
function columnCost(spaces: readonly Space[], from: number, end: number, depth: number): number {
  let area = 0;
  for (let index = from; index < end; index++) area += spaces[index]?.area ?? 0;
  const width = area / depth;
  let cost = 0;
  for (let index = from; index < end; index++) {
    const space = spaces[index];
    if (space !== undefined) cost += shapeCost(space.zone, width, space.area / width);
  }
  return cost;
}

/** Cuts a row of spaces into columns, small neighbours stacked, so that the shapes are the best in sum. */
function cutColumns(spaces: readonly Space[], depth: number): Space[][] {
  const costs = [0];
  const cuts = [0];
  for (let end = 1; end <= spaces.length; end++) {
    let least = Number.POSITIVE_INFINITY;
    let cut = end - 1;
    for (let from = end - 1; from >= Math.max(0, end - MOST_STACKED); from--) {
      if (end - from > 1 && !mayStack(spaces, from, end)) continue;
      const cost = (costs[from] ?? 0) + columnCost(spaces, from, end, depth);
      if (cost < least - 1e-6) {
        least = cost;
        cut = from;
      }
    }
    costs.push(least);
    cuts.push(cut);
  }
  const columns: Space[][] = [];
  for (let end = spaces.length; end > 0; end = cuts[end] ?? 0)
    columns.unshift(spaces.slice(cuts[end] ?? 0, end));
  return columns;
}

/** Where a band of rooms lies; `hall` is the side at which the hall runs. */
export interface Band {
  readonly x: number;
  readonly y: number;
  readonly depth: number;
  readonly hall: 'above' | 'below';
}

/** Places a row of spaces in a band, from left to right; every space keeps its area. */
export function placeBand(spaces: readonly Space[], band: Band): Placed[] {
  const placed: Placed[] = [];
  let x = band.x;
  for (const column of cutColumns(spaces, band.depth)) {
    const width = column.reduce((sum, { area }) => sum + area, 0) / band.depth;
    if (column.length > 1) {
      column.sort((a, b) => (HALL_NEED[a.zone] ?? 0) - (HALL_NEED[b.zone] ?? 0));
      if (band.hall === 'below') column.reverse();
    }
    let y = band.y;
    for (const space of column) {
      const height = space.area / width;
      placed.push({ ...space, x, y, width, height });
      y += height;
    }
    x += width;
  }
  return placed;
}
