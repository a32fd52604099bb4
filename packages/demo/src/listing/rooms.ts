import { layoutFloors, type PlanFacts } from '../plan/floors.ts';
import { type PlanRoom, zoneOf } from '../plan/spaces.ts';
import type { Random } from '../random.ts';
import { filled } from '../records.ts';
import type { FieldValues } from '../values.ts';
import type { Building } from './building.ts';
import type { Premises } from './premises.ts';
import { drawRoomList, type RoomPlan } from './room-list.ts';
import { sizeRooms } from './room-sizes.ts';

/** A room with its sides in feet, the longer one first. */
export interface Room extends RoomPlan {
  readonly length: number;
  readonly width: number;
}

/** The facts of a building that its floor plan follows. */
function planFactsOf(kind: Premises['kind'], building: Building): PlanFacts {
  return { baths: building.fullBaths + building.halfBaths, narrow: kind === 'attached' };
}

const toHalfFoot = (feet: number): number => Math.round(feet * 2) / 2;

/** Rounding moves a room at most this far off the floor it was measured on; feet. */
const AGREES = 0.6;
/** Rooms measured and laid out again settle at once or soon. */
const MOST_ROUNDS = 4;

/** The sides of a room of which no plan is drawn: somewhat longer than wide. */
function usualSides({ type, area }: PlanRoom): Sides {
  const width = Math.sqrt(area / (['bath', 'ensuite', 'service'].includes(zoneOf(type)) ? 1.5 : 1.2));
  return [area / width, width];
}

/**
 * Draws the rooms of a listing. Where a plan is drawn of them (`hasPlan`) their sides fit together on a floor: they are
 * measured from a layout, rounded and laid out again until both agree, so that the plan shows the listed sides.
 */
export function drawRooms(premises: Premises, random: Random, hasPlan: boolean): Room[] {
  const { building, kind } = premises;
  if (building === undefined) return [];
  const facts = planFactsOf(kind, building);
  let sized = sizeRooms(drawRoomList(premises, random), building, facts, random);
  if (!hasPlan) return sized.map((room) => listed(room, usualSides(room)));
  let rooms: Room[] = [];
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const sides = measure(sized, facts);
    const settled = rooms.length > 0 && rooms.every((room, index) => agree(room, sides[index]));
    if (settled) break;
    rooms = sized.map((room, index) => listed(room, sides[index]));
    sized = sized.map((room, index) => {
      const { length, width } = rooms[index] ?? { length: 0, width: 0 };
      return { ...room, area: length * width };
    });
  }
  return rooms;
}

const listed = ({ type, level }: PlanRoom, [length, width]: Sides = [0, 0]): Room => ({
  type,
  level,
  length: toHalfFoot(length),
  width: toHalfFoot(width),
});

type Sides = readonly [length: number, width: number];

const agree = ({ length, width }: Room, sides: Sides | undefined): boolean =>
  sides !== undefined && Math.abs(length - sides[0]) < AGREES && Math.abs(width - sides[1]) < AGREES;

function measure(rooms: readonly PlanRoom[], facts: PlanFacts): (Sides | undefined)[] {
  const sides = new Map<string, Sides>();
  for (const { layout } of layoutFloors(rooms, facts)) {
    for (const { key, width, height } of layout.spaces) {
      if (key !== undefined) sides.set(key, [Math.max(width, height), Math.min(width, height)]);
    }
  }
  return rooms.map(({ key }) => sides.get(key));
}

const FLOORS = ['Hardwood', 'Carpet', 'Engineered Hardwood', 'Luxury Vinyl', 'Tile', 'Laminate'];

function describeRoom(type: string, random: Random): string | undefined {
  if (!random.chance(0.3)) return undefined;
  switch (zoneOf(type)) {
    case 'living':
    case 'study':
      return `${random.pick(FLOORS)} floor, ${random.pick(['two windows', 'a bay window', 'recessed lights', 'built-in shelves'])}`;
    case 'bedroom':
      return `${random.pick(['Carpet', 'Hardwood', 'Luxury Vinyl'])} floor, ${random.pick(['ceiling fan', 'walk-in closet', 'morning sun', 'garden view'])}`;
    case 'bath':
    case 'ensuite':
      return random.pick(['Tile floor and walk-in shower', 'Tub with tile surround', 'Double vanity']);
    default:
      return random.pick(['Utility sink', 'Storage shelves', 'Floor drain']);
  }
}

/** The PropertyRooms records of a listing. */
export function roomRecords(rooms: readonly Room[], listingKey: string, random: Random): FieldValues[] {
  return rooms.map(({ type, level, length, width }, index) =>
    filled({
      RoomKey: `${listingKey}-R${(index + 1).toString().padStart(2, '0')}`,
      ListingKey: listingKey,
      RoomType: type,
      RoomLevel: level,
      RoomLength: length,
      RoomWidth: width,
      RoomLengthWidthUnits: 'Feet',
      RoomLengthWidthSource: 'Measured',
      RoomDimensions: `${length} x ${width}`,
      RoomArea: length * width,
      RoomAreaUnits: 'Square Feet',
      RoomDescription: describeRoom(type, random),
    }),
  );
}
