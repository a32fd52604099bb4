import { type Band, type Placed, placeBand, shapeCost } from './columns.ts';
import { HALL_WIDTH, type Space, type SpaceGroup } from './spaces.ts';

/** One floor laid out: its spaces fill the outline without gap or overlap. Feet. */
export interface FloorLayout {
  readonly width: number;
  readonly depth: number;
  readonly spaces: readonly Placed[];
}

/** The ground that a floor has to keep to. */
interface FloorShape {
  /** Between party walls: narrow and deep. */
  readonly narrow: boolean;
}

/** Past this depth a band makes long dark rooms, and the house grows wider instead. */
const DEEPEST_BAND = 13.5;
/** A very large room, such as a workshop, makes its band as deep as this part of its square's side. */
const LARGE_ROOM_DEPTH = 0.72;
/** So much of the hall must lie along a room for a door to fit. */
const DOOR_REACH = 3.2;

const areaOf = (spaces: readonly Space[]): number => spaces.reduce((sum, { area }) => sum + area, 0);
const spacesOf = (groups: readonly SpaceGroup[]): Space[] =>
  groups.toSorted((a, b) => a.rank - b.rank).flatMap(({ spaces }) => spaces);

/** How little a group belongs at the front (positive) or at the back (negative). */
function frontCost({ rank, spaces }: SpaceGroup): number {
  const name = spaces.at(-1)?.name ?? '';
  if (rank === 0) return -3;
  if (name === 'Kitchen') return 3;
  if (name === 'Family Room') return 2;
  if (rank === 10) return 0.6;
  if (rank === 6) return -0.6;
  return rank === 1 ? 0.5 : 0;
}

/** So many groups are tried on either side; in larger buildings the others go to where there is less. */
const MOST_WEIGHED = 11;

/** Chooses which groups lie at the front: entry and stairs always, the rest so that both sides balance. */
function divide(groups: readonly SpaceGroup[]): { front: SpaceGroup[]; back: SpaceGroup[] } {
  const fixed = groups.filter(({ rank }) => rank === 4 || rank === 5);
  const movable = groups.filter(({ rank }) => rank !== 4 && rank !== 5);
  const free = movable.slice(0, MOST_WEIGHED);
  const areas = free.map(({ spaces }) => areaOf(spaces));
  const costs = free.map(frontCost);
  const fixedArea = areaOf(fixed.flatMap(({ spaces }) => spaces));
  const total = areas.reduce((sum, area) => sum + area, fixedArea);
  let least = Number.POSITIVE_INFINITY;
  let chosen = 1;
  let frontArea = fixedArea;
  let preference = costs.reduce((sum, cost) => sum + Math.max(0, -cost), 0);
  let mask = 0;
  // In Gray code order one group changes sides at a time.
  for (let step = 1; step < 2 ** free.length; step++) {
    const bit = 31 - Math.clz32(step & -step);
    mask ^= 1 << bit;
    const side = mask & (1 << bit) ? 1 : -1;
    frontArea += side * (areas[bit] ?? 0);
    preference += side * (costs[bit] ?? 0);
    if (mask === 2 ** free.length - 1) continue;
    // Rounded, so that a room measured to the half foot is not laid out differently.
    const cost = Math.round((preference + 40 * ((2 * frontArea - total) / total) ** 2) * 4);
    if (cost < least) {
      least = cost;
      chosen = mask;
    }
  }
  const front = [...fixed, ...free.filter((_, bit) => chosen & (1 << bit))];
  const back = free.filter((_, bit) => !(chosen & (1 << bit)));
  const sideArea = (side: readonly SpaceGroup[]): number => areaOf(side.flatMap(({ spaces }) => spaces));
  for (const group of movable.slice(MOST_WEIGHED))
    (sideArea(front) < sideArea(back) ? front : back).push(group);
  return { front, back };
}

/** The depth of a band whose end room, of area `end`, also takes the hall's strip at that end. */
function bandDepth(area: number, end: number, width: number): number {
  if (end === 0) return area / width;
  const linear = width * HALL_WIDTH - area;
  const constant = (area - end) * HALL_WIDTH;
  return (-linear + Math.sqrt(linear * linear + 4 * width * constant)) / (2 * width);
}

const isLarge = (space: Space | undefined): space is Space =>
  space !== undefined && (space.zone === 'living' || space.zone === 'bedroom');

/** How badly the rooms of a layout are shaped; a row of bedrooms is passed through, which nobody wants. */
function layoutCost({ spaces }: FloorLayout): number {
  const shapes = spaces.reduce((sum, { zone, width, height }) => sum + shapeCost(zone, width, height), 0);
  const hall = spaces.some(({ zone }) => zone === 'hall');
  const bedrooms = spaces.filter(({ zone }) => zone === 'bedroom').length;
  return shapes + (hall ? 0 : 3 * Math.max(0, bedrooms - 1));
}

/** Another layout is taken only when it is clearly better, so that small differences of size change nothing. */
const CLEARLY = 0.8;
/** A layout of this cost is good enough to look no further. */
const GOOD = 1.2;

/** Lays out one floor: a hall between a front and a back band, or a plain row where rooms are few. */
export function layoutFloor(groups: readonly SpaceGroup[], { narrow }: FloorShape): FloorLayout {
  const total = areaOf(groups.flatMap(({ spaces }) => spaces));
  const rooms = groups.filter(({ rank }) => rank !== 4 && rank !== 5);
  const row = (): FloorLayout => layoutRow(spacesOf(groups), total, narrow ? 0.9 : 1.6);
  if (rooms.length < 2) return row();

  const largest = Math.max(...rooms.flatMap(({ spaces }) => spaces.map(({ area }) => area)));
  const deepest = Math.max(DEEPEST_BAND, LARGE_ROOM_DEPTH * Math.sqrt(largest));
  const wide = Math.max(Math.sqrt(total * 1.4), total / (2 * deepest + HALL_WIDTH));
  const base = narrow ? Math.sqrt(total * 0.85) : wide;
  const { front, back } = divide(groups);
  const [frontSpaces, backSpaces] = [spacesOf(front), spacesOf(back)];
  let chosen = rooms.length <= 3 ? row() : layoutHall(frontSpaces, backSpaces, base);
  let least = layoutCost(chosen) * CLEARLY;
  if (least < GOOD) return chosen;
  for (const factor of [1, 0.86, 1.16]) {
    const other = layoutHall(frontSpaces, backSpaces, base * factor);
    const cost = layoutCost(other);
    if (cost < least) {
      chosen = other;
      least = cost;
    }
  }
  return chosen;
}

/** Entry and stairs take what width they need, however deep the band is. */
function widen(spaces: readonly Space[], width: number): Space[] {
  const depth = areaOf(spaces) / width;
  return spaces.map((space) => {
    const least = space.zone === 'entry' ? 4.4 : space.zone === 'stairs' ? 3.3 : 0;
    return space.area < least * depth ? { ...space, area: least * depth } : space;
  });
}

function layoutRow(narrowSpaces: readonly Space[], total: number, aspect: number): FloorLayout {
  const width = Math.sqrt(total * aspect);
  const spaces = widen(narrowSpaces, width);
  const depth = areaOf(spaces) / width;
  return { width, depth, spaces: placeBand(spaces, { x: 0, y: 0, depth, hall: 'below' }) };
}

function layoutHall(narrowFront: readonly Space[], back: readonly Space[], width: number): FloorLayout {
  const front = widen(narrowFront, width);
  const openLeft = front[0]?.zone === 'living' && back[0]?.zone === 'living';
  if (isLarge(back.at(-1))) {
    const shortened = layoutBands(front, back, width, openLeft, true);
    if (everyRoomAtHall(shortened)) return shortened;
  }
  return layoutBands(front, back, width, openLeft, false);
}

/** `openLeft`, `shortRight`: the front left and the back right room take the end of the hall. */
function layoutBands(
  front: readonly Space[],
  back: readonly Space[],
  width: number,
  openLeft: boolean,
  shortRight: boolean,
): FloorLayout {
  const first = openLeft ? front[0] : undefined;
  const last = shortRight ? back.at(-1) : undefined;
  const backDepth = bandDepth(areaOf(back), last?.area ?? 0, width);
  const frontDepth = bandDepth(areaOf(front), first?.area ?? 0, width);
  const depth = backDepth + HALL_WIDTH + frontDepth;
  const firstWidth = first === undefined ? 0 : first.area / (frontDepth + HALL_WIDTH);
  const lastWidth = last === undefined ? 0 : last.area / (backDepth + HALL_WIDTH);
  const backBand: Band = { x: 0, y: 0, depth: backDepth, hall: 'below' };
  const frontBand: Band = { x: firstWidth, y: backDepth + HALL_WIDTH, depth: frontDepth, hall: 'above' };
  const hall = width - firstWidth - lastWidth;
  const spaces: Placed[] = [
    ...placeBand(last === undefined ? back : back.slice(0, -1), backBand),
    ...placeBand(first === undefined ? front : front.slice(1), frontBand),
    {
      name: 'Hall',
      zone: 'hall',
      area: hall * HALL_WIDTH,
      x: firstWidth,
      y: backDepth,
      width: hall,
      height: HALL_WIDTH,
    },
  ];
  if (first !== undefined) {
    spaces.push({ ...first, x: 0, y: backDepth, width: firstWidth, height: frontDepth + HALL_WIDTH });
  }
  if (last !== undefined) {
    spaces.push({ ...last, x: width - lastWidth, y: 0, width: lastWidth, height: backDepth + HALL_WIDTH });
  }
  return { width, depth, spaces };
}

/** True when the shortened hall still passes every room at the front. */
function everyRoomAtHall({ spaces }: FloorLayout): boolean {
  const hall = spaces.find(({ zone }) => zone === 'hall');
  if (hall === undefined || hall.width < DOOR_REACH) return false;
  const end = hall.x + hall.width;
  return spaces.every((space) => {
    const inFront = space.y > hall.y && Math.abs(space.y - hall.y - hall.height) < 1e-6;
    return !inFront || space.zone === 'closet' || space.x + DOOR_REACH <= end;
  });
}
