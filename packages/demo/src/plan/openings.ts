import type { Placed } from './columns.ts';
import type { FloorLayout } from './layout.ts';
import { HALL_WIDTH, type Zone } from './spaces.ts';

/** A stretch of wall: along x at a fixed y when `along` is 'x', along y at a fixed x when it is 'y'. Feet. */
export interface WallRun {
  readonly along: 'x' | 'y';
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

/** A way through a wall. A door swings into `into`; an opening has no leaf; a folding door is a closet's. */
export interface Passage extends WallRun {
  readonly kind: 'door' | 'opening' | 'folding';
  readonly into: Placed;
  readonly outOf: Placed;
}

const NEAR = 1e-6;
const DOOR = 2.7;
const NARROW_DOOR = 2.2;
/** Wall left beside a door. */
const JAMB = 0.45;

/** The wall that two spaces share; undefined when they do not touch along one. */
export function sharedWall(a: Placed, b: Placed): WallRun | undefined {
  const overlap = (from: number, length: number, other: number, otherLength: number) => ({
    from: Math.max(from, other),
    to: Math.min(from + length, other + otherLength),
  });
  if (Math.abs(a.x + a.width - b.x) < NEAR || Math.abs(b.x + b.width - a.x) < NEAR) {
    const run = overlap(a.y, a.height, b.y, b.height);
    if (run.to - run.from > NEAR) return { along: 'y', at: Math.max(a.x, b.x), ...run };
  }
  if (Math.abs(a.y + a.height - b.y) < NEAR || Math.abs(b.y + b.height - a.y) < NEAR) {
    const run = overlap(a.x, a.width, b.x, b.width);
    if (run.to - run.from > NEAR) return { along: 'x', at: Math.max(a.y, b.y), ...run };
  }
  return undefined;
}

const OPEN: ReadonlySet<Zone> = new Set(['living', 'hall', 'entry']);

/** Spaces that people walk through to reach others, the best way first. */
const WAYS: readonly Zone[] = ['hall', 'entry', 'living', 'stairs', 'service', 'study', 'bedroom', 'bath'];

function passageAt(wall: WallRun, kind: Passage['kind'], into: Placed, outOf: Placed): Passage {
  const length = wall.to - wall.from;
  if (kind !== 'door') {
    // The end of a hall is open from wall to wall.
    const open = length <= HALL_WIDTH + NEAR ? length - 0.3 : Math.min(9, length * 0.72);
    const wanted = kind === 'opening' ? open : Math.min(4.6, length - 2 * JAMB);
    const width = Math.max(Math.min(NARROW_DOOR, length), wanted);
    const from = wall.from + (length - width) / 2;
    return { ...wall, kind, into, outOf, from, to: from + width };
  }
  const width = length >= DOOR + 2 * JAMB ? DOOR : Math.min(NARROW_DOOR, length - 0.2);
  const from = length >= width + 2 * JAMB ? wall.from + JAMB : wall.from + (length - width) / 2;
  return { ...wall, kind, into, outOf, from, to: from + width };
}

/** Stairs are open at the foot, everything else of this kind along the shared wall. */
function isOpen(a: Placed, b: Placed): boolean {
  if (OPEN.has(a.zone) && OPEN.has(b.zone)) return true;
  return (a.zone === 'stairs' && b.zone === 'hall') || (b.zone === 'stairs' && a.zone === 'hall');
}

/** From which neighbour a space is entered: lower is better; undefined when never by choice. */
function wayCost(space: Placed, neighbour: Placed): number | undefined {
  if (neighbour.zone === 'closet' || neighbour.zone === 'ensuite') return undefined;
  if (space.of === undefined) return WAYS.indexOf(neighbour.zone);
  // What belongs to a bedroom waits until that bedroom can be entered.
  return space.of === neighbour.key ? -1 : WAYS.length + WAYS.indexOf(neighbour.zone);
}

const LEAST_DOOR = 2.2;
/** Folding doors of a closet fit where no door would. */
const LEAST_FOLDING = 1.4;

/**
 * Decides how one gets from space to space: openings between the rooms of the day and the hall,
 * a door for everything else. Every space that can be reached at all is reached.
 */
export function findPassages({ spaces }: FloorLayout): Passage[] {
  const passages: Passage[] = [];
  const reached = new Set<Placed>();
  const begin =
    spaces.find(({ zone }) => zone === 'hall') ??
    spaces.find(({ zone }) => zone === 'entry') ??
    spaces.find(({ zone }) => zone === 'stairs') ??
    spaces[0];
  if (begin === undefined) return [];
  reached.add(begin);

  for (const [index, a] of spaces.entries()) {
    for (const b of spaces.slice(index + 1)) {
      const wall = isOpen(a, b) ? sharedWall(a, b) : undefined;
      if (wall !== undefined && wall.to - wall.from >= LEAST_DOOR)
        passages.push(passageAt(wall, 'opening', a, b));
    }
  }
  const spread = (): void => {
    for (let grown = true; grown; ) {
      grown = false;
      for (const { into, outOf } of passages) {
        if (reached.has(into) === reached.has(outOf)) continue;
        reached.add(into).add(outOf);
        grown = true;
      }
    }
  };
  spread();

  for (const least of [LEAST_DOOR, 1]) {
    for (let found = true; found; ) {
      const door = bestDoor(spaces, reached, least);
      found = door !== undefined;
      if (door !== undefined) {
        passages.push(door);
        spread();
      }
    }
  }
  return passages;
}

/** The most natural door from a space that is reached to one that is not. */
function bestDoor(
  spaces: readonly Placed[],
  reached: ReadonlySet<Placed>,
  least: number,
): Passage | undefined {
  let best: { cost: number; passage: Passage } | undefined;
  for (const space of spaces) {
    if (reached.has(space)) continue;
    for (const neighbour of reached) {
      const cost = wayCost(space, neighbour) ?? (least < LEAST_DOOR ? 99 : undefined);
      if (cost === undefined || (best !== undefined && cost >= best.cost)) continue;
      const wall = sharedWall(space, neighbour);
      const needed = space.zone === 'closet' ? Math.min(least, LEAST_FOLDING) : least;
      if (wall === undefined || wall.to - wall.from < needed) continue;
      const kind = space.zone === 'closet' ? 'folding' : 'door';
      best = { cost, passage: passageAt(wall, kind, space, neighbour) };
    }
  }
  return best?.passage;
}

const WINDOW_WIDTHS: Partial<Record<Zone, number>> = { bath: 2, ensuite: 2.5, service: 2.5 };

/** The stretches of outer wall that a space has. */
export function outerWalls(space: Placed, { width, depth }: FloorLayout): (WallRun & { side: Side })[] {
  const { x, y } = space;
  const right = x + space.width;
  const front = y + space.height;
  const walls: (WallRun & { side: Side })[] = [];
  if (y < NEAR) walls.push({ side: 'back', along: 'x', at: 0, from: x, to: right });
  if (front > depth - NEAR) walls.push({ side: 'front', along: 'x', at: depth, from: x, to: right });
  if (x < NEAR) walls.push({ side: 'left', along: 'y', at: 0, from: y, to: front });
  if (right > width - NEAR) walls.push({ side: 'right', along: 'y', at: width, from: y, to: front });
  return walls;
}

export type Side = 'back' | 'front' | 'left' | 'right';

/** Windows: wide ones in rooms to live in, small ones in baths; none on a blind side. */
export function findWindows(layout: FloorLayout, blind: ReadonlySet<Side>): WallRun[] {
  const windows: WallRun[] = [];
  for (const space of layout.spaces) {
    const walls = outerWalls(space, layout).filter(({ side }) => !blind.has(side));
    const small = WINDOW_WIDTHS[space.zone];
    const large = space.zone === 'living' || space.zone === 'bedroom' || space.zone === 'study';
    if (small === undefined && !large) continue;
    for (const { along, at, from, to } of small === undefined ? walls : walls.slice(0, 1)) {
      const length = to - from;
      const width = small ?? Math.min(8, Math.max(3, length * 0.45));
      if (length < width + 1.2) continue;
      const middle = (from + to) / 2;
      windows.push({ along, at, from: middle - width / 2, to: middle + width / 2 });
    }
  }
  return windows;
}
