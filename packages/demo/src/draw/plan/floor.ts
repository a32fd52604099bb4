import type { Placed } from '../../plan/columns.ts';
import type { FloorLayout } from '../../plan/layout.ts';
import {
  findPassages,
  findWindows,
  outerWalls,
  type Passage,
  type Side,
  type WallRun,
} from '../../plan/openings.ts';
import { escapeXml, group, path, rect } from '../svg.ts';
import { drawFurniture, type Stand } from './furniture.ts';
import { drawLabel, feetAndInches, fittedText, type Label, placeLabel } from './labels.ts';
import { INK, SOFT_INK } from './style.ts';
import { drawOuterDoor, drawPassage, drawWalls, drawWindow } from './walls.ts';

/** What stands around a floor. Feet; 0 where there is none. */
export interface Surroundings {
  readonly garage: number;
  readonly deck: boolean;
  readonly porch: boolean;
  readonly blind: ReadonlySet<Side>;
}

export const GARAGE_DEPTH = 21;
export const DECK_DEPTH = 8;
export const PORCH_DEPTH = 5;
const FRONT_DOOR = 3;

/** The listed sides of a room by its key, feet. */
export type Sides = ReadonlyMap<string, readonly [number, number]>;

/** The labels of spaces; a space that has none shows what it is by itself. */
export type Labels = ReadonlyMap<Placed, Label>;

/** The listed sides of a space as a label gives them. */
export function sidesOf({ key }: Placed, sides: Sides): string | undefined {
  return key === undefined ? undefined : sides.get(key)?.map(feetAndInches).join(' x ');
}

const SPEAKS_FOR_ITSELF: ReadonlySet<Placed['zone']> = new Set(['closet', 'hall', 'stairs']);

/** The labels of a floor at a scale, in the order of its spaces; undefined for those that need a number. */
export function fitLabels(
  layout: FloorLayout,
  sides: Sides,
  foot: number,
): ReadonlyMap<Placed, Label | undefined> {
  const passages = findPassages(layout);
  return new Map(
    layout.spaces
      .filter(({ zone }) => !SPEAKS_FOR_ITSELF.has(zone))
      .map((space) => [
        space,
        placeLabel(space, sidesOf(space, sides), standOf(space, layout, passages).front, foot),
      ]),
  );
}

/** Draws one floor with its back left corner at 0, 0; `foot` is drawing units in a foot. */
export function drawFloor(layout: FloorLayout, around: Surroundings, labels: Labels, foot: number): string {
  const passages = findPassages(layout);
  const entry = layout.spaces.find(({ zone }) => zone === 'entry');
  const blind = around.garage > 0 ? new Set<Side>([...around.blind, 'left']) : around.blind;
  const garageDoor = around.garage > 0 ? doorFromGarage(layout) : undefined;
  return [
    drawDeck(layout, around, foot),
    drawPorch(layout, entry, around, foot),
    drawGarage(layout, around, foot),
    drawWalls(layout, foot),
    ...passages.map((passage) => drawPassage(passage, foot)),
    ...findWindows(layout, blind).map((window) => drawWindow(window, foot)),
    ...(garageDoor === undefined ? [] : [drawOuterDoor(garageDoor, 1, foot)]),
    ...(entry === undefined ? [] : [drawOuterDoor(frontDoor(entry, layout), -1, foot)]),
    ...layout.spaces.map((space) => drawSpace(space, layout, passages, labels.get(space), foot)),
  ].join('');
}

function frontDoor({ x, width }: Placed, { depth }: FloorLayout): WallRun {
  const middle = x + width / 2;
  return { along: 'x', at: depth, from: middle - FRONT_DOOR / 2, to: middle + FRONT_DOOR / 2 };
}

/** From the garage one comes into the kitchen where it can be had, else into what lies there. */
function doorFromGarage({ spaces, depth }: FloorLayout): WallRun | undefined {
  const top = Math.max(0, depth - GARAGE_DEPTH);
  const beside = spaces
    .filter(({ x, y, height }) => x < 0.01 && y + height - Math.max(top, y) > 4)
    .sort((a, b) => Number(b.name === 'Kitchen') - Number(a.name === 'Kitchen'));
  const [room] = beside;
  if (room === undefined) return undefined;
  const from = Math.max(top, room.y) + 0.8;
  return { along: 'y', at: 0, from, to: from + 2.7 };
}

/** Large rooms are furnished at an outer wall, small ones away from their door. */
function standOf(space: Placed, layout: FloorLayout, passages: readonly Passage[]): Stand {
  const door = passages.find(({ into }) => into === space) ?? passages.find(({ outOf }) => outOf === space);
  const middle = door === undefined ? 0 : (door.from + door.to) / 2;
  const [doorX, doorY] =
    door === undefined
      ? [0, Number.POSITIVE_INFINITY]
      : door.along === 'x'
        ? [middle, door.at]
        : [door.at, middle];
  const doorAtBack = doorY < space.y + space.height / 2;
  const outer = outerWalls(space, layout).map(({ side }) => side);
  const small = space.zone === 'bath' || space.zone === 'ensuite';
  const between = small || outer.includes('front') === outer.includes('back');
  return {
    front: between ? doorAtBack : outer.includes('front'),
    right: small && doorX < space.x + space.width / 2,
  };
}

function drawSpace(
  space: Placed,
  layout: FloorLayout,
  passages: readonly Passage[],
  label: Label | undefined,
  foot: number,
): string {
  const furniture = drawFurniture(space, standOf(space, layout, passages), foot);
  if (label === undefined) return furniture;
  return group([`<title>${escapeXml(space.name)}</title>`, furniture, drawLabel(label)]);
}

function drawGarage({ depth }: FloorLayout, { garage }: Surroundings, foot: number): string {
  if (garage === 0) return '';
  const [width, height] = [garage * foot, GARAGE_DEPTH * foot];
  const top = (depth - GARAGE_DEPTH) * foot;
  const door = Math.min(garage - 3, garage * 0.78) * foot;
  return group([
    rect(-width, top, width, height, { fill: '#f0f0ee', stroke: INK, 'stroke-width': 0.5 * foot }),
    rect(-width + (width - door) / 2, top + height - 0.3 * foot, door, 0.6 * foot, { fill: '#ffffff' }),
    path(`M${-width + (width - door) / 2} ${top + height}h${door}`, {
      stroke: SOFT_INK,
      'stroke-dasharray': '6 3',
    }),
    fittedText(-width / 2, top + height / 2, 'Garage', { size: 14, width: width * 0.8 }, { fill: INK }),
  ]);
}

function drawDeck({ spaces, width }: FloorLayout, { deck }: Surroundings, foot: number): string {
  if (!deck) return '';
  const room = spaces.find(
    ({ name, y }) => y < 0.01 && ['Kitchen', 'Family Room', 'Dining Room'].includes(name),
  );
  const long = Math.min(16, width * 0.5);
  const left = Math.min(Math.max(0, room?.x ?? 0), width - long) * foot;
  const boards = [1, 2, 3, 4, 5, 6].map(
    (board) => `M${left} ${(-DECK_DEPTH * foot * board) / 7}h${long * foot}`,
  );
  return group([
    rect(left, -DECK_DEPTH * foot, long * foot, DECK_DEPTH * foot, { fill: '#faf6ee', stroke: SOFT_INK }),
    path(boards.join(''), { stroke: '#e3dccb' }),
    fittedText(
      left + (long * foot) / 2,
      (-DECK_DEPTH * foot) / 2 + 4,
      'Deck',
      { size: Math.min(12, foot * 4), width: long * foot * 0.8 },
      { fill: SOFT_INK },
    ),
  ]);
}

function drawPorch(
  { depth }: FloorLayout,
  entry: Placed | undefined,
  { porch }: Surroundings,
  foot: number,
): string {
  if (entry === undefined || !porch) return '';
  const left = (entry.x - 1.5) * foot;
  const width = (entry.width + 3) * foot;
  return group([
    rect(left, depth * foot, width, PORCH_DEPTH * foot, { fill: '#f6f6f3', stroke: SOFT_INK }),
    fittedText(
      left + width / 2,
      (depth + PORCH_DEPTH / 2) * foot + Math.min(4, foot),
      'Porch',
      { size: Math.min(11, foot * 2.5), width: width * 0.8 },
      { fill: SOFT_INK },
    ),
  ]);
}
